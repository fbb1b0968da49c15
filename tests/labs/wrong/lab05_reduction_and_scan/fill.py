"""Wrong answers to lab05.fill."""

KEY = "lab05.fill"

RIGHT = '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int v = t < n ? x[blockIdx.x * n + t] : -1;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d && v < 0) v = left;
    }
    if (lane == 31) s[warp] = v;
    __syncthreads();
    for (int w = warp - 1; w >= 0 && v < 0; --w) v = s[w];
    if (t < n) out[blockIdx.x * n + t] = v;
}"""
fill = cp.RawKernel(FILL, "fill")
'''
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
STEPS = RIGHT[RIGHT.index("    for (int d") : RIGHT.index("    if (lane == 31)")]
JOIN = RIGHT[RIGHT.index("    if (lane == 31)") : RIGHT.index("    if (t < n) out")]
HILLIS_STEELE = """    __shared__ int a[256];
    a[t] = v;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int left = t >= d ? a[t - d] : -1;
        __syncthreads();
        if (v < 0) a[t] = v = left;
        __syncthreads();
    }
"""
WALK = """    __shared__ int a[256];
    a[t] = v;
    __syncthreads();
    for (int k = t - 1; k >= 0 && v < 0; --k) v = a[k];
"""
FIRST = """    unsigned bits = __ballot_sync(0xffffffff, v >= 0);
    int first = __shfl_sync(0xffffffff, v, bits ? __ffs(bits) - 1 : 0);
    v = bits && lane >= __ffs(bits) - 1 ? first : -1;
    if (lane == 31) s[warp] = v;
    __syncthreads();
    for (int w = warp - 1; w >= 0; --w) v = s[w] < 0 ? v : s[w];
"""
ONE_BLOCK = BODY.replace("blockIdx.x * n", "r * n").replace(
    "    int v =",
    "    if (blockIdx.x > 0) return;\n    for (int r = 0; r < gridDim.x; ++r) {\n    __syncthreads();\n    int v =",
)


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is written yet"),
    (
        "shuffles among those with an element",
        but("    for (int d", "    if (t < n) for (int d"),
        "a shuffle that not all lanes reach",
    ),
    ("lane 30 stores", but("if (lane == 31)", "if (t == 31)"), "shared memory that nobody has written"),
    ("no barrier", but("__syncthreads();", ""), "a barrier is missing"),
    ("each warp", but(JOIN, ""), "each warp begins anew"),
    (
        "one step",
        but(STEPS, "").replace(JOIN, "    if (t > 0 && t < n && v < 0) v = x[blockIdx.x * n + t - 1];\n"),
        "only the neighbour",
    ),
    ("the first reading", but(STEPS + JOIN, FIRST), "the earlier of two readings"),
    (
        "zero is a gap",
        but("lane >= d && v < 0", "lane >= d && v <= 0")
        .replace("w >= 0 && v < 0", "w >= 0 && v <= 0")
        .replace("if (lane", "if (v <= 0) v = -1;\n    if (lane", 1),
        "zero is taken for a gap",
    ),
    (
        "from the right",
        but(
            STEPS + JOIN,
            "    __shared__ int a[256];\n    a[t] = v;\n    __syncthreads();\n    for (int k = t + 1; k < n && v < 0; "
            "++k) v = a[k];\n",
        ),
        "filled from the right",
    ),
    (
        "walks back in global memory",
        but(STEPS + JOIN, "    for (int k = t - 1; k >= 0 && v < 0 && t < n; --k) v = x[blockIdx.x * n + k];\n"),
        "walks back through global memory",
    ),
    (
        "one thread a row",
        but(
            BODY,
            "    int v = -1;\n    if (threadIdx.x == 0) for (int i = blockIdx.x * n; i < (blockIdx.x + 1) * n; ++i) "
            "out[i] = v = x[i] < 0 ? v : x[i];\n",
        ),
        "walks back through global memory",
    ),
    ("a scan in shared memory", but(STEPS + JOIN, HILLIS_STEELE), "barriers at every step"),
    (
        "read and overwritten in one step",
        but(STEPS + JOIN, HILLIS_STEELE.replace("        __syncthreads();\n        if", "        if")),
        "a barrier is missing",
    ),
    ("walks back in shared memory", but(STEPS + JOIN, WALK), "walks back through shared memory"),
    ("a barrier in a branch", but("__syncthreads();", "if (t < n) __syncthreads();"), "a barrier is missing"),
    ("no guard", but("t < n ? x[blockIdx.x * n + t] : -1", "x[blockIdx.x * n + t]"), "a thread beyond its row"),
    (
        "the public widths only",
        but("if (t < n) out", "if (t < n && (n == 1 || n == 31 || n == 97 || n == 128 || n == 251 || n == 256)) out"),
        "the end of each row is not written",
    ),
    ("rows 256 apart", but("x[blockIdx.x * n + t]", "x[blockIdx.x * blockDim.x + t]"), "a thread beyond its row"),
    ("no guard for the store", but("if (t < n) out", "out"), "a thread beyond its row"),
    ("readings only", but("if (t < n) out", "if (t < n && x[blockIdx.x * n + t] >= 0) out"), "gaps are not written"),
    ("gaps left as they were", but("if (t < n) out", "if (t < n && v >= 0) out"), "gaps are not written"),
    ("room for four warps", but("s[8]", "s[4]"), "the shared array is too short"),
    (
        "threads beyond the row end",
        but(
            "    int v = t < n ? x[blockIdx.x * n + t] : -1;",
            "    if (t >= n) return;\n    int v = x[blockIdx.x * n + t];",
        ),
        "a shuffle that not all lanes reach",
    ),
    (
        "warps beyond the row end",
        but("    int v = t <", "    if (warp * 32 >= n) return;\n    int v = t <"),
        "threads that never come to the barrier",
    ),
    (
        "one warp back",
        but("for (int w = warp - 1; w >= 0 && v < 0; --w) v = s[w]", "if (warp > 0 && v < 0) v = s[warp - 1]"),
        "only the nearest warp is asked",
    ),
    (
        "warps from the first on",
        but("int w = warp - 1; w >= 0 && v < 0; --w", "int w = 0; w < warp && v < 0; ++w"),
        "the warp furthest back is asked first",
    ),
    ("four steps", but("d < 32;", "d < 16;"), "a reading comes 15 elements far"),
    ("one block does it all", but(BODY, ONE_BLOCK + "    }\n"), "few do the work of all"),
    (
        "0 where nothing is known",
        but("out[blockIdx.x * n + t] = v;", "out[blockIdx.x * n + t] = max(v, 0);"),
        "open gaps hold something else",
    ),
    ("row 0 for all", but("x[blockIdx.x * n + t]", "x[t]"), "every row gets the first one"),
    ("lane 0 hands on", but("lane == 31", "lane == 0"), "another lane than the last hands on"),
    (
        "stored ahead of the scan",
        but("    if (lane == 31) s[warp] = v;\n", "").replace(
            "    for (int d", "    if (lane == 31) s[warp] = v;\n    for (int d", 1
        ),
        "handed on before the scan",
    ),
    ("its own warp first", but("int w = warp - 1;", "int w = warp;"), "a warp asks itself"),
    ("whether a gap or not", but("if (lane >= d && v < 0)", "if (lane >= d)"), "readings give way"),
    (
        "the greater of the two",
        but("if (lane >= d && v < 0) v = left;", "if (lane >= d) v = max(v, left);").replace(
            "for (int w = warp - 1; w >= 0 && v < 0; --w) v = s[w]",
            "for (int w = warp - 1; w >= 0; --w) v = max(v, s[w])",
        ),
        "the greatest so far",
    ),
    ("shuffles down", but("shfl_up", "shfl_down").replace("lane >= d", "lane + d < 32"), "filled from the right"),
    ("a mask of 16 lanes", but("0xffffffff", "0x0000ffff"), "a mask without the lane itself"),
    ("one place for all warps", but("s[warp] = v", "s[0] = v"), "several threads store to one place"),
]
