import math
def tile(peak, bandwidth, itemsize):
    return max(1, 2 ** math.ceil(math.log2(itemsize * peak / bandwidth)))
