from __future__ import annotations

from collections.abc import Sequence

from helpers.checking.exercise import Case, plural

LOGS = (
    (("as found", 100.0, 2.0),),
    (("as found", 100.0, 2.0), ("fused", 50.0, 2.0)),
    (("as found", 100.0, 2.0), ("slower", 110.0, 2.0), ("fixed", 90.0, 2.0)),
    (("as found", 100.0, 2.0), ("fast and wrong", 10.0, 1.5), ("fixed", 60.0, 2.0)),
    (("as found", 100.0, 2.0), ("first", 50.0, 2.0), ("between", 70.0, 2.0), ("last", 49.0, 2.0)),
    (("as found", 100.0, 2.0), ("first", 50.0, 2.0001), ("wrong", 20.0, 2.1), ("slow", 50.0, 2.0),
     ("last", 40.0, 1.9999)),
    (("as found", 100.0, 2.0), ("just within", 50.0, 2.0 + 2.0**-9), ("just without", 40.0, 2.0 + 2.0**-8)),
    (("as found", 80.0, 0.5), ("a", 70.0, 0.4), ("b", 75.0, 0.5), ("c", 72.0, 0.5), ("d", 76.0, 0.5)),
)  # fmt: skip
TOLERANCE = 2.0**-10


def _back(log: Sequence[tuple[str, float, float]]) -> list[str]:
    (_, best, loss), found = log[0], []
    for name, seconds, other in log[1:]:
        if abs(other - loss) > TOLERANCE * abs(loss) or seconds >= best:
            found.append(name)
        else:
            best = seconds
    return found


def _case(number: int, log: Sequence[tuple[str, float, float]]) -> Case:
    return Case(f"log {number}, of {plural(len(log), 'version')}", (list(log), TOLERANCE), expected=_back(log))


def cases() -> list[Case]:
    return [_case(number, log) for number, log in enumerate(LOGS, start=1)]
