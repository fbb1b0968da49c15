"""Right answers to lab01.configure by routes other than the solution's."""

KEY = "lab01.configure"

ROWS = [
    # which way, the solution cell
    (
        "bit_length",
        """def configure(rows, columns):
    w = min(32, 1 << max(columns - 1, 0).bit_length())
    h = 256 // w
    return ((columns + w - 1) // w, min((rows + h - 1) // h, 65535)), (w, h)
""",
    ),
    (
        "a ladder of widths",
        """def configure(rows, columns):
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
""",
    ),
    (
        "logarithms",
        """def configure(rows, columns):
    w = int(2 ** np.ceil(np.log2(min(columns, 32))))
    h = int(256 / w)
    return (int(np.ceil(columns / w)), int(min(65535, np.ceil(rows / h)))), (w, h)
""",
    ),
    (
        "recursive",
        """def width(c, w=32):
    return width(c, w // 2) if c <= w // 2 else w
def configure(rows, columns):
    w = width(columns)
    h, up = 256 // w, lambda a, b: (a - 1) // b + 1
    return (up(columns, w), min(up(rows, h), 2**16 - 1)), (w, h)
""",
    ),
]
