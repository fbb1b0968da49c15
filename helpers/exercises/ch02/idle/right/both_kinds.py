def idle(n, threads):
    blocks = -(-n // threads)
    without_thread = blocks * (-threads % 32)
    return without_thread + blocks * threads - n
