import math


def least_seconds(shape, itemsize, bandwidth):
    elements = math.prod(shape)
    return elements * itemsize / bandwidth
