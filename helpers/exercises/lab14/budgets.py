"""Budgets of several exercises: each byte is moved once, in float32, and a sum has one owner."""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed, stored_for_needed, total
from helpers.exercises.lab14.shared import FLOAT, SIDE


def for_tiles(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte that blocks of 16 × 16 threads of a step need.

    A block has 16 units of 16 sequences. It needs 64 rows of U, the h of its sequences, what comes from the input for
    their units, and their c. Counted where whole blocks cover everything.
    """
    across, down = profile.counters.grid[:2]
    hidden = SIDE * across
    needed = 4 * SIDE * hidden + SIDE * hidden + 4 * SIDE * SIDE + SIDE * SIDE
    return 32 * profile["global_read_sectors"] / (across * down * FLOAT * needed)


STORED = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp have neighbouring units of one sequence.",
    "global_store_sectors",
)
LOADED = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "Lanes of a warp take neighbouring units, and whatever is the same for all sequences of a thread is loaded once.",
)
NO_ATOMICS = Budget(
    "atomics",
    total("global_update_requests", "shared_atomic_requests"),
    0,
    "The threads of a block meet in shared memory: there one thread can add up what the others have found.",
    "global_atomic_requests",
)
NO_FP64 = Budget(
    "FP64 operations",
    total("flops_fp64"),
    0,
    "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
    "flops_fp64",
)
LOADED_FOR_TILES = Budget(
    "bytes loaded per byte of tiles",
    for_tiles,
    1.1,
    "A block needs 64 rows of U and the h of 16 sequences, each of them once: fetch them into shared memory, 16 "
    "columns at a time.",
)
NO_CONFLICTS = no_conflicts(0.25, most=32)
