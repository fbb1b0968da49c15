"""Wrong answers to the exercises of chapter 03."""

HEADS = {"ch03.ranks": "ranks(const float* x, const int* k, float* out, int n)"}

SORT = """float m[4];
    for (int j = 0; j < 4; ++j) m[j] = x[4 * i + j];
    for (int j = 1; j < 4; ++j) {
        float v = m[j];
        int at = j;
        while (at > 0 && m[at - 1] > v) { m[at] = m[at - 1]; --at; }
        m[at] = v;
    }"""
NETWORK = """float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3], t;
    t = fminf(a, b); b = fmaxf(a, b); a = t;
    t = fminf(c, d); d = fmaxf(c, d); c = t;
    t = fminf(a, c); c = fmaxf(a, c); a = t;
    t = fminf(b, d); d = fmaxf(b, d); b = t;
    t = fminf(b, c); c = fmaxf(b, c); b = t;
    int w = k[i];"""
CHOICE = "out[i] = w == 0 ? a : w == 1 ? b : w == 2 ? c : d;"
TABLE = """def look_up(which, table, out):
    near = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        near[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = near[which[i]]"""


def but(text: str, *changes: tuple[str, str]) -> str:
    """A right answer with parts replaced, the first place of each; each part must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def ranks(body: str, guard: str = "if (i >= n) return;") -> str:
    return f"{{\n    INDEX\n    {guard}\n    {body}\n}}"


BARRIER = "    cuda.syncthreads()\n"
UNKNOWN = "an index that the compiler does not know"
ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch03.ranks", "empty", "{}", "nothing is written yet"),
    ("ch03.ranks", "insertion sort", ranks(f"{SORT}\n    out[i] = m[k[i]];"), UNKNOWN),
    (
        "ch03.ranks",
        "sorted in registers, chosen by an index",
        ranks(f"{NETWORK}\n    float m[4] = {{a, b, c, d}};\n    out[i] = m[w];"),
        UNKNOWN,
    ),
    ("ch03.ranks", "as they come", ranks("out[i] = x[4 * i + k[i]];"), "the four are not sorted"),
    (
        "ch03.ranks",
        "largest first",
        ranks(f"{NETWORK}\n    out[i] = w == 3 ? a : w == 2 ? b : w == 1 ? c : d;"),
        "counted from the largest",
    ),
    ("ch03.ranks", "no guard", ranks(f"{NETWORK}\n    {CHOICE}", guard=""), "no guard"),
    (
        "ch03.ranks",
        "in shared memory",
        ranks(f"{SORT}\n    out[i] = m[k[i]];").replace(
            "float m[4];", "__shared__ float all[128][4]; float* m = all[threadIdx.x];"
        ),
        "moved to shared memory",
    ),
    (
        "ch03.ranks",
        "the place is found in registers, the value fetched again",
        ranks(
            f"{NETWORK}\n    float v = w == 0 ? a : w == 1 ? b : w == 2 ? c : d;\n    int at = 0;\n"
            "    for (int j = 3; j >= 0; --j) if (x[4 * i + j] == v) at = j;\n    out[i] = x[4 * i + at];"
        ),
        "loaded again",
    ),
    (
        "ch03.table",
        "as it was",
        "def look_up(which, table, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = table[which[i]]",
        "the table stays in global memory",
    ),
    ("ch03.table", "no barrier", but(TABLE, (BARRIER, "")), "a barrier is missing"),
    (
        "ch03.table",
        "half a table",
        but(TABLE, ("    for k in range(t, 256, 128):\n        near[k] = table[k]", "    near[t] = table[t]")),
        "a part of the table is never filled",
    ),
    ("ch03.table", "no guard", but(TABLE, ("i < out.size", "True")), "no guard"),
    (
        "ch03.table",
        "returns before it has filled its part",
        but(TABLE, ("    for k", "    if i >= out.size:\n        return\n    for k")),
        "threads left before they had helped to fill the table",
    ),
    (
        "ch03.table",
        "a barrier inside the guard, one after it",
        but(TABLE, (BARRIER, ""), ("        out[i]", "        cuda.syncthreads()\n        out[i]"))
        + "\n    cuda.syncthreads()",
        "a barrier that not every thread reaches",
    ),
    (
        "ch03.table",
        "a table for each thread",
        but(TABLE, ("cuda.shared", "cuda.local"), ("range(t, 256, 128)", "range(256)"), (BARRIER, "")),
        "a copy for each thread",
    ),
    (
        "ch03.table",
        "filled by thread 0",
        but(TABLE, ("range(t, 256, 128)", "range(256 if t == 0 else 0)")),
        "one lane fills the table for all",
    ),
    (
        "ch03.bytes",
        "all on chip",
        "def bytes_of_block(threads, registers, shared, local):\n"
        "    return threads * (registers * 4 + local) + shared, 0",
        "local memory counted as on chip",
    ),
    (
        "ch03.bytes",
        "a byte a register",
        "def bytes_of_block(threads, registers, shared, local):\n"
        "    return threads * registers + shared, threads * local",
        "a register counted as one byte",
    ),
    (
        "ch03.bytes",
        "shared for each thread",
        "def bytes_of_block(threads, registers, shared, local):\n"
        "    return threads * (registers * 4 + shared), threads * local",
        "shared memory counted for each thread",
    ),
    (
        "ch03.bytes",
        "local once",
        "def bytes_of_block(threads, registers, shared, local):\n    return threads * registers * 4 + shared, local",
        "local memory counted once a block",
    ),
    (
        "ch03.bytes",
        "registers once",
        "def bytes_of_block(threads, registers, shared, local):\n    return registers * 4 + shared, threads * local",
        "registers counted once a block",
    ),
    (
        "ch03.ranks",
        "four exchanges of five",
        ranks(f"{NETWORK}\n    {CHOICE}".replace("    t = fminf(b, c); c = fmaxf(b, c); b = t;\n", "")),
        "not wholly sorted",
    ),
    ("ch03.ranks", "k left out", ranks(f"{NETWORK}\n    out[i] = a;"), "always the smallest"),
    (
        "ch03.ranks",
        "fours dealt by columns",
        ranks(
            f"{NETWORK}\n    {CHOICE}".replace(
                "a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3]",
                "a = x[i], b = x[i + n], c = x[i + 2 * n], d = x[i + 3 * n]",
            )
        ),
        "the wrong four",
    ),
    (
        "ch03.table",
        "filled by the grid's index",
        but(TABLE, ("range(t, 256, 128)", "range(i, 256, 128)")),
        "a part of the table is never filled",
    ),
    ("ch03.table", "half a table", but(TABLE, ("array(256", "array(128")), "past the end of the shared table"),
    ("ch03.table", "looked up by i", but(TABLE, ("near[which[i]]", "near[i]")), "past the end of the shared table"),
    (
        "ch03.bytes",
        "swapped",
        "def bytes_of_block(t, r, s, l):\n    return t * l, 4 * t * r + s",
        "on and off the chip swapped",
    ),
    (
        "ch03.bytes",
        "one number",
        "def bytes_of_block(t, r, s, l):\n    return 4 * t * r + s",
        "not a pair of numbers",
    ),
    (
        "ch03.bytes",
        "bits",
        "def bytes_of_block(t, r, s, l):\n    return 32 * t * r + s, t * l",
        "bits counted as bytes",
    ),
    (
        "ch03.ranks",
        "k counted from 1",
        ranks(f"{NETWORK}\n    out[i] = w == 1 ? a : w == 2 ? b : w == 3 ? c : d;"),
        "sorted, and the wrong one is chosen",
    ),
    (
        "ch03.ranks",
        "the k of another four",
        ranks(f"{NETWORK}\n    {CHOICE}".replace("w = k[i]", "w = k[4 * i]")),
        "the index leads out of an array",
    ),
    (
        "ch03.ranks",
        "dynamic shared memory",
        ranks("extern __shared__ float s[];\n    s[threadIdx.x] = x[4 * i];\n    out[i] = s[threadIdx.x];"),
        "shared memory that the launch does not give",
    ),
]
