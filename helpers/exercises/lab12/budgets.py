"""Budgets of attention: what a block has to load once, what is left out under a mask, how often a tile is read.

They divide by what the case needs. What a masked launch needs is counted for the sizes that are measured: a window of
`WIDTH` keys, and groups of `GROUP` heads.
"""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    loaded_for_needed,
    multiplied,
    outside_registers,
    special_functions,
)
from helpers.exercises.lab12.shared import HEAD

WARP, ROWS, FEWER_ROWS, FLOAT = 32, 32, 16, 4
WIDTH, GROUP = 48, 4
ARITHMETIC = 3 * 4 * HEAD  # operations for a key: 4 · HEAD are its two products, the rest adds up and measures anew


def _vectors(profile) -> float:
    """The vectors of a head's width that the inputs have."""
    return profile.needed.read_bytes / (FLOAT * HEAD)


def _loaded(profile) -> float:
    """The vectors that fill the sectors which requests loaded."""
    return 32 * profile["global_read_sectors"] / (FLOAT * HEAD)


def _shared_reads(profile) -> float:
    """Wavefronts of reads from shared memory, by any instruction."""
    read = profile["shared_load_wavefronts"] + profile["shared_atomic_wavefronts"]
    return max(read, profile["shared_read_requests"] / 4)


def _exponentials_for_keys(profile) -> float:
    """Special functions of all threads for each key, which is two vectors with its value."""
    keys = _vectors(profile) / 2
    return special_functions(profile, ARITHMETIC * keys) / keys


def _loaded_for_tiles(profile) -> float:
    """Vectors loaded for each that the blocks need: its queries once, and for each block all keys and values."""
    blocks = profile.counters.grid[0]
    keys = (_vectors(profile) - ROWS * blocks) / 2
    return _loaded(profile) / (ROWS * blocks + 2 * keys * blocks)


def _reads_for_tiles(profile) -> float:
    """Wavefronts of shared reads for each 32 of the products of attention without a mask."""
    rows = ROWS * profile.counters.grid[0]
    keys = (_vectors(profile) - rows) / 2
    return WARP * _shared_reads(profile) / (2 * HEAD * rows * keys)


def _loaded_in_window(profile) -> float:
    """Vectors loaded for each that blocks of 16 queries need under the window."""
    return _loaded(profile) / _vectors_in_window(profile)


def _vectors_in_window(profile) -> float:
    """The vectors that blocks of 16 queries need: their queries, and the keys and values that these see."""
    across, heads = profile.counters.grid[:2]
    keys = sum(FEWER_ROWS * (b + 1) - max(0, FEWER_ROWS * b - WIDTH + 1) for b in range(across))
    return heads * (FEWER_ROWS * across + 2 * keys)


def _computed_in_window(profile) -> float:
    """Multiplications for each of the products that the window leaves."""
    across, heads = profile.counters.grid[:2]
    seen = sum(min(row + 1, WIDTH) for row in range(FEWER_ROWS * across))
    elements = HEAD * _vectors_in_window(profile) + profile.needed.written_bytes / FLOAT
    return multiplied(profile, 2 * HEAD * heads * seen, elements)


def _past(profile) -> tuple[int, int, float]:
    """Of grouped heads: pairs of batch and keys' head, queries of each, and the keys before the first query."""
    across, kv, batch = profile.counters.grid
    queries = ROWS * across // GROUP
    keys = (_vectors(profile) / (kv * batch) - GROUP * queries) / 2
    return kv * batch, queries, max(0, keys - queries)


def _loaded_for_groups(profile) -> float:
    """Vectors loaded for each that blocks of 32 rows need, whose rows are queries of the heads of one group."""
    pairs, queries, past = _past(profile)
    each = ROWS // GROUP
    keys = sum(past + each * (b + 1) for b in range(queries // each))
    return _loaded(profile) / (pairs * (GROUP * queries + 2 * keys))


def _reads_for_groups(profile) -> float:
    """Wavefronts of shared reads for each 32 of the products that a causal mask leaves."""
    pairs, queries, past = _past(profile)
    seen = pairs * GROUP * sum(past + i + 1 for i in range(queries))
    return WARP * _shared_reads(profile) / (2 * HEAD * seen)


ONCE = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "A key is multiplied with the query as soon as it is there, and its value is added as soon as its weight is known: "
    "neither has to be loaded again. Lanes of a warp take neighbouring numbers of one key.",
)
ONE_A_TILE = Budget(
    "special functions per key",
    _exponentials_for_keys,
    2.5,
    "If each lane holds the score of a key of its own, one exponential makes 32 weights, and one more measures the old "
    "sums anew, once for the whole tile. The division can wait until the end.",
    "special_functions",
)
IN_REGISTERS = Budget(
    "shared and local requests",
    outside_registers("shared_requests", "local_requests", "global_update_requests"),
    0,
    "One warp has the whole head, and its lanes reach one another's registers by shuffles. Scores are not stored.",
    "shared_load_requests",
)
TILES = Budget(
    "bytes loaded per byte of tiles",
    _loaded_for_tiles,
    1.1,
    "A block needs its queries once, and each key and value once: all of its warps use the same tile.",
)
NO_CONFLICTS = no_conflicts(0.1, most=64)
READS = Budget(
    "shared wavefronts per 32 products",
    _reads_for_tiles,
    0.9,
    "A warp has four queries. A number of a key that a lane has read once can be multiplied with all four.",
    "shared_load_wavefronts",
)
IN_WINDOW = Budget(
    "bytes loaded per byte of tiles",
    _loaded_in_window,
    1.3,
    "The first query of a block sees farthest back, and the last one sees farthest on. Keys before and behind that "
    "are seen by nobody in the block.",
)
COMPUTED = Budget(
    "multiplications per one needed",
    _computed_in_window,
    2.2,
    "A tile that no query of the block sees need not be multiplied.",
    "instructions",
)
GROUPS = Budget(
    "bytes loaded per byte of tiles",
    _loaded_for_groups,
    1.2,
    "All heads of a group multiply with the same keys, and no query of a block sees beyond the last one: each key "
    "that is seen is loaded once for the whole block.",
)
GROUP_READS = Budget(
    "shared wavefronts per 32 products",
    _reads_for_groups,
    1.05,
    "A warp has four rows. A number of a key that a lane has read once can be multiplied with all four.",
    "shared_load_wavefronts",
)
