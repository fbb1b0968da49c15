"""Wrong answers to lab07.top."""

KEY = "lab07.top"

RIGHT = """@cuda.jit
def top(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        best = cuda.local.array(8, np.float32)
        for j in range(8):
            best[j] = -np.inf
        for k in range(x.shape[0]):
            v = x[k, i]
            for j in range(8):
                held = best[j]
                best[j] = max(held, v)
                v = min(held, v)
        for j in range(8):
            out[j, i] = best[j]
"""
EXCHANGE = """            for j in range(8):
                held = best[j]
                best[j] = max(held, v)
                v = min(held, v)
"""
INSERT = """            if v > best[7]:
                j = 7
                while j > 0 and best[j - 1] < v:
                    best[j] = best[j - 1]
                    j -= 1
                best[j] = v
"""
REPLACE = """            for j in range(8):
                if v > best[j]:
                    best[j] = v
                    break
"""
ONCE = """            for j in range(8):
                held = best[j]
                if v != held:
                    best[j] = max(held, v)
                    v = min(held, v)
                else:
                    v = np.float32(-np.inf)
"""
AGAIN = """@cuda.jit
def top(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        last, taken, below = np.float32(np.inf), np.int32(0), np.int32(0)
        for j in range(8):
            if taken == below:
                best = np.float32(-np.inf)
                for k in range(x.shape[0]):
                    if x[k, i] < last:
                        best = max(best, x[k, i])
                last, below, taken = best, 0, 0
                for k in range(x.shape[0]):
                    below += x[k, i] == last
            out[j, i] = last
            taken += 1
"""
RANKS = """@cuda.jit
def top(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        for j in range(8):
            out[j, i] = -np.inf
        for k in range(x.shape[0]):
            rank = 0
            for m in range(x.shape[0]):
                rank += x[m, i] > x[k, i] or (x[m, i] == x[k, i] and m < k)
            if rank < 8:
                out[rank, i] = x[k, i]
"""
SHARED = (
    RIGHT.replace("cuda.local.array(8,", "cuda.shared.array((8, 128),")
    .replace("best[j]", "best[j, t]")
    .replace("    if i", "    t = cuda.threadIdx.x\n    if i")
)


def but(*changes: tuple[str, str], text: str = RIGHT) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", RIGHT[: RIGHT.index("    if i")], "nothing is written yet"),
    ("no guard", but(("if i < x.shape[1]:", "if True:")), "no guard"),
    ("a guard of one too many", but(("i < x.shape[1]", "i <= x.shape[1]")), "no guard"),
    ("index the wrong way round", but(("x[k, i]", "x[i, k]")), "rows and columns are mixed up"),
    ("sizes the wrong way round", but(("range(x.shape[0])", "range(x.shape[1])"), ("i < x.shape[1]", "i < x.shape[0]")),
     "rows and columns are mixed up"),
    ("writes to x", but(("out[j, i]", "x[j, i]")), "rows and columns are mixed up"),
    ("searches past the first place", but((EXCHANGE, INSERT.replace("j > 0 and ", ""))), "past the eight"),
    ("the greatest last", but(("out[j, i]", "out[7 - j, i]")), "the least of them first"),
    ("from the second row", but(("range(x.shape[0])", "range(1, x.shape[0])")), "a row is left out"),
    ("up to the last row but one", but(("range(x.shape[0])", "range(x.shape[0] - 1)")), "a row is left out"),
    ("a column for each block", but(("cuda.grid(1)", "cuda.blockIdx.x")), "columns without a thread"),
    ("the place in the block", but(("cuda.grid(1)", "cuda.threadIdx.x")), "columns without a thread"),
    ("integers", but(("np.float32", "np.int32"), ("-np.inf", "-1000")), "whole numbers"),
    ("hands on what it keeps", but(("min(held, v)", "held")), "both stay the same"),
    ("hands on nothing less", but(("                v = min(held, v)\n", "")), "the greatest, eight times"),
    ("begins at -100", but(("-np.inf", "-100")), "begins with something else than -inf"),
    ("begins with the first row", but(("-np.inf", "x[0, i]")), "begins with something else than -inf"),
    ("in shared memory", SHARED, "the eight stand in shared memory"),
    ("the least", but(("max(", "big("), ("min(", "max("), ("big(", "min("), ("-np.inf", "np.inf")),
     "the least instead of the greatest"),
    ("begins at zero", but(("-np.inf", "0")), "begins at zero"),
    ("each value once", but((EXCHANGE, ONCE)), "equal values are kept once"),
    ("replaces", but((EXCHANGE, REPLACE)), "what gives way is lost"),
    ("sorts in by a search", but((EXCHANGE, INSERT)), "an array indexed at run time"),
    ("a loop of unknown length", but((EXCHANGE, EXCHANGE.replace("range(8)", "range(out.shape[0])"))),
     "an array indexed at run time"),
    ("a cap of 24", but(("@cuda.jit\n", "@cuda.jit(max_registers=24)\n")),
     "the registers were taken away, the values were not"),
    ("float64", but(("np.float32", "np.float64"), ("v = x[k, i]", "v = np.float64(x[k, i])")),
     "more is kept than eight values and a loop need"),
    ("a loop over columns", but(("if i < x.shape[1]:", "for i in range(i, x.shape[1], cuda.gridsize(1)):")),
     "more is kept than eight values and a loop need"),
    ("eight passes", AGAIN, "loads the same values again"),
    ("counts the greater ones", RANKS, "loads the same values again"),
    ("one thread does it all",
     but(("    if i < x.shape[1]:\n", "    if i:\n        return\n    for i in range(x.shape[1]):\n")),
     "loads the same values again"),
    (
        "the public heights only",
        but(("v = x[k, i]\n", "v = x[k if x.shape[0] in (1, 5, 8, 13, 40, 100) else 0, i]\n")),
        "right in the public cases only",
    ),
    ("along the rows", but(("if i < x.shape[1]", "if i < x.shape[0]"), ("range(x.shape[0])", "range(x.shape[1])"),
     ("x[k, i]", "x[i, k]")), "the greatest of each row"),
    ("eight rows", but(("range(x.shape[0])", "range(min(8, x.shape[0]))")), "a row is left out"),
    ("seven places", but((EXCHANGE, EXCHANGE.replace("range(8)", "range(7)"))), "the eighth place stays empty"),
    ("the least gives way", but((EXCHANGE, """            least = 0
            for j in range(8):
                if best[j] < best[least]:
                    least = j
            if v > best[least]:
                best[least] = v
""")), "the right eight in another order"),
]  # fmt: skip
