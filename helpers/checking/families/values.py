"""Wrong results that are the right one, changed: each row says how, and holds in every case and element written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.families.family import Family, Look, asked, close, element, failing, left, number, with_arrays
from vgpu.base.words import plural


def _is(change: Callable[[Outcome], np.ndarray | None], words: Callable[[Outcome], str] = lambda o: "") -> Look:
    """Every wrong result is what `change` makes of its case, but for elements that were never written."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        return words(cases[0]) if cases and all(_fits(o, change(o)) for o in cases) else None

    return look


def _fits(o: Outcome, changed: np.ndarray | None) -> bool:
    if changed is None or np.shape(changed) != o.got.shape:
        return False
    unasked = ~asked(o) & ~o.wrong
    return bool((close(o.got, changed) | left(o) | unasked).all()) and bool((o.wrong & ~left(o)).any())


def _one(
    estimate: Callable[[Outcome], float | None],
    change: Callable[[Outcome, float], np.ndarray],
    neutral: float,
    words: str,
) -> Look:
    """Like `_is`, with a number in the change, which is the same in all cases, and not nearly the neutral one."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        found = next((n for n in map(estimate, cases) if n is not None), None)
        if sum(int(o.wrong.sum()) for o in cases) < 2:  # from one number to another leads some factor, always
            return None
        if found is None or abs(found - neutral) < 0.01 or not all(_fits(o, change(o, found)) for o in cases):
            return None
        return words.format(number(found))

    return look


def _wanted(o: Outcome) -> np.ndarray:
    return o.case.out.expected


def _real(o: Outcome) -> bool:
    return _wanted(o).dtype.kind in "iuf" and o.got.dtype.kind in "iuf"


def _factor(o: Outcome) -> float | None:
    use = o.wrong & ~left(o) & (np.abs(_wanted(o)) > 1e-3) & np.isfinite(o.got) if _real(o) else o.wrong & False
    if (use.sum() < 2 and o.wrong.size > 1) or not use.any():
        return None
    ratios = o.got[use].astype(float) / _wanted(o)[use]
    return float(np.median(ratios))


def _offset(o: Outcome) -> float | None:
    use = o.wrong & ~left(o) & np.isfinite(o.got) if _real(o) else o.wrong & False
    return float(np.median(o.got[use].astype(float) - _wanted(o)[use])) if use.sum() > 1 else None


def _shift(evidence: Evidence) -> str | None:
    """The right result, moved along an axis; what comes in from outside may be anything."""
    cases = [o for o in with_arrays(evidence) if o.wrong.size > 3]
    if not cases or (len(cases) < len(with_arrays(evidence)) and len(cases) < 2):
        return None
    for axis in range(min(o.wrong.ndim for o in cases)):
        for by in (1, -1, 2, -2, 3, -3, 4, -4):
            if all(_moved(o, axis, by) for o in cases if o.wrong.shape[axis] > abs(by)) and any(
                o.wrong.shape[axis] > abs(by) + 1 and np.ptp(_wanted(o)) > 0 for o in cases
            ):
                where = f" along axis {axis}" if cases[0].wrong.ndim > 1 else ""
                return f"Element i has the value that belongs at i {'-' if by > 0 else '+'} {abs(by)}{where}."
    return None


def _moved(o: Outcome, axis: int, by: int) -> bool:
    got, wanted = np.moveaxis(o.got, axis, 0), np.moveaxis(_wanted(o), axis, 0)
    there, here = (got[by:], wanted[:-by]) if by > 0 else (got[:by], wanted[-by:])
    return bool(close(there, here).all())


def _input(evidence: Evidence) -> str | None:
    """An input as it lies, or its first elements; of three elements or fewer that may be by chance."""
    cases = with_arrays(evidence)
    if sum(int(o.wrong.sum()) for o in cases) < 4:
        return None
    for at in range(len(cases[0].case.arguments) if cases else 0):
        given = [o.case.arguments[at] for o in cases]
        if all(isinstance(a, np.ndarray) and a.size >= o.wrong.size for a, o in zip(given, cases, strict=True)):
            parts = [a.ravel()[: o.wrong.size].reshape(o.wrong.shape) for a, o in zip(given, cases, strict=True)]
            if all(_fits(o, part) for o, part in zip(cases, parts, strict=True)):
                return f"It is argument {at + 1}."
    return None


def _transposed(o: Outcome) -> np.ndarray | None:
    wanted = _wanted(o)
    if wanted.ndim != 2:
        return None
    return wanted.T.reshape(wanted.shape)


def _matrix_as_columns(o: Outcome) -> np.ndarray | None:
    wanted = _wanted(o)
    return wanted.ravel().reshape(wanted.shape[::-1]).T if wanted.ndim == 2 else None


def _whole(o: Outcome, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
    """The right result as whole numbers, where that is more than a little off."""
    wanted = _wanted(o)
    if wanted.dtype.kind != "f" or np.nanmax(np.abs(of(wanted) - wanted)) < 0.1:
        return None
    return of(wanted)


def _truncated(o: Outcome) -> np.ndarray | None:
    return _whole(o, np.trunc)


def _rounded(o: Outcome) -> np.ndarray | None:
    return _whole(o, np.round)


def _floored(o: Outcome) -> np.ndarray | None:
    return _whole(o, np.floor)


def _whole_numbers(evidence: Evidence) -> str | None:
    """Nothing but whole numbers, in every case, not far from the right ones, of which at least half have fractions."""
    cases = with_arrays(evidence)
    if not cases or any(_wanted(o).dtype.kind != "f" or o.got.dtype.kind != "f" or left(o).any() for o in cases):
        return None
    got, wanted = (np.concatenate([a.ravel() for a in arrays]).astype(float) for arrays in
                   ([o.got for o in cases], [_wanted(o) for o in cases]))  # fmt: skip
    if not np.isfinite(got).all() or (np.trunc(got) != got).any() or np.mean(np.trunc(wanted) != wanted) < 0.5:
        return None
    if np.median(np.abs(got - wanted)) > np.std(wanted):
        return None
    return f"With {cases[0].case.name}, the first is {number(cases[0].got.ravel()[0])}."


def _wrapped(bits: int, signed: bool) -> Callable[[Outcome], np.ndarray | None]:
    def change(o: Outcome) -> np.ndarray | None:
        if _wanted(o).dtype.kind not in "iu":
            return None
        kept = _wanted(o).astype(np.int64) % (1 << bits)
        return kept - ((kept >= 1 << (bits - 1)).astype(np.int64) << bits) if signed else kept

    return change


def _clamped(evidence: Evidence) -> str | None:
    """The right result up to a bound, the same in all cases, and the bound beyond it."""
    cases = [o for o in with_arrays(evidence) if _real(o)]
    if not cases or len(cases) < len(failing(evidence)):
        return None
    for extreme, clip, words in ((np.max, np.minimum, "greater than"), (np.min, np.maximum, "less than")):
        bounds = {float(extreme(o.got[o.wrong])) for o in cases}
        if len(bounds) == 1:
            (bound,) = bounds
            if all(_fits(o, clip(_wanted(o), bound)) for o in cases) and sum(int(o.wrong.sum()) for o in cases) > 1:
                return f"No element is {words} {number(bound)}."
    return None


def _absolute(o: Outcome) -> np.ndarray | None:
    return np.abs(_wanted(o)) if _real(o) else None


def _no_number(evidence: Evidence) -> str | None:
    """All wrong elements are NaN or infinite, where the right ones are numbers; NaN alone where infinity is right."""
    cases = with_arrays(evidence)
    wrong = [(o, o.wrong & ~left(o)) for o in cases]
    if not cases or any(o.got.dtype.kind not in "fc" for o in cases) or not any(w.any() for _, w in wrong):
        return None
    no_number = np.isnan if any(np.isinf(_wanted(o)).any() for o in evidence.outcomes) else lambda a: ~np.isfinite(a)
    if not all((no_number(o.got[w]) & np.isfinite(_wanted(o)[w])).all() for o, w in wrong):
        return None
    o, where = next(pair for pair in wrong if pair[1].any())
    return f"With {o.case.name}, the first is {o.got[where][0]}, at element {element(np.argwhere(where)[0])}."


def _added_to_before(o: Outcome) -> np.ndarray | None:
    return None if o.case.out.initial is None else o.case.out.initial + _wanted(o)


def _overwritten(evidence: Evidence) -> str | None:
    """Wrong are elements alone that should be as they were before."""
    cases = with_arrays(evidence)
    if not cases or any(o.case.out.initial is None or (o.wrong & asked(o)).any() for o in cases):
        return None
    o = cases[0]
    count, first = plural(int(o.wrong.sum()), "element"), element(np.argwhere(o.wrong)[0])
    return f"With {o.case.name}, that is {count}; the first is {first}."


def _same_everywhere(evidence: Evidence) -> str | None:
    cases = [o for o in with_arrays(evidence) if o.wrong.size > 1 and np.isfinite(o.got).all()]
    if not cases or len(cases) < len([o for o in failing(evidence) if o.error is not None or o.wrong.size > 1]):
        return None
    values = [o.got.ravel()[0] for o in cases]
    if not all(
        close(o.got, v).all() and not close(_wanted(o), _wanted(o).ravel()[0]).all()
        for o, v in zip(cases, values, strict=True)
    ):
        return None
    return f"With {cases[0].case.name}, each is {number(values[0])}."


REDUCTIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "sum": np.sum,
    "greatest": np.max,
    "least": np.min,
    "count": np.count_nonzero,
}


def _part_of_input(evidence: Evidence) -> str | None:
    """One number that is the sum (or greatest, …) of an input should be, and is that of a part of it."""
    cases = with_arrays(evidence)
    if not cases or any(o.wrong.size != 1 or not _real(o) for o in cases):
        return None
    arrays = [[a for a in o.case.arguments if isinstance(a, np.ndarray)] for o in cases]
    if not all(arrays):
        return None
    given = [first for first, *_ in arrays]
    for name, of in REDUCTIONS.items():
        if all(close(of(a), _wanted(o).ravel()[0]) for a, o in zip(given, cases, strict=True)):
            for words, part in PARTS.items():
                parts = [part(a.ravel(), o.case) for a, o in zip(given, cases, strict=True)]
                if not all(part.size for part in parts) and of not in (np.sum, np.count_nonzero):
                    continue  # no element has no greatest
                if all(close(of(p), o.got.ravel()[0]) for p, o in zip(parts, cases, strict=True)):
                    return f"It is the {name} of {words} alone."
    return None


PARTS = {
    "the first block's elements": lambda a, case: a[: int(np.prod(case.block))],
    "the first warp's elements": lambda a, case: a[:32],
    "the first element": lambda a, case: a[:1],
    "the last element": lambda a, case: a[-1:],
    "all elements but the last": lambda a, case: a[:-1],
    "all elements but the first": lambda a, case: a[1:],
    "the last block's elements": lambda a, case: a[(case.grid[0] - 1) * int(np.prod(case.block)) :],
    "the whole blocks' elements": lambda a, case: a[: a.size // int(np.prod(case.block)) * int(np.prod(case.block))],
    "the first element of each block": lambda a, case: a[:: int(np.prod(case.block))],
    "as many elements as the launch has threads": lambda a, case: a[: int(np.prod(case.grid) * np.prod(case.block))],
    "every other element": lambda a, case: a[::2],
}


def _near(evidence: Evidence) -> str | None:
    cases = with_arrays(evidence)
    if not cases or any(_wanted(o).dtype.kind != "f" or o.got.dtype.kind not in "fiu" for o in cases):
        return None
    pairs = [(o.got[o.wrong].astype(np.float64), _wanted(o)[o.wrong].astype(np.float64)) for o in cases]
    wide = [float(np.max(np.abs(got - wanted) / np.maximum(np.abs(wanted), 1e-3))) for got, wanted in pairs]
    return f"The relative error is at most {max(wide):.1e}." if max(wide) < 2e-3 else None


FAMILIES = (
    Family(
        "the sign is wrong",
        _is(lambda o: -_wanted(o) if _real(o) else None),
        "Each element has the right size and the wrong sign.",
    ),
    Family(
        "zero everywhere",
        _is(lambda o: np.zeros_like(_wanted(o))),
        "Every wrong element is 0. Is a factor 0, or is there a division of integers? In C, 1 / 2 is 0.",
    ),
    Family(
        "added to what was there",
        _is(_added_to_before),
        "The result was added to what the array held before. Store it with =.",
    ),
    Family(
        "what should stay is changed",
        _overwritten,
        "Only elements that should keep their old values are wrong. Which thread stores there?",
    ),
    Family("an unchanged input", _input, "The result is an input, unchanged."),
    Family(
        "a multiple of the right result",
        _one(_factor, lambda o, n: _wanted(o) * n, 1, "Each element is {} times what it should be."),
        "All elements are too large or too small by the same factor.",
    ),
    Family(
        "the same amount too much or too little",
        _one(_offset, lambda o, n: _wanted(o) + n, 0, "Each element minus the right one is {}."),
        "All elements are off by the same amount.",
    ),
    Family(
        "fractions are lost",
        _is(_truncated),
        "The results are whole numbers: the right values without their fractions. Somewhere a float is stored in an "
        "integer.",
    ),
    Family("rounded down", _is(_floored), "Each element is the right value rounded down, as // and floor do."),
    Family("rounded to whole numbers", _is(_rounded), "Each element is the right value, rounded."),
    Family("transposed", _is(_transposed), "Rows and columns are swapped in one of the two accesses."),
    Family(
        "rows taken for columns",
        _is(_matrix_as_columns),
        "A matrix that is stored row by row is read or written column by column.",
    ),
    Family(
        "in reverse order",
        _is(lambda o: _wanted(o)[::-1] if _wanted(o).shape[0] > 1 else None),
        "The elements are in reverse order.",
    ),
    Family(
        "back to front in each row",
        _is(lambda o: _wanted(o)[..., ::-1] if _wanted(o).ndim > 1 else None),
        "The elements of each row are in reverse order.",
    ),
    Family("shifted", _shift, "The right numbers are in the wrong places."),
    Family(
        "wrapped at 8 bits",
        _is(_wrapped(8, False)),
        "The result is the right one modulo 256: a count is stored in 8 bits.",
    ),
    Family(
        "wrapped at 8 bits",
        _is(_wrapped(8, True)),
        "The result is cut off to 8 bits with a sign: a number is stored in a char.",
    ),
    Family(
        "wrapped at 16 bits",
        _is(_wrapped(16, False)),
        "The result is the right one modulo 65536: a count is stored in 16 bits.",
    ),
    Family(
        "wrapped at 16 bits",
        _is(_wrapped(16, True)),
        "The result is cut off to 16 bits with a sign: a number is stored in a short.",
    ),
    Family("without its sign", _is(_absolute), "Each element is the absolute value of the right one."),
    Family("cut off at a bound", _clamped, "The result is right up to a bound. Beyond that it is the bound itself."),
    Family("only a part is in the result", _part_of_input, "The result has to include every thread's part."),
    Family(
        "NaN or infinity",
        _no_number,
        "The wrong elements are NaN or infinite. That comes from a division by 0, the logarithm of 0 or less, the root "
        "of a negative number, an exponential that overflows, infinity minus infinity, or memory that was never "
        "written.",
    ),
    Family("the same everywhere", _same_everywhere, "All elements have the same value, but they should differ."),
    Family(
        "fractions are lost",
        _whole_numbers,
        "All results are whole numbers, but most should have fractions. Is a value stored in an integer on the way?",
    ),
    Family(
        "off by a little",
        _near,
        "The result is nearly right: some digits are lost, or a small part of a sum is missing.",
    ),
)
