"""The next mend by its ceiling: what is left of a step by Amdahl's law."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

LOGS = (
    (100.0, {"copies": (40.0, 4.0), "softmax": (10.0, 100.0)}),
    (100.0, {"copies": (10.0, 1000.0), "launches": (60.0, 2.0)}),
    (100.0, {"a": (20.0, 10.0), "b": (25.0, 1.5)}),
    (1000.0, {"convolution": (500.0, 1.1), "waits": (200.0, 20.0), "update": (150.0, 50.0)}),
    (50.0, {"only": (5.0, 2.0)}),
    (80.0, {"slower": (40.0, 0.5), "same": (40.0, 1.0)}),
    (80.0, {"slower": (40.0, 0.5)}),
    (10.0, {}),
)  # step, {suspect: (its part of the step, how many times as fast it becomes)}


def _next(step: float, suspects: dict):
    left = {name: step - part + part / factor for name, (part, factor) in suspects.items()}
    name = min(left, key=left.get, default=None)
    return (name, left[name]) if name is not None and left[name] < step else (None, step)


def _case(step: float, suspects: dict) -> Case:
    told = ", ".join(f"{name} {part:g} by {factor:g}" for name, (part, factor) in suspects.items()) or "no suspects"
    return Case(f"a step of {step:g}: {told}", (step, dict(suspects)), expected=_next(step, suspects))


EXERCISE = Exercise(
    key="ch23.next_mend",
    title="the next mend, by what it leaves of the step",
    language="python",
    name="next_mend",
    cases=lambda: [_case(*row) for row in LOGS],
    hints=(
        "A mend leaves alone what is not its part. So the step becomes that rest, and the part in its new length.",
        "left = step - part + part / factor. Keep the name with the least.",
        "Begin with best = None and least = step, and let a suspect replace them only where left < least.",
    ),
    solution="""
def next_mend(step, suspects):
    best, least = None, step
    for name, (part, factor) in suspects.items():
        left = step - part + part / factor
        if left < least:
            best, least = name, left
    return best, least
""",
    why="A mend of a hundred times is worth little where its part is small. So neither the largest part nor the "
    "largest factor decides, but what both leave of the step. Where no mend leaves less than there is, the answer "
    "is to stop.",
    stretch="mend the best one, then choose again from the step that is left, until nothing gains a tenth of it. In "
    "which order do the mends come?",
    mistakes=(
        Mistake(
            "the largest part",
            "A large part that hardly becomes faster gives little. Compare what each mend leaves of the step.",
            (("left = step - part + part / factor", "left = step - part"),),
        ),
        Mistake(
            "the largest factor",
            "A part that becomes a thousand times as fast may be a tenth of the step. Compare what is left.",
            (("left = step - part + part / factor", "left = step / factor"),),
        ),
        Mistake(
            "only the mended part is looked at",
            "The step that is left has the rest in it as well: step - part.",
            (("step - part + part / factor", "part / factor"),),
        ),
        Mistake(
            "the part stays in the step",
            "The part leaves the step and comes back shorter. Take it away first, then add what is left of it.",
            (("step - part + part / factor", "step - part / factor"),
             ("step - part + part / factor", "step + part / factor")),
        ),
        Mistake(
            "a mend that does not help is chosen",
            "Where no mend leaves less than the step takes now, return None and the step.",
            (("best, least = None, step", "best, least = None, float(\"inf\")"),
             ("left < least", "left <= least")),
        ),
        Mistake(
            "the worst one",
            "The best mend leaves the least of the step.",
            (("best, least = None, step", "best, least = None, 0"), ("left < least", "left > least")),
        ),
        Mistake(
            "what is saved is returned",
            "Return what is left of the step, and not what was saved.",
            (("return best, least", "return best, step - least"),),
        ),
    ),
)  # fmt: skip
