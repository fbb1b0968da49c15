def tile(peak, bandwidth, itemsize):
    import math
    return 2 * 2 ** max(0, math.floor(math.log2(itemsize * peak / bandwidth)))
