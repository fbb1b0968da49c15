"""A log read line by line: which changes have to be taken back."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

LOGS = (
    (("as found", 100.0, 2.0),),
    (("as found", 100.0, 2.0), ("fused", 50.0, 2.0)),
    (("as found", 100.0, 2.0), ("slower", 110.0, 2.0), ("mended", 90.0, 2.0)),
    (("as found", 100.0, 2.0), ("fast and wrong", 10.0, 1.5), ("mended", 60.0, 2.0)),
    (("as found", 100.0, 2.0), ("first", 50.0, 2.0), ("between", 70.0, 2.0), ("last", 49.0, 2.0)),
    (("as found", 100.0, 2.0), ("first", 50.0, 2.0001), ("wrong", 20.0, 2.1), ("slow", 50.0, 2.0),
     ("last", 40.0, 1.9999)),
    (("as found", 100.0, 2.0), ("just within", 50.0, 2.0 + 2.0**-9), ("just without", 40.0, 2.0 + 2.0**-8)),
    (("as found", 80.0, 0.5), ("a", 70.0, 0.4), ("b", 75.0, 0.5), ("c", 72.0, 0.5), ("d", 76.0, 0.5)),
)  # fmt: skip
TOLERANCE = 2.0**-10


def _back(log) -> list[str]:
    (_, best, loss), found = log[0], []
    for name, seconds, other in log[1:]:
        if abs(other - loss) > TOLERANCE * abs(loss) or seconds >= best:
            found.append(name)
        else:
            best = seconds
    return found


def _case(number: int, log) -> Case:
    return Case(f"log {number}, of {plural(len(log), 'version')}", (list(log), TOLERANCE), expected=_back(log))


EXERCISE = Exercise(
    key="ch23.take_back",
    title="which changes have to be taken back",
    language="python",
    name="take_back",
    cases=lambda: [_case(number, log) for number, log in enumerate(LOGS, start=1)],
    hints=(
        "A change is taken back for one of two reasons. Which are they?",
        "Compare the loss with that of the first version, and the time with that of the last version that was kept.",
        "Begin with best = the time of the first. A version that is kept makes best its own time; another goes into "
        "the list and leaves best alone.",
    ),
    solution="""
def take_back(log, tolerance):
    _, best, loss = log[0]
    names = []
    for name, seconds, other in log[1:]:
        if abs(other - loss) > tolerance * abs(loss) or seconds >= best:
            names.append(name)
        else:
            best = seconds
    return names
""",
    why="The loss is compared with the first version, because small differences could otherwise add up unseen. The "
    "time is compared with the last version that was kept, because a change that is better than the beginning can "
    "still be worse than what you had a minute ago.",
    stretch="measured times scatter. Let each version have a list of times, and keep a change only where it is faster "
    "by more than they scatter.",
    mistakes=(
        Mistake(
            "the loss is not looked at",
            "A version that computes something else is not a faster one.",
            (("abs(other - loss) > tolerance * abs(loss) or ", ""),),
        ),
        Mistake(
            "the time is not looked at",
            "A version that is no faster than the last one kept is taken back.",
            ((" or seconds >= best", ""),),
        ),
        Mistake(
            "compared with the first version's time",
            "What counts is the last version that was kept: it is what you would go back to.",
            (("            best = seconds", "            pass"),),
        ),
        Mistake(
            "compared with the line above",
            "The line above may have been taken back. Compare with the last version that was kept.",
            (("            names.append(name)\n        else:\n            best = seconds",
              "            names.append(name)\n        best = seconds"),),
        ),
        Mistake(
            "a version that is as fast is kept",
            "A change that gains nothing makes the program longer and is taken back: use >=.",
            (("seconds >= best", "seconds > best"),),
        ),
        Mistake(
            "equal losses are asked for",
            "Another order of additions changes the last digits. Allow a difference of tolerance times the loss.",
            (("abs(other - loss) > tolerance * abs(loss)", "other != loss"),
             (("abs(other - loss) > tolerance * abs(loss)", "other != loss"),
              ("        else:\n            best = seconds", "        best = seconds"))),
        ),
        Mistake(
            "only losses that are too high",
            "A loss that is too low is as wrong: take the difference without its sign.",
            (("abs(other - loss)", "other - loss"),),
        ),
    ),
)  # fmt: skip
