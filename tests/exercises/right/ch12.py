"""Right answers to the exercises of chapter 12 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch12.bandwidth",
        "np.round",
        """import numpy as np
def effective(n, seconds, peak):
    gb = n * 3 * np.dtype("float32").itemsize / seconds
    return np.round(gb / 1e9, 1), np.round(gb / peak * 100, 1)
""",
    ),
    (
        "ch12.bandwidth",
        "float format",
        """def effective(n, seconds, peak):
    nbytes = (2 + 1) * 4 * n
    gbs = nbytes / 1e9 / seconds
    return float(f"{gbs:.1f}"), float(f"{100 * gbs / (peak / 1e9):.1f}")
""",
    ),
    (
        "ch12.bandwidth",
        "divmod names",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    share = rate / peak
    result = round(rate * 1e-9, 1), round(share * 100, 1)
    return result
""",
    ),
    (
        "ch12.bottleneck",
        "other order, other thresholds",
        """def bottleneck(p):
    if p["waves"] < 0.25:
        return "launch too small"
    conflicts = p["shared_load_conflicts"] + p["shared_store_conflicts"]
    if conflicts > 100 and conflicts / max(1, p["shared_load_wavefronts"] + p["shared_store_wavefronts"]) > 0.3:
        return "bank conflicts"
    if p["lanes_per_instruction"] < 28:
        return "divergence"
    if p["load_efficiency"] < 50:
        return "uncoalesced access"
    return "none"
""",
    ),
    (
        "ch12.bottleneck",
        "blocks against SMs",
        """import math
def bottleneck(p):
    if math.prod(p.counters.grid) < 108:
        return "launch too small"
    if p["lanes_per_instruction"] < 20:
        return "divergence"
    if 32 * p["global_load_sectors"] > 1.5 * p["global_load_bytes"]:
        return "uncoalesced access"
    if p["shared_load_conflicts"]:
        return "bank conflicts"
    return "none"
""",
    ),
    (
        "ch12.settle",
        "block-level halves",
        """@cuda.jit
def settle(x, out):
    t = cuda.threadIdx.x
    warp, lane = divmod(t, 32)
    first = cuda.blockIdx.x * 16
    odd = warp // 4
    row = first + 4 * (warp % 4) + 2 * (lane // 16) + odd
    column = lane % 16
    if row < x.shape[0]:
        v = x[row, column]
        r = v
        if not odd:
            for _ in range(40):
                r = v / (v + r)
        out[row, column] = r
""",
    ),
    (
        "ch12.settle",
        "t split by half",
        """@cuda.jit
def settle(x, out):
    t = cuda.threadIdx.x
    half = cuda.blockDim.x // 2
    even = t < half
    k = t if even else t - half
    row = cuda.blockIdx.x * 16 + 2 * (k // 16) + (0 if even else 1)
    col = k & 15
    if row >= x.shape[0]:
        return
    value = x[row, col]
    if even:
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[row, col] = r
    else:
        out[row, col] = value
""",
    ),
    (
        "ch12.settle",
        "grid-level",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    evens = (n + 1) // 2
    slot, column = i // 16, i % 16
    if slot < evens:
        value = x[2 * slot, column]
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[2 * slot, column] = r
    elif slot < n:
        row = 2 * (slot - evens) + 1
        out[row, column] = x[row, column]
""",
    ),
    (
        "ch12.settle",
        "device function, warp pairs by bit tricks",
        """@cuda.jit(device=True)
def settled(value):
    r = value
    for _ in range(40):
        r = value / (value + r)
    return r
@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    odd = (i >> 5) & 1
    row = ((i >> 6) << 2) + (((i >> 4) & 1) << 1) + odd
    column = i & 15
    if row < len(x):
        v = x[row, column]
        out[row, column] = v if odd else settled(v)
""",
    ),
    (
        "ch12.settle",
        "column in 16 lanes, two rows per thread",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    pair, column = i // 16, i % 16
    even, odd = 2 * pair, 2 * pair + 1
    if odd < x.shape[0]:
        out[odd, column] = x[odd, column]
    if even < x.shape[0]:
        v = x[even, column]
        r = v
        for _ in range(40):
            r = v / (v + r)
        out[even, column] = r
""",
    ),
    (
        "ch12.utilisation",
        "intervals merged first",
        """def utilisation(kernels, period):
    begin, end = period
    merged = []
    for start, stop in sorted((max(a, begin), min(b, end)) for a, b in kernels):
        if start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], stop)
        else:
            merged.append([start, stop])
    return round(100 * sum(stop - start for start, stop in merged) / (end - begin))""",
    ),
    (
        "ch12.utilisation",
        "starts and stops counted in order",
        """def utilisation(kernels, period):
    begin, end = period
    marks = []
    for start, stop in kernels:
        start, stop = max(start, begin), min(stop, end)
        if start < stop:
            marks += [(start, 1), (stop, -1)]
    busy = running = 0
    last = begin
    for time, change in sorted(marks):
        if running:
            busy += time - last
        running += change
        last = time
    return round(100 * busy / (end - begin))""",
    ),
    (
        "ch12.selftime",
        "children summed per call",
        """def self_times(calls):
    own = []
    for at, (name, total, _) in enumerate(calls):
        below = sum(time for _, time, caller in calls if caller == at)
        own.append(total - below)
    return own""",
    ),
    (
        "ch12.selftime",
        "a dictionary of what is below",
        """def self_times(calls):
    below = {}
    for _, time, caller in calls:
        below[caller] = below.get(caller, 0) + time
    return [time - below.get(at, 0) for at, (_, time, _) in enumerate(calls)]""",
    ),
    (
        "ch12.worth",
        "the new total, row by row",
        """def worth_mending(rows, factors):
    whole = sum(row[1] for row in rows)
    best = (None, whole)
    for name, total, _ in rows:
        after = whole - total + total / factors[name]
        if after < best[1]:
            best = (name, after)
    return best[0], round(whole / best[1], 2)""",
    ),
    (
        "ch12.worth",
        "max by what is saved",
        """def worth_mending(rows, factors):
    whole = sum(total for _, total, _ in rows)
    saved = {name: total * (1 - 1 / factors[name]) for name, total, _ in rows}
    best = max(saved, key=saved.get)
    if saved[best] <= 0:
        return None, 1.0
    return best, round(whole / (whole - saved[best]), 2)""",
    ),
]
