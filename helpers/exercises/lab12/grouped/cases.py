from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover
from helpers.exercises.lab12.budgets import GROUP, ROWS, WARP, loaded, shared_reads, vectors
from helpers.exercises.lab12.shared import HEAD, attended, given

THREADS = 256


def _case(batch: int, queries: int, past: int, kv: int, group: int, scale: float, seed: int = 1) -> Case:
    n = past + queries
    q, k, v = given((batch, queries, kv * group, HEAD), (batch, n, kv, HEAD), seed)
    # each head of queries with the keys of its group, heads before positions
    k_wide, v_wide = (np.repeat(each, group, axis=2).transpose(0, 2, 1, 3) for each in (k, v))
    seen = np.arange(n) <= past + np.arange(queries)[:, None]
    expected = attended(q.transpose(0, 2, 1, 3), k_wide, v_wide, scale, seen).transpose(0, 2, 1, 3).copy()
    sizes = tuple(map(np.int32, (queries, n, group)))
    name = f"batch {batch}, queries: {queries}, keys: {n}, heads: {kv * group} on {kv}"
    grid = (cover(queries * group, ROWS), kv, batch)
    return Case(name, (q, k, v, Out(expected), *sizes, np.float32(scale)), grid, (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, 1, int(dice.integers(33, 70)), 2, int(dice.integers(3, 8)), 0.25),
           (2, int(dice.integers(9, 30)), int(dice.integers(3, 30)), 2, 3, 0.125)]  # fmt: skip
    whole = (int(dice.integers(1, 4)), 64, 24 + 8 * int(dice.integers(0, 3)), 1, GROUP, 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


SIZES = ((1, 1, 0, 1, 1, 0.25), (2, 1, 40, 2, 4, 0.25), (2, 13, 0, 1, 3, 0.125), (1, 33, 7, 2, 2, 0.25))


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(2, 64, 24, 1, GROUP, 0.25)


def _past(profile: Cost) -> tuple[int, int, float]:
    """Of grouped heads: pairs of batch and keys' head, queries of each, and the keys before the first query."""
    across, kv, batch = profile.counters.grid
    queries = ROWS * across // GROUP
    keys = (vectors(profile) / (kv * batch) - GROUP * queries) / 2
    return kv * batch, queries, max(0, keys - queries)


def _loaded_for_groups(profile: Cost) -> float:
    """Vectors loaded for each that blocks of 32 rows need, whose rows are queries of the heads of one group."""
    pairs, queries, past = _past(profile)
    each = ROWS // GROUP
    keys = sum(past + each * (b + 1) for b in range(queries // each))
    return loaded(profile) / (pairs * (GROUP * queries + 2 * keys))


def _reads_for_groups(profile: Cost) -> float:
    """Wavefronts of shared reads for each 32 of the products that a causal mask leaves."""
    pairs, queries, past = _past(profile)
    seen = pairs * GROUP * sum(past + i + 1 for i in range(queries))
    return WARP * shared_reads(profile) / (2 * HEAD * seen)


MEASURES = {
    "bytes loaded per byte of tiles": _loaded_for_groups,
    "shared wavefronts per 32 products": _reads_for_groups,
}
