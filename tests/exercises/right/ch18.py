"""Right answers to the exercises of chapter 18, by other routes than the solution."""

ROWS = [
    (
        "ch18.state",
        "the sum spelled out",
        """def state_bytes(parameters, optimiser, mixed):
    each = 4 if mixed else 8
    if mixed:
        each += 4
    if optimiser == "momentum":
        each += 4
    elif optimiser == "Adam":
        each += 2 * 4
    return each * parameters""",
    ),
    (
        "ch18.state",
        "the same sum for both precisions",
        (
            (
                """    weight_and_gradient = 2 + 2 if mixed else 4 + 4
    master = 4 if mixed else 0
""",
                """    weight_and_gradient, master = (4, 4) if mixed else (8, 0)
""",
            ),
        ),
    ),
    (
        "ch18.place",
        "the best by min, without the loop",
        """def place(free, nbytes):
    size = -(-nbytes // 512) * 512
    fitting = [at for at, block in enumerate(free) if block >= size]
    if not fitting:
        return None
    at = min(fitting, key=lambda index: free[index])
    found = list(free)
    found[at] -= size
    return found if found[at] else found[:at] + found[at + 1 :]""",
    ),
    (
        "ch18.place",
        "sorted by size",
        (
            (
                """    best = None
    for i, block in enumerate(free):
        if block >= size and (best is None or block < free[best]):
            best = i
    if best is None:
        return None
""",
                """    fits = sorted((block, i) for i, block in enumerate(free) if block >= size)
    if not fits:
        return None
    best = fits[0][1]
""",
            ),
        ),
    ),
    (
        "ch18.diagnose",
        "any and sum",
        """def diagnose(blocks, left, asked):
    free = sorted((mib for mib, used in blocks if used is False), reverse=True)
    if free and free[0] >= asked:
        return "cached"
    if asked <= left:
        return "driver"
    return "full" if left + sum(free) < asked else "fragmented\"""",
    ),
    (
        "ch18.diagnose",
        "the largest free block",
        (
            (
                """    for mib in free:
        if mib >= asked:
            return "cached"
""",
                """    if max(free, default=0) >= asked:
        return "cached"
""",
            ),
        ),
    ),
    (
        "ch18.grown",
        "Counters subtracted",
        """from collections import Counter


def held(blocks):
    found = Counter()
    for block in blocks:
        if block["state"] == "active_allocated":
            found[block["line"]] += block["size"]
    return found


def grown(before, after):
    return dict(held(after) - held(before))""",
    ),
    (
        "ch18.grown",
        "one pass with signs",
        """def grown(before, after):
    change = {}
    for sign, blocks in ((-1, before), (1, after)):
        for block in blocks:
            if block["state"] == "active_allocated":
                change[block["line"]] = change.get(block["line"], 0) + sign * block["size"]
    return {line: more for line, more in change.items() if more > 0}""",
    ),
    (
        "ch18.segments",
        "min over all counts",
        """import math


def segments(layers, inside, between):
    kept = {count: count * between + math.ceil(layers / count) * inside for count in range(1, layers + 1)}
    best = min(kept, key=kept.get)
    return best, kept[best]""",
    ),
    (
        "ch18.segments",
        "pairs compared",
        (
            (
                """    best, least = 1, between + layers * inside
    for count in range(2, layers + 1):
        longest = (layers + count - 1) // count
        kept = count * between + longest * inside
        if kept < least:
            best, least = count, kept
    return best, least""",
                """    least, best = min((count * between - (-layers // count) * inside, count) for count in range(1, layers + 1))
    return best, least""",
            ),
        ),
    ),
    (
        "ch18.trials",
        "doubling and halving as two functions",
        """def trials(most, limit):
    tried = []

    def fits(batch):
        tried.append(batch)
        return batch <= most

    batch = 1
    while batch <= limit and fits(batch):
        batch *= 2
    low, high = batch // 2, min(batch, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return tried""",
    ),
    (
        "ch18.trials",
        "the middle from below",
        (
            (
                "        middle = (good + bad) // 2",
                "        middle = good + (bad - good) // 2",
            ),
            (
                "            batch = 2 * batch",
                "            batch += batch",
            ),
        ),
    ),
]
