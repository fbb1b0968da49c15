"""What a program gains if a share of it becomes faster and data has to be copied."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

# Shares and factors are sums and powers of two, so that every order of computing rounds alike.
SPEEDUPS = (
    ("half of it twice as fast", 0.5, 2.0, 0.0),
    ("three quarters four times as fast", 0.75, 4.0, 0.0),
    ("seven eighths 16 times as fast, copies take an eighth", 0.875, 16.0, 0.125),
    ("three quarters 1,024 times as fast, copies take a quarter", 0.75, 1024.0, 0.25),
    ("half of it 8 times as fast, copies take as long as the whole did", 0.5, 8.0, 1.0),
    ("nothing of it", 0.0, 64.0, 0.0),
    ("all of it", 1.0, 64.0, 0.0),
)
NEW = "stays + shrinks + copies"


def _case(name: str, share: float, factor: float, copies: float) -> Case:
    return Case(name, (share, factor, copies), expected=1 / (1 - share + share / factor + copies))


EXERCISE = Exercise(
    key="ch01.speedup",
    title="what the whole gains",
    language="python",
    name="speedup",
    cases=lambda: [_case(*row) for row in SPEEDUPS],
    hints=(
        "Let the old time be 1. Which three pieces has the new time?",
        "What stays: 1 - share. What becomes faster: share / factor. What is new: copies.",
        "return 1 / (1 - share + share / factor + copies)",
    ),
    solution="""
def speedup(share, factor, copies):
    stays, shrinks = 1 - share, share / factor
    return 1 / (stays + shrinks + copies)
""",
    why="All times are parts of the old one, so the old time is 1 and the speed-up is 1 divided by the new time. The "
    "copies stand beside what stays: no factor, however large, touches either. With copies as long as the old program "
    "the result is below 1, whatever the GPU does.",
    stretch="how large may `copies` be before an endlessly fast GPU is slower than no GPU?",
    mistakes=(
        Mistake(
            "the copies are left out",
            "That is Amdahl's law as he wrote it. Copying is time that was not there before: add it to the new time.",
            ((" + copies", ""),),
        ),
        Mistake(
            "the copies become faster too",
            "The GPU makes its share faster, not the link to it: only the share is divided by the factor.",
            (("shrinks + copies", "shrinks + copies / factor"),),
        ),
        Mistake(
            "a time, and no ratio of times",
            "You return the new time, or what is saved of it, as a part of the old one. A speed-up is the old time "
            "divided by the new one.",
            (
                (f"1 / ({NEW})", NEW), (f"1 / ({NEW})", f"1 - ({NEW})"), (f"1 / ({NEW})", "stays + shrinks"),
                (f"1 / ({NEW})", "share - shrinks"),
            ),
        ),
        Mistake(
            "that is the most it could ever be",
            "1 / (1 - share) is what an endlessly fast GPU with free copies would give. This one has a factor.",
            ((NEW, "stays"), (f"1 / ({NEW})", "1 / stays if stays else float('inf')")),
        ),
        Mistake(
            "a share times a factor",
            "Half of it twice as fast would gain nothing by that rule. Start from times: with the old one as 1, which "
            "pieces has the new one?",
            ((f"1 / ({NEW})", "share * factor"),),
        ),
        Mistake(
            "the share is multiplied by the factor",
            "A share made 1,024 times as fast does not count 1,024-fold: it shrinks, to a 1,024th. Start from times: "
            "with the old one as 1, which pieces has the new one?",
            (
                (f"1 / ({NEW})", "stays + share * factor"), ("share / factor", "share * factor"),
                (f"1 / ({NEW})", "stays + share * factor - copies"),
            ),
        ),
        Mistake(
            "the copies are taken off",
            "Copies make the new time longer: they are added to it, before the old time is divided by it. A speed-up "
            "is a ratio, from which no time can be taken off.",
            (("+ copies)", ") - copies"), ("+ copies", "- copies")),
        ),
        Mistake(
            "share and rest are mixed up",
            "`share` is the part that becomes faster, and only that is divided by the factor. 1 - share is the part "
            "that stays, as slow as before. Both are in the new time.",
            (
                ("1 - share, share / factor", "share, (1 - share) / factor"), ("stays + ", ""),
                ("share / factor", "1 / factor"), ("stays + shrinks", "1 / factor"),
                ("1 - share, share / factor", "1 - share, (1 - share) / factor"),
            ),
        ),
        Mistake(
            "brackets are missing",
            "A division comes before a sum: 1 / (1 - share) is divided alone. Put the whole new time in brackets.",
            ((f"({NEW})", NEW), (f"1 / ({NEW})", "1 / stays + shrinks + copies if stays else float('inf')")),
        ),
        Mistake(
            "the arguments are taken in another order",
            "The three arguments come in this order: share, factor, copies.",
            (("share, factor, copies", "factor, share, copies"), ("share, factor, copies", "share, copies, factor")),
        ),
    ),
)  # fmt: skip
