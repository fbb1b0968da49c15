from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 64, 1024
GIVEN = (  # windows, days of the past, season, days ahead
    (1, 4, 1, 1), (1, 9, 7, 3), (33, 7, 7, 7), (64, 6, 3, 8), (70, 12, 5, 11), (130, 9, 4, 4),
)  # fmt: skip


def _case(windows: int, days: int, season: int, ahead: int) -> Case:
    past, forecast = numbers((days, windows), seed=windows), numbers((ahead, windows), seed=windows + 1)
    truth = numbers((ahead, windows), seed=windows + 2) + np.float32(0.125)  # so that no forecast is ever right
    again = past[days - season + np.arange(ahead) % season]
    wanted = np.abs(forecast - truth).sum(axis=0) / np.abs(again - truth).sum(axis=0)
    name = f"{plural(windows, 'window')} of {days} days, season {season}, {plural(ahead, 'day')} ahead"
    arguments = (past, truth, forecast, np.int32(season), Out(wanted.astype(np.float32)))
    return Case(name, arguments, (cover(windows, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]


def measured() -> Case:
    return _case(COUNTED, 14, 7, 7)


MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
    "bytes of all sectors read for each window": lambda profile: 32 * profile["global_read_sectors"] / COUNTED,
}
