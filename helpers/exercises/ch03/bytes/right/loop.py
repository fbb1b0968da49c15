def bytes_of_block(threads, registers, shared, local):
    on = shared; off = 0
    for _ in range(threads):
        on += 4*registers
        off += local
    return on, off
