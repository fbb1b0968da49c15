import math
def blocks(n, threads):
    q, r = divmod(n, threads)
    return q + (r > 0)
