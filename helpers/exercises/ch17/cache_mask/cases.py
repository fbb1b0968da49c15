from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural

GIVEN = ((1, 0, (0,)), (1, 4, (0,)), (3, 0, (0, 0)), (2, 3, (0,)), (1, 6, (0, 2, 5)), (3, 4, (1, 4)), (4, 2, (2, 0, 1)))


def _case(new: int, cached: int, filler: tuple[int, ...]) -> Case:
    expected = np.zeros((len(filler), 1, new, cached + new), bool)
    for sequence, hidden in enumerate(filler):
        for i in range(new):
            expected[sequence, 0, i, hidden : cached + i + 1] = True
    told = f"{plural(new, 'new position')}, {cached} cached, filled by {', '.join(map(str, filler))}"
    return Case(told, (new, cached, list(filler)), expected=expected)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
