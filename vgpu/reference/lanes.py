"""Warp-level primitives: shuffles, votes, matches and reductions over 32 lanes.

Pure functions. `active` is the mask of the lanes that execute the instruction, values have one element per lane.
Source: "PTX ISA", section "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

import numpy as np

LANES = 32
LANE = np.arange(LANES)


def mask_of(active: np.ndarray) -> int:
    """The bits of a mask: lane 0 is the lowest."""
    return sum(1 << int(lane) for lane in np.flatnonzero(active))


def shuffle(mode: str, values: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`shfl`: what each lane receives, and whether its source lies within its segment of the warp."""
    b, clamp, segment = (b & 31).astype(int), (c & 31).astype(int), (c >> 8 & 31).astype(int)
    highest = (LANE & segment) | (clamp & ~segment)
    source = {
        "up": LANE - b,
        "down": LANE + b,
        "bfly": LANE ^ b,
        "idx": (LANE & segment) | (b & ~segment),
    }[mode]
    inside = source >= highest if mode == "up" else source <= highest
    return values[np.where(inside, source, LANE)], inside


def vote(mode: str, predicate: np.ndarray, active: np.ndarray) -> np.ndarray:
    """`vote`: one answer for the whole group, as a predicate, or as a mask for `ballot`."""
    votes = predicate[active]
    if mode == "ballot":
        return np.full(LANES, mask_of(predicate & active), np.uint32)
    answer = {"all": votes.all(), "any": votes.any(), "uni": votes.all() or not votes.any()}[mode]
    return np.full(LANES, answer)


def match(mode: str, values: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`match`: the mask of the lanes with the same value, and for `all` whether that is every active lane."""
    result = np.zeros(LANES, np.uint32)
    for lane in np.flatnonzero(active):
        result[lane] = mask_of((values == values[lane]) & active)
    if mode == "all":
        same = bool((values[active] == values[active][0]).all())
        return np.full(LANES, mask_of(active) if same else 0, np.uint32), np.full(LANES, same)
    return result, np.zeros(LANES, bool)


REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def reduce(operation: str, values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """`redux`: the values of the group combined, the same for every lane."""
    result = values[active][0]
    for value in values[active][1:]:
        result = REDUCTIONS[operation](result, value)
    return np.full(LANES, result, values.dtype)


def reduce_floats(operation: str, values: np.ndarray, active: np.ndarray, words: set[str]) -> np.ndarray:
    """`redux.f32`: the minimum or maximum, of magnitudes with `.abs`; NaNs are ignored except with `.NaN`."""
    some = np.abs(values[active]) if "abs" in words else values[active]
    numbers = [float(x) for x in some if not np.isnan(x)]
    if not numbers or ("NaN" in words and len(numbers) < len(some)):
        return np.full(LANES, 0x7FFFFFFF, np.uint32).view(np.float32)
    order = lambda x: (x, not np.signbit(x))  # -0 comes before +0
    best = min(numbers, key=order) if operation == "min" else max(numbers, key=order)
    return np.full(LANES, best, np.float32)


def elect(active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`elect`: the lowest active lane, and which lane that is as a mask."""
    leader = int(np.flatnonzero(active)[0])
    return np.full(LANES, leader, np.uint32), np.equal(LANE, leader)
