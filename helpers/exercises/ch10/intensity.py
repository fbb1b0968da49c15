"""The intensity of any product that `torch.matmul` does, from the shapes: with weights shared by a batch, or not."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake, plural

PRODUCTS = (  # shape of a, shape of b, bytes of a number
    ((1, 1), (1, 1), 4),
    ((13, 37), (37, 5), 8),
    ((512, 512), (512, 512), 2),
    ((1, 4096), (4096, 4096), 2),
    ((32, 16, 768), (768, 3072), 2),
    ((32, 16, 64), (32, 64, 512), 2),
    ((16, 1, 128), (16, 128, 1024), 2),
)


def _intensity(a: tuple[int, ...], b: tuple[int, ...], itemsize: int) -> float:
    results = math.prod(a[:-1]) * b[-1]
    return 2 * results * a[-1] / (itemsize * (math.prod(a) + math.prod(b) + results))


def _case(a: tuple[int, ...], b: tuple[int, ...], itemsize: int) -> Case:
    return Case(f"{a} @ {b}, {plural(itemsize, 'byte')} each", (a, b, itemsize), expected=_intensity(a, b, itemsize))


RESULTS = "results = math.prod(a[:-1]) * b[-1]"
ELEMENTS = "math.prod(a) + math.prod(b) + results"
RATIO = "flops / (itemsize * elements)"

EXERCISE = Exercise(
    key="ch10.intensity",
    title="the intensity of any matrix product",
    language="python",
    name="intensity",
    cases=lambda: [_case(*product) for product in PRODUCTS],
    hints=(
        "How many numbers does the result have, and how many multiply-adds make one of them? A shape with three sizes "
        "is a batch: that many matrices.",
        "The result has all sizes of a but the last, and then the last of b. One of its numbers takes a[-1] "
        "multiply-adds. Each tensor has as many numbers as the product of its sizes.",
        "2 * results * a[-1], divided by itemsize times math.prod(a) + math.prod(b) + results.",
    ),
    solution="""
import math

def intensity(a, b, itemsize):
    results = math.prod(a[:-1]) * b[-1]
    flops = 2 * results * a[-1]
    elements = math.prod(a) + math.prod(b) + results
    return flops / (itemsize * elements)
""",
    why="A batch multiplies the FLOPs in either case. But if b has two sizes, as the weights of a linear layer have, "
    "all matrices of the batch share it, and its bytes are spread over more FLOPs. If b has three sizes, as keys and "
    "values have in attention, each matrix of the batch brings its own, and a larger batch gains nothing.",
    stretch="from how many rows of a on is a product with 4096 × 4096 weights of half precision right of the ridge of "
    "an H100's tensor cores?",
    mistakes=(
        Mistake(
            "the batch is forgotten",
            "With three sizes a is a batch of matrices, and the result has as many. Count the multiply-adds of all.",
            ((RESULTS, "results = a[-2] * b[-1]"), ("flops = 2 * results", "flops = 2 * a[-2] * b[-1]")),
        ),
        Mistake(
            "shared weights are counted for each matrix",
            "A b with two sizes is one matrix. The whole batch uses it, and it moves once.",
            (
                ("math.prod(b)", "math.prod(a[:-2]) * b[-2] * b[-1]"),
                ("math.prod(b)", "(a[0] if len(a) == 3 else 1) * b[-2] * b[-1]"),
            ),
        ),
        Mistake(
            "one b for a whole batch that has many",
            "A b with three sizes is a batch of matrices, and all of them move.",
            (("math.prod(b)", "b[-2] * b[-1]"),),
        ),
        Mistake(
            "a fused multiply-add is two operations",
            "Each step multiplies and adds, so it counts as two.",
            (("flops = 2 * results", "flops = results"),),
        ),
        Mistake(
            "the result moves, too",
            "Both factors are counted. The result has to be stored as well.",
            ((" + results\n    return", "\n    return"),),
        ),
        Mistake(
            "elements are not bytes",
            "That is FLOP for each number. A number is `itemsize` bytes.",
            (("itemsize * elements", "elements"), ("itemsize * elements", "4 * elements")),
        ),
        Mistake(
            "one factor is missing",
            "Both factors are loaded, and the result is stored: three tensors.",
            ((ELEMENTS, "math.prod(a) + results"), (ELEMENTS, "math.prod(b) + results")),
        ),
        Mistake(
            "nothing is divided by all that moves",
            "Divide the operations by the bytes of all three tensors.",
            (
                (RATIO, "flops"), (RATIO, "flops / itemsize"), (RATIO, "2 * a[0] * a[-1] * b[-1] / itemsize"),
                (RATIO, "flops / (itemsize * results)"),
            ),
        ),
    ),
)  # fmt: skip
