"""The bytes that a training state takes before the first activation."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

EXTRA = {"SGD": 0, "momentum": 1, "Adam": 2}  # numbers in FP32 that the optimiser keeps for each parameter
GIVEN = (  # parameters, optimiser, mixed precision
    (1, "SGD", False), (1, "Adam", False), (1000, "momentum", False), (1000, "SGD", True), (7, "momentum", True),
    (12_345, "Adam", True), (124_439_808, "Adam", False),
)  # fmt: skip


def _case(parameters: int, optimiser: str, mixed: bool) -> Case:
    weights = 2 + 2 + 4 if mixed else 4 + 4
    name = f"{parameters:,} parameters, {optimiser}, {'mixed precision' if mixed else 'FP32'}"
    return Case(name, (parameters, optimiser, mixed), expected=parameters * (weights + 4 * EXTRA[optimiser]))


EXERCISE = Exercise(
    key="ch18.state",
    title="the bytes of a training state",
    language="python",
    name="state_bytes",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Count for one parameter first. Which numbers exist for each parameter, besides the parameter itself?",
        "A weight and a gradient, always. Plain SGD keeps nothing more, momentum one number, Adam two.",
        "FP32: 4 + 4, and 4 for each number of the optimiser. Mixed: 2 + 2, 4 for the master weight, and the same "
        "4 for each number of the optimiser.",
    ),
    solution="""
def state_bytes(parameters, optimiser, mixed):
    weight_and_gradient = 2 + 2 if mixed else 4 + 4
    master = 4 if mixed else 0
    extra = {"SGD": 0, "momentum": 4, "Adam": 8}[optimiser]
    return parameters * (weight_and_gradient + master + extra)
""",
    why="Nothing in this depends on the batch: it is the same for one sequence and for a thousand. With Adam it is 16 "
    "bytes a parameter, in FP32 and in mixed precision alike, because the master weights take what the narrow "
    "weights and gradients save. A network of a billion parameters needs 16 GB before it has seen any data.",
    stretch="some optimisers keep Adam's two numbers in 8 bits. How many bytes a parameter are left, and which part "
    "is the largest then?",
    mistakes=(
        Mistake(
            "no gradient",
            "backward() writes a gradient for each parameter, which has the parameter's size.",
            (("2 + 2 if mixed else 4 + 4", "2 if mixed else 4"),),
        ),
        Mistake(
            "no state of the optimiser",
            "Momentum keeps one number for each parameter, and Adam keeps two.",
            (("+ extra", ""), "    return 8 * parameters"),
        ),
        Mistake(
            "Adam keeps one number",
            "Adam keeps two running means: one of the gradient, one of its square.",
            (('"Adam": 8', '"Adam": 4'),),
        ),
        Mistake(
            "no master weights",
            "In mixed precision the optimiser updates an FP32 copy of each weight: 4 bytes more.",
            (("master = 4 if mixed else 0", "master = 0"),),
        ),
        Mistake(
            "a gradient in FP32 beside narrow weights",
            "Here the gradients are as narrow as the weights: 2 bytes each.",
            (("2 + 2 if", "2 + 4 if"),),
        ),
        Mistake(
            "the optimiser's numbers in 16 bits",
            "The optimiser's numbers stay in FP32, because they add up small changes.",
            (("+ extra", "+ (extra // 2 if mixed else extra)"),),
        ),
        Mistake(
            "numbers instead of bytes",
            "That is how many numbers there are. A number in FP32 has 4 bytes.",
            (("return parameters * (weight_and_gradient + master + extra)",
              "return parameters * (2 + (1 if mixed else 0) + extra // 4)"),),
        ),
    ),
)  # fmt: skip
