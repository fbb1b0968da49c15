"""Wrong answers to lab01.mirror."""

KEY = "lab01.mirror"

RIGHT = """
@cuda.jit
def mirror(x, out):
    rows, columns = x.shape
    column, row = cuda.grid(2)
    if row < rows and column < columns:
        out[row, column] = x[row, columns - 1 - column]
"""
BODY = RIGHT[RIGHT.index("    column, row") :]
ONE = """    if cuda.grid(2) == (0, 0):
        for row in range(rows):
            for column in range(columns):
                out[row, column] = x[row, columns - 1 - column]
"""
LANES = """    column, row = cuda.grid(2)
    if row < rows and column % 32 == 0:
        for k in range(column, min(columns, column + 32)):
            out[row, k] = x[row, columns - 1 - k]
"""


TURNED = "row and column have changed places"
ONE_BLOCK = """    if cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0:
        for row in range(cuda.threadIdx.y, rows, cuda.blockDim.y):
            for column in range(cuda.threadIdx.x, columns, cuda.blockDim.x):
                out[row, column] = x[row, columns - 1 - column]
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "    pass\n")), "nothing is written yet"),
    ("one beside", but(("columns - 1 - column", "columns - column")), "a column beside the right one"),
    ("no guard", but(("row < rows and column < columns", "True")), "a guard is missing"),
    ("no guard to the right", but((" and column < columns", "")), "a guard is missing"),
    ("no guard below", but(("row < rows and ", "")), "a guard is missing"),
    ("upside down", but(("x[row, columns - 1 - column]", "x[rows - 1 - row, column]")), "the image is upside down"),
    ("half a turn", but(("x[row,", "x[rows - 1 - row,")), "turned by half a turn"),
    ("a copy", but(("columns - 1 - column", "column")), "copied, not mirrored"),
    (
        "guards swapped",
        but(("row < rows and column < columns", "row < min(rows, columns) and column < min(rows, columns)")),
        "the guard swaps rows and columns",
    ),
    ("x is the row", but(("column, row =", "row, column =")), "x is the row"),
    ("one thread does it all", but((BODY, ONE)), "more requests than it takes"),
    ("one lane a warp", but((BODY, LANES)), "more requests than it takes"),
    (
        "a row for every thread",
        but((BODY, ONE.replace("if cuda.grid(2) == (0, 0)", "if True"))),
        "more requests than it takes",
    ),
    ("whole blocks only", but(("column < columns", "column < columns // 32 * 32")), "the end is not written"),
    (
        "the public sizes only",
        but(
            ("columns - 1 - column]", "columns - 1 - column] if columns in (1, 70, 37, 13, 64, 200) else np.float32(0)")
        ),
        "right in the public cases only",
    ),
    ("row and column swapped in x", but(("x[row, columns - 1 - column]", "x[columns - 1 - column, row]")), TURNED),
    ("row and column swapped in out", but(("out[row, column]", "out[column, row]")), TURNED),
    (
        "each block by itself",
        but(("x[row, columns - 1 - column]", "x[row, cuda.blockIdx.x * 32 + 31 - cuda.threadIdx.x]")),
        "each block mirrors its own part",
    ),
    (
        "guards the wrong way round",
        but(("row < rows and column < columns", "row < columns and column < rows")),
        "the guard swaps rows and columns",
    ),
    ("shape the wrong way round", but(("rows, columns =", "columns, rows =")), "the guard swaps rows and columns"),
    ("len for columns", but(("columns - 1 - column", "len(x) - 1 - column")), "the guard swaps rows and columns"),
    ("one row too many", but(("row < rows", "row <= rows")), "a guard is missing"),
    (
        "the place in the block",
        but(("cuda.grid(2)", "cuda.threadIdx.x, cuda.threadIdx.y")),
        "every block does the work of block 0",
    ),
    (
        "four columns for each thread",
        but(
            (
                BODY,
                "    first, row = cuda.grid(2)\n    for column in range(4 * first, 4 * first + 4):\n        "
                "if row < rows and column < columns:\n            out[row, column] = x[row, columns - 1 - column]\n",
            )
        ),
        "each thread has a run of its own",
    ),
    ("a result returned", but(("out[row, column] =", "return")), "it does not compile"),
    ("one block does it all", but((BODY, ONE_BLOCK)), "few do the work of all"),
    ("in place", but(("out[row, column] = x", "x[row, column] = x")), "stored in x, not in out"),
    (
        "out into x",
        but(("out[row, column] = x[row, columns - 1 - column]", "x[row, columns - 1 - column] = out[row, column]")),
        "stored in x, not in out",
    ),
    ("added", but(("out[row, column] =", "out[row, column] +=")), "what nobody has written is read"),
    ("from the end, as 0 counts", but(("columns - 1 - column", "-column")), "a column beside the right one"),
    ("two from the end", but(("columns - 1 - column", "columns - 2 - column")), "a column beside the right one"),
    (
        "as wide as the grid",
        but(("columns - 1 - column", "cuda.gridsize(2)[0] - 1 - column")),
        "a column beside the right one",
    ),
    ("half of the columns", but(("column < columns", "column < columns // 2")), "one half of the image"),
    (
        "pairs, and not the middle",
        but(
            ("column < columns", "column < columns // 2"),
            (
                BODY[BODY.index("        out") :],
                BODY[BODY.index("        out") :] + "        out[row, columns - 1 - column] = x[row, column]\n",
            ),
        ),
        "one half of the image",
    ),
    (
        "y in x's place",
        but(
            (
                "column, row = cuda.grid(2)",
                "column = cuda.blockIdx.x * 32 + cuda.threadIdx.y\n    row = cuda.blockIdx.y * 8 + cuda.threadIdx.x",
            )
        ),
        "another place in the grid",
    ),
    (
        "the other size of a block",
        but(
            (
                "column, row = cuda.grid(2)",
                "column = cuda.blockIdx.x * 8 + cuda.threadIdx.x\n    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y",
            )
        ),
        "another place in the grid",
    ),
    (
        "places in one dimension",
        but(("column, row = cuda.grid(2)", "row, column = divmod(cuda.grid(1), columns)")),
        "another place in the grid",
    ),
    ("whole numbers", but(("x[row, columns - 1 - column]", "int(x[row, columns - 1 - column])")), "fractions are lost"),
]
