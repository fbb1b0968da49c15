"""What comes out in lab 05 where one step of a reduction or scan is done otherwise, by NumPy."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, cover
from helpers.exercises.lab05_cases import BLOCK, WARP, each_warp_filled, filled, kept

HALVINGS = (16, 8, 4, 2, 1)

# -- the sum of an array, whatever the launch


def thread_sums(case: Case) -> np.ndarray:
    """What each thread finds in its loop: blocks by threads."""
    x, (blocks,), (threads,) = case.arguments[0], case.grid, case.block
    rounds = cover(x.size, blocks * threads)
    held = np.zeros(rounds * blocks * threads)
    held[: x.size] = x
    return held.reshape(rounds, blocks, threads).sum(axis=0)


def lanes_added(case: Case, steps=HALVINGS) -> np.ndarray:
    """What each lane has after shuffles down by these distances: blocks by warps by lanes."""
    sums = thread_sums(case).reshape(case.grid[0], -1, WARP)
    lanes = np.arange(WARP)
    for step in steps:
        sums = sums + sums[..., np.where(lanes + step < WARP, lanes + step, lanes)]
    return sums


def by_steps(*steps: int):
    """What comes out of lane 0 of each warp after shuffles down by these distances."""
    return lambda case: np.array([lanes_added(case, steps)[..., 0].sum()])


def first_warps(count: int):
    """Of each block only so many warps are added."""
    return lambda case: np.array([lanes_added(case)[:, :count, 0].sum()])


def lanes_taken_for_warps(case: Case) -> np.ndarray:
    """The lanes of the first warp store what they have after their shuffles, a lane for each warp of the block."""
    return np.array([lanes_added(case)[:, 0, : case.block[0] // WARP].sum()])


def warps_in_whole_numbers(first: int):
    """The sums of warps are cut to whole numbers, from warp `first` of each block on."""

    def wrong(case: Case) -> np.ndarray:
        sums = lanes_added(case)[..., 0]
        return np.array([sums[:, :first].sum() + np.trunc(sums[:, first:]).sum()])

    return wrong


def blocks_begin_together(case: Case) -> np.ndarray:
    """Every block has the elements of block 0."""
    return np.array([case.grid[0] * thread_sums(case)[0].sum()])


# -- log of a sum of exponentials, a warp for each row


def _lane_pairs(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The greatest, and the sum relative to it, of each lane: rows by lanes. A lane begins with the row's first."""
    x = case.arguments[0].astype(np.float64)
    m = np.repeat(x[:, :1], WARP, axis=1)
    for first in range(0, x.shape[1], WARP):
        part = x[:, first : first + WARP]
        m[:, : part.shape[1]] = np.maximum(m[:, : part.shape[1]], part)
    d = np.zeros_like(m)
    for column in range(x.shape[1]):
        d[:, column % WARP] += np.exp(x[:, column] - m[:, column % WARP])
    return m, d


def pairs_joined(step):
    """What comes out where `step(m, d, m2, d2)` joins a lane's pair with that of the lane which a shuffle asks."""

    def wrong(case: Case) -> np.ndarray:
        m, d = (each.astype(np.float32) for each in _lane_pairs(case))  # what is too small or large for a float is lost
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for distance in HALVINGS:
                other = np.arange(WARP) ^ distance
                m, d = step(m, d, m[:, other], d[:, other])
            return (m + np.log(d))[:, 0].astype(np.float32)

    return wrong


def greatest_joined_first(m, d, m2, d2):
    return np.maximum(m, m2), d + d2 * np.exp(m2 - np.maximum(m, m2))


def both_scaled_by_own(m, d, m2, d2):
    big = np.maximum(m, m2)
    return big, (d + d2) * np.exp(m - big)


def greatest_not_kept(m, d, m2, d2):
    big = np.maximum(m, m2)
    return m, d * np.exp(m - big) + d2 * np.exp(m2 - big)


def lanes_of_other_maxima(case: Case) -> np.ndarray:
    """Two passes; the greatest of the row reaches lane 0 alone, and each lane takes out what it has itself."""
    x = case.arguments[0].astype(np.float64)
    m = np.maximum.accumulate(_lane_pairs(case)[0][:, ::-1], axis=1)[:, ::-1]
    with np.errstate(over="ignore", divide="ignore"):
        d = sum(np.exp(x[:, k] - m[:, k % WARP]) for k in range(x.shape[1]))
        return (m[:, 0] + np.log(d)).astype(np.float32)


# -- the last reading, carried forward


def _handed_on(found: np.ndarray, handed: np.ndarray, own: int = 0, until: int = 0) -> np.ndarray:
    """Gaps take what the nearest warp before them hands on; `own`: 1 where their own warp is asked first."""
    found = found.copy()
    for warp in range(cover(found.shape[1], WARP)):
        part = found[:, warp * WARP : (warp + 1) * WARP]
        for before in range(warp - 1 + own, until - 1, -1):
            part[...] = np.where(part >= 0, part, handed[:, before : before + 1])
    return found


def _whole_warps(x: np.ndarray) -> np.ndarray:
    """Rows with gaps behind them, up to a whole number of warps."""
    return np.pad(x, ((0, 0), (0, -x.shape[1] % WARP)), constant_values=-1)


def _by_warps(x: np.ndarray, change) -> np.ndarray:
    return np.hstack([change(x[:, first : first + WARP]) for first in range(0, x.shape[1], WARP)])


def lane_0_hands_on(case: Case) -> np.ndarray:
    found = each_warp_filled(case)
    return _handed_on(found, found[:, ::WARP])


def handed_on_too_early(case: Case) -> np.ndarray:
    """Lane 31 hands on the element that it has loaded."""
    return _handed_on(each_warp_filled(case), _whole_warps(case.arguments[0])[:, WARP - 1 :: WARP])


def own_warp_first(until: int):
    """A gap asks its own warp before those before it, and goes down to warp `until`."""

    def wrong(case: Case) -> np.ndarray:
        found = _by_warps(_whole_warps(case.arguments[0]), filled)
        return _handed_on(found, found[:, WARP - 1 :: WARP], 1, until)[:, : case.arguments[0].shape[1]]

    return wrong


def readings_give_way(case: Case) -> np.ndarray:
    """Every element takes what lies before it, whether it is a gap or not."""
    x = case.arguments[0]
    found = _by_warps(x, lambda part: np.repeat(part[:, :1], part.shape[1], axis=1))
    return _handed_on(found, x[:, ::WARP])


def each_warp_from_the_right(case: Case) -> np.ndarray:
    x = _whole_warps(case.arguments[0])
    found = _by_warps(x, lambda part: np.fliplr(filled(np.fliplr(part))))
    return _handed_on(found, x[:, WARP - 1 :: WARP])[:, : case.arguments[0].shape[1]]


# -- keep what is positive, in order


def holes_between_rounds(case: Case) -> np.ndarray:
    """Each round stores from its own first element on."""
    x = case.arguments[0]
    return np.hstack([kept(x[first : first + BLOCK]) for first in range(0, x.size, BLOCK)])


def negative_kept(case: Case) -> np.ndarray:
    return -kept(-case.arguments[0])


def in_other_order(evidence) -> bool:
    """Every element is there, and some are in other places."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.error is None and (np.sort(o.got) == np.sort(o.case.out.expected)).all() for o in seen
    )
