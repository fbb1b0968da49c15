"""The step of an LSTM behind its two products, with biases that are loaded once for many sequences."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab14 import shared

SIZES = ((1, 1), (1, 33), (3, 5), (7, 64), (37, 20), (5, 100))
MEASURED = (128, 96)
ACROSS, DOWN, BLOCKS = 32, 4, 2
SIGMOIDS = {gate: f"one / (one + math.exp(-z_{gate}))" for gate in "ifo"}
G, C, H = "math.tanh(z_g)", "c = f * c_old[s, unit] + i * g", "o * math.tanh(c)"
PLACES = ("s, unit", "s, hidden + unit", "s, 2 * hidden + unit", "s, 3 * hidden + unit")


def _case(batch: int, hidden: int, seed: int = 1) -> Case:
    from_input = shared.sums(batch, 4 * hidden, seed)
    from_state = numbers((batch, 4 * hidden), seed + 1) / 8
    b_ih, b_hh = (numbers(4 * hidden, seed + k) / 8 for k in (2, 3))
    c = numbers((batch, hidden), seed + 4) / 4
    kept = np.concatenate(shared.stepped(from_input + from_state + b_ih + b_hh, c), axis=1).astype(np.float32)
    grid = (cover(hidden, ACROSS), BLOCKS)
    return Case(shared.name(batch, hidden), (from_input, from_state, b_ih, b_hh, c, Out(kept)), grid, (ACROSS, DOWN))


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [*(_case(*size) for size in shared.sizes(dice)), _case(*MEASURED, int(dice.integers(1, 10**6)))]


EXERCISE = Exercise(
    key="lab14.cell",
    title="the step behind the products, in Numba",
    language="numba",
    name="cell",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(*MEASURED),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(shared.LOADED, shared.STORED, shared.NO_FP64),
    hints=(
        "Which of the numbers that a thread loads are the same for every sequence it goes through?",
        "Before the loop: add up the two biases of the unit for each of the four gates, in four variables. In the "
        "loop, with neighbouring lanes at neighbouring units: four sums, four gates, c, h, six stores.",
        "unit, first = cuda.grid(2), and stride = cuda.gridsize(2)[1]. Then for s in range(first, batch, stride): z_f "
        "= from_input[s, hidden + unit] + from_state[s, hidden + unit] + b_f, and kept[s, hidden + unit] = f.",
    ),
    why="A thread for each unit and sequence would load eight floats of biases for nine others. The biases belong to "
    "the unit alone, so a thread that keeps its unit and walks through sequences loads them once, and registers hold "
    "them. Caches would serve most of those loads on a GPU, but each one would still be an instruction, and would "
    "take its turn on the way to the L1 cache. In mathematics this is a broadcast over the batch. On the way back "
    "a broadcast becomes a sum over the batch, which is the next exercise.",
    stretch="the gates of a unit lie hidden floats apart. Store them as four neighbours, (batch, hidden, 4): how many "
    "requests are left with a float4, and what has to happen to the rows of the weights?",
    equivalent=((("gridsize(2)[1]", "gridsize(3)[1]"), "the size along y is the same"),),
    mistakes=(
        Mistake("the gates are in another order",
            "PyTorch stacks i, f, g, o. Other libraries have other orders, such as i, g, f, o, so that weights have to "
            "be put in order before they are taken over.",
            ((("exp(-z_f)", "exp(-z_?)"), ("tanh(z_g)", "tanh(z_f)"), ("exp(-z_?)", "exp(-z_g)")),
             (("exp(-z_o)", "exp(-z_?)"), ("tanh(z_g)", "tanh(z_o)"), ("exp(-z_?)", "exp(-z_g)")),
             (("exp(-z_i)", "exp(-z_?)"), ("exp(-z_f)", "exp(-z_i)"), ("exp(-z_?)", "exp(-z_f)")))),
        Mistake("sigmoid in place of tanh",
            "The content g lies between -1 and 1, as tanh does. A sigmoid never takes anything away from c.",
            ((G, "one / (one + math.exp(-z_g))"), (H, "o / (one + math.exp(-c))"))),
        Mistake("tanh in place of a sigmoid",
            "i, f and o are shares between 0 and 1: each is a sigmoid. Only g and the c within h go through tanh.",
            tuple((sigmoid, f"math.tanh(z_{gate})") for gate, sigmoid in SIGMOIDS.items())),
        Mistake("h from the old c",
            "h shows the new c: first c = f · c_old + i · g, then h = o · tanh(c).",
            ((H, "o * math.tanh(c_old[s, unit])"),)),
        Mistake("h without tanh",
            "c may grow beyond 1. What is shown of it is o · tanh(c).",
            ((H, "o * c"), (H, "math.tanh(o * c)"))),
        Mistake("the input and forget gates in each other's places",
            "The forget gate scales the old c, and the input gate scales the new content g.",
            ((C, "c = i * c_old[s, unit] + f * g"), (C, "c = f * c_old[s, unit] + (one - f) * g"))),
        Mistake("one bias only",
            "PyTorch adds two biases, b_ih and b_hh, and learns both.",
            ((" + b_hh[", " + 0 * b_hh["), ("= b_ih[", "= 0 * b_ih["), ("b_ih[", "b_hh["))),
        Mistake("sums in place of gates",
            "The first four parts of a row of `kept` are the gates, behind sigmoid and tanh. Backward needs them, and "
            "no sum.",
            tuple((f"kept[{at}] = {gate}\n", f"kept[{at}] = z_{gate}\n")
                  for at, gate in zip(PLACES[:1] + PLACES[2:], "igo", strict=True))),
        Mistake("sequences are left out",
            "There are fewer threads than sequences: each thread goes on by as many as there are threads in the grid "
            "along y, to the end of the batch.",
            (("stride):", "batch):"), ("unit, first = cuda.grid(2)", "unit, first = cuda.grid(1), cuda.threadIdx.y"),
             ("stride = cuda.gridsize(2)[1]", "stride = cuda.blockDim.x"))),
        Mistake("infinity over infinity",
            "exp(100) is infinite in float32, and infinity divided by infinity is no number. 1 / (1 + exp(-z)) "
            "survives it, because 1 / infinity is 0. math.tanh knows how to avoid it.",
            ((G, "(math.exp(z_g + z_g) - one) / (math.exp(z_g + z_g) + one)"),
             (SIGMOIDS["f"], "math.exp(z_f) / (one + math.exp(z_f))"))),
        Mistake("units that do not exist",
            "A block has 32 units, and hidden need not be a multiple of that. Beyond it lies the next gate, or "
            "nothing.",
            (("if unit < hidden:", "if True:"), ("if unit < hidden:", "if unit <= hidden:"))),
        Mistake("biases are loaded for every sequence",
            "Right, but each thread loads the biases of its unit again for every sequence. They stay the same: load "
            "them before the loop.",
            (tuple((f" + b_{gate}\n", f" + (b_ih[{at}] + b_hh[{at}])\n")
                   for gate, at in zip("ifgo", (place[3:] for place in PLACES), strict=True)),)),
        Mistake("double precision has slipped in",
            "Right, but a Python number such as 1 or 1.0 makes Numba calculate in float64, which most GPUs do slowly.",
            (("one = np.float32(1)", "one = 1"), ("one = np.float32(1)", "one = 1.0"))),
        Mistake("neighbouring lanes have different sequences",
            "Right, but the lanes of a warp touch rows that lie far apart. Lanes have neighbouring threadIdx.x: let "
            "that go along units.",
            ((("unit, first = cuda.grid(2)",
               "unit = 32 * cuda.blockIdx.x + cuda.threadIdx.y\n    first = 32 * cuda.blockIdx.y + cuda.threadIdx.x"),
              ("stride = cuda.gridsize(2)[1]", "stride = 32 * cuda.gridDim.y"),
              ("    if unit < hidden:", "    for unit in range(unit, min(hidden, 32 * cuda.blockIdx.x + 32), 4):")),)),
    ),
)  # fmt: skip
