def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < peak / bandwidth:
        width *= 2
    return width
