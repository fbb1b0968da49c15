"""The cases of chapter 05's exercises, and what answers to them give away."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Mistake, Out, cover, numbers, plural

TILE = 32
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64), (33, 95))
REACH, BLOCK = 4, 128
SIZES = (1, 3, 5, 127, 128, 129, 500, 1021)
SMALL = 16
PRODUCTS = ((1, 1, 1), (1, 13, 1), (16, 32, 16), (13, 13, 37), (37, 17, 13), (5, 40, 33))
WHOLE = (48, 64, 80)


def area(rows: int, columns: int) -> str:
    return f"{plural(rows, 'row')} × {plural(columns, 'column')}"


def transpose_case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    grid = (cover(columns, TILE), cover(rows, TILE))
    return Case(area(rows, columns), (x, Out(x.T.copy())), grid, (TILE, TILE))


def cut_to_tiles(x: np.ndarray) -> np.ndarray:
    """A matrix of whole tiles as (tile row, tile column, row, column)."""
    rows, columns = (size // TILE for size in x.shape)
    return x.reshape(rows, TILE, columns, TILE).swapaxes(1, 2)


def put_together(tiles: np.ndarray) -> np.ndarray:
    rows, columns = tiles.shape[:2]
    return tiles.swapaxes(1, 2).reshape(rows * TILE, columns * TILE)


def moved_only(case: Case) -> np.ndarray:
    return put_together(cut_to_tiles(case.arguments[0]).swapaxes(0, 1))


def turned_in_place(case: Case) -> np.ndarray:
    return put_together(cut_to_tiles(case.arguments[0]).swapaxes(2, 3))


def windows(x: np.ndarray, left: int = REACH, right: int = REACH) -> np.ndarray:
    padded = np.pad(x, (left, right))
    return sum(padded[k : k + x.size] for k in range(left + right + 1)).astype(np.float32)


def stencil_case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(windows(x)), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def without_halo(left: bool, right: bool):
    """What comes out when a block takes for zero what lies to the left, or right, of its own elements."""

    def wrong(case: Case) -> np.ndarray:
        x, found = case.arguments[0], []
        for first in range(0, x.size, BLOCK):
            low, high = (first if left else 0), (first + BLOCK if right else x.size)
            found.append(windows(x[low:high])[first - low : first - low + BLOCK])
        return np.concatenate(found)

    return wrong


def edge_repeated(case: Case) -> np.ndarray:
    padded = np.pad(case.arguments[0], REACH, mode="edge")
    return sum(padded[k : k + case.arguments[0].size] for k in range(2 * REACH + 1))


def off_centre(evidence) -> bool:
    """The window is one element short at an end, begins or ends at its own element, or reaches another way."""
    sides = ((REACH, REACH - 1), (REACH - 1, REACH), (0, 2 * REACH), (2 * REACH, 0))
    sides += tuple((reach, reach) for reach in range(2 * REACH + 1) if reach != REACH)
    return any(known.gives(lambda case, s=side: windows(case.arguments[0], *s))(evidence) for side in sides)


def product_case(rows: int, inner: int, columns: int) -> Case:
    a, b = numbers((rows, inner), seed=rows), numbers((inner, columns), seed=columns + 50)
    grid = (cover(columns, SMALL), cover(rows, SMALL))
    name = f"({rows} × {inner}) by ({inner} × {columns})"
    return Case(name, (a, b, Out(a @ b)), grid, (SMALL, SMALL))


def last_tile_dropped(case: Case) -> np.ndarray:
    a, b = case.arguments[:2]
    whole = a.shape[1] // SMALL * SMALL
    return a[:, :whole] @ b[:whole]


def last_round_only(case: Case) -> np.ndarray:
    a, b = case.arguments[:2]
    last = (a.shape[1] - 1) // SMALL * SMALL
    return a[:, last:] @ b[last:]


def only_part_tiles_wrong(evidence) -> bool:
    """Wrong wherever the inner dimension leaves a part of a tile, right where it does not."""
    whole = [o.ok for o in evidence.outcomes if o.case.arguments[0].shape[1] % SMALL == 0]
    return all(whole) and any(o.got is not None and not o.ok and not o.only_untouched for o in evidence.outcomes)


def doubles(evidence) -> bool:
    """Loads and stores of the tile take two wavefronts each: its elements have 8 bytes."""
    found = {spent.label: spent.value for spent in evidence.budgets}
    return all(found.get(budget.label) == 2 for budget in (SHARED_LOADS, SHARED_STORES))


def last_product_only(case: Case) -> np.ndarray:
    a, b = case.arguments[:2]
    last = cover(a.shape[1], SMALL) * SMALL - 1  # of the tile: 0 where the matrix has ended
    return a[:, last:] @ b[last:]


def whole_tiles_right(evidence) -> bool:
    return any(o.ok for o in evidence.outcomes if o.case.out.expected.shape == (2 * TILE, 2 * TILE))


def wavefronts_per_request(op: str):
    """Wavefronts for each request that reads or writes shared memory ("load", "store"); atomics do both."""

    def measure(profile) -> float:
        wavefronts = profile[f"shared_{op}_wavefronts"] + profile["shared_atomic_wavefronts"]
        requests = profile[f"shared_{op}_requests"] + profile["shared_atomic_requests"]
        if op == "store":
            wavefronts, requests = wavefronts + profile["shared_copy_wavefronts"], requests + profile["async_copies"]
        return wavefronts / max(1, requests)

    return measure


RACE, ENDED = known.found(*known.RACES), known.hinted("barrier_ended")
UNWRITTEN = known.found("uninitialised", space="shared")

SHARED_LOADS = Budget(
    "wavefronts per shared load",
    wavefronts_per_request("load"),
    1.05,
    "32 lanes that read 32 words of one bank are served one after another.",
    "shared_load_wavefronts",
)
SHARED_STORES = Budget(
    "wavefronts per shared store",
    wavefronts_per_request("store"),
    1.05,
    "32 lanes that write 32 words of one bank are served one after another.",
    "shared_store_wavefronts",
)
ADDED = Mistake(
    "added to what the output held",
    known.found("uninitialised", space="global"),
    "The output is read before anything is written to it, and it does not begin as zeros. Keep the sum in a variable, "
    "and store it once.",
)
TWICE = Mistake(
    "several threads fill one element",
    known.both(known.found("race_write_write", "race_lanes"), lambda e: not known.found("race_read_write")(e)),
    "Two threads write one element of the tile, and nothing orders them. It is the index with which they fill it: each "
    "element has one thread.",
)
NO_BARRIER = Mistake(
    "a barrier is missing",
    RACE,
    "A thread reads what another wrote, or writes over what another has yet to read, and nothing orders the two. "
    "Between filling a tile and reading it, and between reading it and filling it again, all threads must meet.",
)
DIVERGENT = Mistake(
    "a barrier that not every thread reaches",
    known.never_come,
    "Every thread of the block must come to the barrier, also those without an element: guard the load and the store, "
    "never the barrier.",
)
LEFT_EARLY = Mistake(
    "threads left before they had helped to fill the tile",
    known.both(UNWRITTEN, ENDED),
    "A thread without an element of its own returns at once, and its part of the tile stays empty. Let it load, come "
    "to the barriers, and skip only the store at the end.",
)
TOO_SMALL = Mistake(
    "the tile is too small",
    lambda e: known.past_shared(e) or known.found("overrun")(e),
    "A thread reached past the shared array itself, whatever the data. Count what one block needs, halo or padding "
    "included, and declare that many elements, with a size that is known when the kernel is compiled.",
)
UNFILLED = Mistake(
    "a part of the tile is never filled",
    UNWRITTEN,
    "Threads read elements of the tile that no thread has written. What lies outside the data counts as 0: "
    "write that 0 into the tile.",
)
