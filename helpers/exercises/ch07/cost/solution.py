def cost(n, threads):
    blocks = (n + threads - 1) // threads
    steps = threads.bit_length() - 1
    additions = blocks * (threads - 1)
    atomics = blocks
    return steps, additions, atomics
