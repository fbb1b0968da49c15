def along(size, kernel, stride, padding):
    return 1 + (size - kernel + 2 * padding) // stride


def intensity(image, weight, stride, padding, itemsize):
    n, c, h, w = image
    k, depth, r, s = weight
    p, q = along(h, r, stride, padding), along(w, s, stride, padding)
    multiply_adds = n * k * p * q * depth * r * s
    values = n * c * h * w + k * depth * r * s + n * k * p * q
    return 2 * multiply_adds / (values * itemsize)
