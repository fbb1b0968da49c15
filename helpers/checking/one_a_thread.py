"""Mistakes of kernels with one thread for each element, and of functions: what several chapters' exercises share."""

from __future__ import annotations

import math
import re

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.vgpu.base.errors import OutOfBounds


def _reached_out(evidence, exists: bool) -> bool:
    """A thread left an array, and its own element exists, or does not; of launches with a thread for each element."""
    for error, shape in ((o.error, o.case.out.expected.shape) for o in evidence.outcomes):
        if isinstance(error, OutOfBounds) and error.thread is not None:
            place = (b * n + t for b, n, t in zip(error.block, (*_block(evidence), 1, 1), error.thread, strict=False))
            if all(i < n for i, n in zip(place, reversed(shape), strict=False)) == exists:
                return True
    return False


def _block(evidence) -> tuple[int, ...]:
    return evidence.outcomes[0].case.block


def reached_out_from_inside(evidence) -> bool:
    """Only threads whose own element exists have left an array: their index is wrong, and not the guard."""
    return _reached_out(evidence, True) and not _reached_out(evidence, False)


def astray(evidence) -> bool:
    """A thread that has an element left an array all the same."""
    for outcome in evidence.outcomes:
        place = re.search(r"thread \((\d+)\) of block \((\d+)\)", str(outcome.error))
        if isinstance(outcome.error, OutOfBounds) and place:
            thread, block = map(int, place.groups())
            return block * math.prod(outcome.case.block) + thread < outcome.case.out.expected.size
    return False


def _last_alone(evidence) -> bool:
    """Right up to the last element, which is never written, whatever the size."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.tail_missing(evidence) and all(o.untouched.sum() == 1 for o in failed)


def by_sign(evidence) -> bool:
    """What is written is right, and what is not written belongs to inputs of one sign, or to zeros."""
    failed = [o for o in evidence.outcomes if not o.ok]
    signs = {s for o in failed if o.untouched is not None for s in np.sign(o.case.arguments[0])[o.untouched]}
    return known.untouched_somewhere(evidence) and len(signs - {0}) == 1


FIRST_BLOCK = Mistake(
    "every block does the work of block 0",
    known.first_block_only,
    "threadIdx starts again at 0 in every block. A thread's place in the whole grid is "
    "blockIdx.x * blockDim.x + threadIdx.x (in Numba: cuda.grid(1)).",
)

NO_GUARD = Mistake(
    "no guard",
    known.out_of_bounds,
    "The grid is made of whole blocks, so the last block has more threads than there are elements left. "
    "Each thread must ask whether its element exists before it touches it: i < size, and not <=, as the last element "
    "has the index size - 1.",
)

WRONG_INDEX = Mistake(
    "the index leads out of the array",
    reached_out_from_inside,
    "It is not the guard: a thread whose element exists has left an array. Thread i of the grid, "
    "blockIdx.x * blockDim.x + threadIdx.x, works on element i of each.",
)

LAST_LEFT_OUT = Mistake(
    "the last element is left out",
    _last_alone,
    "Elements are counted from 0 to size - 1, so the guard is i < size.",
)

GAPS = Mistake(
    "the threads do not cover the elements",
    known.partly_written,
    "What is written is right, and some elements have no thread. The index is blockIdx.x * blockDim.x + threadIdx.x "
    "(in Numba: cuda.grid(1)), and the guard keeps away only those from the size on.",
)

NOTHING_RETURNED = Mistake(
    "nothing is returned",
    lambda evidence: any(o.error is None and o.got is None and o.case.expected is not None for o in evidence.outcomes),
    "For some input the function comes to its end without a `return`, and so gives None. Printing shows a number, and "
    "hands it to nobody.",
)

RETURNS_NOTHING = Mistake(
    "it returns nothing",
    lambda evidence: all(o.error is None and o.got is None for o in evidence.outcomes),
    "Whatever is asked, it comes back without a result: print shows one, return gives it.",
)
