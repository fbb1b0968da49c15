import math
def idle(n, threads):
    return 32 * math.ceil(threads / 32) * math.ceil(n / threads) - n
