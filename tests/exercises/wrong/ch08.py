"""Wrong answers to the exercises of chapter 08."""

HEADS = {
    "ch08.rows": "row_sums(const int* first, const float* x, const int* order, float* out, int rows)",
    "ch08.table": "table(const int* kind, const float* x, float* out, int n)",
}

_SCALE = "{2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f}"
_SHIFT = "{1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f}"
_FORMULAS = (
    "            for k in range(64):\n                v = 0.99 * v + 1.0\n        else:\n"
    "            for k in range(64):\n                v = 1.01 * v - 1.0\n        out[i] = v"
)
_CASES = " ".join(
    f"case {k}: v = {a} * v + {b}; break;"
    for k, (a, b) in enumerate(zip(_SCALE[1:-1].split(", "), _SHIFT[1:-1].split(", "), strict=True))
)
_SELECTIONS = " ".join(
    f"a = k == {k} ? {a} : a; b = k == {k} ? {b} : b;"
    for k, (a, b) in enumerate(zip(_SCALE[1:-1].split(", "), _SHIFT[1:-1].split(", "), strict=True))
)
ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch08.sides",
        "neighbours differ",
        "def sides(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        v = x[i]\n        if i % 2 == 0:\n"
        + _FORMULAS,
        "both sides meet in one warp",
    ),
    (
        "ch08.sides",
        "half-warps",
        "def sides(x, out):\n    t = cuda.threadIdx.x\n    side = t % 32 // 16\n"
        "    i = cuda.blockIdx.x * cuda.blockDim.x + t // 32 * 32 + 2 * (t % 16) + side\n"
        f"    if i < x.size:\n        v = x[i]\n        if side == 0:\n{_FORMULAS}",
        "both sides meet in one warp",
    ),
    (
        "ch08.sides",
        "both computed",
        "def sides(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        even, odd = x[i], x[i]\n"
        "        for k in range(64):\n            even = 0.99 * even + 1.0\n            odd = 1.01 * odd - 1.0\n"
        "        out[i] = even if i % 2 == 0 else odd",
        "every lane computes both sides",
    ),
    (
        "ch08.sides",
        "side of the warp",
        "def sides(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        v = x[i]\n"
        f"        if i // 32 % 2 == 0:\n{_FORMULAS}",
        "the side follows the thread, not the element",
    ),
    (
        "ch08.sides",
        "side of the thread",
        "def sides(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        v = x[i]\n"
        f"        if cuda.threadIdx.x < cuda.blockDim.x // 2:\n{_FORMULAS}",
        "the side follows the thread, not the element",
    ),
    (
        "ch08.sides",
        "even elements only",
        "def sides(x, out):\n    i = 2 * cuda.grid(1)\n    if i < x.size:\n        v = x[i]\n        if i % 2 == 0:\n"
        f"{_FORMULAS}",
        "only one side is written",
    ),
    (
        "ch08.sides",
        "no guard",
        "def sides(x, out):\n    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2\n    side = 1 if t >= half else 0\n"
        "    i = cuda.blockIdx.x * cuda.blockDim.x + 2 * (t - half * side) + side\n"
        f"    if True:\n        v = x[i]\n        if side == 0:\n{_FORMULAS}",
        "no guard",
    ),
    (
        "ch08.rows",
        "as they come",
        "{ INDEX if (i >= rows) return; float sum = 0; for (int k = first[i]; k < first[i+1]; ++k) sum += x[k];"
        " out[i] = sum; }",
        "rows as they come",
    ),
    (
        "ch08.rows",
        "not put back",
        "{ INDEX if (i >= rows) return; int row = order[i]; float sum = 0;"
        " for (int k = first[row]; k < first[row+1]; ++k) sum += x[k]; out[i] = sum; }",
        "the sums stay in sorted order",
    ),
    (
        "ch08.rows",
        "order for the store only",
        "{ INDEX if (i >= rows) return; float sum = 0; for (int k = first[i]; k < first[i+1]; ++k) sum += x[k];"
        " out[order[i]] = sum; }",
        "the row is not the one that order names",
    ),
    (
        "ch08.rows",
        "no guard",
        "{ INDEX int row = order[i]; float sum = 0; for (int k = first[row]; k < first[row+1]; ++k) sum += x[k];"
        " out[row] = sum; }",
        "no guard",
    ),
    ("ch08.rows", "empty", "{}", "nothing is written yet"),
    (
        "ch08.table",
        "the switch",
        f"{{ INDEX if (i >= n) return; float v = x[i]; switch (kind[i]) {{ {_CASES} }} out[i] = v; }}",
        "still a jump for every kind",
    ),
    (
        "ch08.table",
        "a table in each thread",
        f"{{ const float scale[8] = {_SCALE}; const float shift[8] = {_SHIFT}; INDEX"
        " if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]]; }",
        "the table lies in local memory",
    ),
    (
        "ch08.table",
        "selections",
        f"{{ INDEX if (i >= n) return; int k = kind[i]; float a = 0, b = 0; {_SELECTIONS} out[i] = a * x[i] + b; }}",
        "eight selections instead of one look",
    ),
    (
        "ch08.table",
        "no shift",
        f"{{ const float scale[8] = {_SCALE}; INDEX if (i < n) out[i] = scale[kind[i]] * x[i]; }}",
        "the shift is forgotten",
    ),
    (
        "ch08.table",
        "no guard",
        f"{{ const float scale[8] = {_SCALE}; INDEX out[i] = scale[kind[i]] * x[i]; }}",
        "no guard",
    ),
]
