"""The cases of chapter 04's exercises, and what answers to them give away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

TILE = (32, 8)
BLOCK = 128
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))
SIZES = (1, 2, 3, 4, 5, 127, 128, 512, 1021)


def halve_case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(
        f"{plural(rows, 'row')} × {plural(columns, 'column')}",
        (x, Out(x / 2)),
        (cover(longest, TILE[0]), cover(longest, TILE[1])),
        TILE,
    )


def grey_case(n: int) -> Case:
    planes = numbers((3, n), seed=n)
    wanted = (planes[0] / 4 + planes[1] / 2 + planes[2] / 4).astype(np.float32)
    return Case(plural(n, "pixel"), (planes, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def interleaved(case: Case) -> np.ndarray:
    colours = case.arguments[0].ravel().reshape(-1, 3)
    return colours[:, 0] / 4 + colours[:, 1] / 2 + colours[:, 2] / 4


def neighbours(case: Case) -> np.ndarray:
    flat, n = case.arguments[0].ravel(), case.arguments[0].shape[1]
    return flat[:n] / 4 + flat[1 : n + 1] / 2 + flat[2 : n + 2] / 4


def other_weights(evidence) -> bool:
    """Each colour comes from its own plane, with another colour's weight, or all alike, or with the eye's."""
    mixed = ((2, 1, 1), (1, 1, 2), (4 / 3,) * 3, (4, 4, 4), (1, 1, 1), (2, 2, 2), (1.196, 2.348, 0.456))
    return any(
        known.gives(lambda case, w=weights: np.tensordot(np.array(w) / 4, case.arguments[0], 1))(evidence)
        for weights in mixed
    )


def swapped(evidence) -> bool:
    """Right where a matrix has as many rows as columns, out of bounds or left out where it has not."""
    square = [o.ok for o in evidence.outcomes if len(set(o.case.out.expected.shape)) == 1]
    left_out = known.untouched_somewhere(evidence) and not known.nothing_written(evidence)
    return all(square) and (known.out_of_bounds(evidence) or left_out)


def colour_left_out(evidence) -> bool:
    left_out = ((0, 2, 1), (1, 0, 1), (1, 2, 0))
    return any(
        known.gives(lambda case, w=weights: np.tensordot(np.array(w) / 4, case.arguments[0], 1))(evidence)
        for weights in left_out
    )


def times_too_many(label: str) -> Callable:
    """How many times more sectors were loaded than there are."""
    return lambda evidence: known.spent(evidence, label) / (4 * int(label.split()[3].replace(",", "")) / 32)


def four_exists(evidence) -> bool:
    """Only threads whose four floats exist have left an array."""
    faults = [(o.error, o.case) for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return bool(faults) and all(
        4 * (error.block[0] * BLOCK + error.thread[0]) + 3 < case.out.expected.size for error, case in faults
    )


def tail_of_a_four(evidence) -> bool:
    """Fewer than four elements are missing, at the end, and only where the size is no multiple of 4."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.tail_missing(evidence) and all(o.untouched.sum() < 4 and o.case.out.expected.size % 4 for o in failed)


def four_blocks_worth(evidence) -> bool:
    """Just the floats of the first block's threads are written."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.partly_written(evidence) and all(not o.untouched[: 4 * BLOCK].any() for o in failed)


def copy_case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(x.copy()), np.int32(n)), (cover(cover(n, 4), BLOCK),), (BLOCK,))


def ratio(over: str, under: str):
    return lambda profile: profile[over] / max(1, profile[under])


LOADS = Budget(
    "sectors per load request",
    ratio("global_read_sectors", "global_read_requests"),
    4.2,
    "32 neighbouring floats fill 4 sectors; lanes that read far apart drag in a sector each.",
)
STORES = Budget(
    "sectors per store request",
    ratio("global_write_sectors", "global_write_requests"),
    4.2,
    "Stores are counted like loads: neighbouring lanes should write neighbouring elements.",
    "global_store_sectors",
)


def sectors_in_all(floats: int) -> Budget:
    """Every sector of so many floats once, and a few to spare: a single lane at work makes good ratios, too."""
    return Budget(
        f"sectors loaded for {floats:,} floats",
        lambda profile: profile["global_read_sectors"],
        floats * 4 // 32 + 4,
        "8 floats fill a sector: fetch each sector once, for all the lanes that want it.",
    )


HALVED, GREY = sectors_in_all(64 * 64), sectors_in_all(3 * 4096)
WIDE_TOO = Budget(
    "sectors per 128 bytes of a load request",
    lambda p: p["global_read_sectors"] / max(1, p["global_read_requests"], p["global_load_bytes"] / 128),
    4.2,
    "32 neighbouring floats fill 4 sectors, and 32 neighbouring float4s 16, 4 for each 128 bytes.",
)

WIDE_LOADS = Budget(
    "load requests for 4,096 floats",
    lambda profile: profile["global_read_requests"],
    33,
    "A warp's float4 load fetches 128 floats in one request: 4,096 floats need 32 requests.",
    "global_load_requests",
)
