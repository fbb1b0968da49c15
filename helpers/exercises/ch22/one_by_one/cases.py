from __future__ import annotations

from helpers.checking.exercise import Case, plural
from helpers.results.ranks.pipeline import one_by_one_order

ROWS = ((0, 1, 1), (0, 2, 3), (1, 2, 3), (0, 4, 4), (1, 4, 6), (2, 4, 6), (3, 4, 6), (0, 4, 2))  # stage, stages, parts


def _case(stage: int, stages: int, micro_batches: int) -> Case:
    words = [f"{kind[0].upper()}{part}" for kind, part in one_by_one_order(stage, stages, micro_batches)]
    name = f"stage {stage} of {stages}, {plural(micro_batches, 'micro-batch').replace('batchs', 'batches')}"
    return Case(name, (stage, stages, micro_batches), expected=words)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
