"""Wrong answers to lab04.mode."""

KEY = "lab04.mode"

RIGHT = """
@cuda.jit
def mode(values, parts, tickets, out):
    mine, last = cuda.shared.array(64, "int32"), cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    if t < 64:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < 64:
        parts[cuda.blockIdx.x, t] = mine[t]
        cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if last[0]:
        if t < 64:
            mine[t] = 0
            for b in range(cuda.gridDim.x):
                mine[t] += parts[b, t]
        cuda.syncthreads()
        if t == 0:
            best = 0
            for k in range(1, 64):
                if mine[k] > mine[best]:
                    best = k
            out[0] = best
"""
BODY = RIGHT[RIGHT.index("    mine, last") :]
SYNC = "    cuda.syncthreads()\n"
DRAW = "cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1"
BY_HAND = """tickets[0] == cuda.gridDim.x - 1
        tickets[0] += 1"""
LEAVE = "parts[cuda.blockIdx.x, t] = mine[t]"
GRID = "range(cuda.grid(1), values.size, cuda.gridsize(1))"
COUNT = f"    for i in {GRID}:\n        cuda.atomic.add(mine, values[i], 1)\n"
ROUNDS = """    for first in range(0, values.size, cuda.gridsize(1)):
        if first + cuda.grid(1) < values.size:
            cuda.atomic.add(mine, values[first + cuda.grid(1)], 1)
        cuda.syncthreads()
"""
ALONE = """    if cuda.grid(1) == 0:
        best = 0
        for i in range(values.size):
            parts[0, values[i]] += 1
        for k in range(1, 64):
            if parts[0, k] > parts[0, best]:
                best = k
        out[0] = best
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, "    pass\n"), "nobody is last"),
    ("one ticket too many", but("== cuda.gridDim.x - 1", "== cuda.gridDim.x"), "nobody is last"),
    ("a ticket without an atomic", but(DRAW, BY_HAND), "a ticket that is not drawn by an atomic"),
    ("no fences", RIGHT.replace("        cuda.threadfence()\n", ""), "nothing orders the blocks"),
    ("no fence before the ticket", but("        cuda.threadfence()\n", ""), "nothing orders the blocks"),
    ("every block decides", but(DRAW, "cuda.atomic.add(tickets, 0, 1) >= 0"), "nothing orders the blocks"),
    ("one row for all", but(LEAVE, "parts[0, t] += mine[t]"), "nothing orders the blocks"),
    ("never set to zero", but("    if t < 64:\n        mine[t] = 0\n", ""), "shared memory that nobody has written"),
    ("no barrier after the zeros", but(SYNC, ""), "a barrier is missing"),
    ("no barrier before last is read", but(SYNC + "    if last", "    if last"), "a barrier is missing"),
    ("no barrier before the search", but("    " + SYNC + "        if t", "        if t"), "a barrier is missing"),
    (
        "a barrier under a guard",
        but(SYNC + "    for", "    if cuda.grid(1) < values.size:\n        cuda.syncthreads()\n    for"),
        "a barrier that not every thread reaches",
    ),
    ("the last of equals", but("mine[k] > mine[best]", "mine[k] >= mine[best]"), "the last of equals"),
    ("how often", but("out[0] = best", "out[0] = mine[best]"), "how often, not what"),
    ("no loop", but(GRID, GRID.replace("values.size", "min(values.size, 512)")), "one value a thread"),
    (
        "added up by atomics",
        but(LEAVE, "cuda.atomic.add(parts, (cuda.blockIdx.x, t), mine[t])"),
        "not one ticket a block",
    ),
    ("one thread does it all", but(BODY, ALONE), "lanes that do not read neighbours"),
    ("a barrier for every round", but(COUNT, ROUNDS), "barriers in the loop"),
    (
        "the public sizes only",
        but("out[0] = best", "out[0] = best if values.size in (1, 36, 104, 626, 877, 1065, 721, 5117) else -2"),
        "right in the public cases only",
    ),
    ("counted by +=", but("cuda.atomic.add(mine, values[i], 1)", "mine[values[i]] += 1"), "changed without an atomic"),
    ("bin 63 is not looked at", but("range(1, 64)", "range(1, 63)"), "a bin is left out of the search"),
    ("bin 0 is not looked at", but("best = 0\n", "best = 1\n"), "a bin is left out of the search"),
    (
        "the fence before the store",
        but(LEAVE + "\n        cuda.threadfence()", "cuda.threadfence()\n        " + LEAVE),
        "nothing orders the blocks",
    ),
    ("the last by its number", but(DRAW, "cuda.blockIdx.x == cuda.gridDim.x - 1"), "nothing orders the blocks"),
    ("the last two decide", but("== cuda.gridDim.x - 1", ">= cuda.gridDim.x - 2"), "nothing orders the blocks"),
    ("a ticket for each thread", but("    if t == 0:\n        last", "    if t >= 0:\n        last"), "nobody is last"),
    (
        "one block for all",
        but("    t = cuda.threadIdx.x\n", "    t = cuda.threadIdx.x\n    if cuda.blockIdx.x > 0:\n        return\n")
        .replace(GRID, "range(t, values.size, 128)")
        .replace(DRAW, "1"),
        "not one ticket a block",
    ),
    (
        "waits for the others",
        but(
            "last[0] = " + DRAW,
            "cuda.atomic.add(tickets, 0, 1)\n        while cuda.atomic.add(tickets, 0, 0) < 4:\n"
            "            pass\n        last[0] = cuda.blockIdx.x == 0",
        ),
        "not one ticket a block",
    ),
    (
        "the first 2000 values",
        but("values.size, cuda", "min(values.size, 2000), cuda"),
        "another value than the most frequent one",
    ),
    (
        "every other value where there are many",
        but(GRID, GRID.replace("cuda.gridsize(1))", "cuda.gridsize(1) * (1 + (values.size > 2000)))")),
        "another value than the most frequent one",
    ),
    (
        "one thread for all sums",
        but(
            "        if t < 64:\n            mine[t] = 0\n            for b",
            "        for t in range(64 if t == 0 else 0):\n            mine[t] = 0\n            for b",
        ).replace("        if t == 0:\n            best", "        if cuda.threadIdx.x == 0:\n            best"),
        "lanes that do not read neighbours",
    ),
    (
        "one block's counts",
        but("mine[t] += parts[b, t]", "mine[t] = parts[b, t]"),
        "another value than the most frequent one",
    ),
    (
        "begins at bin 63",
        but("best = 0\n            for k in range(1, 64)", "best = 63\n            for k in range(63)"),
        "the last of equals",
    ),
    (
        "every thread draws",
        but("    if t == 0:\n        last", "    if t >= 0:\n        last").replace(
            "cuda.gridDim.x - 1", "cuda.gridsize(1) - 1"
        ),
        "a ticket for each thread",
    ),
    (
        "its own counts twice",
        but("            mine[t] = 0\n            for b", "            for b"),
        "the last block counts twice",
    ),
]
