"""The FLOP of a training step of linear layers: what the forward pass takes, and the two products of the backward."""

from __future__ import annotations

import itertools

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (
    ((1, 1), 1), ((256, 512), 64), ((64, 128, 10), 32), ((784, 512, 512, 10), 128), ((3, 5, 2), 7),
    ((10, 1), 16), ((1, 10, 1, 10), 3),
)  # fmt: skip


def _flop(sizes: tuple[int, ...], batch: int) -> int:
    layers = list(itertools.pairwise(sizes))
    return sum(6 * batch * inputs * outputs for inputs, outputs in layers) - 2 * batch * sizes[0] * sizes[1]


def _case(sizes: tuple[int, ...], batch: int) -> Case:
    name = f"sizes {', '.join(map(str, sizes))}, batch {batch}"
    return Case(name, (list(sizes), batch), expected=_flop(sizes, batch))


LAYERS = "range(len(sizes) - 1)"

EXERCISE = Exercise(
    key="ch13.step",
    title="the FLOP of a training step",
    language="python",
    name="training_step",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Which products does a linear layer need forwards, for the gradient of its weights, and for that of its input?",
        "Each of the three takes 2 · batch · inputs · outputs FLOP. Who needs the gradient of the first layer's input?",
        "6 · batch · inputs · outputs for every layer, less 2 · batch · sizes[0] · sizes[1] for the first one.",
    ),
    solution="""
def training_step(sizes, batch):
    total = 0
    for layer in range(len(sizes) - 1):
        product = 2 * batch * sizes[layer] * sizes[layer + 1]
        total += product
        total += product
        if layer > 0:
            total += product
    return total
""",
    why="Backwards a layer multiplies twice: the gradient of its output with its input, which gives that of the "
    "weights, and with its weights, which gives that of its input. Nobody asks for the gradient of the data, so "
    "the first layer spares one product. With many layers a training step takes nearly three times a forward pass.",
    stretch="with gradient checkpointing the forward pass is done twice. By how much does the step grow?",
    mistakes=(
        Mistake(
            "the forward pass alone",
            "A training step goes backwards as well, and there each layer multiplies again.",
            (("        total += product\n        if layer > 0:\n            total += product\n", ""),),
        ),
        Mistake(
            "the input of the first layer gets a gradient",
            "Nobody asks for the gradient of the data, so the first layer spares one product.",
            (("        if layer > 0:\n            total += product", "        total += product"),),
        ),
        Mistake(
            "the backward pass as the forward",
            "Backwards a layer needs two products: one for the gradient of its weights, one for that of its input.",
            (("        if layer > 0:\n            total += product\n", ""),
             ("        total += product\n        total += product\n", "        total += product\n")),
        ),
        Mistake(
            "a multiply-add is two FLOP",
            "Each term of a product is one multiplication and one addition.",
            (("product = 2 * batch", "product = batch"),),
        ),
        Mistake(
            "one layer too few",
            "Between n sizes there are n - 1 layers, the first of them included.",
            ((LAYERS, "range(len(sizes) - 2)"), (LAYERS, "range(1, len(sizes) - 1)")),
        ),
        Mistake(
            "the batch is forgotten",
            "Every row of the batch takes part in each product.",
            (("2 * batch * sizes", "2 * sizes"),),
        ),
        Mistake(
            "the last layer spares a product",
            "It is the first layer whose input nobody asks a gradient for.",
            (("if layer > 0:", "if layer < len(sizes) - 2:"),),
        ),
    ),
)  # fmt: skip
