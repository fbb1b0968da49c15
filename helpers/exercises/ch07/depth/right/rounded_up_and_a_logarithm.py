import math
def depth(n, blocks, threads):
    return math.ceil(n / (blocks * threads)) + math.log2(threads) + blocks
