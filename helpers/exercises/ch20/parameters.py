"""How many numbers an LSTM learns, from its sizes."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

SIZES = (  # inputs, hidden units, layers, directions
    (1, 1, 1, 1), (3, 5, 1, 1), (8, 48, 1, 2), (5, 3, 2, 1), (7, 4, 3, 2), (96, 96, 2, 2), (32, 256, 4, 1),
)  # fmt: skip


def _case(inputs: int, hidden: int, layers: int, directions: int) -> Case:
    name = f"{plural(inputs, 'input')}, {hidden} hidden, {plural(layers, 'layer')}, {plural(directions, 'direction')}"
    total = sum(
        directions * 4 * hidden * ((hidden * directions if layer else inputs) + hidden + 2) for layer in range(layers)
    )
    return Case(name, (inputs, hidden, layers, directions), expected=total)


FED = "width = hidden * directions"

EXERCISE = Exercise(
    key="ch20.parameters",
    title="the parameters of an LSTM",
    language="python",
    name="parameters",
    cases=lambda: [_case(*row) for row in SIZES],
    hints=(
        "Begin with one layer in one direction. Which four tensors does nn.LSTM hold, and of which shapes?",
        "weight_ih is (4·hidden, inputs), weight_hh (4·hidden, hidden), and there are two biases of 4·hidden. What is "
        "the input of the second layer?",
        "For each layer: directions * 4 * hidden * (width + hidden + 2). The width is `inputs` at first, then "
        "hidden * directions.",
    ),
    solution="""
def parameters(inputs, hidden, layers, directions):
    total = 0
    width = inputs
    for _ in range(layers):
        total += directions * 4 * hidden * (width + hidden + 2)
        width = hidden * directions
    return total
""",
    why="Each gate has a row of weights for the input, a row for the old hidden state, and two biases (PyTorch keeps "
    "both because cuDNN does). A later layer reads what the layer below it puts out, and in both directions "
    "that is twice as wide. The number of time steps is in none of this: all steps share the same weights.",
    stretch="compare with sum(p.numel() for p in nn.LSTM(…).parameters()). What changes for nn.GRU?",
    mistakes=(
        Mistake(
            "one bias instead of two",
            "PyTorch adds bias_ih and bias_hh. One would do, but both are learned, and both are counted.",
            (("hidden + 2", "hidden + 1"), ("width + hidden + 2", "width + hidden + 1")),
        ),
        Mistake(
            "no bias",
            "Beside the weights there are two biases, bias_ih and bias_hh, of 4 · hidden numbers each.",
            ((" + 2)", ")"),),
        ),
        Mistake(
            "as many gates as a plain RNN, or a GRU, has",
            "An LSTM has four blocks of rows: i, f, g and o. A GRU has three, and a plain RNN one.",
            (("* 4 *", "* 3 *"), ("* 4 * hidden", "* hidden")),
        ),
        Mistake(
            "every layer reads the input",
            "Only the first layer reads the input. The second one reads the hidden states of the first.",
            ((f"\n        {FED}", ""),),
        ),
        Mistake(
            "the second layer reads one direction",
            "In both directions a layer puts out 2 · hidden numbers a step, and the layer above reads them all.",
            ((FED, "width = hidden"),),
        ),
        Mistake(
            "the directions share their weights",
            "The backward direction is an LSTM of its own, with weights of its own.",
            (("directions * 4", "4"),),
        ),
        Mistake(
            "one layer is counted",
            "Each layer has weights of its own; go through all of them.",
            (("range(layers)", "range(1)"), "    return 4 * hidden * (inputs + hidden + 2)"),
        ),
    ),
)  # fmt: skip
