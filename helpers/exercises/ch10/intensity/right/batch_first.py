def intensity(a, b, itemsize):
    batch = a[0] if len(a) == 3 else 1
    rows, inner, columns = a[-2], a[-1], b[-1]
    own = batch if len(b) == 3 else 1
    nbytes = itemsize * (batch * rows * inner + own * inner * columns + batch * rows * columns)
    return 2 * batch * rows * inner * columns / nbytes
