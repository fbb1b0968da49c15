"""Wrong answers to lab05.total."""

KEY = "lab05.total"

RIGHT = '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w) sum += s[w];
        atomicAdd(out, sum);
    }
}"""
total = cp.RawKernel(TOTAL, "total")
'''
LOOP = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];"
SHUFFLES = "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);"
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
WARPS = "for (int w = 1; w < blockDim.x / 32; ++w) sum += s[w];"
TREE = """__shared__ float s[1024];
    int t = threadIdx.x;
    float sum = 0;
    LOOP
    s[t] = sum;
    for (int width = blockDim.x, half; width > 1; width = half) {
        half = (width + 1) / 2;
        __syncthreads();
        if (t < width / 2) s[t] += s[t + half];
    }
    if (t == 0) atomicAdd(out, s[0]);
""".replace("LOOP", LOOP)
ONE_WARP = f"""float sum = 0;
    if (threadIdx.x >= 32) return;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) sum += x[i];
    {SHUFFLES}
    if (threadIdx.x == 0) atomicAdd(out, sum);
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is added yet"),
    (
        "a shuffle in the loop",
        but(LOOP, LOOP.replace("sum += x[i]", "sum += __shfl_xor_sync(0xffffffff, x[i], 0)")),
        "a shuffle that not all lanes reach",
    ),
    ("no lane stores", but("if (t % 32 == 0) s[t / 32] = sum;", ""), "shared memory that nobody has written"),
    (
        "four warps taken for granted",
        but(WARPS, "sum = s[0] + s[1] + s[2] + s[3];"),
        "shared memory that nobody has written",
    ),
    ("no barrier", but("__syncthreads();", ""), "a barrier is missing"),
    ("room for four warps", but("s[32]", "s[4]"), "room for a few warps only"),
    ("no atomic", but("atomicAdd(out, sum)", "*out += sum"), "added without an atomic"),
    ("the last block wins", but("atomicAdd(out, sum)", "*out = sum"), "added without an atomic"),
    ("no loop", but(LOOP, "int i = blockIdx.x * blockDim.x + t; if (i < n) sum = x[i];"), "one element a thread"),
    ("one warp", but(WARPS, ""), "the sum of one warp"),
    ("no shuffles", but(SHUFFLES, ""), "lane 0 knows only itself"),
    (
        "one thread does it all",
        but(
            BODY,
            "if (blockIdx.x == 0 && threadIdx.x == 0) { float sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; *out "
            "= sum; }\n",
        ),
        "lanes that do not read neighbours",
    ),
    (
        "a piece for each thread",
        but(
            LOOP,
            "int each = (n - 1) / (gridDim.x * blockDim.x) + 1, i = (blockIdx.x * blockDim.x + t) * each; for (int k "
            "= i; k < min(n, i + each); ++k) sum += x[k];",
        ),
        "lanes that do not read neighbours",
    ),
    (
        "a tree that halves",
        but(BODY, TREE).replace("half = (width + 1) / 2", "half = width / 2"),
        "right for powers of two only",
    ),
    ("a tree", but(BODY, TREE), "a tree in shared memory"),
    (
        "an atomic a warp",
        but(BODY, f"int t = threadIdx.x; float sum = 0;\n{LOOP}\n{SHUFFLES}\nif (t % 32 == 0) atomicAdd(out, sum);\n"),
        "an atomic for every warp or thread",
    ),
    (
        "the public sizes only",
        but(
            LOOP,
            LOOP.replace(
                "i < n;", "i < n && (n == 1 || n == 31 || n == 97 || n == 1000 || n == 1021 || n == 5000 || n == 8192);"
            ),
        ),
        "right in the public cases only",
    ),
    ("one element more", but("i < n;", "i <= n;"), "a thread reads past the last element"),
    ("a place for each block", but("atomicAdd(out, sum)", "out[blockIdx.x] = sum"), "one place for all blocks"),
    ("four shuffles, from 8 on", but("d = 16;", "d = 8;"), "some lanes never reach lane 0"),
    ("four shuffles, down to 2", but("d > 0;", "d > 1;"), "some lanes never reach lane 0"),
    ("shuffles up", but("shfl_down", "shfl_up"), "shuffles in the wrong direction"),
    ("the first warp twice", but("int w = 1;", "int w = 0;"), "the first warp counts twice"),
    (
        "an atomic of every thread",
        but(
            RIGHT[RIGHT.index("    if (t == 0) {") : RIGHT.index('}"""')],
            "    sum = 0;\n    for (int w = 0; w < blockDim.x / 32; ++w) sum += s[w];\n    atomicAdd(out, sum);\n",
        ),
        "every thread adds to the result",
    ),
    ("one block adds", but("if (t == 0)", "if (t == 0 && blockIdx.x == 0)"), "the first block alone"),
    ("on by a block", but("i += gridDim.x * blockDim.x", "i += blockDim.x"), "elements that several blocks add"),
    ("a sum of ints", but("float sum", "int sum"), "whole numbers only"),
    (
        "a barrier for the first lanes",
        but(
            "s[t / 32] = sum;\n    __syncthreads();",
            "{ s[t / 32] = sum; __syncthreads(); }",
        ),
        "threads that never come to the barrier",
    ),
    (
        "shuffles among as many lanes as there are warps",
        but(
            RIGHT[RIGHT.index("    if (t == 0) {") : RIGHT.index('}"""')],
            f"if (t >= blockDim.x / 32) return;\n sum = s[t];\n {SHUFFLES}\n if (t == 0) atomicAdd(out, sum);\n",
        ),
        "a shuffle that not all lanes reach",
    ),
    (
        "one block does it all",
        but(LOOP, "if (blockIdx.x) return;\n    for (int i = t; i < n; i += blockDim.x) sum += x[i];"),
        "few do the work of all",
    ),
    (
        "the last block does it all",
        but(LOOP, "if (blockIdx.x != gridDim.x - 1) return;\n    for (int i = t; i < n; i += blockDim.x) sum += x[i];"),
        "few do the work of all",
    ),
    (
        "one warp of each block",
        but(BODY, ONE_WARP),
        "few do the work of all",
    ),
    (
        "each element loaded twice",
        but("sum += x[i];", "if (x[i] != 0) sum += ((const volatile float*)x)[i];"),
        "loaded, and loaded again",
    ),
    ("a mask of 16 lanes", but("(0xffffffff, sum, d)", "(0x0000ffff, sum, d)"), "a mask without the lane itself"),
    ("the lane for the warp", but("s[t / 32] = sum", "s[t % 32] = sum"), "several threads store to one place"),
    ("one element less", but("i < n;", "i < n - 1;"), "the last element is left out"),
    (
        "shuffles among four warps",
        but(
            RIGHT[RIGHT.index("    if (t == 0) {") : RIGHT.index('}"""')],
            "    if (t < 32) {\n        sum = t < blockDim.x / 32 ? s[t] : 0;\n"
            "        for (int d = 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n"
            "        if (t == 0) atomicAdd(out, sum);\n    }\n",
        ),
        "some warps are never added",
    ),
    ("replaced, not added", but("sum += __shfl", "sum = __shfl"), "a lane's sum is replaced"),
    ("always the neighbour", but("(0xffffffff, sum, d)", "(0xffffffff, sum, 1)"), "shuffles by other distances"),
    ("from 32 on", but("d = 16;", "d = 32;"), "everything is counted twice"),
    ("the warp for the lane", but("if (t % 32 == 0) s[t / 32]", "if (t / 32 == 0) s[t]"), "lanes taken for warps"),
    (
        "every lane's atomic",
        but(
            BODY,
            f"int t = threadIdx.x; float sum = 0;\n{LOOP}\n{SHUFFLES.replace('down', 'xor')}\natomicAdd(out, sum);\n",
        ),
        "every lane adds what its warp has found",
    ),
    ("exchanged by an atomic", but("atomicAdd(out", "atomicExch(out"), "the last block alone"),
    (
        "no place in the grid",
        but("int i = blockIdx.x * blockDim.x + t;", "int i = t;"),
        "blocks that all begin at the first element",
    ),
    ("int sums of warps", but("__shared__ float s[32]", "__shared__ int s[32]"), "whole numbers only"),
    (
        "a shared atomic of every thread",
        but(
            BODY,
            "__shared__ float s; int t = threadIdx.x; float sum = 0;\nif (t == 0) s = 0;\n__syncthreads();\n"
            f"{LOOP}\natomicAdd(&s, sum);\n__syncthreads();\nif (t == 0) atomicAdd(out, s);\n",
        ),
        "a shared atomic of every thread",
    ),
    (
        "one thread adds all threads",
        but("s[32]", "s[1024]")
        .replace(SHUFFLES, "")
        .replace("if (t % 32 == 0) s[t / 32]", "s[t]")
        .replace("blockDim.x / 32", "blockDim.x"),
        "few do the work of all",
    ),
]
