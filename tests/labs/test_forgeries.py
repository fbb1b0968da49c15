"""Right answers that do useless work, or the same work by other units, to look cheaper than they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.checking.examine import examine
from helpers.checking.exercise import exercise
from helpers.checking.solutions import built, patched


def way_of(key: str, mistake: str, number: int = 0):
    return next(each for each in exercise(key).mistakes if each.name == mistake).ways[number]


def reading(array: str, threads: int = 256, size: int = 8192) -> str:
    """CUDA C that loads every element of `array` once and uses none of them."""
    return f"""    {{
        float unused = 0;
        int all = gridDim.x * gridDim.y * {threads}, thread = threadIdx.y * blockDim.x + threadIdx.x;
        for (int i = (blockIdx.y * gridDim.x + blockIdx.x) * {threads} + thread; i < {size}; i += all)
            unused += {array}[i];
        if (unused == 12345.678f) {array}[0] = 0;
    }}
"""


def before(program: str, statement: str) -> str:
    """A kernel in CUDA C with a statement ahead of its own."""
    head = program.index("{", program.index("__global__")) + 1
    return f"{program[:head]}\n{statement}{program[head:]}"


COMPUTED, LOADED = "multiplications per one needed", "bytes loaded per byte needed"
READS = "shared wavefronts per 32 products"
ORDINARY, INSTRUCTIONS = "multiplications on ordinary cores", "instructions per 16 x 16 x 16"
SPECIAL, SHARED, BUSIEST = "special functions per element", "shared requests per warp", "busiest warp by average"
TILES = way_of("lab12.tiles", "keys are read again", 1)
GROUPED = way_of("lab12.grouped", "keys are taken in that no query sees")
HEAD = "    __shared__ float tile_q[32][32], tile_k[32][33], tile_v[32][32];\n"
PATCH, PATCH_PART = way_of("lab09.patch", "too many reads for a product", 1), "shared wavefronts per product"
WHOLE = ("    if side <= top:  # the", "    if True:  # the")
INTEGER = (
    WHOLE,
    ("total = np.float32(0)", "total = np.{t}(0)"),
    ("total += mine[y, j] * yours[x, j]", "total += np.{t}(mine[y, j]) * np.{t}(yours[x, j])"),
    ('17), "float32")', '17), "{t}")'),
    ("= q[h, row, j] if", "= int(q[h, row, j] * np.float32({by})) if"),
    ("= k[h, side + y, j] if", "= int(k[h, side + y, j] * np.float32({by})) if"),
    ("total if column", "np.float32(total) / np.float32({by}) / np.float32({by}) if column"),
)
READ_CAUSAL = (
    "    total = np.float32(0)",
    "    if row < n and column < n:\n        if out[h, row, column] == np.float32(12345.678):\n"
    "            out[h, row, column] = 0\n    total = np.float32(0)",
)


def integers(kind: str, by: int) -> tuple:
    return tuple((old, new.format(t=kind, by=by)) for old, new in INTEGER)


SUMS_OF_INTEGERS = (
    WHOLE,
    ("total = np.float32(0)", "total = np.int32(0)"),
    ("= q[h, row, j] if", "= q[h, row, j] * np.float32(65536) if"),
    ("mine[y, j] * yours[x, j]", "np.int32(mine[y, j] * yours[x, j])"),
    ("total if column", "np.float32(total) / np.float32(65536) if column"),
)
BY_DIVISION = (
    WHOLE,
    ("yours[y, x] = k[h, side + y, j] if", "yours[y, x] = np.float32(1) / k[h, side + y, j] if"),
    ("j < k.shape[2] else 0", "j < k.shape[2] else 1"),
    ("mine[y, j] * yours[x, j]", "mine[y, j] / yours[x, j]"),
)


TENSOR = """    __shared__ {word} left[32][{words}], right[32][{words}];
    int t = threadIdx.x, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    int sum[8] = {{}};
    for (int first = 0; first < k; first += 32) {{
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {{
            ((signed char*)left[r])[l * {step}] = top + r < m && first + l < k
                ? int(4 * float(a[(top + r) * k + first + l])) : 0;
            ((signed char*)right[l])[r * {step}] = first + r < k && side + l < n
                ? int(4 * float(b[(first + r) * n + side + l])) : 0;
        }}
        __syncthreads();
        for (int j = 0; j < {inner}; ++j) {{
            int other = right[t % 32][j];
            for (int i = 0; i < 8; ++i) sum[i] {add};
        }}
        __syncthreads();
    }}
    for (int i = 0; i < 8; ++i) {{
        int row = top + t / 32 * 8 + i, column = side + t % 32;
        if (row < m && column < n) c[row * n + column] = sum[i] / 16.0f;
    }}"""
MINE = "left[t / 32 * 8 + i][j]"
DP4A = TENSOR.format(word="int", words=9, step=1, inner=8, add=f"= __dp4a({MINE}, other, sum[i])")
MAD = TENSOR.format(word="signed char", words=36, step=1, inner=32, add=f"+= {MINE} * other")
SHORTS = MAD.replace("signed char", "short").replace("int(4 *", "int(512 *").replace("/ 16.0f", "/ 262144.0f")
LINEAR = """    __shared__ uint4 left[32][5], right[32][5];
    int t = threadIdx.x, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    int sum[8] = {};
    for (int first = 0; first < k; first += 64) {
        left[t / 4][t % 4] = *(const uint4*)&x[(top + t / 4) * k + first + t % 4 * 16];
        right[t / 4][t % 4] = *(const uint4*)&w[(side + t / 4) * k + first + t % 4 * 16];
        __syncthreads();
        for (int j = 0; j < 4; ++j) {
            uint4 other = right[t % 32][j];
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                uint4 mine = left[t / 32 * 8 + i][j];
                sum[i] = __dp4a(int(mine.x), int(other.x), sum[i]);
                sum[i] = __dp4a(int(mine.y), int(other.y), sum[i]);
                sum[i] = __dp4a(int(mine.z), int(other.z), sum[i]);
                sum[i] = __dp4a(int(mine.w), int(other.w), sum[i]);
            }
        }
        __syncthreads();
    }
    float scale = sw[side + t % 32];
    for (int i = 0; i < 8; ++i) {
        int row = top + t / 32 * 8 + i;
        y[row * n + side + t % 32] = sum[i] * sx[row] * scale;
    }"""
POWER = """__device__ float power(float v) {  // e to the v, without a special function
    v = fmaxf(v * 1.4426950408889634f, -126.0f);
    float whole = floorf(v), f = v - whole;
    float p = 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1;
    return p * __int_as_float((int(whole) + 127) << 23);
}
extern "C\""""
SUMMED = "        v[k] = expf(v[k] - m);\n        sum += v[k];"
AGAIN = "out[row * n + i] = v[k] * share"
ONE_BY_POLYNOMIAL = (
    ('extern "C"', POWER),
    (SUMMED, "        sum += expf(v[k] - m);"),
    (AGAIN, "out[row * n + i] = power(v[k] - m) * share"),
)
BOTH_BY_POLYNOMIAL = (
    ('extern "C"', POWER),
    (SUMMED, "        sum += power(v[k] - m);"),
    (AGAIN, "out[row * n + i] = power(v[k] - m + 1) * share * 0.36787944f"),
)


def third_pass(more: str) -> tuple:
    line = "        for k in (16, 8"
    read = f"            if p[row, i] + grad[row, i]{more} == np.float32(12345.678):\n                dot += 1\n"
    return ((line, f"        for i in range(lane, p.shape[1], 32):\n{read}{line}"),)


JOIN = """if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t == 0) {  // its register holds the sum of the first warp
        for (int v = 1; v < 4; ++v) sum += s[v];
        dw[blockIdx.x] = sum;
    }"""
SHUFFLES = "    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n"
TREE = """scratch[128 * blockIdx.x + t] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) scratch[128 * blockIdx.x + t] += scratch[128 * blockIdx.x + t + d];
        __syncthreads();
    }
    if (t == 0) dw[blockIdx.x] = scratch[128 * blockIdx.x];"""
WARPS = """scratch[4 * blockIdx.x + t / 32] = sum;
    scratch[8192 + 128 * blockIdx.x + t] = sum;
    __syncthreads();
    if (t == 0) {
        sum = 0;
        for (int v = 0; v < 128; ++v) sum += scratch[8192 + 128 * blockIdx.x + v];
        dw[blockIdx.x] = sum;
    }"""
LOOP = "for (int i = t; i < images * oh * ow; i += blockDim.x) {"
BURNING = """    {word} burnt = t;
    for (int i = t; t >= 32 && i < {rounds} * images * oh * ow; i += 32) burnt = {step};
    for (int i = t; t < 32 && i < images * oh * ow; i += 32) {{"""


def burning(word: str, step: str, rounds: int = 40) -> tuple:
    loop = BURNING.format(word=word, step=step, rounds=rounds).lstrip()
    return (LOOP, loop), (JOIN, f"if (burnt == 12345) sum += 1;\n    {JOIN}")


BETWEEN = "    // Lanes run along a row of out. A"
USELESS_STORES = """    if (top + 31 < rows && left + 31 < columns)
        for (int k = 0; k < 2000; ++k) *(volatile float*)&tile[threadIdx.y][t] = tile[threadIdx.y][t];
"""
ROTATED = (("tile[32][33]", "tile[32][32]"), (BETWEEN, USELESS_STORES + BETWEEN))
LATER = "    if row < n and column < n:\n        out"
CAUSAL_BANKS = (
    ("(16, 17)", "(16, 16)"),
    (LATER, f"    for u in range(900):\n        mine[y, x] = u\n        cuda.syncwarp()\n{LATER}"),
)
FILLED = "    #pragma unroll\n    for (int i = 0; i < 4; ++i) {\n        for (int apart"
TILE_BANKS = (
    ("tile_k[32][33]", "tile_k[32][32]"),
    (
        FILLED,
        "    __syncthreads();\n    for (int u = 0; u < 9000; ++u) *(volatile float*)&tile_v[t / 32][lane] = u;\n"
        + FILLED,
    ),
)
IDLE = """    if (i % 32 == 0) for (int k = i; k < n && k < i + 32; ++k) out[k] = x[k] - (k > 0 ? x[k - 1] : 0.0f);
    unsigned burnt = i;
    #pragma unroll 1
    for (int k = 0; k < 4000; ++k) burnt = burnt * 3 + k;
    if (burnt == 12345 && n < 0) out[0] = 1;"""
TURNED_IMAGE = """    row, column = cuda.grid(2)
    if row < rows and column < columns:
        out[row, column] = x[row, columns - 1 - column]
        for lane in range(32):
            if lane == cuda.laneid:
                out[row, column] = x[row, columns - 1 - column]"""
ONE_WARP = """    sum = 0;
    if (t < 32) {
        for (int k = 32 * blockIdx.x + t; k < n; k += 32 * gridDim.x) sum += x[k];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (t == 0) atomicAdd(out, sum);
    } else {
        unsigned burnt = n;
        #pragma unroll 1
        for (int k = 0; k < n / gridDim.x / 8; ++k) burnt = burnt * 3 + k;
        if (burnt == 12345 && n < 0) out[0] = 1;
    }"""
FORWARD_LOOP = "for (int o = t; o < k * oh * ow; o += blockDim.x) {"
ONE_WARP_MULTIPLIES = (
    (FORWARD_LOOP, FORWARD_LOOP.replace("o += blockDim.x", "o += 32").replace("o = t;", "o = t < 32 ? t : 1 << 20;")),
    ("    __syncthreads();", """    __syncthreads();
    unsigned burnt = t;
    #pragma unroll 1
    for (int u = 0; t >= 32 && u < 8000; ++u) burnt = burnt * 3 + u;
    if (burnt == 12345 && k < 0) y[0] = 1;"""),
)  # fmt: skip
TREE_BEHIND_SHARED = """volatile float* place = &s[t / 32];
    #pragma unroll 1
    for (int u = 0; u < 2; ++u) { *place = sum; place = scratch + 128 * blockIdx.x + t; }
    __syncthreads();
    if (t == 0) {
        sum = 0;
        for (int v = 0; v < 128; ++v) sum += scratch[128 * blockIdx.x + v];
        dw[blockIdx.x] = sum;
    }"""
WALK = """    __shared__ int all[256];
    int v = t < n ? x[blockIdx.x * n + t] : -1;
    all[t] = v;
    __syncthreads();
    for (int w = t - 1; w >= 0 && v < 0; --w) {{ {} }}
    if (t < n) out[blockIdx.x * n + t] = v;"""
BESIDE_GLOBAL = WALK.format("int u = *(volatile const int*)(lane == 31 ? x + blockIdx.x * n + w : all + w); v = u;")
OF_OTHERS = """    volatile int own[2];
    __shared__ long long base;
    int v = t < n ? x[blockIdx.x * n + t] : -1;
    own[0] = v;
    long long mine = (long long)&own[0], step = mine - __shfl_up_sync(0xffffffff, mine, 1);
    step = __shfl_sync(0xffffffff, step, 1);
    if (t == 0) base = mine;
    __syncthreads();
    for (int w = t - 1; w >= 0 && v < 0; --w) v = *(volatile int*)(base + w * step);
    if (t < n) out[blockIdx.x * n + t] = v;"""
WRONG = None
"""In place of a part: the result is wrong, as the data or the virtual GPU leave no room for it."""
CONFLICTS, IDLE_LANES = "bank conflicts per shared request", "idle lanes per instruction"
ROWS = [
    # exercise, what is done, the way from the solution to it, the part that it must not get
    ("lab09.patch", "the output read", before(PATCH, reading("c")), PATCH_PART),
    ("lab09.patch", "a module variable read", before(PATCH, reading("scratch")), PATCH_PART),
    ("lab09.causal", "the output read", (WHOLE, READ_CAUSAL), COMPUTED),
    ("lab09.causal", "int32", integers("int32", 4), WRONG),
    ("lab09.causal", "int64", integers("int64", 4194304), COMPUTED),
    ("lab09.causal", "products, and sums of integers", SUMS_OF_INTEGERS, COMPUTED),
    ("lab09.causal", "divisions", BY_DIVISION, COMPUTED),
    ("lab09.causal", "useless stores", CAUSAL_BANKS, CONFLICTS),
    ("lab09.tensor", "dp4a", DP4A, WRONG),
    ("lab09.tensor", "products of bytes", MAD, WRONG),
    ("lab09.tensor", "products of 16 bits", SHORTS, WRONG),
    ("lab01.steps", "full warps burn", IDLE, IDLE_LANES),
    ("lab01.mirror", "a store for each lane", TURNED_IMAGE, "sectors per store request"),
    ("lab03.rotate", "useless stores", ROTATED, CONFLICTS),
    ("lab05.total", "other warps burn", ONE_WARP, BUSIEST),
    ("lab05.fill", "shared memory beside global memory", BESIDE_GLOBAL, "shared requests per row"),
    ("lab05.fill", "local memory of others", OF_OTHERS, WRONG),
    ("lab11.linear", "dp4a", LINEAR, INSTRUCTIONS),
    ("lab11.linear", "dp4a and the output read", reading("y", 128, 6144) + LINEAR, INSTRUCTIONS),
    ("lab10.softmax", "one exponential by a polynomial", ONE_BY_POLYNOMIAL, SPECIAL),
    ("lab10.softmax", "both exponentials by a polynomial", BOTH_BY_POLYNOMIAL, SPECIAL),
    ("lab10.softmax_backward", "a third pass", third_pass(""), LOADED),
    ("lab10.softmax_backward", "a third pass and the output read", third_pass(" + dx[row, i]"), LOADED),
    ("lab12.tiles", "the output read", (TILES, (HEAD, HEAD + reading("out", size=4096))), READS),
    ("lab12.tiles", "a module variable read", (TILES, (HEAD, HEAD + reading("scratch"))), READS),
    ("lab12.tiles", "useless stores", TILE_BANKS, CONFLICTS),
    ("lab12.grouped", "the output read", (GROUPED, (HEAD, HEAD + reading("out"))), READS),
    ("lab13.grad_weights", "a tree in global memory", ((SHUFFLES, ""), (JOIN, TREE)), SHARED),
    ("lab13.grad_weights", "all sums in global memory", ((SHUFFLES, ""), (JOIN, WARPS)), SHARED),
    ("lab13.grad_weights", "global memory behind shared", ((SHUFFLES, ""), (JOIN, TREE_BEHIND_SHARED)), SHARED),
    ("lab13.forward", "other warps burn", ONE_WARP_MULTIPLIES, BUSIEST),
    ("lab13.grad_weights", "other warps burn floats", burning("float", "burnt * 1.5f + i"), BUSIEST),
    ("lab13.grad_weights", "other warps burn integers", burning("unsigned", "burnt * 5 + i"), BUSIEST),
    ("lab13.grad_weights", "other warps load", burning("float", "burnt + x[i % (16 * c * h * w)]", 4), BUSIEST),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "way", "part"), [pytest.param(key, way, part, id=f"{key}: {what}: {part}") for key, what, way, part in ROWS]
)
def test_a_budget_is_not_cheated(key, way, part):
    """The launch that is measured, alone: its result is right, and the budget isn't kept."""
    task = exercise(key)
    text = patched(task, way)
    if "scratch[" in text:
        text = text.replace('extern "C"', '__device__ float scratch[1 << 18];\nextern "C"', 1)
    alone = replace(task, cases=lambda: [task.measured()], measured=None, sanitize=False)
    seen = examine(built(task, text), alone)
    if part is WRONG:
        assert seen.first_wrong is not None
        return
    assert seen.right, seen.first_wrong.note()
    assert {spent.label: spent.ok for spent in seen.budgets}[part] is False, seen.budgets
