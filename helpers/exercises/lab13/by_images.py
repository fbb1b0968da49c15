"""The gradient of a convolution by its images: each pixel gathers what it has contributed to."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (1, 4, 9, 6, 3, 2))
INSIDE = "0 <= p < g.shape[2] and 0 <= q < g.shape[3]"


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    g, f = numbers((n, k, h - r + 1, w - r + 1), seed), numbers((k, c, r, r), seed + 1)
    wanted = Out(shared.by_images(g, f), initial=np.zeros((n, c, h, w), np.float32))
    return Case(shared.name(n, c, h, w, k, r), (g, f, wanted), (cover(n * c * h * w, 128),), (128,))


EXERCISE = Exercise(
    key="lab13.by_images",
    title="the gradient with respect to the images, in Numba",
    language="numba",
    name="by_images",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(4, *shared.MEASURED),
    drawn=lambda dice: [_case(*size) for size in shared.sizes(dice, (3, 7))],
    sanitize=True,
    shared_out=True,
    budgets=(shared.NO_ATOMICS, shared.STORED_ONCE),
    hints=(
        "Turn the question round. Which elements of the result did this one pixel contribute to, and by which weight?",
        "Pixel (row, column) meets weight (a, b) of a filter in the element (row - a, column - b) of the result, if "
        "there is such an element.",
        "Loop over filters f, then a and b. With p = row - a and q = column - b inside g, add g[n, f, p, q] * "
        "weights[f, c, a, b] to a sum in a register, and store that once.",
    ),
    why="A scatter writes to one pixel from many threads, and so needs atomics, whose order changes the last bits "
    "from run to run. A gather reads the same numbers and writes each pixel once. That is why libraries have an own "
    "algorithm for this gradient, and why it looks like a convolution of the padded gradient with the filters turned "
    "round.",
    stretch="the four loops have guards at the border only. Move them into the bounds of the loops: fewer branches?",
    equivalent=((("row, column] = total", "row, column] += total"), "dx holds zeros before"),),
    mistakes=(
        Mistake(
            "the wrong way from the pixel",
            "In the forward pass element p saw pixel p + a. So pixel row belongs to element row - a, not row + a.",
            ((("row - a", "row + a"), ("column - b", "column + b")),),
        ),
        Mistake(
            "filters and channels are swapped",
            "The weights have the shape (filters, channels, r, r). The gradient has a slice for each filter, and the "
            "image one for each channel.",
            (("weights[f, c, a, b]", "weights[c % weights.shape[0], f % weights.shape[1], a, b]"),),
        ),
        Mistake(
            "only the first filter",
            "A pixel contributed to the result of every filter: the sum goes over all of them.",
            (("range(weights.shape[0])", "range(1)"),),
        ),
        Mistake(
            "the filter is turned round twice",
            "Element (row - a, column - b) goes with weight (a, b). Either the place or the weight is mirrored, not "
            "both.",
            (("weights[f, c, a, b]", "weights[f, c, r - 1 - a, r - 1 - b]"),),
        ),
        Mistake(
            "no guard at the border",
            "Pixels near the border have met only some of the weights. Negative indices count from the end of an "
            "array, and others leave it.",
            ((INSIDE, "p < g.shape[2] and q < g.shape[3]"), (INSIDE, "p >= 0 and q >= 0"), (INSIDE, "True")),
        ),
        Mistake(
            "the border gets nothing",
            "Only pixels which the whole filter has met are written. Those near the border have met some of it, and "
            "so have a gradient too.",
            (("        total = np.float32(0)",
              "        if row < r - 1 or column < r - 1 or row >= g.shape[2] or column >= g.shape[3]:\n"
              "            return\n        total = np.float32(0)"),),
        ),
        Mistake(
            "stored with every term",
            "The result is right, and each pixel was read and written again for every term. A local variable lives in "
            "a register.",
            ((("total += g", "dx[n, c, row, column] += g"), ("        dx[n, c, row, column] = total\n", "")),),
        ),
        Mistake(
            "added by atomics",
            "Each pixel has a thread of its own, so nobody else adds to it: no atomic is needed.",
            (("dx[n, c, row, column] = total", "cuda.atomic.add(dx, (n, c, row, column), total)"),),
        ),
    ),
)  # fmt: skip
