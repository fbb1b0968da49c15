"""Wrong answers to the exercises of chapter 12."""

EFFECTIVE = """def effective(n, seconds, peak):
    rate = 12 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)"""
BOTTLENECK = """def bottleneck(p):
    if p["waves"] < 0.5:
        return "launch too small"
    if p["lanes_per_instruction"] < 24:
        return "divergence"
    if p["load_efficiency"] < 75:
        return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]:
        return "bank conflicts"
    return "none"
"""
SETTLE = """def settle(x, out):
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16)
    column = lane % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if row % 2 == 0:
            for _ in range(40):
                r = value / (value + r)
        out[row, column] = r"""
ROW_A_THREAD = """def settle(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        for column in range(16):
            value = x[row, column]
            r = value
            if row % 2 == 0:
                for _ in range(40):
                    r = value / (value + r)
            out[row, column] = r"""


def but(text: str, *changes: tuple[str, str]) -> str:
    """A right answer with parts replaced; each part must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


PLAIN = ("4 * (warp // 2) + warp % 2 + 2 * (lane // 16)", "i // 16")
ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch12.bandwidth", "two floats an element", but(EFFECTIVE, ("12 *", "8 *")), "y is read too"),
    ("ch12.bandwidth", "three elements", but(EFFECTIVE, ("12 *", "3 *")), "elements are no bytes"),
    ("ch12.bandwidth", "four floats an element", but(EFFECTIVE, ("12 *", "16 *")), "a store brings nothing first"),
    ("ch12.bandwidth", "operations", but(EFFECTIVE, ("12 *", "2 *")), "operations are no bytes"),
    ("ch12.bandwidth", "GiB", but(EFFECTIVE, ("1e9", "2**30")), "powers of two"),
    ("ch12.bandwidth", "a share", but(EFFECTIVE, ("100 * rate", "rate")), "a share is no per cent"),
    (
        "ch12.bottleneck",
        "sectors a request",
        but(BOTTLENECK, ('p["load_efficiency"] < 75', 'p["sectors_per_load_request"] > 5')),
        "wide loads are not strided ones",
    ),
    (
        "ch12.bottleneck",
        "wavefronts a request",
        but(
            BOTTLENECK,
            ('p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]', 'p["wavefronts_per_shared_load"] > 1'),
        ),
        "wide wavefronts are not conflicts",
    ),
    (
        "ch12.bottleneck",
        "any divergent branch",
        but(BOTTLENECK, ('p["lanes_per_instruction"] < 24', 'p["divergent_branches"] > 0')),
        "a branch that diverges once",
    ),
    (
        "ch12.bottleneck",
        "occupancy for waves",
        but(BOTTLENECK, ('p["waves"] < 0.5', 'p["occupancy"] < 50')),
        "many warps are not many blocks",
    ),
    ("ch12.settle", "as it was", ROW_A_THREAD, "neighbouring lanes are a row apart"),
    ("ch12.settle", "coalesced, rows side by side", but(SETTLE, PLAIN), "half of each warp waits"),
    (
        "ch12.settle",
        "all calculate",
        but(
            SETTLE,
            PLAIN,
            (
                "        if row % 2 == 0:\n            for _ in range(40):\n                r =",
                "        for _ in range(40):\n            r =",
            ),
            ("out[row, column] = r", "out[row, column] = r if row % 2 == 0 else value"),
        ),
        "every lane calculates, half for nothing",
    ),
    ("ch12.settle", "odd rows", but(SETTLE, ("row % 2 == 0", "row % 2 == 1")), "the wrong rows are settled"),
    (
        "ch12.settle",
        "a copy",
        but(SETTLE, ("                r = value / (value + r)", "                r = value")),
        "no row is settled",
    ),
    (
        "ch12.settle",
        "no guard",
        but(SETTLE, ("    if row < x.shape[0]:\n", "    if True:\n")),
        "a thread left its array",
    ),
]
