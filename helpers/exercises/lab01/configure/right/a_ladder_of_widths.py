def configure(rows, columns):
    if columns <= 1: w = 1
    elif columns <= 2: w = 2
    elif columns <= 4: w = 4
    elif columns <= 8: w = 8
    elif columns <= 16: w = 16
    else: w = 32
    h = 256 // w
    gx = columns // w + (1 if columns % w else 0)
    gy = rows // h + bool(rows % h)
    if gy > 65535:
        gy = 65535
    return (gx, gy), (w, h)
