"""Wrong answers to the exercises of chapter 07."""

HEADS = {
    "ch07.row_max": "row_max(const float* x, float* out, int n)",
    "ch07.exclusive": "exclusive(const int* x, int* out)",
}

_MAX = """{{
    __shared__ float s[32];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    float best = {start};
    {load}
    for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
    if (t % 32 == 0) s[t / 32] = best;
    {sync}
    if (t < 32) {{
        best = {mine};
        for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
        if (t == 0) out[blockIdx.x] = best;
    }}
}}"""
_ALL = "for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, row[i]);"
_SYNC = "__syncthreads();"
_FOUR = "s[t % 4]"


def _row_max(start="row[0]", load=_ALL, sync=_SYNC, mine=_FOUR) -> str:
    return _MAX.format(start=start, load=load, sync=sync, mine=mine)


_DOT = """def dot(x, y, out):
    s = cuda.shared.array(32, "float32")
    t, total = cuda.threadIdx.x, 0.0
    {loop}
    {shuffles}
    {store}
    {sync}
    {end}"""
_LOOP = "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n        total += x[i] * y[i]"
_SHUFFLES = "for d in (16, 8, 4, 2, 1):\n        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)"
_STORE = "if t % 32 == 0:\n        s[t // 32] = total"
_END = "if t == 0:\n        cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])"


def _dot(loop=_LOOP, shuffles=_SHUFFLES, store=_STORE, sync="cuda.syncthreads()", end=_END) -> str:
    return _DOT.format(loop=loop, shuffles=shuffles, store=store, sync=sync, end=end)


_STARTER = """def dot(x, y, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, 0, x[i] * y[i])"""
_ONE_THREAD = """def dot(x, y, out):
    if cuda.grid(1) == 0:
        total = 0.0
        for i in range(x.size):
            total += x[i] * y[i]
        out[0] = total"""
_TREE = """def dot(x, y, out):
    s = cuda.shared.array(128, "float32")
    t, half = cuda.threadIdx.x, 64
    s[t] = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s[t] += x[i] * y[i]
        cuda.syncthreads()
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])"""

_SCAN = """{{
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    {loop}
    out[t] = {out};
}}"""
_STEPS = """for (int d = 1; d < n; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }"""
_SHIFTED = "t > 0 ? s[t - 1] : 0"


def _scan(loop=_STEPS, out=_SHIFTED) -> str:
    return _SCAN.format(loop=loop, out=out)


_BLELLOCH = """for (int d = n / 2; d > 0; d /= 2) {
        int b = n - 1 - (n / (2 * d)) * 0 - 0;
        b = 0;
        int k = (t + 1) * (n / d) - 1;
        if (k < n) s[k] += s[k - n / (2 * d)];
        __syncthreads();
    }
    if (t == 0) s[n - 1] = 0;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int k = (t + 1) * (n / d) - 1;
        if (k < n && t < d) { int left = s[k - n / (2 * d)]; s[k - n / (2 * d)] = s[k]; s[k] += left; }
        __syncthreads();
    }""".replace("        int b = n - 1 - (n / (2 * d)) * 0 - 0;\n        b = 0;\n", "")
_WARPS = """{
    int t = threadIdx.x, lane = t % 32, v = x[t], mine = v;
    int lanes = min(32, (int)blockDim.x - t / 32 * 32);
    unsigned mask = lanes < 32 ? (1u << lanes) - 1 : 0xffffffff;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(mask, v, d);
        if (lane >= d) v += left;
    }
    out[t] = v - mine;
}"""

ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch07.row_max", "empty", "{}", "nothing is written yet"),
    ("ch07.row_max", "from zero", _row_max(start="0"), "zero is taken for the least"),
    ("ch07.row_max", "no loop", _row_max(load="if (t < n) best = row[t];"), "one element a thread"),
    (
        "ch07.row_max",
        "one warp",
        "{ int t = threadIdx.x; float best = x[blockIdx.x * n];\n"
        "for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, x[blockIdx.x * n + i]);\n"
        "for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));\n"
        "if (t == 0) out[blockIdx.x] = best; }",
        "the greatest of one warp",
    ),
    ("ch07.row_max", "no barrier", _row_max(sync=""), "no barrier between the warps"),
    ("ch07.row_max", "all 32 of s", _row_max(mine="s[t]"), "shared memory that nobody has written"),
    (
        "ch07.row_max",
        "a shuffle in an if",
        _row_max(load="if (t < n) { " + _ALL + " best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, 1)); }"),
        "a shuffle that not all lanes reach",
    ),
    (
        "ch07.row_max",
        "one thread",
        "{ if (threadIdx.x > 0) return; float best = x[blockIdx.x * n];\n"
        "for (int i = 0; i < n; ++i) best = fmaxf(best, x[blockIdx.x * n + i]); out[blockIdx.x] = best; }",
        "a request brings one element",
    ),
    (
        "ch07.row_max",
        "a tree",
        "{ __shared__ float s[128]; int t = threadIdx.x; float best = x[blockIdx.x * n];\n"
        "for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, x[blockIdx.x * n + i]);\n"
        "s[t] = best; for (int d = 64; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] = fmaxf(s[t], s[t + d]); }\n"
        "if (t == 0) out[blockIdx.x] = s[0]; }",
        "a tree in shared memory",
    ),
    ("ch07.row_max", "from a tiny number", _row_max(start="1e-38f"), "zero is taken for the least"),
    ("ch07.row_max", "the first row", _row_max(load=_ALL.replace("row[i]", "x[i]"), start="x[0]"),
     "every block takes the first row"),
    ("ch07.row_max", "up to n - 1", _row_max(load=_ALL.replace("i < n", "i < n - 1")), "the last element is left out"),
    ("ch07.row_max", "no shuffles", _row_max().replace("int d = 16; d > 0; d /= 2", "int d = 0; d > 0; d /= 2", 1),
     "lane 0 knows only itself"),
    ("ch07.row_max", "from 8", _row_max().replace("d = 16", "d = 8", 1), "a step is missing"),
    ("ch07.row_max", "down to 2", _row_max().replace("d > 0", "d > 1", 1), "a step is missing"),
    ("ch07.row_max", "the first two warps", _row_max(mine="s[t % 2]"), "a step is missing"),
    ("ch07.row_max", "every lane stores", _row_max().replace("if (t % 32 == 0) s", "s"),
     "several lanes store to one place"),
    ("ch07.row_max", "every warp writes", _row_max().replace("s[t / 32]", "out[blockIdx.x]")
        .split("__syncthreads")[0].replace("__shared__ float s[32];", "") + "}", "several threads write one result"),
    ("ch07.row_max", "out[t]", _row_max().replace("out[blockIdx.x]", "out[t]"), "all rows have one result"),
    ("ch07.row_max", "threads without an element return", _row_max(start="row[0]; if (t >= n) return"),
     "shared memory that nobody has written"),
    ("ch07.row_max", "a part of the row for each thread",
     _row_max(load="int m = (n + 127) / 128; for (int i = m * t; i < min(n, m * t + m); ++i)"
              " best = fmaxf(best, row[i]);"),
     "lanes are not on neighbouring elements"),
    ("ch07.row_max", "one warp works",
     _row_max(load="if (t < 32) for (int i = t; i < n; i += 32) best = fmaxf(best, row[i]);"),
     "few warps do the work of all"),
    (
        "ch07.dot",
        "no atomic",
        _dot(end="if t == 0:\n        out[0] += s[0] + s[1] + s[2] + s[3]"),
        "added without an atomic",
    ),
    (
        "ch07.dot",
        "guarded shuffle",
        _dot(
            shuffles="for d in (16, 8, 4, 2, 1):\n        if t < d:\n"
            "            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)"
        ),
        "a shuffle that not all lanes reach",
    ),
    (
        "ch07.dot",
        "all 32 of s",
        _dot(
            end="if t < 32:\n        total = s[t]\n        for d in (16, 8, 4, 2, 1):\n"
            "            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)\n"
            "        if t == 0:\n            cuda.atomic.add(out, 0, total)"
        ),
        "shared memory that nobody has written",
    ),
    ("ch07.dot", "no barrier", _dot(sync=""), "a barrier is missing"),
    (
        "ch07.dot",
        "no loop",
        _dot(loop="i = cuda.grid(1)\n    if i < x.size:\n        total = x[i] * y[i]"),
        "one element a thread",
    ),
    (
        "ch07.dot",
        "one warp",
        _dot(store="", sync="", end="if t == 0:\n        cuda.atomic.add(out, 0, total)"),
        "the sum of one warp",
    ),
    (
        "ch07.dot",
        "no shuffles",
        _dot(shuffles=""),
        "lane 0 knows only itself",
    ),
    (
        "ch07.dot",
        "an atomic a warp",
        _dot(store="", sync="", end="if t % 32 == 0:\n        cuda.atomic.add(out, 0, total)"),
        "an atomic for each thread or warp",
    ),
    ("ch07.dot", "as it was", _STARTER, "an atomic for each thread or warp"),
    ("ch07.dot", "=, not +=", _dot(_LOOP.replace("+=", "=")), "only the last product of each thread"),
    ("ch07.dot", "steps of a block", _dot(_LOOP.replace("gridsize(1)", "blockDim.x")), "steps of a block"),
    ("ch07.dot", "each block has all",
     _dot(_LOOP.replace("grid(1)", "threadIdx.x").replace("gridsize(1)", "blockDim.x")), "four times too much"),
    ("ch07.dot", "four lanes add", _dot(end=_END.replace("t == 0", "t % 32 == 0")), "four times too much"),
    ("ch07.dot", "all threads add", _dot(end="cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])"),
     "every thread adds the same sum"),
    ("ch07.dot", "whole numbers", _dot().replace("float32", "int32"), "the fractions are lost"),
    ("ch07.dot", "from 8", _dot(shuffles=_SHUFFLES.replace("16, ", "")), "a step is missing"),
    ("ch07.dot", "two of four warps", _dot(end=_END.replace(" + s[2] + s[3]", "")), "a step is missing"),
    ("ch07.dot", "set, not added", _dot(end=_END.replace("cuda.atomic.add(out, 0, ", "out[0] = (")),
     "added without an atomic"),
    ("ch07.dot", "a barrier in the loop", _TREE, "threads wait at different barriers"),
    ("ch07.dot", "one thread", _ONE_THREAD, "one lane of many works"),
    (
        "ch07.dot",
        "a thread a block",
        _dot("if t == 0:\n        for i in range(cuda.blockIdx.x, x.size, 4):\n            total += x[i] * y[i]"),
        "one lane of many works",
    ),
    (
        "ch07.dot",
        "a part of the vector for each thread",
        _dot("m = (x.size + 511) // 512\n    for i in range(m * cuda.grid(1), min(x.size, m * cuda.grid(1) + m)):\n"
             "        total += x[i] * y[i]"),
        "lanes are not on neighbouring elements",
    ),
    (
        "ch07.dot",
        "one block",
        _dot("if cuda.blockIdx.x > 0:\n        return\n    for i in range(t, x.size, 128):\n"
             "        total += x[i] * y[i]"),
        "few warps do the work of all",
    ),
    ("ch07.exclusive", "empty", "{}", "nothing is written yet"),
    ("ch07.exclusive", "inclusive", _scan(out="s[t]"), "inclusive, not exclusive"),
    ("ch07.exclusive", "one step", _scan(loop=""), "only the neighbour"),
    (
        "ch07.exclusive",
        "one barrier",
        _scan(_STEPS.replace("        __syncthreads();\n        s[t]", "        s[t]")),
        "read and written in one step",
    ),
    ("ch07.exclusive", "each warp", _WARPS, "each warp starts from zero"),
    (
        "ch07.exclusive",
        "the next power of two",
        _scan(
            """int size = 1; while (size < n) size *= 2;
    for (int d = size / 2; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }"""
        ),
        "shared memory that nobody has written",
    ),
    ("ch07.exclusive", "powers of two", _scan(_BLELLOCH, "s[t]"), "right for powers of two only"),
    (
        "ch07.exclusive",
        "adds all",
        "{ int sum = 0; for (int i = 0; i < threadIdx.x; ++i) sum += x[i]; out[threadIdx.x] = sum; }",
        "every thread adds all before it",
    ),
    (
        "ch07.exclusive",
        "a barrier in a branch",
        _scan(
            "for (int d = 1; d < n; d *= 2) { if (t >= d) { int left = s[t - d]; __syncthreads(); s[t] += left; }"
            " __syncthreads(); }"
        ),
        "threads wait at different barriers",
    ),
    ("ch07.exclusive", "t - 1 of thread 0", _scan(out="s[t - 1]"), "a neighbour outside the block"),
    ("ch07.exclusive", "s[t - d] of all", _scan(_STEPS.replace("t >= d ? s[t - d] : 0", "s[t - d]")),
     "a neighbour outside the block"),
    ("ch07.exclusive", "t > d", _scan(_STEPS.replace("t >= d", "t > d")), "one thread a step stands back"),
    ("ch07.exclusive", "five steps", _scan(_STEPS.replace("d < n", "d < 32")), "too few steps"),
    ("ch07.exclusive", "up to n / 2", _scan(_STEPS.replace("d < n", "d <= n / 2")), "too few steps"),
    ("ch07.exclusive", "room for 256", _scan().replace("1024", "256"), "shared memory is too small"),
    ("ch07.exclusive", "room that the launch should give",
     _scan().replace("__shared__ int s[1024]", "extern __shared__ int s[]"), "shared memory is too small"),
    ("ch07.exclusive", "from the other side",
     _scan(_STEPS.replace("t >= d ? s[t - d]", "t + d < n ? s[t + d]"), "t + 1 < n ? s[t + 1] : 0"), "from the end"),
    ("ch07.exclusive", "out[0] forgotten", _scan(out="s[t]").replace("out[t]", "if (t + 1 < n) out[t + 1]"),
     "nobody writes out[0]"),
    ("ch07.exclusive", "one thread in shared memory",
     _scan("if (t == 0) for (int k = 1; k < n; ++k) s[k] += s[k - 1];\n    __syncthreads();"),
     "one thread adds for all"),
    ("ch07.exclusive", "one thread in global memory",
     "{ if (threadIdx.x == 0) for (int sum = 0, k = 0; k < blockDim.x; ++k) { out[k] = sum; sum += x[k]; } }",
     "one thread adds for all"),
    ("ch07.exclusive", "adds all from shared memory",
     _scan("int sum = 0; for (int k = 0; k < t; ++k) sum += s[k];", "sum"), "every thread adds all before it"),
    ("ch07.exclusive", "steps in out",
     _scan().replace("__shared__ int s[1024];", "int* s = out;").replace("x[t];", _SHIFTED.replace("s[", "x[") + ";")
        .replace("out[t] = " + _SHIFTED + ";", ""), "every step goes through global memory"),
]  # fmt: skip
