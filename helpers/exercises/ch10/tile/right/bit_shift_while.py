def tile(peak, bandwidth, itemsize):
    t = 1
    while t * bandwidth < peak * itemsize:
        t <<= 1
    return t
