"""Right answers to the exercises of chapter 13 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch13.reuse",
        "by what a multiply-add costs",
        """def reuse(rows, columns, itemsize):
    elements = 1 / rows + 1 / columns
    return 2 / (itemsize * elements)
""",
    ),
    (
        "ch13.widest",
        "a list of powers",
        """def widest(shared_bytes, registers, threads, step):
    fitting = [1]
    for exponent in range(1, 20):
        width = 2**exponent
        if 8 * width * step <= shared_bytes and width**2 / threads <= registers - 40:
            fitting.append(width)
    return max(fitting)
""",
    ),
    (
        "ch13.composed",
        "tables first",
        """import itertools

def table(shape, stride):
    ways = itertools.product(*(range(size) for size in shape[::-1]))
    return [sum(i * step for i, step in zip(way, stride[::-1])) for way in ways]

def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    outer = table(outer_shape, outer_stride)
    return [outer[place] for place in table(inner_shape, inner_stride)]
""",
    ),
]
