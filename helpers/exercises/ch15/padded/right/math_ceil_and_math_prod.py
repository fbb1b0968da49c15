import math


def padded(rows, inner, columns):
    sizes = (rows, inner, columns)
    products = math.prod(math.ceil(size / 16) for size in sizes)
    return products, 100 * math.prod(sizes) / (4096 * products)
