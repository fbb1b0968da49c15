from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from helpers.checking.exercise import SECTOR, Case, Out, cover, numbers, plural
from vgpu.tools.steps.dependencies import Chain

BLOCKS, THREADS = 2, 128
EACH = 20  # elements of a thread where loads are counted


def _waits_per_kib(chain: Chain) -> float:
    """Waits of a warp; one that loads nothing leaves its share to others."""
    sectors = sum(link.sectors for link in chain.links if link.op == "load" and link.space == "global")
    return 32 * chain.waits / sectors if sectors else math.inf


def _case(n: int, blocks: int = BLOCKS, threads: int = THREADS, *, seed: int = 0) -> Case:
    grad, a, b = (numbers(n, seed=(seed or n) + k) for k in range(3))
    wanted = (grad + np.float32(0.5) * (a + b)).astype(np.float32)
    what = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    reads = 3 * SECTOR * cover(grad.nbytes, SECTOR)  # what is added to is read as well
    return Case(what, (Out(wanted, initial=grad), a, b, np.int32(n)), (blocks,), (threads,), reads=reads)


def _counted(less: int, seed: int = 0, warp: int = 0) -> Case:
    """Every thread of that warp of the launch has `EACH` elements, and the last threads one less."""
    return replace(_case(EACH * BLOCKS * THREADS - less, seed=seed), watched=divmod(warp, THREADS // 32))


def drawn(dice: np.random.Generator) -> list[Case]:
    launches = ((2, 31, 1, 32), (400, 700, 3, 96), (3000, 5000, 1, 256))
    sizes = [(int(dice.integers(least, end)), *launch) for least, end, *launch in launches]
    cases = [_case(*size, seed=int(dice.integers(1, 10**6))) for size in sizes]
    # Which warp is counted is drawn too: else a kernel would be sparing in the first one alone.
    return [*cases, _counted(*(int(dice.integers(1, end)) for end in (33, 10**6, BLOCKS * THREADS // 32 - 1)))]


def cases() -> list[Case]:
    return [
        _case(*launch)
        for launch in ((1, 1, 32), (31, 2, 64), (97, 1, 32), (512, 1, 128), (1000, 2, 96), (5003, 3, 128))
    ]


def measured() -> Case:
    return _counted(77)


MEASURES = {
    "waits per KiB": _waits_per_kib,
}
