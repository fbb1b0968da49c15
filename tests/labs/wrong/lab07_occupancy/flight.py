"""Wrong answers to lab07.flight."""

KEY = "lab07.flight"

RIGHT = '''FLIGHT = r"""extern "C" __global__ void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (; i < n; i += 4 * all) {
        float u[4], v[4], w[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            int at = i + k * all;
            u[k] = at < n ? grad[at] : 0, v[k] = at < n ? a[at] : 0, w[k] = at < n ? b[at] : 0;
        }
        #pragma unroll
        for (int k = 0; k < 4; ++k)
            if (i + k * all < n) grad[i + k * all] = u[k] + 0.5f * (v[k] + w[k]);
    }
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
'''
BODY = RIGHT[RIGHT.index("    for (; i") : RIGHT.index('}"""')]
LOADS = "u[k] = at < n ? grad[at] : 0, v[k] = at < n ? a[at] : 0, w[k] = at < n ? b[at] : 0;"
PLAIN = "u[k] = grad[at], v[k] = a[at], w[k] = b[at];"
ONE = "    for (; i < n; i += all) grad[i] += 0.5f * (a[i] + b[i]);\n"

TWO = """    for (; i + all < n; i += 2 * all) {
        float u = grad[i], v = a[i], w = b[i], x = grad[i + all], y = a[i + all], z = b[i + all];
        grad[i] = u + 0.5f * (v + w);
        grad[i + all] = x + 0.5f * (y + z);
    }
"""
SUMS = """    for (; i + 3 * all < n; i += 4 * all) {
        float u[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) u[k] = grad[i + k * all] + 0.5f * (a[i + k * all] + b[i + k * all]);
        #pragma unroll
        for (int k = 0; k < 4; ++k) grad[i + k * all] = u[k];
    }
""" + ONE  # fmt: skip
PUBLIC = " || ".join(f"n == {n}" for n in (1, 31, 97, 512, 1000, 5003, 5043))


def but(*changes: tuple[str, str], text: str = RIGHT) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def batches(size: int) -> tuple[tuple[str, str], ...]:
    return ("4 * all", f"{size} * all"), ("[4]", f"[{size}]"), ("k < 4", f"k < {size}")


OWN = but(("i + k * all", "4 * i + k"), ("i < n; i += 4 * all", "4 * i < n; i += all"))
ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "")), "nothing is added yet"),
    ("no semicolon", but(("w[4];", "w[4]")), "it does not compile"),
    ("one argument too many", but(("int n)", "int n, int m)")), "it stops with an error"),
    ("a half of whole numbers", but(("0.5f", "(1 / 2)")), "nothing is added yet"),
    ("one too far", but(("< n", "<= n")), "no guard"),
    ("overwrites", but(("u[k] + ", "")), "grad is overwritten"),
    ("the whole sum", but(("0.5f * ", "")), "no half"),
    ("b is not used", but(("v[k] + w[k]", "v[k] + v[k]")), "a or b twice"),
    ("steps of a block", but(("all = gridDim.x * blockDim.x", "all = blockDim.x")),
     "two threads have the same element"),
    ("the place in the block", but(("i = blockIdx.x * blockDim.x + ", "i = ")), "two threads have the same element"),
    ("no guard", but(("if (i + k * all < n) ", ""), (LOADS, PLAIN)), "no guard"),
    ("loads without a guard", but((LOADS, PLAIN)), "no guard"),
    (
        "loads at the clamped place",
        but((LOADS, PLAIN), ("at = i + k * all", "at = min(i + k * all, n - 1)")),
        "several threads touch the last element of grad",
    ),
    (
        "stores at the clamped place",
        but(("if (i + k * all < n) grad[i + k * all]", "grad[min(i + k * all, n - 1)]")),
        "several threads touch the last element of grad",
    ),
    ("the step of one element", but(("i += 4 * all", "i += all")), "some elements are added more than once"),
    ("no loop", but(("for (; i < n; i += 4 * all) {", "if (i < n) {")), "some elements are left out"),
    ("the first thread alone", but((BODY, "    if (i == 0) " + ONE.replace("i += all", "++i").strip() + "\n")),
     "neighbours in a thread instead of neighbours in a warp"),
    (
        "whole batches only",
        but(("i < n; i += 4 * all", "i + 3 * all < n; i += 4 * all")),
        "some elements are left out",
    ),
    ("four side by side", OWN, "neighbours in a thread instead of neighbours in a warp"),
    ("one after another", but((BODY, ONE)), "a value is used before the next is asked for"),
    (
        "unrolled, and in order",
        but((BODY, "    #pragma unroll 4\n" + ONE)),
        "a value is used before the next is asked for",
    ),
    ("not unrolled", but(("#pragma unroll", "#pragma unroll 1")), "a value is used before the next is asked for"),
    ("two at a time", but((BODY, TWO + ONE)), "a value is used before the next is asked for"),
    ("added while it is loaded", but((BODY, SUMS)), "a value is used before the next is asked for"),
    (
        "eight with a cap",
        but(*batches(8), ('"accumulate")', '"accumulate", ("-maxrregcount=32",))')),
        "the registers were taken away, the values were not",
    ),
    (
        "eight with launch bounds",
        but(*batches(8), ("__global__ void", "__global__ void __launch_bounds__(1024, 2)")),
        "the registers were taken away, the values were not",
    ),
    ("eight", but(*batches(8)), "too many values at once"),
    (
        "the public sizes only",
        but(("0.5f", f"({PUBLIC} ? 0.5f : 0.25f)")),
        "right in the public cases only",
    ),
    (
        "added to itself",
        RIGHT.replace("grad[i + k * all] = u[k]", "grad[i + k * all] += u[k]"),
        "grad is counted twice",
    ),
    ("half of a alone", RIGHT.replace("0.5f * (v[k] + w[k])", "0.5f * v[k] + w[k]"), "half of something else"),
    ("half of all", RIGHT.replace("u[k] + 0.5f * (v[k] + w[k])", "0.5f * (u[k] + v[k] + w[k])"),
     "half of something else"),
]  # fmt: skip
