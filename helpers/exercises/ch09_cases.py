"""Cases and budgets of the exercises on occupancy, and how mistakes show in them."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Mistake, Out, cover, numbers, plural
from helpers.hardware import gpus
from helpers.hardware.occupancy import occupancy

# --- a block size for several GPUs

SIZES = range(32, 1025, 32)
NEEDS = (
    (24, 0, ("T4", "RTX 3090", "H100"), 0.75),
    (24, 16, ("T4", "RTX 3090", "H100"), 1.0),
    (24, 16, ("A100", "RTX 4090", "B200"), 1.0),
    (64, 12, ("T4", "RTX 3090", "H100"), 0.5),
    (24, 80, ("T4", "RTX 3090", "H100"), 0.75),
    (72, 8, ("T4", "RTX 3090", "H100"), 0.75),
)


def _fractions(registers, floats, names, threads, shared) -> list[float]:
    return [occupancy(registers, shared(floats, threads), threads, gpus.find(name)).fraction for name in names]


def _smallest(
    registers, floats, names, wanted, *, sizes=SIZES, shared=lambda f, t: 4 * f * t,
    enough=lambda found, w: min(found) >= w,
) -> int:  # fmt: skip
    fitting = (t for t in sizes if enough(_fractions(registers, floats, names, t, shared), wanted))
    return next(fitting, 0)


def choosing(**changes):
    """What comes out when one thing is done otherwise."""
    return lambda case: _smallest(*case.arguments, **changes)


def each_by_itself(case: Case) -> int:
    """The largest of the blocks that are the smallest for one GPU each."""
    registers, floats, names, wanted = case.arguments
    return max(_smallest(registers, floats, (name,), wanted) for name in names)


def always(value):
    return lambda evidence: all(o.error is None and o.got is value for o in evidence.outcomes)


def block_cases() -> list[Case]:
    return [
        Case(
            f"{registers} registers, {plural(floats, 'float')} a thread, {wanted:.0%} on {', '.join(names)}",
            (registers, floats, names, wanted),
            expected=_smallest(registers, floats, names, wanted),
        )
        for registers, floats, names, wanted in NEEDS
    ]


# --- fewer registers without a spill

ROWS, THREADS = 64, 128
WIDTHS = (1, 3, 127, 128, 131, 300)
ARCHITECTURES = ("T4", "A100", "H100")


def spread_case(n: int) -> Case:
    x = numbers((ROWS, n), seed=n)
    wide = x.astype(np.float64)
    out = ((wide * wide).mean(axis=0) - wide.mean(axis=0) ** 2).astype(np.float32)
    return Case(plural(n, "column"), (x, Out(out)), (cover(n, THREADS),), (THREADS,))


def without_mean(case: Case) -> np.ndarray:
    return (case.arguments[0].astype(np.float64) ** 2).mean(axis=0)


def one_less(case: Case) -> np.ndarray:
    return case.arguments[0].astype(np.float64).var(axis=0, ddof=1)


def put_together(formula):
    """What comes out where the mean, and the mean of the squares, are put together by another formula."""

    def wrong(case: Case) -> np.ndarray:
        wide = case.arguments[0].astype(np.float64)
        return formula(wide.mean(axis=0), (wide * wide).mean(axis=0))

    return known.gives(wrong)


def most(what: str):
    """The largest of a compiler's number over several architectures."""
    return lambda profile: max(getattr(profile.on(name).resources, what) for name in ARCHITECTURES)


# --- loads that go together

EACH = 4
LENGTHS = (1, 3, 127, 128, 129, 500, 512, 1021)


def early_case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    blocks = cover(n, EACH * THREADS)
    arguments = (x, y, Out(np.float32(3) * x + y), np.int32(n))
    return Case(plural(n, "element"), arguments, (blocks,), (THREADS,))


def written_up_to(last):
    """The elements from `last(blocks)` on are those that no thread wrote, where there are so many."""

    def when(evidence) -> bool:
        wrong = [o for o in evidence.outcomes if not o.ok]
        return bool(wrong) and all(
            o.only_untouched and int(np.argmax(o.untouched)) == last(o.case.grid[0]) for o in wrong
        )

    return when


def threads_give_up(evidence) -> bool:
    """Threads have written all of their four elements or, where not all exist, none."""
    wrong = [o for o in evidence.outcomes if not o.ok]
    if not wrong or any(not o.only_untouched for o in wrong):
        return False
    for o in wrong:
        everyone = THREADS * o.case.grid[0]
        last = np.arange(o.untouched.size) % everyone + (EACH - 1) * everyone
        if not (o.untouched == (last >= o.untouched.size)).all():
            return False
    return True


def gives_sums(formula):
    return known.gives(lambda case: formula(*case.arguments[:2]))


NOTHING_RETURNED = Mistake(
    "it returns nothing",
    always(None),
    "Whatever is asked, it comes back without a result: print shows one, return gives it.",
)
