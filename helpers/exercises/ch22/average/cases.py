from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 64
COUNTED = 1024


def _case(elements: int, *sizes: int) -> Case:
    gradients = numbers((len(sizes), elements), seed=elements + len(sizes))
    gradients[np.equal(sizes, 0)] = 0
    counts = np.array(sizes, np.float32)
    wanted = (counts @ gradients.astype(np.float64) / sum(sizes)).astype(np.float32)
    name = f"{plural(elements, 'element')}, {plural(len(sizes), 'rank')} with {', '.join(map(str, sizes))} samples"
    return Case(name, (gradients, counts, Out(wanted)), (cover(elements, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    rows = ((1, 1), (31, 4, 4), (64, 3, 1), (97, 5, 0, 2), (128, 8, 8, 8, 6), (200, 1, 2, 3, 4, 5))
    return [_case(*row) for row in rows]


def measured() -> Case:
    return _case(COUNTED, 8, 8, 8, 6)


thread_of = thread_1d

MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
    "stores for each element": lambda profile: profile["global_write_bytes"] / (4 * COUNTED),
}
