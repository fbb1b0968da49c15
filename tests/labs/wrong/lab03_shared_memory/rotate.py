"""Wrong answers to lab03.rotate."""

KEY = "lab03.rotate"

RIGHT = '''ROTATE = r"""extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns) {
    __shared__ float tile[32][33];
    int t = threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < rows && left + t < columns) tile[y][t] = x[(top + y) * columns + left + t];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < columns && top + t < rows) out[(left + y) * rows + rows - 1 - (top + t)] = tile[t][y];
}"""
rotate = cp.RawKernel(ROTATE, "rotate")
'''
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
LOAD_GUARD, STORE_GUARD = "if (top + y < rows && left + t < columns) ", "if (left + y < columns && top + t < rows) "
PLACE = "(left + y) * rows + rows - 1 - (top + t)"
DIRECT = """    int t = threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < rows && left + t < columns)
            out[(left + t) * rows + rows - 1 - (top + y)] = x[(top + y) * columns + left + t];
"""
ONE = """    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0)
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) out[c * rows + rows - 1 - r] = x[r * columns + c];
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is written yet"),
    ("a tile of the block's size", but("tile[32][33]", "tile[8][33]"), "a thread reached past the tile"),
    ("no barrier", but("__syncthreads();", ""), "a barrier is missing"),
    (
        "a barrier under a guard",
        but("__syncthreads();", "if (top + threadIdx.y < rows && left + t < columns) __syncthreads();"),
        "a barrier that not every thread reaches",
    ),
    ("one row a thread is loaded", but("y < 32; y += 8", "y < 8; y += 8"), "a part of the tile is never filled"),
    ("no guard at the store", but(STORE_GUARD, ""), "a guard is missing or does not fit"),
    ("no guard at the load", but(LOAD_GUARD, ""), "a guard is missing or does not fit"),
    ("to the left", but(PLACE, "(columns - 1 - left - y) * rows + top + t"), "turned the other way"),
    ("transposed", but(PLACE, "(left + y) * rows + top + t"), "transposed, not turned"),
    ("one guard for both", but(STORE_GUARD, STORE_GUARD[:-2] + " && " + LOAD_GUARD[4:]), "some of a tile is left out"),
    ("no tile", but(BODY, DIRECT), "lanes that stride over memory"),
    ("one thread does it all", but(BODY, ONE), "lanes that stride over memory"),
    ("no padding", but("[32][33]", "[32][32]"), "lanes that meet in a bank"),
    ("even padding", but("[32][33]", "[32][34]"), "lanes that meet in a bank"),
    (
        "the public shapes only",
        but(
            STORE_GUARD,
            STORE_GUARD[:-2] + " && (rows == 1 || columns == 1 || rows * columns == 481 ||"
            " rows * columns == 2048 || rows * columns == 3135 || rows == 96)) ",
        ),
        "some of a tile is left out",
    ),
    (
        "rows of out as far apart as those of x",
        but("(left + y) * rows", "(left + y) * columns"),
        "two threads store to one element",
    ),
    ("the tile is not turned", but("tile[t][y];", "tile[y][t];"), "the tiles moved, and none was turned"),
    ("one column too far", but("rows - 1 - (top", "rows - (top"), "a guard is missing or does not fit"),
    ("guards with <=", but("top + y < rows", "top + y <= rows"), "a guard is missing or does not fit"),
    ("a loop over 33 rows", but("y < 32", "y <= 32"), "a thread reached past the tile"),
    ("both indices run backwards", but(PLACE, "(columns - 1 - left - y) * rows + rows - 1 - top - t"), "mirrored, too"),
    (
        "half a turn",
        but(
            STORE_GUARD + "out[" + PLACE + "] = tile[t][y]",
            LOAD_GUARD + "out[rows * columns - 1 - (top + y) * columns - left - t] = tile[y][t]",
        ),
        "every pixel in another place",
    ),
    ("a tile of integers", but("float tile", "int tile"), "fractions are lost"),
    (
        "gone before the store",
        but(
            "top = 32 * blockIdx.y;\n",
            "top = 32 * blockIdx.y;\n    if (left + t >= columns) return;\n",
        ),
        "some of a tile is left out",
    ),
    ("a barrier of the warp", but("__syncthreads", "__syncwarp"), "a barrier is missing"),
    (
        "every row of threads fills the rest",
        RIGHT.replace("y += 8", "y += 1"),
        "two threads fill one element of the tile",
    ),
]
