from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural


def _case(n: int, blocks: int, threads: int) -> Case:
    x = numbers(n, seed=n)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    return Case(name, (x, Out(np.float32(1.5) * x), np.int32(n)), (blocks,), (threads,))


CASES = ((1, 1, 32), (31, 1, 32), (64, 2, 32), (97, 1, 32), (500, 3, 64), (1000, 2, 96), (77, 8, 32))


def cases() -> list[Case]:
    return [_case(*each) for each in CASES]


def measured() -> Case:
    return _case(4096, 4, 128)
