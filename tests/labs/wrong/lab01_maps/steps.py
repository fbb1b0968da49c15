"""Wrong answers to lab01.steps."""

KEY = "lab01.steps"

RIGHT = '''STEPS = r"""extern "C" __global__ void steps(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (x[i] - (i > 0 ? x[i - 1] : 0.0f));
}"""
steps = cp.RawKernel(STEPS, "steps")
'''
LINE = "if (i < n) out[i] = (x[i] - (i > 0 ? x[i - 1] : 0.0f));"
ALL = "for (int k = 0; k < n; ++k) out[k] = x[k] - (k > 0 ? x[k - 1] : 0.0f);"


def but(new: str, old: str = LINE) -> str:
    return RIGHT.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(""), "nothing is written yet"),
    ("no guard at the end", but("out[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);"), "no guard at the end"),
    ("a guard that lets n in", but(LINE.replace("i < n", "i <= n")), "no guard at the end"),
    ("no guard at the beginning", but("if (i < n) out[i] = x[i] - x[i - 1];"), "the first element has none before it"),
    ("no guard at all", but("out[i] = x[i] - x[i - 1];"), "the first element has none before it"),
    (
        "threadIdx alone",
        but("int i = threadIdx.x;", "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
        "every block does the work of block 0",
    ),
    ("the first is left out", but("if (0 < i && i < n) out[i] = x[i] - x[i - 1];"), "the first element is left out"),
    ("the first step is 0", but("if (i < n) out[i] = x[i] - x[max(i - 1, 0)];"), "the first step is taken to be 0"),
    (
        "the wrong way round",
        but("if (i < n) out[i] = (i > 0 ? x[i - 1] : 0.0f) - x[i];"),
        "the step the wrong way round",
    ),
    (
        "whole blocks only",
        but("if (i < n / 64 * 64) out[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);"),
        "the end is not written",
    ),
    ("every thread does it all", but(ALL), "each thread does more than its element"),
    ("one thread does it all", but(f"if (i == 0) {ALL}"), "few threads do all the work"),
    (
        "one lane a warp",
        but(LINE.replace("if (i < n)", "if (i % 32 == 0) for (int e = min(n, i + 32); i < e; ++i)")),
        "few threads do all the work",
    ),
    (
        "written twice",
        but("if (i < n) { out[i] = x[i]; __threadfence(); out[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f); }"),
        "stored more than once",
    ),
    (
        "the public sizes only",
        but(LINE.replace(";", " * (n == 1 || n == 31 || n == 64 || n == 97 || n == 128 || n == 1021 || n == 3001);")),
        "right in the public cases only",
    ),
    ("the next instead of the one before", but(LINE.replace("x[i - 1]", "x[i + 1]")), "an index behind the end"),
    ("multiplied by 0", but("if (i < n) out[i] = x[i] - x[i - 1] * (i > 0);"), "the first element has none before it"),
    ("one too few", but(LINE.replace("i < n", "i < n - 1")), "the last element is left out"),
    (
        "gridDim for blockDim",
        but("int i = blockIdx.x * gridDim.x", "int i = blockIdx.x * blockDim.x"),
        "gridDim in place of blockDim",
    ),
    ("forward", but("if (i < n - 1) out[i] = x[i + 1] - x[i];"), "the step to the next element"),
    (
        "forward, to 0 in the end",
        but("if (i < n) out[i] = (i + 1 < n ? x[i + 1] : 0.0f) - x[i];"),
        "the step to the next element",
    ),
    ("one place too early", but("if (0 < i && i < n) out[i - 1] = x[i] - x[i - 1];"), "the step to the next element"),
    ("the first of each block", but(LINE.replace("i > 0", "threadIdx.x > 0")), "the first element of a block or warp"),
    (
        "the first of each warp",
        but(
            "float own = i < n ? x[i] : 0.0f, before = __shfl_up_sync(0xffffffff, own, 1); if (i < n) out[i] = own - "
            "(i > 0 ? before : 0.0f);"
        ),
        "the first element of a block or warp",
    ),
    ("from the result", but(LINE.replace("? x[i - 1]", "? out[i - 1]")), "what nobody has written is read"),
    (
        "each thread gives to its neighbour",
        but("if (i < n) { atomicAdd(out + i, x[i]); if (i + 1 < n) atomicAdd(out + i + 1, -x[i]); }"),
        "what nobody has written is read",
    ),
    (
        "the first block does it all",
        but(
            LINE.replace("if (i < n)", "if (blockIdx.x == 0) for (int j = i; j < n; j += blockDim.x) if ((i = j) < n)")
        ),
        "each thread does more than its element",
    ),
    (
        "a number of type int",
        but("if (i < n) { int before = i > 0 ? x[i - 1] : 0; out[i] = x[i] - before; }"),
        "fractions are lost",
    ),
    (
        "0 put into i",
        but("if (i < n) { float p = 0; if (!(i = 0)) p = 0; out[i] = x[i] - p; }"),
        "only the first element is written",
    ),
    ("a copy", but("if (i < n) out[i] = x[i];"), "nothing is subtracted"),
    ("added", but(LINE.replace("x[i] - (", "x[i] + (")), "added, not subtracted"),
    ("two places back", but(LINE.replace("i > 0 ? x[i - 1]", "i > 1 ? x[i - 2]")), "steps of two elements"),
    (
        "from the one before to the one behind",
        but("if (i < n) out[i] = (i + 1 < n ? x[i + 1] : 0.0f) - (i > 0 ? x[i - 1] : 0.0f);"),
        "steps of two elements",
    ),
    ("i > 1", but(LINE.replace("i > 0", "i > 1")), "the second element is taken for the first"),
    ("no sign", but("if (i < n) out[i] = fabsf(x[i] - (i > 0 ? x[i - 1] : 0.0f));"), "the sign is lost"),
    (
        "threadIdx times blockDim",
        but("int i = threadIdx.x * blockDim.x + blockIdx.x;", "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
        "another place in the grid",
    ),
    (
        "blockIdx plus threadIdx",
        but("int i = blockIdx.x + threadIdx.x;", "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
        "another place in the grid",
    ),
]
