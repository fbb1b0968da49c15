import math
def tile(peak, bandwidth, itemsize):
    need = math.ceil(peak * itemsize / bandwidth)
    return 1 << (need - 1).bit_length() if need > 1 else 1
