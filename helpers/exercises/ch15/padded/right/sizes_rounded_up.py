def up(size):
    return size + -size % 16


def padded(rows, inner, columns):
    multiplied = up(rows) * up(inner) * up(columns)
    return multiplied // 4096, rows * inner * columns / multiplied * 100
