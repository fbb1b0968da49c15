"""Wrong answers to the exercises of chapter 05."""

HEADS = {"ch05.stencil": "stencil(const float* x, float* out, int n)"}

TRANSPOSE = """def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]"""
STENCIL = """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}"""
MATMUL = """def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total"""


def but(text: str, *changes: tuple[str, str], last: bool = False) -> str:
    """A right answer with parts replaced, the first place of each (or the `last`); each part must be there."""
    for old, new in changes:
        assert old in text, old
        head, tail = text.rsplit(old, 1) if last else text.split(old, 1)
        text = head + new + tail
    return text


BARRIER = "    cuda.syncthreads()\n"
GUARD_OUT = "row < out.shape[0] and column < out.shape[1]"
ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch05.transpose",
        "no tile",
        "def transpose(x, out):\n    column, row = cuda.grid(2)\n    if row < x.shape[0] and column < x.shape[1]:\n"
        "        out[column, row] = x[row, column]",
        "lanes that stride over memory",
    ),
    (
        "ch05.transpose",
        "no padding",
        but(TRANSPOSE, ("(32, 33)", "(32, 32)")),
        "a column of the tile lies in one bank",
    ),
    (
        "ch05.transpose",
        "an even padding, turned at the store into the tile",
        but(
            TRANSPOSE, ("(32, 33)", "(32, 34)"), ("tile[ty, tx]", "tile[tx, ty]"), ("= tile[tx, ty]", "= tile[ty, tx]")
        ),
        "a column of the tile lies in one bank",
    ),
    ("ch05.transpose", "no barrier", but(TRANSPOSE, (BARRIER, "")), "a barrier is missing"),
    (
        "ch05.transpose",
        "barrier in the guard",
        but(TRANSPOSE, (BARRIER, "    " + BARRIER)),
        "a barrier that not every thread reaches",
    ),
    (
        "ch05.transpose",
        "not turned inside",
        but(TRANSPOSE, ("= tile[tx, ty]", "= tile[ty, tx]")),
        "the tiles moved, and none was turned",
    ),
    (
        "ch05.transpose",
        "blocks not swapped",
        but(
            TRANSPOSE,
            (
                "32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx",
                "32 * cuda.blockIdx.y + ty, 32 * cuda.blockIdx.x + tx",
            ),
        ),
        "each tile was turned where it stood",
    ),
    ("ch05.transpose", "no guard", but(TRANSPOSE, (GUARD_OUT, "True")), "no guard"),
    (
        "ch05.transpose",
        "one guard",
        but(
            TRANSPOSE,
            (
                "    column, row = cuda.grid(2)\n",
                "    column, row = cuda.grid(2)\n    inside = row < x.shape[0] and column < x.shape[1]\n",
            ),
            (GUARD_OUT, f"inside and {GUARD_OUT}"),
        ),
        "one guard for the load and the store",
    ),
    ("ch05.transpose", "a tile of doubles", but(TRANSPOSE, ('"float32"', '"float64"')), "the tile holds doubles"),
    ("ch05.transpose", "a tile of 16 × 16", but(TRANSPOSE, ("(32, 33)", "(16, 16)")), "the tile is too small"),
    (
        "ch05.transpose",
        "padded by a row",
        but(TRANSPOSE, ("(32, 33)", "(33, 32)")),
        "a column of the tile lies in one bank",
    ),
    ("ch05.stencil", "a tile without room for the halo", but(STENCIL, ("[136]", "[128]")), "the tile is too small"),
    (
        "ch05.stencil",
        "dynamic, with no bytes given",
        but(STENCIL, ("__shared__ float tile[136]", "extern __shared__ float tile[]")),
        "the tile is too small",
    ),
    ("ch05.stencil", "eight elements", but(STENCIL, ("k < 9", "k < 8")), "a window of the wrong length or off centre"),
    (
        "ch05.stencil",
        "no step back",
        but(STENCIL, ("first - 4 + j", "first + j")),
        "a window of the wrong length or off centre",
    ),
    (
        "ch05.stencil",
        "clamped",
        but(STENCIL, ("0 <= i && i < n ? x[i] : 0", "x[min(max(i, 0), n - 1)]")),
        "the edges are repeated",
    ),
    ("ch05.stencil", "empty", "{}", "nothing is written yet"),
    (
        "ch05.stencil",
        "no tile",
        "{ INDEX if (i < n) { float s = 0; for (int j = max(0, i - 4); j <= min(n - 1, i + 4); ++j) s += x[j];"
        " out[i] = s; } }",
        "every neighbour comes from global memory",
    ),
    (
        "ch05.stencil",
        "no halo",
        but(STENCIL, ("0 <= i && i < n", "first <= i && i < min(n, first + 128)")),
        "the tile has no halo",
    ),
    (
        "ch05.stencil",
        "halo on the left only",
        but(STENCIL, ("i < n ?", "i < min(n, first + 128) ?")),
        "the halo is missing on one side",
    ),
    (
        "ch05.stencil",
        "halo on the right only",
        but(STENCIL, ("0 <= i", "first <= i")),
        "the halo is missing on one side",
    ),
    ("ch05.stencil", "no guard", but(STENCIL, ("0 <= i && i < n ? x[i] : 0", "x[i]")), "no guard"),
    ("ch05.stencil", "no barrier", but(STENCIL, ("    __syncthreads();\n", "")), "a barrier is missing"),
    (
        "ch05.stencil",
        "nothing for what lies outside",
        but(STENCIL, ("tile[j] = 0 <= i && i < n ? x[i] : 0;", "if (0 <= i && i < n) tile[j] = x[i];")),
        "a part of the tile is never filled",
    ),
    (
        "ch05.stencil",
        "gone before the barrier",
        but(STENCIL, ("    for (int j = t;", "    if (first + t >= n) return;\n    for (int j = t;")),
        "threads left before they had helped to fill the tile",
    ),
    (
        "ch05.stencil",
        "barrier in the loop that fills",
        but(
            STENCIL,
            ("? x[i] : 0;\n", "? x[i] : 0;\n        __syncthreads();\n"),
            ("    }\n    __syncthreads();\n", "    }\n"),
        ),
        "a barrier that not every thread reaches",
    ),
    (
        "ch05.matmul",
        "no tile",
        "def matmul(a, b, c):\n    column, row = cuda.grid(2)\n    if row < c.shape[0] and column < c.shape[1]:\n"
        "        total = 0.0\n        for k in range(a.shape[1]):\n            total += a[row, k] * b[k, column]\n"
        "        c[row, column] = total",
        "straight from global memory",
    ),
    (
        "ch05.matmul",
        "the sum begins again",
        but(MATMUL, ("    total = 0.0\n", ""), ("16):\n", "16):\n        total = 0.0\n")),
        "only the last round counts",
    ),
    (
        "ch05.matmul",
        "rounds that step by one",
        but(MATMUL, ("a.shape[1], 16)", "a.shape[1])")),
        "tiles that do not meet",
    ),
    (
        "ch05.matmul",
        "x where y belongs",
        but(MATMUL, ("b[k + y, column] if k + y <", "b[k + x, column] if k + x <")),
        "tiles that do not meet",
    ),
    (
        "ch05.matmul",
        "a's tile turned",
        but(MATMUL, ("mine[y, x]", "mine[x, y]"), ("mine[y, j]", "mine[j, y]")),
        "a tile is filled or read down its columns",
    ),
    (
        "ch05.matmul",
        "a tile of 8 × 8",
        but(MATMUL, ("(16, 16)", "(8, 8)")),
        "the tile is too small",
    ),
    ("ch05.matmul", "first barrier missing", but(MATMUL, ("    " + BARRIER, "")), "a barrier is missing"),
    ("ch05.matmul", "second barrier missing", but(MATMUL, ("    " + BARRIER, ""), last=True), "a barrier is missing"),
    (
        "ch05.matmul",
        "whole tiles only",
        but(MATMUL, ("range(0, a.shape[1], 16)", "range(0, a.shape[1] // 16 * 16, 16)")),
        "the last tile is dropped",
    ),
    (
        "ch05.matmul",
        "no guard",
        but(MATMUL, ("a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0", "a[row, k + x]")),
        "no guard",
    ),
    (
        "ch05.matmul",
        "nothing outside",
        but(
            MATMUL,
            (
                "mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0",
                "if row < a.shape[0] and k + x < a.shape[1]:\n            mine[y, x] = a[row, k + x]",
            ),
        ),
        "a part of the tile is never filled",
    ),
    (
        "ch05.matmul",
        "zeros at first, then what was there before",
        but(
            MATMUL,
            ("    for k in", "    mine[y, x] = 0.0\n    for k in"),
            (
                "mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0",
                "if row < a.shape[0] and k + x < a.shape[1]:\n            mine[y, x] = a[row, k + x]",
            ),
            (
                "yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0",
                "if k + y < b.shape[0] and column < b.shape[1]:\n            yours[y, x] = b[k + y, column]",
            ),
            ("    for k in", "    yours[y, x] = 0.0\n    for k in"),
        ),
        "what lies outside is not 0",
    ),
    (
        "ch05.matmul",
        "gone before the barrier",
        but(
            MATMUL,
            (
                "    total = 0.0\n",
                "    if row >= c.shape[0] or column >= c.shape[1]:\n        return\n    total = 0.0\n",
            ),
        ),
        "threads left before they had helped to fill the tile",
    ),
    (
        "ch05.matmul",
        "barrier in a guard",
        but(MATMUL, ("        cuda.syncthreads()\n", "        if row < a.shape[0]:\n            cuda.syncthreads()\n")),
        "a barrier that not every thread reaches",
    ),
    (
        "ch05.transpose",
        "all rows fill one",
        but(TRANSPOSE, ("tile[ty, tx]", "tile[0, tx]")),
        "several threads fill one element",
    ),
    (
        "ch05.matmul",
        "all rows fill one",
        but(MATMUL, ("mine[y, x] =", "mine[0, x] =")),
        "several threads fill one element",
    ),
]
