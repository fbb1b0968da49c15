"""Wrong answers to the exercises of chapter 10, each written out whole."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch10.intensity",
        "floor division",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns // (itemsize * (rows * inner + inner * columns + rows * columns))
""",
        "no fraction is left",
    ),
    (
        "ch10.intensity",
        "2k-1 operations",
        """def intensity(rows, inner, columns, itemsize):
    return (2 * inner - 1) * rows * columns / (itemsize * (rows * inner + inner * columns + rows * columns))
""",
        "one addition less",
    ),
    (
        "ch10.intensity",
        "result read and written",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / (itemsize * (rows * inner + inner * columns + 2 * rows * columns))
""",
        "the result moves once",
    ),
    (
        "ch10.intensity",
        "print",
        """def intensity(rows, inner, columns, itemsize):
    print(2 * rows * inner * columns / (itemsize * (rows * inner + inner * columns + rows * columns)))
""",
        "it returns nothing",
    ),
    (
        "ch10.intensity",
        "precedence: / itemsize * (..)",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / itemsize * (rows * inner + inner * columns + rows * columns)
""",
        "brackets are missing",
    ),
    (
        "ch10.intensity",
        "starter",
        """def intensity(rows, inner, columns, itemsize):
    return rows * inner * columns / itemsize
""",
        "no matrix moves",
    ),
    (
        "ch10.intensity",
        "sizes added",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / (itemsize * (rows + inner + columns))
""",
        "sizes are no matrices",
    ),
    (
        "ch10.intensity",
        "always 4 bytes",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / (4 * (rows * inner + inner * columns + rows * columns))
""",
        "always four bytes",
    ),
    (
        "ch10.intensity",
        "one factor missing (rows*inner + rows*columns)",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / (itemsize * (rows * inner + rows * columns))
""",
        "one factor is missing",
    ),
    (
        "ch10.intensity",
        "product of sizes",
        """def intensity(rows, inner, columns, itemsize):
    return 2 * rows * inner * columns / (itemsize * rows * inner * columns)
""",
        "elements are added, not multiplied",
    ),
    (
        "ch10.fuse",
        "gain and shift swapped",
        """import numpy as np
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = shift * x[i] + gain
        out[i] = y * y * (np.float32(3) - np.float32(2) * y)
""",
        "gain and shift are swapped",
    ),
    (
        "ch10.fuse",
        "one y only",
        """import numpy as np
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = y * (np.float32(3) - np.float32(2) * y)
""",
        "y once instead of twice",
    ),
    (
        "ch10.fuse",
        "reads t",
        """import numpy as np
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * t[i] + shift
        out[i] = y * y * (np.float32(3) - np.float32(2) * y)
""",
        "t has nothing yet",
    ),
    (
        "ch10.fuse",
        "2 - 3 y",
        """import numpy as np
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = y * y * (np.float32(2) - np.float32(3) * y)
""",
        "3 and 2 are swapped",
    ),
    (
        "ch10.tile",
        "upside down",
        """def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < bandwidth / peak:
        width *= 2
    return width
""",
        "the ridge is upside down",
    ),
    (
        "ch10.tile",
        "starts at 2",
        """def tile(peak, bandwidth, itemsize):
    width = 2
    while width / itemsize < peak / bandwidth:
        width *= 2
    return width
""",
        "it starts too large",
    ),
    (
        "ch10.tile",
        "the result tile moves too",
        """def tile(peak, bandwidth, itemsize):
    width = 1
    while 2 * width * width / (3 * width * itemsize) < peak / bandwidth:
        width *= 2
    return width
""",
        "the result stays where it is",
    ),
    (
        "ch10.tile",
        "no max 1: power below one",
        """import math
def tile(peak, bandwidth, itemsize):
    return 2 ** math.ceil(math.log2(itemsize * peak / bandwidth))
""",
        "narrower than one",
    ),
    (
        "ch10.tile",
        "returns intensity",
        """def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < peak / bandwidth:
        width *= 2
    return width / itemsize
""",
        "that is the intensity",
    ),
    (
        "ch10.tile",
        "starter",
        """def tile(peak, bandwidth, itemsize):
    return 1
""",
        "one tile for all",
    ),
    (
        "ch10.tile",
        "sqrt",
        """import math
def tile(peak, bandwidth, itemsize):
    width = 1
    while width * width / itemsize < peak / bandwidth:
        width *= 2
    return width
""",
        "the intensity grows with T, not with T²",
    ),
    (
        "ch10.tile",
        "returns in loop / missing return",
        """def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < peak / bandwidth:
        width *= 2
""",
        "it returns nothing",
    ),
    (
        "ch10.tile",
        "integer division",
        """def tile(peak, bandwidth, itemsize):
    width = 1
    while width // itemsize < peak // bandwidth:
        width *= 2
    return width
""",
        "no fraction is left",
    ),
]
