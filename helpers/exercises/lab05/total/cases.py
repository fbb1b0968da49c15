from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import outside_registers, per_block

WARP = 32
LAUNCHES = ((1, 1, 32), (31, 2, 32), (97, 1, 96), (1000, 3, 128), (1021, 4, 320), (5000, 2, 1024))


def _case(n: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    wanted = Out(np.array([x.sum()], np.float32), initial=np.zeros(1, np.float32))
    return Case(name, (x, wanted, np.int32(n)), (blocks,), (threads,))


def drawn(dice: np.random.Generator) -> list[Case]:
    drawn = zip(dice.integers(2, 3000, 2), dice.integers(1, 6, 2), strict=True)
    sizes = [(1, 2), *((int(n), int(b)) for n, b in drawn)]
    cases = [_case(n, b, WARP * int(dice.integers(1, 33)), int(dice.integers(1, 10**6))) for n, b in sizes]
    # Counted with whole warps for each block, so that a block may as well have elements that lie side by side: else its
    # warps would begin within a sector.
    blocks, warps, rounds = (int(dice.integers(*band)) for band in ((6, 11), (3, 6), (24, 36)))
    return [*cases, _case(blocks * WARP * rounds, blocks, WARP * warps, int(dice.integers(1, 10**6)))]


def cases() -> list[Case]:
    return [_case(*launch) for launch in LAUNCHES]


def measured() -> Case:
    return _case(8192, 8, 128)


MEASURES = {
    "shared stores per warp": lambda profile: (
        outside_registers("shared_write_requests")(profile) / profile.counters.warps
    ),
    "global atomics per block": per_block("global_update_requests"),
}
