"""Budgets of products: what a block has to load once, how often a patch asks for its factors, and who multiplies.

They go by the launch and by the distinct bytes that it reads, so no work that is of no use makes a ratio smaller. A
product is counted where whole tiles cover it: `of` and `by` are the sides of the tile of results that a block has.
"""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import stored_for_needed, total
from helpers.results.roofline import flops_by_unit

WARP, FRAGMENT, FLOAT, HALF = 32, 16, 4, 2


def loaded_for_tiles(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the rows and columns that the blocks need."""
    across, down = profile.counters.grid[:2]
    needed = max(32, profile.needed.read_bytes) * 2 * across * down / (across + down)
    return 32 * profile["global_read_sectors"] / needed


def products(profile, tile: int, size: int) -> float:
    """The multiplications of a matrix product with square tiles of results, whose factors have `size` bytes."""
    across, down = profile.counters.grid[:2]
    inner = profile.needed.read_bytes / (size * tile * (across + down))
    return tile * tile * across * down * max(1, inner)


def _reads_for_products(profile) -> float:
    """Wavefronts of reads from shared memory, for each multiplication of a warp's 32 lanes."""
    read = max(
        profile["shared_load_wavefronts"] + profile["shared_atomic_wavefronts"], profile["shared_read_requests"] / 4
    )
    return WARP * read / products(profile, 64, FLOAT)


def _computed_for_causal(profile) -> float:
    """Multiplications for each that a triangle with its diagonal needs, in heads of whole tiles of 16."""
    across, _, heads = profile.counters.grid
    rows = 16 * across
    inner = profile.needed.read_bytes / (2 * FLOAT * rows * heads)
    return sum(flops_by_unit(profile.total).values()) / 2 / (heads * rows * (rows + 1) / 2 * max(1, inner))


def _loaded_for_causal(profile) -> float:
    """Bytes of sectors loaded, for each byte that the blocks on and below the diagonal need."""
    across = profile.counters.grid[0]
    needed = max(32, profile.needed.read_bytes) * (across + 1) / 2
    return 32 * profile["global_read_sectors"] / needed


def _ordinary_for_products(profile) -> float:
    """Multiplications that ordinary cores make, in floating point, for each that the product has."""
    flops = sum(profile[f"flops_{kind}"] for kind in ("fp16", "fp32", "fp64"))
    return flops / 2 / products(profile, 32, HALF)


def _instructions_for_fragments(profile) -> float:
    """Instructions of warps for each 16 × 16 × 16 multiplications."""
    return FRAGMENT**3 * profile["instructions"] / products(profile, 32, HALF)


LOADED = Budget(
    "bytes loaded per byte of tiles",
    loaded_for_tiles,
    1.1,
    "A block of results needs so many rows or columns of either side: each of them once.",
)
STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours in a row.",
    "global_store_sectors",
)
READS = Budget(
    "shared wavefronts per product",
    _reads_for_products,
    0.8,
    "Four elements of one side and four of the other make sixteen products, and so half a read for each.",
    "shared_load_wavefronts",
)
IN_REGISTERS = Budget(
    "requests to local memory",
    total("local_requests"),
    0,
    "An array stands in registers only where the compiler knows every index.",
    "local_load_requests",
)
COMPUTED = Budget(
    "multiplications per one needed",
    _computed_for_causal,
    1.3,
    "Above the diagonal nothing has to be multiplied, so blocks that lie there can leave the loop out.",
    "instructions",
)
CAUSAL_LOADED = Budget(
    "bytes loaded per byte of tiles",
    _loaded_for_causal,
    1.1,
    "A block needs 16 rows of q and 16 rows of k, each once, and none of them above the diagonal.",
)
ORDINARY = Budget(
    "multiplications on ordinary cores",
    _ordinary_for_products,
    0.05,
    "mma_sync multiplies two matrices of 16 × 16 in one instruction of a warp, and is counted by itself.",
    "flops_fp32",
)
INSTRUCTIONS = Budget(
    "instructions per 16 x 16 x 16",
    _instructions_for_fragments,
    300,
    "One mma_sync stands for 128 multiply-adds of a warp. What is left is loading, and every element of a tile needs "
    "to be fetched by one lane once.",
    "instructions",
)
