"""The intensity of any matrix product, where each element of the three matrices moves once."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

PRODUCTS = (
    (1, 1, 1, 4),
    (13, 37, 5, 8),
    (512, 512, 512, 4),
    (512, 512, 512, 2),
    (4096, 1, 4096, 2),
    (1, 4096, 4096, 2),
)
ELEMENTS = "rows * inner + inner * columns + rows * columns"
RATIO = "flops / (itemsize * elements)"


def _case(rows: int, inner: int, columns: int, itemsize: int) -> Case:
    name = f"({rows} × {inner}) by ({inner} × {columns}), {plural(itemsize, 'byte')} each"
    moved = itemsize * (rows * inner + inner * columns + rows * columns)
    return Case(name, (rows, inner, columns, itemsize), expected=2 * rows * inner * columns / moved)


EXERCISE = Exercise(
    key="ch10.intensity",
    title="the intensity of any matrix product",
    language="python",
    name="intensity",
    cases=lambda: [_case(*shape) for shape in PRODUCTS],
    hints=(
        "How many multiply-adds make one element of the result, and how many elements are there?",
        "The factors have rows · inner and inner · columns elements, the result rows · columns.",
        "2 * rows * inner * columns, divided by itemsize times the sum of the three sizes.",
    ),
    solution="""
def intensity(rows, inner, columns, itemsize):
    flops = 2 * rows * inner * columns
    elements = rows * inner + inner * columns + rows * columns
    return flops / (itemsize * elements)
""",
    why="FLOPs grow with the product of three sizes, bytes with products of two. So large products have a high "
    "intensity, and a product with one size of 1 has none to speak of: a matrix times a vector stays near 1 FLOP per "
    "byte in half precision, however large it is. That is why generating text one token at a time is bound by memory.",
    stretch="from how many columns on is a product by a 4096 × 4096 matrix of half precision right of the ridge of an "
    "H100's tensor cores?",
    mistakes=(
        Mistake(
            "one addition less",
            "Each of rows · inner · columns steps is a multiplication and an addition; the first addition, to 0, is "
            "counted as the others are.",
            (("2 * rows * inner * columns", "(2 * inner - 1) * rows * columns"),),
        ),
        Mistake(
            "the result moves once",
            "The result is stored, and not loaded before: its rows × columns elements move once.",
            (("rows * columns\n    return", "2 * rows * columns\n    return"),),
        ),
        Mistake(
            "brackets are missing",
            "a / b * c is a · c / b. Brackets around all that you divide by.",
            (("(itemsize * elements)", "itemsize * elements"),),
        ),
        Mistake(
            "sizes are no matrices",
            "A matrix of rows × inner has rows · inner elements. Add those of three matrices, not the sizes.",
            ((ELEMENTS, "rows + inner + columns"),),
        ),
        Mistake(
            "elements are added, not multiplied",
            "Three matrices move, one after another: their numbers of elements are added.",
            ((ELEMENTS, "rows * inner * columns"), (ELEMENTS, ELEMENTS.replace("+", "*"))),
        ),
        Mistake(
            "always four bytes",
            "Not every element has 4 bytes: it has `itemsize`.",
            (("(itemsize *", "(4 *"),),
        ),
        Mistake(
            "no matrix moves",
            "These are operations. Divide them by the bytes of the three matrices, each element moved once.",
            (
                (RATIO, "flops"), (RATIO, "flops / 2"), (RATIO, "flops / itemsize"), (RATIO, "flops / 2 / itemsize"),
            ),
        ),
        Mistake(
            "one factor is missing",
            "Two factors are loaded, rows × inner and inner × columns, and the result is stored: three matrices.",
            ((" + inner * columns", ""), ("rows * inner + ", "")),
        ),
        Mistake(
            "a fused multiply-add is two operations",
            "Each of rows · inner · columns steps multiplies and adds.",
            (("2 * rows", "rows"),),
        ),
        Mistake(
            "the result moves, too",
            "Both factors are counted. The rows × columns elements of the result have to be stored.",
            ((" + rows * columns", ""),),
        ),
        Mistake(
            "elements are not bytes",
            "That is FLOP per element. An element is `itemsize` bytes.",
            (("itemsize * elements", "elements"),),
        ),
        Mistake(
            "every step loads again",
            "That is what a kernel asks for when it reuses nothing. Here each element of the three matrices moves "
            "once.",
            ((ELEMENTS, "2 * rows * inner * columns + rows * columns"), (ELEMENTS, "2 * rows * inner * columns")),
        ),
        Mistake(
            "right for square matrices only",
            "n / 6 holds for n × n matrices of float32. These have three different sizes.",
            ((RATIO, "rows / (1.5 * itemsize)"), (RATIO, "rows / 6")),
        ),
    ),
)  # fmt: skip
