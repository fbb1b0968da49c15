"""The two columns of a table of operators: time of an operator with all that it calls, and without."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

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


EXERCISE = Exercise(
    key="ch12.selftime",
    title="self time from total time",
    language="python",
    name="self_times",
    cases=lambda: [Case(name, (calls,), expected=_own(calls)) for name, calls in GIVEN],
    hints=(
        "An operator's own time is its total time without the time of what it calls itself.",
        "Begin with a list of all total times. Then each call takes its time away from one other call: its caller.",
        "own = [time for name, time, caller in calls]; then, for each call with a caller, own[caller] -= time.",
    ),
    solution="""
def self_times(calls):
    own = [time for name, time, caller in calls]
    for name, time, caller in calls:
        if caller is not None:
            own[caller] -= time
    return own
""",
    why="Each call takes its time from its direct caller and from nobody else, because that caller's time has already "
    "been taken from the one above. So self times add up to the time of the whole program, and no moment counts twice.",
    stretch="the profiler adds up all calls of one operator in a row of the table. Return a dictionary from the name "
    "to self time, total time and number of calls.",
    mistakes=(
        Mistake(
            "totals are returned",
            "These are the total times as they were given. Take away from each what the calls inside it took.",
            ("    return [time for name, time, caller in calls]\n",),
        ),
        Mistake(
            "all that is below is taken away",
            "Take away only what a call makes itself. What is two levels below is inside the time of the call between, "
            "so it would be taken away twice.",
            (
                "    own = [time for name, time, caller in calls]\n"
                "    for name, time, caller in calls:\n"
                "        while caller is not None:\n"
                "            own[caller] -= time\n"
                "            caller = calls[caller][2]\n"
                "    return own\n",
            ),
        ),
        Mistake(
            "only phases lose time",
            "Operators call operators, too: `aten::linear` calls `aten::addmm`. Take its time from its direct caller.",
            (
                "    own = [time for name, time, caller in calls]\n"
                "    for name, time, caller in calls:\n"
                "        if caller is not None and calls[caller][2] is None:\n"
                "            own[caller] -= time\n"
                "    return own\n",
            ),
        ),
        Mistake(
            "the caller's place 0 is none",
            "The first call has the place 0, and `if caller:` is false for 0. Compare with None.",
            ((("if caller is not None:", "if caller:"),),),
        ),
        Mistake(
            "only one inner call is taken away",
            "A call may make several others. All of them are inside its time.",
            (
                "    own = [time for name, time, caller in calls]\n"
                "    for name, time, caller in calls:\n"
                "        if caller is not None:\n"
                "            own[caller] = calls[caller][1] - time\n"
                "    return own\n",
            ),
        ),
        Mistake(
            "inner calls are added",
            "The total contains the inner calls already. For the time of its own, take them away.",
            ((("-= time", "+= time"),),),
        ),
        Mistake(
            "the caller's time is taken from the callee",
            "The caller loses time, and the call that it makes keeps its own.",
            (
                "    own = [time for name, time, caller in calls]\n"
                "    for place, (name, time, caller) in enumerate(calls):\n"
                "        if caller is not None:\n"
                "            own[place] = calls[caller][1] - time\n"
                "    return own\n",
            ),
        ),
    ),
)  # fmt: skip
