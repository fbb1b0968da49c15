"""Wrong answers to lab03.follow."""

KEY = "lab03.follow"

RIGHT = '''FOLLOW = r"""extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float weight) {
    __shared__ float tile[32][33];
    int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
    float now;
    for (int first = 0; first < n; first += 32) {
        int wide = min(32, n - first);
        for (int r = 0; r < here; ++r)
            if (t < wide) tile[r][t] = x[(top + r) * n + first + t];
        __syncthreads();
        if (t < here) {
            if (first == 0) now = tile[t][0];
            for (int k = 0; k < wide; ++k) tile[t][k] = now += weight * (tile[t][k] - now);
        }
        __syncthreads();
        for (int r = 0; r < here; ++r)
            if (t < wide) out[(top + r) * n + first + t] = tile[r][t];
    }
}"""
follow = cp.RawKernel(FOLLOW, "follow")
'''
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
SYNC = "        __syncthreads();\n"
DIRECT = """    int row = 32 * blockIdx.x + threadIdx.x;
    if (row >= rows) return;
    float now = x[row * n];
    for (int k = 0; k < n; ++k) out[row * n + k] = now += weight * (x[row * n + k] - now);
"""
ONE = """    if (blockIdx.x + threadIdx.x == 0)
        for (int row = 0; row < rows; ++row) {
            float now = x[row * n];
            for (int k = 0; k < n; ++k) out[row * n + k] = now += weight * (x[row * n + k] - now);
        }
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is written yet"),
    ("room for one row", but("tile[32][33]", "tile[1][33]"), "a thread reached past the tile"),
    (
        "a barrier among threads with a row",
        but(SYNC + "        for", "        for").replace(
            "(tile[t][k] - now);\n", "(tile[t][k] - now);\n            __syncthreads();\n"
        ),
        "a barrier that not every thread reaches",
    ),
    ("walks to the end of the tile", but("k < wide; ++k", "k < 32; ++k"), "reads what no thread has loaded"),
    ("every thread walks", but("if (t < here)", "if (t < 32)"), "reads what no thread has loaded"),
    ("no barrier before the walk", but(SYNC, ""), "a barrier is missing"),
    ("no barrier after the walk", but(SYNC + "        for", "        for"), "a barrier is missing"),
    ("no guard for rows", but("here = min(32, rows - top)", "here = 32"), "a guard is missing or does not fit"),
    ("from zero", but("if (first == 0) now = tile[t][0]", "if (first == 0) now = 0"), "begins at 0"),
    ("anew in each tile", but("if (first == 0) now", "now"), "each tile begins anew"),
    ("one tile only", but("first < n;", "first < min(n, 32);"), "tiles are left out"),
    ("no tile", but(BODY, DIRECT), "lanes that stride over memory"),
    ("one thread does it all", but(BODY, ONE), "lanes that stride over memory"),
    ("no padding", but("[32][33]", "[32][32]"), "lanes that meet in a bank"),
    (
        "the public weights only",
        but(
            "float now;",
            "float now; if (n != 1 && n != 70 && n != 37 && n != 32 && n != 95 && n != 160) weight = 1 - weight;",
        ),
        "right in the public cases only",
    ),
    (
        "rows of out as far apart as there are rows",
        but("out[(top + r) * n", "out[(top + r) * rows"),
        "two threads store to one element",
    ),
    (
        "rows of x as far apart as there are rows",
        but("x[(top + r) * n", "x[(top + r) * rows"),
        "a guard is missing or does not fit",
    ),
    (
        "gone without a row",
        but("    float now;\n", "    float now;\n    if (t >= here) return;\n"),
        "threads left before they had helped to fill the tile",
    ),
    ("a weight of its own", RIGHT.replace("weight * (", "0.25f * ("), "the weight is another one"),
    (
        "the weight on the other side",
        but("now += weight * (tile[t][k] - now)", "now = weight * now + (1 - weight) * tile[t][k]"),
        "the weight is on the other side",
    ),
    ("ends one column too early", but("k < wide", "k < wide - 1"), "a column of each tile is skipped"),
    ("begins one column too late", but("int k = 0", "int k = 1"), "a column of each tile is skipped"),
    ("nothing left in the tile", but("tile[t][k] = now +=", "now +="), "the elements come out as they were"),
    ("whole tiles only", but("first < n;", "first + 32 <= n;"), "tiles are left out"),
    (
        "down the columns",
        RIGHT.replace("tile[t][k]", "tile[k][t]").replace("tile[t][0]", "tile[0][t]"),
        "reads what no thread has loaded",
    ),
    (
        "two rows a request, in one bank",
        but(
            "r = 0; r < here; ++r)\n            if (t < wide) tile[r][t] =",
            "r = t / 16; r < here; r += 2)\n            for (int c = t % 16; c < wide; c += 16) tile[r][c] =",
        )
        .replace("first + t];\n        __sync", "first + c];\n        __sync", 1)
        .replace("= tile[r][t];\n", "= tile[r][t];\n        __syncthreads();\n"),
        "lanes that meet in a bank",
    ),
    (
        "half and half",
        RIGHT.replace("now += weight * (tile[t][k] - now)", "now = (now + tile[t][k]) / 2"),
        "the weight is another one",
    ),
    ("away", but("now += weight", "now -= weight"), "the average moves away"),
    ("a tile of integers", but("float tile", "int tile"), "fractions are lost"),
    ("an average of type int", but("float now", "int now"), "fractions are lost"),
    (
        "loaded from the first columns",
        but("x[(top + r) * n + first + t]", "x[(top + r) * n + t]"),
        "the first tile again and again",
    ),
    (
        "stored to the first columns",
        but("out[(top + r) * n + first + t]", "out[(top + r) * n + t]"),
        "the first tile again and again",
    ),
    ("a row further for each block", but("top = 32 * blockIdx.x", "top = blockIdx.x"), "rows are left out"),
]
