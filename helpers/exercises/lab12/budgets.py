"""Budgets of attention: what a block has to load once, what is left out under a mask, how often a tile is read.

They divide by what the case needs. What a masked launch needs is counted for the sizes that are measured: a window of
`WIDTH` keys, and groups of `GROUP` heads.
"""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.examine import Cost
from helpers.exercises.lab12.shared import HEAD

WARP, ROWS, FEWER_ROWS, FLOAT = 32, 32, 16, 4
WIDTH, GROUP = 48, 4
ARITHMETIC = 3 * 4 * HEAD
"""Operations for a score: 4 · HEAD are its two products, the rest adds up and rescales."""


def vectors(profile: Cost) -> float:
    """The vectors of a head's width that the inputs have."""
    return profile.needed.read_bytes / (FLOAT * HEAD)


def loaded(profile: Cost) -> float:
    """The vectors that fill the sectors which requests loaded."""
    return 32 * profile["global_read_sectors"] / (FLOAT * HEAD)


def shared_reads(profile: Cost) -> float:
    """Wavefronts of reads from shared memory, by any instruction."""
    read = profile["shared_load_wavefronts"] + profile["shared_atomic_wavefronts"]
    return max(read, profile["shared_read_requests"] / 4)


NO_CONFLICTS = no_conflicts(0.1, most=64)
