"""The dynamic loss scale as a rule: back off at once, grow after a while without an overflow."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural


def _followed(overflows: list, scale: float, growth: float, backoff: float, interval: int) -> tuple[list, int]:
    used, clean, steps = [], 0, 0
    for overflow in overflows:
        used.append(scale)
        if overflow:
            scale, clean = scale * backoff, 0
            continue
        steps, clean = steps + 1, clean + 1
        if clean == interval:
            scale, clean = scale * growth, 0
    return used, steps


def _case(overflows: str, scale: float, growth: float, backoff: float, interval: int, name: str = "") -> Case:
    """`overflows`: a letter for each step, "x" for one that overflows."""
    history = [each == "x" for each in overflows]
    needs = (history, float(scale), growth, backoff, interval)
    told = overflows if len(overflows) < 20 else plural(len(overflows), "step")
    what = name or f"{told or 'no step'}, from {scale:g}, × {growth:g} or {backoff:g}, interval {interval}"
    return Case(what, needs, expected=_followed(*needs))


def _drawn(dice: np.random.Generator) -> list[Case]:
    cases = []
    for index, share in enumerate((0.0, 0.1, 0.3, 0.1)):
        steps = "".join("x" if hit else "." for hit in dice.random(int(dice.integers(20, 60))) < share)
        factors = float(dice.choice([2.0, 1.5, 4.0])), float(dice.choice([0.5, 0.25, 0.125]))
        cases.append(
            _case(steps, 2.0 ** int(dice.integers(4, 17)), *factors, int(dice.integers(2, 7)), f"drawn {index}")
        )
    return cases


EXERCISE = Exercise(
    key="lab11.rule",
    title="the rule of the dynamic loss scale, in Python",
    language="python",
    name="loss_scales",
    cases=lambda: [
        _case("", 1024, 2, 0.5, 3),
        _case(".", 1024, 2, 0.5, 1),
        _case("x..", 65536, 2, 0.5, 10),
        _case(".......", 1024, 2, 0.5, 3),
        _case("..x.....", 1024, 2, 0.5, 3),
        _case("..x.x....x", 4096, 1.5, 0.25, 2),
        _case("xxx...xx......", 65536, 4, 0.125, 3),
    ],
    drawn=_drawn,
    hints=(
        "Two things change from step to step: the scale, and how many steps in a row were without an overflow.",
        "After an overflow the scale is multiplied by backoff and the count begins again. After a step without one the "
        "count grows by one; when it reaches interval, the scale is multiplied by growth and the count begins again.",
        "Append the scale to the list first, then change it: what is asked for is the scale that each step had.",
    ),
    why="Too small a scale lets gradients vanish, which nobody notices; too large a scale makes them overflow, which a "
    "flag tells. So the rule drifts upward until something overflows, gives up that one step, and goes back. With "
    "PyTorch's defaults, a growth of 2 after 2,000 clean steps and a backoff of 0.5, it costs one step in about 2,000. "
    "The first steps of a training often overflow, because GradScaler begins at 65,536. If the very first is skipped, "
    "PyTorch warns that the scheduler of the learning rate made a step before the optimizer did.",
    stretch="bfloat16 has the exponent of float32. Which part of this lab would you keep there?",
    equivalent=(),
    mistakes=(
        Mistake("the scale after the step",
            "Asked for is the scale that each step was made with, so keep it before you change it.",
            ((("        used.append(scale)\n", ""), ("            clean = 0\n", "            clean = 0\n            "
              "used.append(scale)\n            continue\n"), ("    return used", "    return used")),)),
        Mistake("an overflow does not begin the count anew",
            "Only steps in a row count. After an overflow begin again at 0.",
            (("scale * backoff\n            clean = 0\n", "scale * backoff\n"),)),
        Mistake("the count goes on after growth",
            "When the scale has grown, the next growth is another interval away: begin again at 0.",
            (("scale * growth\n                clean = 0\n", "scale * growth\n"),)),
        Mistake("one step too late or too early",
            "The scale grows when the count reaches interval, after that many clean steps.",
            (("clean == interval", "clean > interval"), ("clean == interval", "clean == interval - 1"))),
        Mistake("grows after every clean step",
            "The scale waits before it grows: interval steps in a row have to be clean.",
            (("if clean == interval", "if clean > 0"),
             "    used = []\n    for overflow in overflows:\n        used.append(scale)\n"
             "        scale = scale * (backoff if overflow else growth)\n    return used, overflows.count(False)")),
        Mistake("a step that is skipped is counted",
            "A step that overflows changes no weight, so it is not among the steps that were made.",
            (("            steps += 1\n", ""),
             (("        used.append(scale)\n", "        used.append(scale)\n        steps += 1\n"),
              ("            steps += 1\n", "")))),
        Mistake("the factors are others",
            "The factors are arguments: growth and backoff, and one need not be the other's inverse.",
            (("scale * backoff", "scale / growth"), ("scale * backoff", "scale * 0.5"),
             ("scale * growth", "scale * 2"))),
        Mistake("the interval is another",
            "After how many clean steps the scale grows is an argument, interval.",
            (("clean == interval", "clean == 3"),)),
        Mistake("the scale never grows, or never falls",
            "Both belong to the rule: a scale that only falls ends where gradients vanish, and one that only grows "
            "where every step overflows.",
            (("scale = scale * growth", "pass"), ("scale = scale * backoff", "pass"))),
    ),
)  # fmt: skip
