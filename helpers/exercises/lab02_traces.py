"""What tells some mistakes of lab 02 apart: which elements were written, and what numbers came out."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case
from helpers.exercises.lab02_cases import BLOCK


def in_whole_numbers(evidence) -> bool:
    """In every case the result is the whole part of what it should be."""
    return known.gives(lambda case: np.trunc(case.out.expected))(evidence)


# -- records into planes


def planes_mixed(evidence) -> bool:
    """All is written, and each plane is one field of all records, always the same one."""
    fields = [set(range(4)) for _ in range(4)]
    for outcome in evidence.outcomes:
        if outcome.got is None or outcome.untouched.any():
            return False
        got, wanted = outcome.got.reshape(4, -1), outcome.case.out.expected.reshape(4, -1)
        fields = [{c for c in here if (got[plane] == wanted[c]).all()} for plane, here in enumerate(fields)]
    return any(not o.ok for o in evidence.outcomes) and all(fields)


def planes_left_out(evidence) -> bool:
    """Some planes were not written at all, and the others wholly."""
    seen = [o.untouched.reshape(4, -1) for o in evidence.outcomes if o.untouched is not None]
    left = {tuple(each.all(axis=1)) for each in seen}
    whole = all((each.all(axis=1) | ~each.any(axis=1)).all() for each in seen)
    return len(seen) == len(evidence.outcomes) and whole and len(left) == 1 and 0 < sum(*left) < 4


# -- heads before tokens


def one_block_of_heads(evidence) -> bool:
    """Written are as many elements as a block has threads, the first ones of out or of x, and those are right."""

    def left(o, first_of_x: bool) -> np.ndarray:
        place = np.arange(o.untouched.size) >= BLOCK
        return (
            place.reshape(o.case.arguments[0].shape).swapaxes(0, 1) if first_of_x else place.reshape(o.untouched.shape)
        )

    return known.untouched_somewhere(evidence) and any(
        all((left(o, first_of_x) == o.untouched).all() for o in evidence.outcomes) for first_of_x in (False, True)
    )


# -- rows with a pitch


def made_of_pairs(formula):
    """The result of `formula(left, right, before)`, of what stands left and right in each pair, and in out before."""

    def wrong(case: Case) -> np.ndarray:
        x, _, rows, columns, pitch, out_pitch = case.arguments
        image, half = x.reshape(rows, pitch), columns // 2
        found = case.out.initial.reshape(rows, out_pitch).copy()
        left, right = image[:, 0 : 2 * half : 2], image[:, 1 : 2 * half : 2]
        found[:, :half] = formula(left, right, found[:, :half])
        return found.ravel()

    return known.gives(wrong)


_NO_MEANS = (
    lambda left, right, before: np.maximum(left, right),
    lambda left, right, before: np.minimum(left, right),
    lambda left, right, before: left,
    lambda left, right, before: right,
    lambda left, right, before: left + right / 2,
    lambda left, right, before: left / 2 + right,
    lambda left, right, before: left / 2,
    lambda left, right, before: right / 2,
    lambda left, right, before: (right - left) / 2,
    lambda left, right, before: (left - right) / 2,
)


def no_mean(evidence) -> bool:
    """The pairs are right, and one of some other formulas was applied to them."""
    return any(made_of_pairs(formula)(evidence) for formula in _NO_MEANS)


added_to_before = made_of_pairs(lambda left, right, before: before + (left + right) / 2)

# -- rows of a table, by tokens


def _rows_of_none(o) -> np.ndarray:
    token, width = o.case.arguments[0], o.case.arguments[4]
    return np.repeat(token < 0, width)


def none_is_not_zero(evidence) -> bool:
    """Wrong are elements in rows of negative tokens only."""
    wrong = [o for o in evidence.outcomes if not o.ok]
    return bool(wrong) and all(o.wrong is not None and not (o.wrong & ~_rows_of_none(o)).any() for o in wrong)


def _rounds(o) -> tuple[np.ndarray, int]:
    """The pieces' numbers in a grid's loop over them, a row for each round, and how many there are in all."""
    pieces, threads = o.untouched.size // 4, o.case.grid[0] * o.case.block[0]
    return np.arange(-(-pieces // threads) * threads).reshape(-1, threads), pieces


def ended_at_none(evidence) -> bool:
    """In a grid's loop over pieces each thread wrote what comes before its first negative token, or up to that."""

    def left(o, also_that: bool) -> np.ndarray:
        numbers, pieces = _rounds(o)
        none = np.zeros(numbers.size, bool)
        none[:pieces] = _rows_of_none(o)[::4]
        met = np.logical_or.accumulate(none.reshape(numbers.shape), axis=0)
        if also_that:
            met = np.vstack([np.zeros_like(met[:1]), met[:-1]])
        return np.repeat(met.ravel()[:pieces], 4)

    return known.untouched_somewhere(evidence) and any(
        all((left(o, also_that) == o.untouched).all() for o in evidence.outcomes) for also_that in (False, True)
    )


def as_many_as_tokens(evidence) -> bool:
    """Written are as many pieces as there are tokens, and those are right."""
    return known.untouched_somewhere(evidence) and all(
        ((np.arange(o.untouched.size) // 4 >= o.case.arguments[3]) == o.untouched).all() for o in evidence.outcomes
    )


def token_of_first(case: Case) -> np.ndarray:
    """The result when a thread keeps the token of its first piece."""
    token, table, _, tokens, width = case.arguments
    each, threads = int(width) // 4, case.grid[0] * case.block[0]
    piece = np.arange(int(tokens) * each)
    kept = token[piece % threads // each]
    rows = table.reshape(-1, each, 4)[kept, piece % each]
    return np.where(kept[:, None] < 0, np.float32(0), rows).ravel()
