"""The products of a Tensor Core that a matrix product takes, and how much of them is wanted."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

SHAPES = ((16, 16, 16), (1, 1, 1), (64, 128, 10), (64, 128, 1000), (17, 16, 48), (400, 64, 128), (33, 50, 7))
WANTED = "100 * rows * inner * columns / (products * 16**3)"


def _case(rows: int, inner: int, columns: int) -> Case:
    products = -(-rows // 16) * -(-inner // 16) * -(-columns // 16)
    wanted = 100 * rows * inner * columns / (products * 16**3)
    return Case(f"({rows} × {inner}) by ({inner} × {columns})", (rows, inner, columns), expected=(products, wanted))


EXERCISE = Exercise(
    key="ch15.padded",
    title="products of tiles, and how much of them is wanted",
    language="python",
    name="padded",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    tolerance=1e-9,
    hints=(
        "How many tiles of 16 does it take to cover each of the three directions?",
        "(size + 15) // 16 tiles cover a size; a tile that is begun is multiplied whole.",
        "products: the three numbers of tiles multiplied; wanted is 100 * rows * inner * columns / (products * 4096).",
    ),
    solution="""
def padded(rows, inner, columns):
    products = ((rows + 15) // 16) * ((inner + 15) // 16) * ((columns + 15) // 16)
    return products, 100 * rows * inner * columns / (products * 16**3)
""",
    why="Each direction is rounded up for itself, so the losses multiply. A thousand classes fill 63 tiles and lose "
    "less than one per cent; ten classes fill one tile and lose 37.5, which hardly matters, as that layer is small. It "
    "matters where a large size is just above a multiple, or where many small products are made one by one.",
    stretch="real kernels work on tiles of 128 × 128 results and more. What does a layer of 1,000 outputs lose there?",
    mistakes=(
        Mistake(
            "tiles that are begun do not count",
            "size // 16 leaves out the tile that is begun. It is multiplied whole: (size + 15) // 16.",
            (
                (("(rows + 15) // 16", "max(1, rows // 16)"), ("(inner + 15) // 16", "max(1, inner // 16)"),
                 ("(columns + 15) // 16", "max(1, columns // 16)")),
                "    products = rows * inner * columns // 16**3\n    return products, 100.0",
            ),
        ),
        Mistake(
            "rounded up together",
            "Each direction is covered by whole tiles for itself. Rounding their product up once is too few.",
            ("    products = (rows * inner * columns + 16**3 - 1) // 16**3\n"
             "    return products, 100 * rows * inner * columns / (products * 16**3)",),
        ),
        Mistake(
            "one tile too many",
            "A size of 16 fills one tile, not two: (size + 15) // 16, not size // 16 + 1.",
            ((("(rows + 15) // 16", "(rows // 16 + 1)"), ("(inner + 15) // 16", "(inner // 16 + 1)"),
              ("(columns + 15) // 16", "(columns // 16 + 1)")),),
        ),
        Mistake(
            "tiles of the result only",
            "Each tile of the result takes a product for each 16 steps along the inner size.",
            ((" * ((inner + 15) // 16)", ""),),
        ),
        Mistake(
            "the wasted part",
            "Asked for is the share that is wanted. 100 less that is what is wasted.",
            ((WANTED, "100 - " + WANTED),),
        ),
        Mistake(
            "a fraction, not per cent",
            "Asked for are per cent: that share times 100.",
            ((WANTED, "rows * inner * columns / (products * 16**3)"),),
        ),
        Mistake(
            "upside down",
            "The multiplications that are wanted, divided by those that are done, and not the other way round.",
            ((WANTED, "100 * products * 16**3 / (rows * inner * columns)"),),
        ),
        Mistake(
            "results counted, not multiplications",
            "A product of tiles does 16 × 16 × 16 multiplications, not 16 × 16.",
            (("16**3", "16**2"),),
        ),
    ),
)  # fmt: skip
