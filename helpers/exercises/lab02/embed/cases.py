from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural, seeds
from helpers.checking.measures import load_requests_for_written, loaded_for_written

WARP, VOCABULARY = 32, 120
CASES = ((1, 4, 1, 32), (5, 8, 1, 64), (97, 12, 2, 32), (13, 36, 3, 96), (37, 64, 2, 128), (31, 20, 40, 128))


def _case(tokens: int, width: int, blocks: int, threads: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or tokens)
    token = dice.integers(0, VOCABULARY, tokens).astype(np.int32)
    token[tokens // 2 :: 7] = -1
    table = numbers((VOCABULARY, width), seed=seed or width)
    wanted = Out(np.where(token[:, None] < 0, np.float32(0), table[token]).ravel())
    name = f"{plural(tokens, 'token')} × {width}, {plural(blocks, 'block')} of {threads}"
    return Case(name, (token, table.ravel(), wanted, np.int32(tokens), np.int32(width)), (blocks,), (threads,))


def drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(int(dice.integers(70, 120)), 4 * int(dice.integers(2, 6)))]
    drawn += [(int(dice.integers(2, 20)), 4 * int(dice.integers(2, 20))) for _ in range(2)]
    drawn += [(int(dice.integers(40, 70)), 256)]
    launches = [(1, WARP * int(dice.integers(1, 3)))]
    launches += [(int(dice.integers(1, 5)), WARP * int(dice.integers(1, 6))) for _ in range(2)]
    launches += [(int(dice.integers(10, 15)), 64)]
    return [_case(*each, *launch, seed) for each, launch, seed in zip(drawn, launches, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(*each) for each in (*CASES, (9, 260, 2, 64))]


def measured() -> Case:
    return _case(50, 256, 12, 64)


MEASURES = {
    "load requests per 512 bytes": load_requests_for_written,
    "bytes loaded per byte stored": loaded_for_written,
}
