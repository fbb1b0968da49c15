"""The cases of chapter 03's exercises, and what answers to them give away."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128
SIZES = (1, 3, 127, 128, 129, 500, 1021)
FOUR = 4
ENTRIES = 256
RESOURCES = (  # threads a block, registers a thread, shared bytes a block, local bytes a thread
    (1, 32, 0, 0), (32, 16, 0, 128), (128, 40, 4096, 0), (256, 255, 49152, 16), (1024, 64, 100, 4), (96, 24, 8, 1020),
)  # fmt: skip


# -- the k-th of four -----------------------------------------------------------------------------------


def in_fours(case: Case) -> tuple[np.ndarray, np.ndarray]:
    return case.arguments[0].reshape(-1, FOUR), case.arguments[1]


def rank_case(n: int) -> Case:
    x, k = numbers(FOUR * n, seed=n), np.random.default_rng(n + 1).integers(0, FOUR, n).astype(np.int32)
    right = np.sort(x.reshape(-1, FOUR), axis=1)[np.arange(n), k]
    return Case(plural(n, "four"), (x, k, Out(right), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def unsorted(case: Case) -> np.ndarray:
    fours, k = in_fours(case)
    return fours[np.arange(len(fours)), k]


def from_above(case: Case) -> np.ndarray:
    fours, k = in_fours(case)
    return np.sort(fours, axis=1)[np.arange(len(fours)), FOUR - 1 - k]


def smallest(case: Case) -> np.ndarray:
    return in_fours(case)[0].min(axis=1)


def another_of_the_four(evidence) -> bool:
    """Every result is one of the thread's own four values, in some case not the one that was asked."""
    seen = [o for o in evidence.outcomes if o.got is not None]
    own = [(in_fours(o.case)[0] == np.asarray(o.got)[:, None]).any(axis=1).all() for o in seen]
    return bool(seen) and all(own) and any(not o.ok for o in seen)


def another_rank(evidence) -> bool:
    """Every result is one of its four, and for each k always of the same rank: they are sorted, and k is misread."""
    ranks: dict[int, set] = {}
    for o in evidence.outcomes:
        if o.got is None:
            return False
        fours, k = in_fours(o.case)
        found = np.sort(fours, axis=1) == np.asarray(o.got)[:, None]  # several, where values are equal
        for which, row in zip(k.tolist(), found, strict=True):
            ranks[which] = ranks.get(which, set(range(FOUR))) & set(np.flatnonzero(row).tolist())
    return any(not o.ok for o in evidence.outcomes) and all(ranks.values())


def ties_left_out(evidence) -> bool:
    """What is written is right, and what is not written belongs to fours with equal values."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.partly_written(evidence) and all(
        (np.diff(np.sort(in_fours(o.case)[0][o.untouched], axis=1), axis=1) == 0).any(axis=1).all() for o in failed
    )


def strangers(evidence) -> bool:
    """Some results are none of the thread's own four values."""
    seen = [o for o in evidence.outcomes if o.got is not None and not o.ok and not o.only_untouched]
    return any(not (in_fours(o.case)[0] == np.asarray(o.got)[:, None]).any(axis=1).all() for o in seen)


# -- the table ------------------------------------------------------------------------------------------


def table_case(n: int) -> Case:
    generator = np.random.default_rng(n)
    which, table = generator.integers(0, ENTRIES, n).astype(np.int32), numbers(ENTRIES, seed=n + 7)
    return Case(plural(n, "look-up"), (which, table, Out(table[which])), (cover(n, BLOCK),), (BLOCK,))


RACE, ENDED = known.found(*known.RACES), known.hinted("barrier_ended")
UNWRITTEN = known.found("uninitialised", space="shared")


# -- bytes ----------------------------------------------------------------------------------------------


def near(threads: int, registers: int, shared: int, local: int) -> tuple[int, int]:
    return 4 * threads * registers + shared, threads * local


def counted_registers(case: Case) -> int:
    return 4 * case.arguments[0] * case.arguments[1]


def moved(case: Case, on: int, off: int) -> tuple[int, int]:
    """The right numbers, with so many bytes more on the chip and off it."""
    right = near(*case.arguments)
    return right[0] + on, right[1] + off


def bytes_cases() -> list[Case]:
    name = lambda threads, *rest: plural(threads, "thread") + ", {} registers, {} bytes shared, {} local".format(*rest)
    return [Case(name(*row), row, expected=near(*row)) for row in RESOURCES]
