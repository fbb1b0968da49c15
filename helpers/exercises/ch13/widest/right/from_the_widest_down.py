def widest(shared_bytes, registers, threads, step):
    fitting = [
        2**power
        for power in range(20)
        if 8 * 2**power * step <= shared_bytes and 4**power / threads + 40 <= registers
    ]
    return max(fitting, default=1)
