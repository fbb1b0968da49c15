def widest(shared_bytes, registers, threads, step):
    width = 1
    while True:
        wider = 2 * width
        needed_bytes = 2 * wider * step * 4
        needed_registers = wider * wider / threads + 40
        if needed_bytes > shared_bytes or needed_registers > registers:
            return width
        width = wider
