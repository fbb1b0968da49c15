"""Wrong answers to the exercises of chapter 12, each written out whole."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch12.bandwidth",
        "swapped",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return round(100 * rate / peak, 1), round(rate / 1e9, 1)
""",
        "the wrong order",
    ),
    (
        "ch12.bandwidth",
        "not rounded",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return rate / 1e9, 100 * rate / peak
""",
        "not rounded",
    ),
    (
        "ch12.bandwidth",
        "list",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return [round(rate / 1e9, 1), round(100 * rate / peak, 1)]
""",
        "a list is no tuple",
    ),
    (
        "ch12.bandwidth",
        "percent of rounded GB over peak",
        """def effective(n, seconds, peak):
    rate = round(12 * n / seconds / 1e9, 1)
    return rate, round(100 * rate / peak, 1)
""",
        "GB by bytes",
    ),
    (
        "ch12.bandwidth",
        "only x",
        """def effective(n, seconds, peak):
    rate = 4 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)
""",
        "x alone",
    ),
    (
        "ch12.bandwidth",
        "8-byte floats",
        """def effective(n, seconds, peak):
    rate = 24 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)
""",
        "a float32 is no double",
    ),
    (
        "ch12.bandwidth",
        "peak over rate",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return round(rate / 1e9, 1), round(100 * peak / rate, 1)
""",
        "peak over rate",
    ),
    (
        "ch12.bandwidth",
        "bytes a second",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return round(rate, 1), round(100 * rate / peak, 1)
""",
        "no GB",
    ),
    (
        "ch12.bandwidth",
        "print",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    print(round(rate / 1e9, 1), round(100 * rate / peak, 1))
""",
        "it returns nothing",
    ),
    (
        "ch12.bandwidth",
        "strings",
        """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return f"{rate/1e9:.1f} GB/s", f"{100*rate/peak:.1f} %"
""",
        "words are no numbers",
    ),
    (
        "ch12.bottleneck",
        "capitals",
        """def bottleneck(p):
    if p["waves"] < 0.5: return "Launch too small"
    if p["lanes_per_instruction"] < 24: return "Divergence"
    if p["load_efficiency"] < 75: return "Uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: return "Bank conflicts"
    return "None"
""",
        "small letters",
    ),
    (
        "ch12.bottleneck",
        "returns None at end",
        """def bottleneck(p):
    if p["waves"] < 0.5: return "launch too small"
    if p["lanes_per_instruction"] < 24: return "divergence"
    if p["load_efficiency"] < 75: return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: return "bank conflicts"
""",
        "none is a word",
    ),
    (
        "ch12.bottleneck",
        "efficiency as fraction",
        """def bottleneck(p):
    if p["waves"] < 0.5: return "launch too small"
    if p["lanes_per_instruction"] < 24: return "divergence"
    if p["load_efficiency"] < 0.75: return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: return "bank conflicts"
    return "none"
""",
        "strided access goes unseen",
    ),
    (
        "ch12.bottleneck",
        "any conflicts / waves < 1",
        """def bottleneck(p):
    if p["waves"] < 1: return "launch too small"
    if p["lanes_per_instruction"] < 24: return "divergence"
    if p["load_efficiency"] < 75: return "uncoalesced access"
    if p["shared_load_conflicts"] > 0: return "bank conflicts"
    return "none"
""",
        "half a wave is no small launch",
    ),
    (
        "ch12.bottleneck",
        "a list",
        """def bottleneck(p):
    r = []
    if p["waves"] < 0.5: r.append("launch too small")
    if p["lanes_per_instruction"] < 24: r.append("divergence")
    if p["load_efficiency"] < 75: r.append("uncoalesced access")
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: r.append("bank conflicts")
    return r or "none"
""",
        "one ailment",
    ),
    (
        "ch12.bottleneck",
        "inverted efficiency",
        """def bottleneck(p):
    if p["waves"] < 0.5: return "launch too small"
    if p["lanes_per_instruction"] < 24: return "divergence"
    if p["load_efficiency"] > 75: return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: return "bank conflicts"
    return "none"
""",
        "the wrong way round",
    ),
    (
        "ch12.bottleneck",
        "missing conflicts",
        """def bottleneck(p):
    if p["waves"] < 0.5: return "launch too small"
    if p["lanes_per_instruction"] < 24: return "divergence"
    if p["load_efficiency"] < 75: return "uncoalesced access"
    return "none"
""",
        "bank conflicts go unseen",
    ),
    (
        "ch12.bottleneck",
        "always none",
        """def bottleneck(p):
    return "none"
""",
        "one word for all",
    ),
    (
        "ch12.settle",
        "39 rounds",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16)
    column = lane % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if row % 2 == 0:
            for _ in range(1):
                r = value / (value + r)
        out[row, column] = r
""",
        "one round instead of 40",
    ),
    (
        "ch12.settle",
        "all rows settled",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    row, column = i // 16, i % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[row, column] = r
""",
        "all rows are settled",
    ),
    (
        "ch12.settle",
        "copies not written for odd rows",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    row, column = 2 * (i // 16), i % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[row, column] = r
""",
        "only settled rows are written",
    ),
    (
        "ch12.settle",
        "settled by column",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    row, column = i // 16, i % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if column % 2 == 0:
            for _ in range(40):
                r = value / (value + r)
        out[row, column] = r
""",
        "columns for rows",
    ),
    (
        "ch12.settle",
        "out[column,row]",
        """@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    row, column = i // 16, i % 16
    if row < x.shape[0]:
        out[column, row] = x[row, column]
""",
        "an index has gone astray",
    ),
    (
        "ch12.bottleneck",
        "print",
        """def bottleneck(p):
    print("divergence" if p["lanes_per_instruction"] < 24 else "none")
""",
        "it returns nothing",
    ),
    (
        "ch12.bottleneck",
        "no question about lanes",
        """def bottleneck(p):
    if p["waves"] < 0.5:
        return "launch too small"
    if p["load_efficiency"] < 75:
        return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]:
        return "bank conflicts"
    return "none"
""",
        "divergence goes unseen",
    ),
]
