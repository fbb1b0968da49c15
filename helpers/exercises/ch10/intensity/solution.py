import math

def intensity(a, b, itemsize):
    results = math.prod(a[:-1]) * b[-1]
    flops = 2 * results * a[-1]
    elements = math.prod(a) + math.prod(b) + results
    return flops / (itemsize * elements)
