"""Wrong answers to lab04.shares."""

KEY = "lab04.shares"

RIGHT = '''SHARES = r"""extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n) {
    __shared__ int sum;
    __shared__ bool last;
    int t = threadIdx.x, mine = 0;
    if (t == 0) sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += x[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < gridDim.x) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += parts[b];
        out[t] = (float)parts[t] / total;
    }
}"""
shares = cp.RawKernel(SHARES, "shares")
'''
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
SYNC, FENCE = "    __syncthreads();\n", "        __threadfence();\n"
DRAW = "atomicAdd(tickets, 1) == gridDim.x - 1"
ALONE = """    if (threadIdx.x > 0) return;
    int total = 0, mine = 0;
    for (int i = 0; i < n; ++i) {
        total += x[i];
        if (i / 128 % gridDim.x == blockIdx.x) mine += x[i];
    }
    out[blockIdx.x] = (float)mine / total;
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nobody is last"),
    ("one ticket too many", but("== gridDim.x - 1", "== gridDim.x"), "nobody is last"),
    ("a ticket by ++", but(DRAW, "tickets[0]++ == gridDim.x - 1"), "a ticket that is not drawn by an atomic"),
    ("no fences", RIGHT.replace(FENCE, ""), "nothing orders the blocks"),
    ("no fence before the ticket", but(FENCE, ""), "nothing orders the blocks"),
    ("fences of the block", RIGHT.replace("__threadfence()", "__threadfence_block()"), "nothing orders the blocks"),
    ("the first block divides", but(DRAW, "atomicAdd(tickets, 1) == 0"), "nothing orders the blocks"),
    ("sum is never set", but("    if (t == 0) sum = 0;\n", ""), "shared memory that nobody has written"),
    ("no barrier before last is read", but("    }\n" + SYNC, "    }\n"), "a barrier is missing"),
    ("no barrier before the sum is read", but("mine);\n" + SYNC, "mine);\n"), "a barrier is missing"),
    (
        "a barrier under a guard",
        but(SYNC, "    if (blockIdx.x * blockDim.x + t < n) __syncthreads();\n"),
        "a barrier that not every thread reaches",
    ),
    ("whole numbers", but("(float)parts[t] / total", "parts[t] / total"), "a share of whole numbers"),
    ("its own share", but("t < gridDim.x)", "t == blockIdx.x)"), "only some shares are written"),
    (
        "atomics on parts",
        but("        parts[blockIdx.x] = sum;\n", "").replace(
            "atomicAdd(&sum, mine);", "atomicAdd(&parts[blockIdx.x], mine);\n    __threadfence();"
        ),
        "not one ticket a block",
    ),
    ("each block adds up everything", but(BODY, ALONE), "every block adds up everything"),
    (
        "the public sizes only",
        but(
            "(float)parts[t] /",
            "(n == 1 || n == 97 || n == 200 || n == 1000 || n == 1021 || n == 8000) * (float)parts[t] /",
        ),
        "right in the public cases only",
    ),
    (
        "a ticket by ++ of a volatile",
        but(DRAW, "((volatile int*)tickets)[0]++ == gridDim.x - 1"),
        "not one ticket a block",
    ),
    (
        "one block for all",
        but(
            BODY,
            """    __shared__ int sums[16], total;
    if (blockIdx.x) return;
    if (threadIdx.x < 16) sums[threadIdx.x] = total = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&total, x[i]);
        atomicAdd(&sums[i / blockDim.x % gridDim.x], x[i]);
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x) out[threadIdx.x] = (float)sums[threadIdx.x] / total;
""",
        ),
        "not one ticket a block",
    ),
    (
        "waits for the others",
        but(
            "last = " + DRAW, "atomicAdd(tickets, 1); while (atomicAdd(tickets, 0) < gridDim.x); last = blockIdx.x == 0"
        ),
        "not one ticket a block",
    ),
    (
        "gone without elements",
        but("    atomicAdd(&sum", "    if (blockIdx.x * blockDim.x >= n) return;\n    atomicAdd(&sum"),
        "nobody is last",
    ),
    ("the sum by +=", but("atomicAdd(&sum, mine)", "sum += mine"), "changed without an atomic"),
    ("steps of a block", but("i += gridDim.x * blockDim.x", "i += blockDim.x"), "elements of other blocks"),
    (
        "elements in a row",
        but(
            "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)",
            "int each = (n + gridDim.x - 1) / gridDim.x;\n"
            "    for (int i = blockIdx.x * each + t; i < min(n, (blockIdx.x + 1) * each); i += blockDim.x)",
        ),
        "elements of other blocks",
    ),
    ("the last by its number", but(DRAW, "blockIdx.x == gridDim.x - 1"), "nothing orders the blocks"),
    (
        "a fence by another thread",
        but(FENCE, "").replace("    if (t == 0) {", "    if (t == 1) __threadfence();\n    if (t == 0) {"),
        "nothing orders the blocks",
    ),
    ("one element too many", but("i < n;", "i <= n;"), "a thread left its array"),
    (
        "every thread draws",
        but(
            "    if (t == 0) {\n        parts[blockIdx.x] = sum;\n" + FENCE,
            "    if (t == 0) parts[blockIdx.x] = sum;\n    __threadfence();\n    {\n",
        ).replace(DRAW, "atomicAdd(tickets, 1) == gridDim.x * blockDim.x - 1"),
        "a ticket for each thread",
    ),
    ("in per cent", but("(float)parts[t]", "100.0f * parts[t]"), "another quotient"),
    ("by n", but("(float)parts[t] / total", "(float)parts[t] / n"), "another quotient"),
    ("upside down", but("(float)parts[t] / total", "(float)total / parts[t]"), "another quotient"),
    ("the part", but("(float)parts[t] / total", "parts[t]"), "another quotient"),
    ("all but the last part", but("b < gridDim.x;", "b < gridDim.x - 1;"), "another quotient"),
    ("thread 0 alone", but("parts[blockIdx.x] = sum", "parts[blockIdx.x] = mine"), "the sum of one thread"),
]
