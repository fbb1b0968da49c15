def depth(n, blocks, threads):
    loop = -(-n // (blocks * threads))
    tree = 0
    while 2**tree < threads:
        tree += 1
    return loop + tree + blocks
