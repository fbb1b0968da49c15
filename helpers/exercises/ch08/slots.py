"""What an `if` costs a block, by hand: each warp is issued the arms that its lanes want, and no other."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural

BOTH = """        if any(warp):
            total += then
        if not all(warp):
            total += otherwise"""


def _case(said: str, takes, then: int, otherwise: int) -> Case:
    takes = [bool(each) for each in takes]
    warps = [takes[first : first + 32] for first in range(0, len(takes), 32)]
    issued = sum(then * any(warp) + otherwise * (not all(warp)) for warp in warps)
    words = f"{plural(len(takes), 'thread')}, {said}; arms of {then} and {otherwise}"
    return Case(words, (takes, then, otherwise), expected=issued)


def _cases() -> list[Case]:
    some = np.random.default_rng(8).random(500) < 0.03
    return [
        _case("true for all", np.ones(32), 20, 7),
        _case("true for none", np.zeros(32), 20, 7),
        _case("true for every second", np.arange(64) % 2 == 0, 20, 7),
        _case("true for every second warp", np.arange(128) // 32 % 2 == 0, 20, 7),
        _case("true for the last", np.arange(96) == 95, 100, 1),
        _case("true", [True], 9, 4),
        _case("true for the first 33", np.arange(40) < 33, 11, 5),
        _case("true for 3 % of them", some, 64, 2),
        _case("true for the first", np.arange(70) == 0, 3, 40),
    ]


EXERCISE = Exercise(
    key="ch08.slots",
    title="the instructions of an if, in Python",
    language="python",
    name="issued",
    cases=_cases,
    hints=(
        "Cut the block into warps of 32. The last one may have fewer threads.",
        "A warp is issued the first arm if any of its lanes wants it, and the second if any lane wants that.",
        "for first in range(0, len(takes), 32): warp = takes[first : first + 32]. Then ask any(warp) and all(warp).",
    ),
    solution="""
def issued(takes, then, otherwise):
    total = 0
    for first in range(0, len(takes), 32):
        warp = takes[first : first + 32]
        if any(warp):
            total += then
        if not all(warp):
            total += otherwise
    return total
""",
    why="A warp that agrees pays for one arm, and a warp that disagrees pays for both, however many lanes are on each "
    "side. A warp with fewer than 32 threads follows the same rule.",
    stretch="write the same for a loop: each thread has a number of rounds, and a warp makes as many as its longest.",
    mistakes=(
        Mistake(
            "the last warp is left out",
            "A block need not be a multiple of 32. The threads behind the last whole warp are a warp as well.",
            (("range(0, len(takes), 32)", "range(0, len(takes) - 31, 32)"),),
        ),
        Mistake(
            "every warp pays for both arms",
            "A warp whose lanes agree is issued one arm. The other is skipped by a jump.",
            ((BOTH, "        total += then + otherwise"),),
        ),
        Mistake(
            "a warp pays for the longer arm",
            "Where lanes disagree the arms run one after the other, so their instructions add up.",
            ((BOTH, "        total += max(then * any(warp), otherwise * (not all(warp)))"),),
        ),
        Mistake(
            "the second arm needs all lanes",
            "One lane that does not want the first arm is enough: the warp is issued the second arm for it.",
            (("if not all(warp)", "if not any(warp)"),),
        ),
        Mistake(
            "the first arm needs all lanes",
            "One lane that wants the first arm is enough: the warp is issued that arm for it.",
            (("if any(warp)", "if all(warp)"),),
        ),
        Mistake(
            "the arms are swapped",
            "`then` is the arm of the threads for which `takes` is true.",
            ((("+= then", "+= it"), ("+= otherwise", "+= then"), ("+= it", "+= otherwise")),),
        ),
        Mistake(
            "the block decides as a whole",
            "Warps decide one by one. A warp does not care what the lanes of other warps want.",
            ("    return then * any(takes) + otherwise * (not all(takes))",
             "    warps = (len(takes) + 31) // 32\n"
             "    return warps * (then * any(takes) + otherwise * (not all(takes)))"),
        ),
        Mistake(
            "threads are counted, not warps",
            "An instruction is issued once for a whole warp, however many of its lanes take part.",
            ("    return sum(then if each else otherwise for each in takes)",),
        ),
    ),
)  # fmt: skip
