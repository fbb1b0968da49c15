def tile(peak, bandwidth, itemsize):
    import math
    return 2.0 ** math.ceil(math.log2(itemsize * peak / bandwidth))
