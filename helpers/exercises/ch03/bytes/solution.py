def bytes_of_block(threads, registers, shared, local):
    return threads * registers * 4 + shared, threads * local
