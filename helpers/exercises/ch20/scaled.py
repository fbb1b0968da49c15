"""Forecasts scored against the one to beat: their error, divided by that of what was seen a season ago."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 64, 1024
GIVEN = (  # windows, days of the past, season, days ahead
    (1, 4, 1, 1), (1, 9, 7, 3), (33, 7, 7, 7), (64, 6, 3, 8), (70, 12, 5, 11), (130, 9, 4, 4),
)  # fmt: skip
OWN, NAIVE = "abs(forecast[day, w] - truth[day, w])", "abs(past[first + day % season, w] - truth[day, w])"
PLACE = "first + day % season"


def _case(windows: int, days: int, season: int, ahead: int) -> Case:
    past, forecast = numbers((days, windows), seed=windows), numbers((ahead, windows), seed=windows + 1)
    truth = numbers((ahead, windows), seed=windows + 2) + np.float32(0.125)  # so that no forecast is ever right
    again = past[days - season + np.arange(ahead) % season]
    wanted = np.abs(forecast - truth).sum(axis=0) / np.abs(again - truth).sum(axis=0)
    name = f"{plural(windows, 'window')} of {days} days, season {season}, {plural(ahead, 'day')} ahead"
    arguments = (past, truth, forecast, np.int32(season), Out(wanted.astype(np.float32)))
    return Case(name, arguments, (cover(windows, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.scaled",
    title="forecasts scored against the naive one, in Numba",
    language="numba",
    name="scaled",
    cases=lambda: [_case(*row) for row in GIVEN],
    measured=lambda: _case(COUNTED, 14, 7, 7),
    budgets=(
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 0.0 makes Numba calculate in float64. Begin the sums with np.float32(0).",
            "flops_fp64",
        ),
        Budget(
            "bytes of all sectors read for each window",
            lambda profile: 32 * profile["global_read_sectors"] / COUNTED,
            115,
            "Seven days ahead need seven numbers of the past, of the truth and of the forecast, 84 bytes; another read "
            "of the truth makes 112.",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "One thread takes one window and goes through the days ahead. Which two sums does it need?",
        "Day 0 of the naive forecast is past[past.shape[0] - season, w]; after a whole season it begins again.",
        "naive += abs(past[first + day % season, w] - truth[day, w]), and at the end out[w] = own / naive.",
    ),
    solution="""
import numpy as np

@cuda.jit
def scaled(past, truth, forecast, season, out):
    w = cuda.grid(1)
    if w < out.size:
        first = past.shape[0] - season
        own = np.float32(0)
        naive = np.float32(0)
        for day in range(truth.shape[0]):
            own += abs(forecast[day, w] - truth[day, w])
            naive += abs(past[first + day % season, w] - truth[day, w])
        out[w] = own / naive
""",
    why="Both means are over the same days, so their quotient is that of the sums. Below 1 the network is worth its "
    "training, above 1 it is not. Neighbouring threads take neighbouring windows, which lie side by side because time "
    "comes first, as in all tensors of this chapter.",
    stretch="the scaled error that statisticians use divides by the naive error on the training data. Why there?",
    mistakes=(
        Mistake(
            "the error is not scaled",
            "That is the error of the forecast alone. Divide it by the error of the seasonal naive forecast.",
            (("own / naive", "own / np.float32(truth.shape[0])"), ("own / naive", "own")),
        ),
        Mistake(
            "the quotient is the wrong way round",
            "A good forecast has a score below 1: its own error is divided by that of the naive one.",
            (("own / naive", "naive / own"),),
        ),
        Mistake(
            "errors cancel one another",
            "An error counts by its size, whichever its sign: take abs(…) of each difference before you add it.",
            ((OWN, OWN[3:]), (NAIVE, NAIVE[3:]), ((OWN, OWN[3:]), (NAIVE, NAIVE[3:]))),
        ),
        Mistake(
            "the naive forecast does not repeat",
            "Beyond one season the past has no further days: begin the season again, with day % season.",
            ((PLACE, "min(first + day, past.shape[0] - 1)"),),
        ),
        Mistake(
            "the last value, again and again",
            "That is the forecast without a season. Go back by a whole season instead.",
            ((PLACE, "past.shape[0] - 1"),),
        ),
        Mistake(
            "the first season instead of the last",
            "What lies furthest back says least. Repeat the last season that is known.",
            ((PLACE, "day % season"),),
        ),
        Mistake(
            "the season begins a day late",
            "Day 0 of the naive forecast stands one season before it, which is past[past.shape[0] - season].",
            ((PLACE, "first + (day + 1) % season"),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 0.0 makes Numba calculate in float64. Begin the sums with np.float32(0).",
            (("np.float32(0)", "0.0"),),
        ),
    ),
)  # fmt: skip
