"""The cases of chapter 06's exercises, and what answers to them give away."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Mistake, Out, cover, numbers, plural

BLOCK = 128
ROUNDS = 3
BLOCKS = 4
LOWEST = np.iinfo(np.int64).min
LOW_HALF = 0x7FFFFFFF


def smooth_case(n: int) -> Case:
    x = numbers(n, seed=n)
    rows = np.zeros((cover(n, BLOCK), BLOCK), np.float32)
    rows.ravel()[:n] = x
    for _ in range(ROUNDS):
        rows[:, 1:] = (rows[:, 1:] + rows[:, :-1]) / 2
    return Case(plural(n, "element"), (x, Out(rows.ravel()[:n].copy())), (cover(n, BLOCK),), (BLOCK,))


def histogram_case(n: int, bins: int, hot: int | None = None) -> Case:
    values = np.random.default_rng(n).integers(0, bins, n, np.int32)
    if hot is not None:
        values[:] = hot
    wanted = np.bincount(values, minlength=bins).astype(np.int32)
    name = f"{plural(n, 'value')} in {plural(bins, 'bin')}" + ("" if hot is None else ", all in one")
    arguments = (values, Out(wanted, initial=np.zeros(bins, np.int32)), np.int32(n), np.int32(bins))
    return Case(name, arguments, (BLOCKS,), (BLOCK,))


def key(x: np.ndarray, place: np.ndarray) -> np.ndarray:
    return (x.astype(np.int64) << 32) | place


def argmax_case(name: str, x) -> Case:
    x = np.asarray(x, np.int32)
    best = key(x, LOW_HALF - np.arange(x.size)).max()
    return Case(name, (x, Out(np.array([best]), initial=np.array([LOWEST]))), (BLOCKS,), (BLOCK,))


def argmax_cases() -> list[Case]:
    dice = np.random.default_rng(6)
    return [
        argmax_case("1 element", [-5]),
        argmax_case("97 elements below zero", -dice.integers(2, 90, 97)),
        argmax_case("1,000 elements, many of them equal", dice.integers(-9, 10, 1000)),
        argmax_case("1,021 elements, the last is the largest", [*range(1021)]),
        argmax_case("600 elements, all equal", [7] * 600),
    ]


def last_place(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.array([key(x, np.arange(x.size)).max()])


def values_only(case: Case) -> np.ndarray:
    return np.array([case.arguments[0].max()])


def wraps_round(case: Case) -> np.ndarray:
    x = case.arguments[0]
    rows = np.zeros((cover(x.size, BLOCK), BLOCK), np.float32)
    rows.ravel()[: x.size] = x
    for _ in range(ROUNDS):
        rows = (rows + np.roll(rows, 1, axis=1)) / 2
    return rows.ravel()[: x.size]


def sum_of_bests(case: Case) -> np.ndarray:
    x = case.arguments[0]
    keys, block = key(x, LOW_HALF - np.arange(x.size)), np.arange(x.size) // BLOCK % BLOCKS
    bests = [keys[block == b].max(initial=LOWEST) for b in range(BLOCKS)]
    return np.array([LOWEST, *bests], np.int64).sum(keepdims=True)  # it wraps round, as the kernel's sum does


def place_first(case: Case) -> np.ndarray:
    x = case.arguments[0].astype(np.int64)
    return np.array([(np.arange(x.size) << 32 | x).max()])


def first_threads_only(case: Case) -> np.ndarray:
    values, counts = case.arguments[:2]
    return np.bincount(values[: BLOCK * BLOCKS], minlength=counts.expected.size)


def many_times(evidence) -> bool:
    """Every bin holds the right number several times over, in each case so and so many times."""
    found = []
    for o in evidence.outcomes:
        if o.got is None:
            return False
        times = int(o.got.sum()) // max(1, int(o.case.out.expected.sum()))
        found.append(times)
        if not np.array_equal(o.got, times * o.case.out.expected):
            return False
    return max(found) > 1


def of_one_block(evidence) -> bool:
    """Each bin holds what some block has counted there: the last one to come, whichever that was."""

    def last_come(outcome) -> bool:
        values, wanted = outcome.case.arguments[:2]
        block = np.arange(values.size) // BLOCK % BLOCKS
        counts = [np.bincount(values[block == b], minlength=wanted.expected.size) for b in range(BLOCKS)]
        return isinstance(outcome.got, np.ndarray) and bool((np.stack(counts) == outcome.got).any(axis=0).all())

    return all(map(last_come, evidence.outcomes))


def first_keys_only(case: Case) -> np.ndarray:
    x = case.arguments[0][: BLOCK * BLOCKS]
    return np.array([key(x, LOW_HALF - np.arange(x.size)).max()])


def place_only(evidence) -> bool:
    where = lambda case: int(np.argmax(case.arguments[0]))
    return any(
        known.gives(lambda case, f=f: np.array([f(where(case))]))(evidence)
        for f in (lambda place: place, lambda place: LOW_HALF - place, lambda place: LOW_HALF)
    )


def no_dynamic(evidence) -> bool:
    """A shared array is declared without a size, and the launch gives none."""
    return any("the size given at the launch" in str(o.error) for o in evidence.outcomes if o.error)


def below_zero_only(evidence) -> bool:
    """Wrong where all elements are below zero, right elsewhere."""
    return wrong_result(evidence) and all(o.ok or o.case.arguments[0].max() < 0 for o in evidence.outcomes)


def between_warps(finding) -> bool:
    """Whether threads of one warp are in order, and those of different warps of a block are not."""
    return finding.space == "shared" and finding.spans == ("block",)


def overwrites(finding) -> bool:
    """Whether a race is also a write over what another thread read before, and not only a read of what it wrote."""
    return finding.kind == "race_read_write" and finding.overwrites


def wrong_result(evidence) -> bool:
    return any(outcome.wrong is not None and outcome.wrong.any() for outcome in evidence.outcomes)


NEVER_COME = Mistake(
    "threads that never come to the barrier",
    known.hinted("barrier_ended"),
    "Some threads end, or leave a loop, while others wait at a barrier. The result may be right here, and yet CUDA "
    "promises nothing: a barrier wants the whole block. Guard the work, and not the barrier.",
)

ATOMICS = Budget(
    "global atomic requests for 8,192 values",
    lambda profile: profile["global_update_requests"],
    2 * BLOCKS,
    "64 bins are two requests of a warp. Count in shared memory, and add each block's bins to the global ones once.",
    "global_atomic_requests",
)
ONE_A_BLOCK = Budget(
    "global atomic requests for 4 blocks",
    lambda profile: profile["global_update_requests"],
    BLOCKS,
    "Find the best of the block in shared memory first; then one thread compares it with the best of all.",
    "global_atomic_requests",
)
