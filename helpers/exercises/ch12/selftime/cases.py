from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # name, (operator, its time in µs with all that it calls, place of its caller or None) of each call
    ("one call", [("aten::relu", 12, None)]),
    ("a linear layer", [("aten::linear", 100, None), ("aten::t", 8, 0), ("aten::addmm", 85, 0)]),
    (
        "three deep",
        [("forward", 500, None), ("aten::linear", 300, 0), ("aten::addmm", 260, 1), ("aten::copy_", 40, 2)],
    ),
    (
        "two layers in a phase",
        [("forward", 900, None), ("aten::linear", 400, 0), ("aten::addmm", 380, 1), ("aten::linear", 300, 0),
         ("aten::addmm", 250, 3), ("aten::gelu", 150, 0)],
    ),
    (
        "two phases",
        [("forward", 200, None), ("aten::mm", 150, 0), ("backward", 500, None), ("aten::mm", 200, 2),
         ("aten::mm", 210, 2), ("aten::sum", 30, 2)],
    ),
    (
        "all its time in others",
        [("optimiser", 60, None), ("aten::sqrt", 20, 0), ("aten::div", 25, 0), ("aten::add_", 15, 0)],
    ),
)  # fmt: skip


def _own(calls: list) -> list[int]:
    return [
        time - sum(other for _, other, caller in calls if caller == place) for place, (_, time, _) in enumerate(calls)
    ]


def cases() -> list[Case]:
    return [Case(name, (calls,), expected=_own(calls)) for name, calls in GIVEN]
