"""Wrong answers to lab02.heads."""

KEY = "lab02.heads"

RIGHT = """
@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        k = i % size
        token = i // size % tokens
        head = i // size // tokens
        out[head, token, k] = x[token, head, k]
"""
INDICES = "k = i % size\n        token = i // size % tokens\n        head = i // size // tokens\n"
STORE = "out[head, token, k] = x[token, head, k]"
LOOP = f"""    if i == 0:
        for head in range(heads):
            for token in range(tokens):
                for k in range(size):
                    {STORE}
"""
BODY = RIGHT[RIGHT.index("    if i") :]


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def by(*lines: str) -> str:
    return but((INDICES, "\n        ".join(lines) + "\n"))


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "    pass\n")), "nothing is written yet"),
    ("no guard", but(("if i < x.size", "if True")), "no guard"),
    (
        "indices of out as of x",
        but((STORE, "out[token, head, k] = x[token, head, k]")),
        "an index beyond its dimension",
    ),
    (
        "a copy",
        by("k = i % size", "token = i // size % tokens", "head = i // size // tokens").replace(
            STORE, "out[head, token, k] = x[(i // size) // heads, (i // size) % heads, k]"
        ),
        "copied as it lies",
    ),
    (
        "a remainder of the wrong size",
        by("k = i % size", "token = i // size % heads", "head = i // size // heads"),
        "an index beyond its dimension",
    ),
    ("one row too few", but(("i < x.size", "i < x.size - size")), "some elements have no thread"),
    ("the first block only", but(("cuda.grid(1)", "cuda.threadIdx.x")), "every block does the work of block 0"),
    (
        "tokens fastest",
        by("token = i % tokens", "k = i // tokens % size", "head = i // tokens // size"),
        "neighbouring lanes are apart",
    ),
    (
        "heads fastest",
        by("head = i % heads", "token = i // heads % tokens", "k = i // heads // tokens"),
        "neighbouring lanes are apart",
    ),
    ("one thread does it all", but((BODY, LOOP)), "neighbouring lanes are apart"),
    (
        "a row for each thread",
        but(
            (
                BODY,
                "    if i < tokens * heads:\n        for k in range(size):\n            out[i // tokens, i % "
                "tokens, k] = x[i % tokens, i // tokens, k]\n",
            )
        ),
        "neighbouring lanes are apart",
    ),
    (
        "the public sizes only",
        but(
            (
                "x[token, head, k]",
                "x[token, head, k] if size in (1, 31, 7, 13, 32, 40) and tokens in (1, 31, 5, 4, 16, 30) else "
                "np.float32(0)",
            )
        ),
        "right in the public cases only",
    ),
    ("one element too many", but(("i < x.size", "i <= x.size")), "no guard"),
    ("a guard for rows", but(("i < x.size", "i < tokens * heads")), "some elements have no thread"),
    (
        "a run for each thread",
        but(
            (
                BODY,
                "    for j in range(4 * i, min(4 * i + 4, x.size)):\n        row = j // size\n        out[row // "
                "tokens, row % tokens, j % size] = x[row % tokens, row // tokens, j % size]\n",
            )
        ),
        "neighbouring lanes are apart",
    ),
    (
        "every thread does it all",
        but((BODY, LOOP.replace("if i == 0", "if i < x.size"))),
        "the same work many times",
    ),
    ("a fraction for an index", but(("i // size // tokens", "i / size / tokens")), "it does not compile"),
    (
        "one block does it all",
        but(("if i < x.size:", "for i in range(i, x.size if cuda.blockIdx.x == 0 else 0, cuda.blockDim.x):")),
        "few do the work of all",
    ),
    (
        "x.shape in another order",
        but(("tokens, heads, size = x.shape", "heads, tokens, size = x.shape")),
        "an index beyond its dimension",
    ),
    ("no remainder", but(("i // size % tokens", "i // size")), "an index beyond its dimension"),
    (
        "the place in the block, in x's order",
        by("k = i % size", "token = i // size // heads", "head = i // size % heads").replace(
            "cuda.grid(1)", "cuda.threadIdx.x"
        ),
        "every block does the work of block 0",
    ),
    (
        "every element twice",
        but((STORE, STORE + "\n        cuda.syncthreads()\n        " + STORE)),
        "sectors come twice",
    ),
    ("whole numbers", but(("x[token, head, k]", "int(x[token, head, k])")), "fractions are lost"),
]
