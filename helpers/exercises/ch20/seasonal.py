"""The forecast to beat: what was seen a season ago."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

GIVEN = (  # values, season, horizon
    (4, 1, 1), (7, 7, 7), (9, 7, 3), (9, 4, 4), (6, 3, 8), (5, 2, 5), (12, 5, 11),
)  # fmt: skip


def _case(count: int, season: int, horizon: int) -> Case:
    past = [(k * k * 7 + 3 * k) % 23 for k in range(count)]
    last = past[-season:]
    wanted = [last[step % season] for step in range(horizon)]
    name = f"{plural(count, 'value')}, season {season}, {plural(horizon, 'step')} ahead"
    return Case(name, (past, season, horizon), expected=wanted)


PLACE = "len(past) - season + step % season"

EXERCISE = Exercise(
    key="ch20.seasonal",
    title="the seasonal naive forecast",
    language="python",
    name="seasonal",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "What would you say about next Tuesday if you knew nothing but the past?",
        "The first value of the forecast is the one that was seen a season before it: past[len(past) - season].",
        "Step s of the forecast is past[len(past) - season + s % season]: after a whole season it repeats.",
    ),
    solution="""
def seasonal(past, season, horizon):
    forecast = []
    for step in range(horizon):
        forecast.append(past[len(past) - season + step % season])
    return forecast
""",
    why="The forecast repeats the last season that is known, however far it goes. It needs no training, it cannot be "
    "fooled, and a network that does not beat it has learned nothing worth its time. With season 1 it is "
    "the last value, again and again.",
    stretch="add the trend: the mean difference between the last season and the one before it.",
    mistakes=(
        Mistake(
            "the last value, again and again",
            "That is the forecast without a season. Go back by a whole season instead.",
            ((f"past[{PLACE}]", "past[-1]"),),
        ),
        Mistake(
            "it does not repeat",
            "Beyond one season the past has no further values: begin the season again, with step % season.",
            (("step % season", "step"), (f"past[{PLACE}]", "past[min(len(past) - season + step, len(past) - 1)]")),
        ),
        Mistake(
            "one value too early",
            "The first value of the forecast stands one season before it, which is past[len(past) - season].",
            ((PLACE, f"{PLACE} - 1"),),
        ),
        Mistake(
            "one value too late",
            "The first value of the forecast stands one season before it, which is past[len(past) - season].",
            ((PLACE, "len(past) - season + (step + 1) % season"),),
        ),
        Mistake(
            "the first season instead of the last",
            "What lies furthest back says least. Repeat the last season that is known.",
            ((PLACE, "step % season"),),
        ),
        Mistake(
            "backwards in time",
            "The season runs forwards: the value after the first is the one that followed it then.",
            ((PLACE, "len(past) - 1 - step % season"),),
        ),
        Mistake(
            "one season, whatever the horizon",
            "The forecast has as many values as the horizon says, fewer or more than a season.",
            (("range(horizon)", "range(season)"),),
        ),
        Mistake(
            "one value too few",
            "The forecast has as many values as the horizon says.",
            (("range(horizon)", "range(horizon - 1)"), ("range(horizon)", "range(1, horizon)")),
        ),
    ),
)  # fmt: skip
