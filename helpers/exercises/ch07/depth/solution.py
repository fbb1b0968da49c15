def depth(n, blocks, threads):
    all_threads = blocks * threads
    loop = (n + all_threads - 1) // all_threads
    tree = threads.bit_length() - 1
    atomics = blocks
    return loop + tree + atomics
