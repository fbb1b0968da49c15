import math
def cost(n, threads):
    blocks = math.ceil(n / threads)
    steps, left, additions = 0, threads, 0
    while left > 1:
        left //= 2
        steps += 1
        additions += left
    return steps, additions * blocks, blocks
