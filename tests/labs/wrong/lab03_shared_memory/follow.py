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
    ("room for one row", but("tile[32][33]", "tile[1][33]"), "the tile is too small"),
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
    ("no guard for rows", but("here = min(32, rows - top)", "here = 32"), "no guard"),
    ("from zero", but("if (first == 0) now = tile[t][0]", "if (first == 0) now = 0"), "begins at 0"),
    ("anew in each tile", but("if (first == 0) now", "now"), "each tile begins anew"),
    ("one tile only", but("first < n;", "first < min(n, 32);"), "only the first tile"),
    ("no tile", but(BODY, DIRECT), "lanes that stride over memory"),
    ("one thread does it all", but(BODY, ONE), "lanes that stride over memory"),
    ("no padding", but("[32][33]", "[32][32]"), "a column of the tile lies in one bank"),
    (
        "the public weights only",
        but(
            "float now;", "float now; if (n != 1 && n != 70 && n != 37 && n != 32 && n != 95 && n != 160) weight = 0.5;"
        ),
        "right in the public cases only",
    ),
]
