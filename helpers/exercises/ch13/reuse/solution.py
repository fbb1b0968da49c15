def reuse(rows, columns, itemsize):
    flops = 2 * rows * columns
    loaded = itemsize * (rows + columns)
    return flops / loaded
