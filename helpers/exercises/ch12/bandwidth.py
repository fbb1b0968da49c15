"""Effective bandwidth: bytes that the algorithm needs, by the time it took."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

LAUNCHES = (
    ("2²⁴ floats on an A100", (2**24, 0.158e-3, 2039e9)),
    ("1,000,003 floats on a T4", (1_000_003, 48e-6, 320e9)),
    ("4,096 floats on an H100", (4096, 5e-6, 3352e9)),
)


def _effective(n: int, seconds: float, peak: float) -> tuple[float, float]:
    rate = 12 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)


BYTES, GB, SHARE = "3 * 4 * n", "round(rate / 1e9, 1)", "round(100 * rate / peak, 1)"

EXERCISE = Exercise(
    key="ch12.bandwidth",
    title="effective bandwidth from a time",
    language="python",
    name="effective",
    cases=lambda: [Case(name, arguments, expected=_effective(*arguments)) for name, arguments in LAUNCHES],
    hints=(
        "How many floats does one element make the kernel read and write?",
        "Bytes over seconds is the rate; 10⁹ bytes a second are 1 GB/s; the peak is in bytes a second.",
        "rate = 12 * n / seconds; return round(rate / 1e9, 1), …",
    ),
    solution="""
def effective(n, seconds, peak):
    rate = 3 * 4 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)
""",
    why="Effective bandwidth counts what the algorithm needs, 12 bytes an element, whatever the hardware moved for "
    "it. So it cannot be raised by moving sectors in vain, which a counter of DRAM traffic would reward.",
    stretch="which share would `y = a * x` attain in the same time? Is it the better kernel?",
    mistakes=(
        Mistake(
            "y is read too",
            "`y = a * x + y` reads x, reads y and writes y: three floats an element, not two.",
            ((BYTES, "8 * n"),),
        ),
        Mistake(
            "a store brings nothing first",
            "Three floats an element, not four: y is read once for the sum, and storing it reads nothing.",
            ((BYTES, "16 * n"),),
        ),
        Mistake(
            "words are no numbers",
            "Two numbers are asked for, without units: round(…, 1) gives one.",
            (
                ((GB, 'f"{rate / 1e9:.1f} GB/s"'), (SHARE, 'f"{100 * rate / peak:.1f} %"')),
                ((GB, 'f"{rate / 1e9:.1f}"'), (SHARE, 'f"{100 * rate / peak:.1f}"')),
                f'    rate = {BYTES} / seconds\n    return f"{{{GB}}} GB/s, {{{SHARE}}} %"',
            ),
        ),
        Mistake(
            "not rounded",
            "Both numbers are asked for with one decimal: round(…, 1).",
            (
                ((GB, "rate / 1e9"), (SHARE, "100 * rate / peak")),
                ((GB, "rate / 1e9"),),
                ((SHARE, "100 * rate / peak"),),
                (", 1)", ")"),
            ),
        ),
        Mistake(
            "the wrong order", "GB/s come first, then per cent of the peak.", ((f"{GB}, {SHARE}", f"{SHARE}, {GB}"),)
        ),
        Mistake(
            "peak over rate",
            "What is attained is divided by the peak, not the peak by it.",
            (("rate / peak", "peak / rate"),),
        ),
        Mistake(
            "GB by bytes",
            "The peak is in bytes a second, so take the rate in bytes a second for the share, too, not in GB/s.",
            (("100 * rate", "100 * rate / 1e9"),),
        ),
        Mistake(
            "no GB",
            "1 GB/s is 10⁹ bytes a second: the rate is not yet divided by that.",
            ((GB, "rate"), (GB, "round(rate, 1)"), ("1e9", "1e6"), ("1e9", "1e3")),
        ),
        Mistake("x alone", "x is not all that moves: y is read, and y is written.", ((BYTES, "4 * n"),)),
        Mistake("a float32 is no double", "A float32 has 4 bytes; 8 are those of a float64.", ((BYTES, "24 * n"),)),
        Mistake("elements are no bytes", "Bandwidth is about bytes, and a float32 has 4 of them.", ((BYTES, "3 * n"),)),
        Mistake(
            "operations are no bytes",
            "Two operations an element give GFLOP/s. Bandwidth is about bytes: those of x, of y, and of y again.",
            ((BYTES, "2 * n"),),
        ),
        Mistake(
            "powers of two",
            "Data sheets count 10⁹ bytes to the GB. 2³⁰ bytes are a GiB: 7 % more.",
            (("1e9", "2**30"),),
        ),
        Mistake("a share is no per cent", "Multiply the share of the peak by 100 for per cent.", (("100 * ", ""),)),
    ),
)  # fmt: skip
