from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, EACH = 128, 4
COUNTED, TERMS = 4096, 65
FLOPS = 2 * TERMS * COUNTED


def _case(n: int, terms: int) -> Case:
    x, coefficients = numbers(n, seed=n) / np.float32(10), numbers(terms, seed=terms + 1)
    wanted = np.polyval(coefficients.astype(np.float64), x.astype(np.float64)).astype(np.float32)
    arguments = (x, coefficients, Out(wanted), np.int32(terms), np.int32(n))
    name = f"{plural(n, 'element')}, {plural(terms, 'coefficient')}"
    return Case(name, arguments, (cover(n, EACH * BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*sizes) for sizes in ((1, 1), (31, 2), (512, 5), (513, 9), (1021, 17), (1536, 12))]


def measured() -> Case:
    return _case(COUNTED, TERMS)


MEASURES = {
    "bytes of L1 for each FLOP": lambda profile: profile["flops"] / profile["l1_intensity"] / FLOPS,
    "bytes of all sectors stored for each element": lambda profile: 32 * profile["global_write_sectors"] / COUNTED,
}
