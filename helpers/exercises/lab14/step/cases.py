from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import conflicts_per_shared_request
from helpers.exercises.lab14 import shared
from helpers.exercises.lab14.shared import FLOAT, SIDE

SIZES = ((1, 1, 0), (1, 33, 2), (5, 3, 1), (7, 64, 9), (37, 20, 4), (16, 16, 3))
MEASURED = (48, 64, 5)


def _case(batch: int, hidden: int, t: int, seed: int = 1) -> Case:
    dice = np.random.default_rng(seed)
    from_input, state = shared.sums(batch, 4 * hidden, seed), numbers((batch, 2 * hidden), seed + 1) / 8
    U = numbers((4 * hidden, hidden), seed + 2) / 32
    lengths = dice.integers(1, 3 * t + 3, batch).astype(np.int32)
    lengths[: min(batch, 2)] = (t + 1, t)[: min(batch, 2)]  # the two that tell < from <=
    z = from_input + state[:, :hidden].astype(np.float64) @ U.T.astype(np.float64)
    fresh = shared.masked(z, state, t < lengths).astype(np.float32)
    sizes = (np.int32(t), np.int32(batch), np.int32(hidden))
    grid = (cover(hidden, shared.SIDE), cover(batch, shared.SIDE))
    name = f"{shared.name(batch, hidden)}, step {t}"
    return Case(name, (from_input, U, state, lengths, Out(fresh), *sizes), grid, (shared.SIDE, shared.SIDE))


def drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [_case(batch, hidden, int(dice.integers(1, 9)), seed) for batch, hidden, seed in shared.sizes(dice)]
    return [*drawn, _case(*MEASURED[:2], int(dice.integers(4, 9)), int(dice.integers(1, 10**6)))]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(*MEASURED)


def for_tiles(profile: Cost) -> float:
    """Bytes of all sectors that requests loaded, for each byte that blocks of 16 × 16 threads of a step need.

    A block has 16 units of 16 sequences. It needs 64 rows of U, the h of its sequences, what comes from the input for
    their units, and their c. Counted where whole blocks cover everything.
    """
    across, down = profile.counters.grid[:2]
    hidden = SIDE * across
    needed = 4 * SIDE * hidden + SIDE * hidden + 4 * SIDE * SIDE + SIDE * SIDE
    return 32 * profile["global_read_sectors"] / (across * down * FLOAT * needed)


MEASURES = {
    "bytes loaded per byte of tiles": for_tiles,
    "bank conflicts per shared request": partial(conflicts_per_shared_request, most=32),
}
