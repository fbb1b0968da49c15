"""Wrong answers to lab06.bucketize."""

KEY = "lab06.bucketize"

RIGHT = '''BUCKETIZE = r"""extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    for (int j = 0; j < m; ++j) k += edges[j] <= x[i];
    out[i] = k;
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
'''
LOOP = "for (int j = 0; j < m; ++j) k += edges[j] <= x[i];"
BODY = RIGHT[RIGHT.index("    if (i >= n)") : RIGHT.index('}"""')]
ONE_BLOCK = f"""    if (blockIdx.x > 0) return;
    for (; i < n; i += blockDim.x) {{
        int k = 0;
        {LOOP}
        out[i] = k;
    }}
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "")), "nothing is written yet"),
    ("no edge looked at", but((LOOP, "")), "nothing is counted yet"),
    ("no guard", but(("if (i >= n) return;", "")), "a thread left its array"),
    ("one edge too many", but(("j < m", "j <= m")), "an edge that does not exist"),
    ("edges below only", but(("<= x[i]", "< x[i]")), "edges count from below only"),
    ("edges above", but(("edges[j] <= x[i]", "edges[j] > x[i]")), "counted from the other side"),
    ("the last edge left out", but(("j < m;", "j < m - 1;")), "the last edge is left out"),
    ("whole blocks only", but(("i >= n", "i >= n / 128 * 128")), "the end is not written"),
    ("stops early", but((LOOP, "while (k < m && edges[k] <= x[i]) ++k;")), "lanes that leave the loop one by one"),
    (
        "a break",
        but((LOOP, "for (int j = 0; j < m; ++j) { if (edges[j] > x[i]) break; ++k; }")),
        "lanes that leave the loop one by one",
    ),
    (
        "from above",
        but((LOOP, "for (k = m; k > 0 && edges[k - 1] > x[i];) --k;")),
        "lanes that leave the loop one by one",
    ),
    (
        "one thread does it all",
        but((BODY, f"if (i == 0) for (; i < n; ++i) {{ int k = 0; {LOOP} out[i] = k; }}\n")),
        "lanes that leave the loop one by one",
    ),
    (
        "every thread does it all",
        but((BODY, f"for (i = 0; i < n; ++i) {{ int k = 0; {LOOP} out[i] = k; }}\n")),
        "more than a look at each edge",
    ),
    ("33 edges at most", but(("j < m;", "j < min(m, 33);")), "right in the public cases only"),
    ("32 edges taken for granted", but(("j < m;", "j < 32;")), "an edge that does not exist"),
    ("elements and edges swapped", but(("edges[j] <= x[i]", "edges[i] <= x[j]")), "an edge that does not exist"),
    ("the first edge left out", but(("int j = 0;", "int j = 1;")), "one too few"),
    ("buckets from 1 on", but(("int k = 0;", "int k = 1;")), "one too many"),
    ("a comparison in place of the count", but(("k += edges", "k = edges")), "only the last comparison counts"),
    ("a bool", but(("int k = 0;", "bool k = 0;")), "a count that stops at 1"),
    (
        "x as an int",
        but((LOOP, LOOP.replace("for", "int v = x[i]; for").replace("<= x[i]", "<= v"))),
        "fractions are cut off",
    ),
    ("one block does it all", but((BODY, ONE_BLOCK)), "few do the work of all"),
    (
        "room for 32 edges",
        but(
            (
                BODY,
                f"""    __shared__ float near[32];
    if (threadIdx.x < m) near[threadIdx.x] = edges[threadIdx.x];
    __syncthreads();
    if (i >= n) return;
    int k = 0;
    {LOOP.replace("edges[j]", "near[j]")}
    out[i] = k;
""",
            )
        ),
        "the shared array is too short",
    ),
    ("edges from x on", but(("edges[j] <= x[i]", "edges[j] >= x[i]")), "counted from the other side"),
    (
        "adds to out",
        but((LOOP, LOOP.replace("k +=", "out[i] +=")), ("    out[i] = k;\n", "")),
        "out does not begin at 0",
    ),
    (
        "the place of the last edge",
        but((LOOP, LOOP.replace("k += edges[j] <= x[i]", "if (edges[j] <= x[i]) k = j"))),
        "one too few",
    ),
    (
        "returns at the first edge above",
        but((LOOP, "for (; k < m; ++k) if (edges[k] > x[i]) { out[i] = k; return; }"), ("    out[i] = k;\n", "")),
        "beyond the last edge nothing is stored",
    ),
    (
        "an atomic for each edge",
        but(
            (
                LOOP,
                "out[i] = 0; " + LOOP.replace("k += edges[j] <= x[i]", "if (edges[j] <= x[i]) atomicAdd(&out[i], 1)"),
            ),
            ("    out[i] = k;\n", ""),
        ),
        "a branch at every edge",
    ),
]
