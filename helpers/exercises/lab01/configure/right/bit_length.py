def configure(rows, columns):
    w = min(32, 1 << max(columns - 1, 0).bit_length())
    h = 256 // w
    return ((columns + w - 1) // w, min((rows + h - 1) // h, 65535)), (w, h)
