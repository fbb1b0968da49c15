"""By which traces the mistakes of lab 07 are known: predicates over the evidence, as those of `mistakes`."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.exercises import lab07_cases as cases
from helpers.hardware import gpus
from helpers.vgpu.base.errors import OutOfBounds


def added(test):
    """Whether each element got its part a whole number of times, and in some wrong case a test holds of how often."""

    def when(evidence) -> bool:
        counts = [cases.times_added(outcome) for outcome in evidence.outcomes if not outcome.ok]
        return all(count is None or (np.abs(count - np.round(count)) < 0.01).all() for count in counts) and any(
            count is not None and test(np.round(count)) for count in counts
        )

    return when


def says_the_same(evidence) -> bool:
    return len(evidence.outcomes) > 1 and len({str(o.got) for o in evidence.outcomes if o.error is None}) == 1


def pair(got) -> bool:
    """Whether it is a tuple of two whole numbers."""
    return isinstance(got, tuple) and len(got) == 2 and all(isinstance(n, int | np.integer) for n in got)


def no_pair(evidence) -> bool:
    return any(o.error is None and not o.ok and not pair(o.got) for o in evidence.outcomes)


def for_one_gpu(of):
    """What `of(arguments)` gives where the GPU asked for is taken for another, always the same."""
    return lambda evidence: any(
        known.gives(lambda case, gpu=gpu: of(*case.arguments[:-1], gpu))(evidence) for gpu in gpus.GPUS.values()
    )


def other_size(of_the_field: bool):
    """Whether some wrong case has another block size, one that may be asked for or not."""

    def when(evidence) -> bool:
        seen = [o for o in evidence.outcomes if o.error is None and not o.ok and pair(o.got)]
        return any(o.got[0] != o.case.expected[0] and (o.got[0] in cases.SIZES) == of_the_field for o in seen)

    return when


def other_blocks_alone(evidence) -> bool:
    """The block size is right in every case, and the number of blocks in some is not."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.error is None and pair(o.got) and o.got[0] == o.case.expected[0] for o in seen
    )


def strays(within: bool):
    """Whether a thread that has a column, or one that has none, reached past an array."""

    def when(evidence) -> bool:
        for outcome in evidence.outcomes:
            error = outcome.error
            if isinstance(error, OutOfBounds) and error.thread is not None:
                column = error.block[0] * outcome.case.block[0] + error.thread[0]
                if (column < outcome.case.out.expected.shape[1]) == within:
                    return True
        return False

    return when


def in_the_thread(evidence) -> bool:
    """A thread reached past an array of its own."""
    return any(
        isinstance(o.error, OutOfBounds) and "the thread's local memory" in str(o.error) for o in evidence.outcomes
    )


def columns_left_out(evidence) -> bool:
    seen = [o for o in evidence.outcomes if not o.ok]
    return (
        bool(seen)
        and all(o.untouched is not None and o.only_untouched and not o.untouched.all() for o in seen)
        and any(o.untouched.all(axis=0).any() for o in seen)
    )


def fills_up_otherwise(evidence) -> bool:
    """Where -inf has to fill up, something else stands."""
    return any(
        o.error is None and (np.isneginf(o.case.out.expected) & ~np.isneginf(o.got) & ~o.untouched).any()
        for o in evidence.outcomes
    )


def of_rows(evidence) -> bool:
    """In every case that has more columns than rows, thread i stored the greatest of row i."""
    seen = [o for o in evidence.outcomes if o.case.arguments[0].shape[0] < o.case.arguments[0].shape[1]]
    return all(o.error is None for o in seen) and all(
        not o.ok and np.allclose(o.got[:, :rows], cases.top(o.case.arguments[0].T)[:, :rows])
        for o in seen
        for rows in [o.case.arguments[0].shape[0]]
    )


def in_other_order(evidence) -> bool:
    return known.is_wrong(evidence) and all(
        o.error is None and np.array_equal(np.sort(o.got, axis=0), np.sort(o.case.out.expected, axis=0))
        for o in evidence.outcomes
    )


def whole_numbers(evidence) -> bool:
    seen = [o for o in evidence.outcomes if o.error is None and not o.ok and not o.untouched.any()]
    return bool(seen) and all(
        (o.got == np.round(o.got)).all()
        and (np.abs(o.got - o.case.out.expected)[np.isfinite(o.case.out.expected)] < 1).all()
        for o in seen
    )


def wrong_before_the_last(evidence) -> bool:
    return any(o.wrong is not None and o.wrong[:-1].any() for o in evidence.outcomes)
