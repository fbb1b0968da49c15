def cost(n, threads):
    steps, left = 0, threads
    while left > 1:
        left //= 2
        steps += 1
    blocks = -(-n // threads)
    return steps, blocks * threads - blocks, blocks
