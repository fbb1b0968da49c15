"""Products of tiles that a convolution takes on tensor cores, and the part of their work that is useful."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

LAYERS = (
    (16384, 6, 25), (1024, 16, 150), (4096, 6, 400), (16, 16, 16), (1, 1, 1), (17, 16, 16), (16, 17, 32),
    (100, 33, 47), (256, 64, 576),
)  # fmt: skip
"""Positions, filters, depth: the patient's first convolution, its second, and the way back of that one come first."""


def _tiles(positions: int, filters: int, depth: int) -> tuple[int, float]:
    products = 1
    for size in (positions, filters, depth):
        products *= (size + 15) // 16
    return products, positions * filters * depth / (products * 16**3)


def _case(*layer: int) -> Case:
    positions, filters, depth = layer
    return Case(f"{positions} positions, {filters} filters, depth {depth}", layer, expected=_tiles(*layer))


EXERCISE = Exercise(
    key="ch23.tiles",
    title="how much of the tensor cores' work is useful",
    language="python",
    name="tiles",
    cases=lambda: [_case(*layer) for layer in LAYERS],
    hints=(
        "How many tiles of 16 cover 17 filters? A tile that is used only in part is multiplied as a whole.",
        "Round each of the three sizes up to whole tiles, (size + 15) // 16, and multiply the three numbers.",
        "useful = positions * filters * depth / (products * 16**3).",
    ),
    solution="""
def tiles(positions, filters, depth):
    products = ((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)
    useful = positions * filters * depth / (products * 16**3)
    return products, useful
""",
    why="The patient's first convolution has 6 filters and a depth of 25, so 29 % of the work is useful. Its second "
    "has 16 filters and a depth of 150, and 94 % is useful. So it pays to give a layer multiples of 16 channels.",
    stretch="tensor cores also take tiles of 8 × 32 and 32 × 8 outputs, with the same depth. Which of the three shapes "
    "is best for each of the three layers of the patient?",
    mistakes=(
        Mistake(
            "parts of tiles are counted as parts",
            "A tile is multiplied as a whole, even where a single row of it is used: round each size up.",
            (
                (
                    "((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)",
                    "positions * filters * depth / 16**3",
                ),
            ),
        ),
        Mistake(
            "sizes are rounded down",
            "What does not fill a tile still needs one: (size + 15) // 16.",
            (
                (
                    "((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)",
                    "max(1, positions // 16) * max(1, filters // 16) * max(1, depth // 16)",
                ),
            ),
        ),
        Mistake(
            "rounded up once, for all three together",
            "Each of the three sizes is rounded up by itself, and then they are multiplied.",
            (
                (
                    "((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)",
                    "(positions * filters * depth + 16**3 - 1) // 16**3",
                ),
            ),
        ),
        Mistake(
            "one tile too many",
            "A size of exactly 16 needs one tile. size // 16 + 1 would give it two.",
            (
                (
                    "((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)",
                    "(positions // 16 + 1) * (filters // 16 + 1) * (depth // 16 + 1)",
                ),
            ),
        ),
        Mistake(
            "the depth is left out",
            "A product of tiles goes 16 deep, so a deeper layer takes several for each tile of outputs.",
            ((" * ((depth + 15) // 16)", ""),),
        ),
        Mistake(
            "the useless part is returned",
            "Return the part that is useful: what the layer needs, over what the tiles do.",
            (("useful = positions", "useful = 1 - positions"),),
        ),
    ),
)
