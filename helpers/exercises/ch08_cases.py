"""Cases and budgets of the exercises on divergence, and how mistakes show in them."""

from __future__ import annotations

import math
import re

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Mistake, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

BLOCK = 128
SIZES = (1, 2, 31, 64, 97, 128, 1021)
SCALE = np.array([2.0, 3.0, 0.5, 1.5, 4.0, 0.25, 5.0, 6.0], np.float32)
SHIFT = np.array([1.0, -2.0, 4.0, -1.0, 3.0, 0.0, -3.0, 2.0], np.float32)


def sides_of(x: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Sixty-four rounds of one of two formulas, the first one where `first` says so."""
    v = x.astype(np.float64)
    for _ in range(64):
        v = np.where(first, 0.99 * v + 1.0, 1.01 * v - 1.0)
    return v.astype(np.float32)


def sides_case(n: int) -> Case:
    x = numbers(n, seed=n)
    wanted = sides_of(x, np.arange(n) % 2 == 0)
    return Case(plural(n, "element"), (x, Out(wanted)), (cover(n, BLOCK),), (BLOCK,))


def by_threads(evidence) -> bool:
    """The elements have the formula of their place: of the half of the block, of the warp, of the block."""
    return any(
        known.gives(
            lambda case, run=run: sides_of(case.arguments[0], np.arange(case.arguments[0].size) // run % 2 == 0)
        )(evidence)
        for run in (BLOCK // 2, 32, BLOCK)
    )


def one_side_left_out(evidence) -> bool:
    """What is not written are elements of one side, in one case several."""
    missing = [np.flatnonzero(o.untouched) for o in evidence.outcomes if o.untouched is not None and not o.ok]
    return (
        known.partly_written(evidence)
        and len({int(i) % 2 for places in missing for i in places}) == 1
        and any(places.size > 1 for places in missing)
    )


def same_formula(first: bool):
    return known.gives(lambda case: sides_of(case.arguments[0], np.full(case.arguments[0].size, first)))


def both_loops(case: Case) -> np.ndarray:
    x = case.arguments[0]
    even = np.arange(x.size) % 2 == 0
    return np.where(even, sides_of(sides_of(x, even), ~even), sides_of(x, even))


def astray(evidence) -> bool:
    """A thread that has an element left an array all the same."""
    for outcome in evidence.outcomes:
        place = re.search(r"thread \((\d+)\) of block \((\d+)\)", str(outcome.error))
        if isinstance(outcome.error, OutOfBounds) and place:
            thread, block = map(int, place.groups())
            return block * math.prod(outcome.case.block) + thread < outcome.case.out.expected.size
    return False


def beyond_values(evidence) -> bool:
    return any(isinstance(o.error, OutOfBounds) and re.search(r"`x\b", str(o.error)) for o in evidence.outcomes)


ASTRAY = Mistake(
    "an index has gone astray",
    astray,
    "The thread that stopped has an element of its own, so it is no guard that is missing: what it indexes with is not "
    "what that array is indexed by. The line below says which.",
)


def rows_case(rows: int) -> Case:
    # Some rows are empty, most are short, a few are long: what a sparse matrix looks like.
    lengths = np.minimum(np.random.default_rng(rows).geometric(0.08, rows) - 1, 120)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = numbers(max(1, int(first[-1])), seed=rows)
    sums = np.array([x[first[row] : first[row + 1]].sum(dtype=np.float64) for row in range(rows)], np.float32)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    arguments = (first, x, order, Out(sums), np.int32(rows))
    return Case(plural(rows, "row"), arguments, (cover(rows, BLOCK),), (BLOCK,))


def still_sorted(case: Case) -> np.ndarray:
    return case.out.expected[case.arguments[2]]


def back_to_front(case: Case) -> np.ndarray:
    """The sums of rows 0, 1, 2 …, each put where `order` says."""
    wrong = np.empty_like(case.out.expected)
    wrong[case.arguments[2]] = case.out.expected
    return wrong


def last_left_out(case: Case) -> np.ndarray:
    first, x, _, out, _ = case.arguments
    ends = first[1:]
    return out.expected - np.where(ends > first[:-1], x[np.maximum(ends - 1, 0)], 0)


def empty_rows_left_out(evidence) -> bool:
    wrong = [o for o in evidence.outcomes if not o.ok]
    return bool(wrong) and all(
        o.only_untouched and (o.untouched == (np.diff(o.case.arguments[0]) == 0)).all() for o in wrong
    )


def whole_numbers(evidence) -> bool:
    """Every result is a whole number, and nearly the right one at first."""
    seen = [o.got for o in evidence.outcomes if o.error is None]
    return bool(seen) and not all(o.ok for o in evidence.outcomes) and all((np.mod(got, 1) == 0).all() for got in seen)


def table_case(n: int) -> Case:
    kind = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
    x = numbers(n, seed=n)
    wanted = SCALE[kind] * x + SHIFT[kind]
    return Case(plural(n, "element"), (kind, x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def shift_forgotten(case: Case) -> np.ndarray:
    kind, x = case.arguments[:2]
    return SCALE[kind] * x


def scale_forgotten(case: Case) -> np.ndarray:
    kind, x = case.arguments[:2]
    return x + SHIFT[kind]


def scale_and_shift_swapped(case: Case) -> np.ndarray:
    kind, x = case.arguments[:2]
    return SHIFT[kind] * x + SCALE[kind]


def by_place(case: Case) -> np.ndarray:
    x = case.arguments[1]
    kind = np.arange(x.size) % 8
    return SCALE[kind] * x + SHIFT[kind]


def some_kinds(evidence) -> bool:
    """The elements of some kinds are wrong, all of them or nearly so, and those of others right."""
    seen = [o for o in evidence.outcomes if o.error is None]
    bad = {int(kind) for o in seen for kind in o.case.arguments[0][o.wrong]}
    good = {int(kind) for o in seen for kind in o.case.arguments[0][~o.wrong]}
    return bool(bad) and len(seen) == len(evidence.outcomes) and not bad & good and bool(good)


def at_most_instructions(what: str, at_most: float, teach: str) -> Budget:
    return Budget(
        f"warp instructions for {what}", lambda profile: profile["instructions"], at_most, teach, "instructions"
    )


IDLE = Budget(
    "idle lanes per instruction",
    lambda profile: 32 - profile["lanes_per_instruction"],
    0.5,
    "An instruction is issued for 32 lanes, however many of them stand at it.",
    "instructions",
)
IDLE_WITH_A_TABLE = Budget(IDLE.label, IDLE.measure, 6, IDLE.teach, IDLE.line_by)
LOCAL = Budget(
    "loads from local memory",
    lambda profile: profile["local_load_requests"],
    0,
    "An array that is indexed by a variable cannot live in registers.",
    "local_load_requests",
)
