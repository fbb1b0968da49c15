"""How large an image a transposed convolution makes, and whether its kernel covers it evenly."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

# name, pixels in, kernel, stride, padding
ROWS = (
    ("one pixel becomes a kernel", 1, 4, 1, 0),
    ("DCGAN's doubling", 4, 4, 2, 1),
    ("an uneven kernel", 7, 3, 2, 1),
    ("a kernel as wide as the stride", 5, 2, 2, 0),
    ("the stride leaves gaps", 3, 2, 3, 0),
    ("the same size", 8, 3, 1, 1),
    ("a wide kernel", 6, 5, 2, 2),
    ("a stride of three, even", 2, 6, 3, 0),
    ("padding more than one", 9, 7, 3, 2),
)


def _case(name, n, kernel, stride, padding) -> Case:
    return Case(name, (n, kernel, stride, padding), expected=((n - 1) * stride - 2 * padding + kernel,
                                                              kernel % stride == 0))  # fmt: skip


SIZE = "(n - 1) * stride - 2 * padding + kernel"
EXERCISE = Exercise(
    key="ch21.size",
    title="what a transposed convolution makes of a row",
    language="python",
    name="row_size",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "Draw it: every input pixel puts a kernel's width of pixels down, `stride` further on than the one before.",
        "The first kernel begins at 0, the last one at (n - 1) * stride. Padding cuts pixels off at both ends.",
        "return (n - 1) * stride - 2 * padding + kernel, kernel % stride == 0",
    ),
    solution="""
def row_size(n, kernel, stride, padding):
    size = (n - 1) * stride - 2 * padding + kernel
    even = kernel % stride == 0
    return size, even
""",
    why="A transposed convolution runs the sizes of a convolution backwards. It begins with the n places at which a "
    "kernel is put down, so the last kernel begins at (n - 1) * stride. A pixel inside is covered by kernel / stride "
    "of them if that is a whole number, and else by one more in some places than in others: the checkerboard.",
    stretch="PyTorch has `output_padding` as well. Which two input sizes would a convolution of stride 2 shrink to the "
    "same output, and what has that to do with it?",
    mistakes=(
        Mistake(
            "that is the formula of a convolution",
            "A convolution shrinks: (n + 2 * padding - kernel) // stride + 1. Its transpose goes the other way.",
            ((SIZE, "(n + 2 * padding - kernel) // stride + 1"),),
        ),
        Mistake(
            "padding is added",
            "In a transposed convolution padding takes pixels away, as many as a convolution would add: it is the way "
            "back.",
            (("- 2 * padding", "+ 2 * padding"),),
        ),
        Mistake(
            "padding at one end only",
            "Padding is cut off at both ends: 2 * padding in all.",
            (("- 2 * padding", "- padding"),),
        ),
        Mistake(
            "padding is left out",
            "Padding takes pixels off the edges of the result.",
            ((" - 2 * padding", ""),),
        ),
        Mistake(
            "n steps, where there are n - 1",
            "Between n kernels lie n - 1 strides, and the last kernel has its whole width.",
            (("(n - 1) * stride", "n * stride"), (SIZE, "n * stride - 2 * padding"), (SIZE, "n * stride")),
        ),
        Mistake(
            "the last kernel's width is missing",
            "The last kernel begins at (n - 1) * stride and is as wide as the others.",
            ((" + kernel", ""), (" + kernel", " + 1")),
        ),
        Mistake(
            "an even number is not what makes it even",
            "Every pixel is covered equally often where the stride divides the kernel, whether that is 3 or 4.",
            (("kernel % stride == 0", "kernel % 2 == 0"), ("kernel % stride == 0", "size % 2 == 0"),
             ("kernel % stride == 0", "size % stride == 0")),
        ),
        Mistake(
            "the other way round",
            "The second value says that the kernel covers evenly: the rest of kernel divided by stride is 0.",
            (("kernel % stride == 0", "kernel % stride != 0"), ("kernel % stride == 0", "stride % kernel == 0")),
        ),
    ),
)  # fmt: skip
