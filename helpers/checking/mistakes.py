"""How common mistakes are known by their traces: predicates over what a check saw.

Each takes the `Evidence` of `examine`: `outcomes` (one a case: `case`, `got`, `error`, `ok`, `untouched`),
`budgets` (one a budget: `label`, `value`, `ok`), `findings` and `hints` (the sanitizer's, where the exercise asks it).
"""

from __future__ import annotations

import math

import numpy as np

from helpers.checking.exercise import alike
from helpers.vgpu.base.errors import Deadlock, OutOfBounds


def nothing_written(evidence) -> bool:
    """The kernel ran and left every element as it was."""
    seen = [outcome for outcome in evidence.outcomes if outcome.untouched is not None]
    return bool(seen) and all(outcome.untouched.all() for outcome in seen)


def out_of_bounds(evidence) -> bool:
    """Some thread reached past an array."""
    return any(isinstance(outcome.error, OutOfBounds) for outcome in evidence.outcomes)


def past_shared(evidence) -> bool:
    """Some thread reached past an array in shared memory."""
    return any(
        isinstance(outcome.error, OutOfBounds) and "the block's shared memory" in str(outcome.error)
        for outcome in evidence.outcomes
    )


def first_block_only(evidence) -> bool:
    """Only as many elements as one block has threads were written, and those are right."""
    seen = [o for o in evidence.outcomes if not o.ok and o.untouched is not None]
    return bool(seen) and all(
        o.untouched.ravel()[math.prod(o.case.block) :].all()
        and not o.untouched.ravel()[: math.prod(o.case.block)].any()
        for o in seen
    )


def tail_missing(evidence) -> bool:
    """What was written is right; a run of elements at the end was never written."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and o.only_untouched and o.untouched.ravel()[-1] for o in seen)


def untouched_somewhere(evidence) -> bool:
    """What was written is right; some elements were never written."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and o.only_untouched for o in seen)


def gives(wrong):
    """In every case the result is what `wrong(case)` computes, and in some that is not what was asked."""

    def when(evidence) -> bool:
        seen = evidence.outcomes
        return any(not o.ok for o in seen) and all(
            o.error is None and o.got is not None and _same(o.got, wrong(o.case)) for o in seen
        )

    return when


def gives_for(name: str, wrong):
    """In the case called `name` the result is what `wrong(case)` computes, which is not what was asked."""

    def when(evidence) -> bool:
        return any(
            o.case.name == name and not o.ok and o.got is not None and _same(o.got, wrong(o.case))
            for o in evidence.outcomes
        )

    return when


def partly_written(evidence) -> bool:
    """Some elements are written, and others are not."""
    return untouched_somewhere(evidence) and not nothing_written(evidence)


def over(label: str):
    """The answer is right and misses the budget called `label`."""

    def when(evidence) -> bool:
        return any(spent.label == label and spent.over for spent in evidence.budgets)

    return when


RACES = ("race_read_write", "race_write_write", "race_lanes", "race_atomic")
BARRIERS = ("barrier_divergent", "deadlock")


def found(*kinds: str, space: str = "", source: str = ""):
    """The sanitizer found an error of one of these kinds (in that space, on a line with that text), or any at all."""

    def when(evidence) -> bool:
        return any(
            (not kinds or finding.kind in kinds)
            and space in ("", finding.space)
            and any(source in line for line in (finding.source, finding.other_source))
            for finding in evidence.findings
        )

    return when


def hinted(kind: str):
    """Beside its errors the sanitizer gave a hint of this kind."""
    return lambda evidence: any(hint.kind == kind for hint in evidence.hints)


def both(*predicates):
    """All of several traces."""
    return lambda evidence: all(each(evidence) for each in predicates)


def either(*predicates):
    """Any of several traces."""
    return lambda evidence: any(each(evidence) for each in predicates)


def is_wrong(evidence) -> bool:
    return any(not outcome.ok for outcome in evidence.outcomes)


def out_of_whole_blocks(threads: int):
    """Stopped in a case of whole blocks of so many threads, where no guard is at fault."""
    return lambda evidence: any(
        isinstance(o.error, OutOfBounds) and o.case.out.expected.size % threads == 0 for o in evidence.outcomes
    )


def never_come(evidence) -> bool:
    """Some threads never come to a barrier that others wait at, or come there only by ending."""
    stuck = any(isinstance(outcome.error, Deadlock) for outcome in evidence.outcomes)
    return stuck or found(*BARRIERS)(evidence) or both(found(*RACES), hinted("barrier_ended"))(evidence)


def spent(evidence, label: str) -> float:
    """What an answer cost in a budget; 0 where it was not counted."""
    return next((each.value for each in evidence.budgets if each.label == label), 0)


def _same(got, wrong) -> bool:
    if isinstance(got, np.ndarray):
        wrong = np.asarray(wrong)
        return got.shape == wrong.shape and bool(np.allclose(got, wrong, rtol=1e-4, atol=1e-5, equal_nan=True))
    return alike(got, wrong, 1e-5)
