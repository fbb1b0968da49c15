from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 64, 1024
GIVEN = ((1, 1), (5, 1), (7, 33), (20, 64), (12, 70), (3, 130))  # positions, sentences


def _case(positions: int, sentences: int, *, large: float = 1.0) -> Case:
    dice = np.random.default_rng(positions * sentences)
    scores = numbers((positions, sentences), seed=sentences) * np.float32(large)
    lengths = dice.integers(1, positions + 1, sentences).astype(np.int32)
    lengths[0] = positions
    kept = np.arange(positions)[:, None] < lengths
    scores[~kept] = 50 * large  # what stands in the padding must not matter
    masked = np.where(kept, scores, -np.inf)
    parts = np.exp(masked - masked.max(axis=0))
    name = f"{plural(sentences, 'sentence')} of at most {plural(positions, 'word')}" + (", large scores" * (large > 1))
    wanted = (parts / parts.sum(axis=0)).astype(np.float32)
    return Case(name, (scores, lengths, Out(wanted)), (cover(sentences, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [*(_case(*row) for row in GIVEN), _case(9, 40, large=40.0)]


def measured() -> Case:
    return _case(8, COUNTED)


MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
    "sectors per store request": lambda profile: profile["global_store_sectors"] / profile["global_store_requests"],
}
