"""What is wrong with one step of training, told from numbers that anybody can look at."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

NAN, INF = float("nan"), float("inf")
# name, the gradient before and after backward(), the weights before and after the step, what is wrong
STEPS = (
    ("all is well", [0.0, 0.0], [0.5, -2.0], [1.0, 3.0], [0.75, 4.0], "none"),
    ("no gradient yet, and all is well", None, [0.5, -2.0], [1.0, 3.0], [0.75, 4.0], "none"),
    ("a gradient of which one number is 0", None, [0.0, -2.0], [1.0, 3.0], [1.0, 4.0], "none"),
    ("still no gradient afterwards", None, None, [1.0, 3.0], [1.0, 3.0], "no backward"),
    ("the gradient is 0 before and after", [0.0, 0.0], [0.0, 0.0], [1.0, 3.0], [1.0, 3.0], "no backward"),
    ("a gradient, and the weights stay", None, [0.5, -2.0], [1.0, 3.0], [1.0, 3.0], "no step"),
    ("the weights stay, after zero_grad", [0.0, 0.0], [4.0, 0.0], [1.0, 3.0], [1.0, 3.0], "no step"),
    ("the gradient of the step before is there", [0.5, -2.0], [1.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("an old gradient that cancels in a sum", [2.0, -2.0], [3.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("an old gradient in one place", [0.0, 1.0], [3.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("a gradient that is no number", None, [NAN, -2.0], [1.0, 3.0], [NAN, 5.0], "not finite"),
    ("an infinite gradient", [0.0, 0.0], [1.0, -INF], [1.0, 3.0], [0.5, INF], "not finite"),
    ("no number, and nothing was set to 0", [NAN, 1.0], [NAN, 2.0], [NAN, 3.0], [NAN, 2.0], "not finite"),
)


def _case(name, stale, gradient, before, after, wanted) -> Case:
    return Case(name, (stale, gradient, before, after), expected=wanted)


EXERCISE = Exercise(
    key="ch21.fault",
    title="what is wrong with a training step",
    language="python",
    name="fault",
    cases=lambda: [_case(*row) for row in STEPS],
    hints=(
        "Each fault leaves one mark. Which of the four lists shows it?",
        "Look in this order: is any number of the gradient not finite? Is there no gradient, or only zeros? Was there "
        "an old one? Are the weights the same as before?",
        "if gradient is None or not any(gradient): return 'no backward'; if stale is not None and any(stale): return "
        "'no zero_grad'; if before == after: return 'no step'.",
    ),
    solution="""
def fault(stale, gradient, before, after):
    if gradient is not None and not all(abs(g) < float("inf") for g in gradient):
        return "not finite"
    if gradient is None or not any(gradient):
        return "no backward"
    if stale is not None and any(stale):
        return "no zero_grad"
    if before == after:
        return "no step"
    return "none"
""",
    why="Each call of the training loop leaves a mark of its own. backward() leaves a gradient, zero_grad() takes the "
    "old one away, and step() moves the weights. So four lists of numbers, two of them gradients, tell which call is "
    "missing. What is not finite comes first, because nothing that follows from it can be judged.",
    stretch="write `facts(network, step)` that collects the four lists around one step of a real network, and let "
    "`fault` look at the listing of this chapter.",
    equivalent=(
        (('return "not finite"\n    if', 'return "not finite"\n    elif'), "the branch before has returned"),
    ),
    mistakes=(
        Mistake(
            "a gradient of one zero is no missing gradient",
            "A single 0 happens in every gradient, where a ReLU is off for example. Only if there is no gradient at "
            "all, or every number of it is 0, did nobody call backward().",
            (("not any(gradient)", "not all(gradient)"),),
        ),
        Mistake(
            "zeros taken for a gradient",
            "After zero_grad() a gradient may hold zeros instead of being None. A gradient that is 0 everywhere says, "
            "too, that backward() did not run.",
            (("gradient is None or not any(gradient)", "gradient is None"),),
        ),
        Mistake(
            "an old gradient is any that is not None",
            "zero_grad(set_to_none=False) leaves zeros, and they do no harm. Only numbers other than 0 are left over "
            "from the step before.",
            (("stale is not None and any(stale)", "stale is not None"),),
        ),
        Mistake(
            "sums hide what cancels",
            "2 and -2 add up to 0. Look at each number of a gradient, or at its largest magnitude.",
            (("any(stale)", "sum(stale) != 0"), ("any(stale)", "sum(stale)")),
        ),
        Mistake(
            "every number has to be left over",
            "One number other than 0 is enough for an old gradient: the new one will be added to it.",
            (("any(stale)", "all(stale)"),),
        ),
        Mistake(
            "NaN is not looked for",
            "NaN and infinity make every later comparison worthless: NaN is not even equal to itself. Look for them "
            "before anything else.",
            (
                ('    if gradient is not None and not all(abs(g) < float("inf") for g in gradient):\n'
                 '        return "not finite"\n', ""),
                ("not all(abs(g) < float(\"inf\") for g in gradient)", "any(g != g for g in gradient)"),
                ("not all(abs(g) < float(\"inf\") for g in gradient)", "any(abs(g) == float('inf') for g in gradient)"),
            ),
        ),
        Mistake(
            "the weights are looked at too early",
            "Where backward() did not run, the weights stay as well. But the cause is the missing gradient, so ask "
            "for that one first.",
            (("    if gradient is None or not any(gradient):", "    if before == after:\n        return \"no step\"\n"
              "    if gradient is None or not any(gradient):"),),
        ),
        Mistake(
            "weights that stay are not looked for",
            "There is a gradient, and still nothing was learnt if the weights are the same afterwards: step() is "
            "missing, or the optimiser has another network's weights.",
            (("    if before == after:\n        return \"no step\"\n", ""),),
        ),
    ),
)  # fmt: skip
