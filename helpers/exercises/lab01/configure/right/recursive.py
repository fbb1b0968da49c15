def width(c, w=32):
    return width(c, w // 2) if c <= w // 2 else w
def configure(rows, columns):
    w = width(columns)
    h, up = 256 // w, lambda a, b: (a - 1) // b + 1
    return (up(columns, w), min(up(rows, h), 2**16 - 1)), (w, h)
