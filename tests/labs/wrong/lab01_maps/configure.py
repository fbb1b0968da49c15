"""Wrong answers to lab01.configure."""

KEY = "lab01.configure"

RIGHT = """
def configure(rows, columns):
    width = 32
    while width // 2 >= columns:
        width = width // 2
    height = 256 // width
    return (-(-columns // width), min(65535, -(-rows // height))), (width, height)
"""
LOOP = "    while width // 2 >= columns:\n        width = width // 2\n"
GRID = "(-(-columns // width), min(65535, -(-rows // height)))"


def but(old: str, new: str) -> str:
    assert old in RIGHT, old
    return RIGHT.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but("    return", "    answer ="), "nothing is returned yet"),
    (
        "grid and block swapped",
        but(f"{GRID}, (width, height)", f"(width, height), {GRID}"),
        "grid and block have changed places",
    ),
    ("x covers the rows", but("(rows, columns)", "(columns, rows)"), "x covers the rows"),
    ("rounded down", but(GRID, "(columns // width, min(65535, rows // height))"), "not rounded up"),
    (
        "one too many",
        but(GRID, "(columns // width + 1, min(65535, rows // height + 1))"),
        "one block too many where it fits exactly",
    ),
    ("no limit in y", but("min(65535, -(-rows // height))", "-(-rows // height)"), "more blocks than y takes"),
    ("always 32 × 8", but(LOOP, ""), "narrow images leave lanes idle"),
    ("16 columns in 32", but("width // 2 >= columns", "width // 2 > columns"), "narrow images leave lanes idle"),
    ("8 rows always", but("256 // width", "8"), "a block that has not 256 threads"),
    (
        "the public images only",
        but(
            "    return",
            "    rows *= rows in (1, 8, 9, 480, 37, 13, 1000, 524280, 524281, 4000000, 9000000)\n    return",
        ),
        "right in the public cases only",
    ),
    ("four numbers", but(f"{GRID}, (width, height)", f"*{GRID}, width, height"), "no two tuples of two"),
    ("lists", but(f"{GRID}, (width, height)", f"[*{GRID}], [width, height]"), "no two tuples of two"),
    ("no block", but(f"{GRID}, (width, height)", GRID), "no two tuples of two"),
    ("the grid's rows first", but(f"return {GRID}", f"return {GRID}[::-1]"), "x covers the rows"),
    (
        "rows first in both",
        but("(width, height)", "(height, width)").replace(GRID, f"{GRID}[::-1]"),
        "x covers the rows",
    ),
    (
        "rounded to the nearest",
        but(GRID, "(round(columns / width), min(65535, round(rows / height)))"),
        "not rounded up",
    ),
    ("65,536", but("min(65535", "min(65536"), "more blocks than y takes"),
    ("as wide as a row", but(LOOP, "    width = min(32, columns)\n"), "a block that has not 256 threads"),
    ("no higher than the image", but("256 // width", "min(rows, 256 // width)"), "a block that has not 256 threads"),
    ("halved until it is narrower", but("width // 2 >= columns", "width > max(1, columns)"), "halved once too often"),
    ("fractions of blocks", but(GRID, "(columns / width, min(65535, rows / height))"), "not rounded up"),
    ("the block's rows first", but("(width, height)", "(height, width)"), "x covers the rows"),
    ("as narrow as the rows", but("width // 2 >= columns", "width // 2 >= rows"), "x covers the rows"),
    ("16 × 16", but(LOOP, "    width = 16\n"), "one block for all images"),
    ("8 × 32", but(LOOP, "    width = 8\n"), "one block for all images"),
    ("as wide as 256", but("width = 32", "width = 256"), "wider than a warp"),
    (
        "a grid for 32 × 8",
        but(GRID, "(-(-columns // 32), min(65535, -(-rows // 8)))"),
        "the grid does not fit the block",
    ),
    ("at least 65,535", but("min(65535", "max(65535"), "the grid does not fit the block"),
    (
        "65,535 rows",
        but("min(65535, -(-rows // height))", "-(-min(65535, rows) // height)"),
        "blocks in y are limited in another way",
    ),
    (
        "a remainder",
        but("min(65535, -(-rows // height))", "-(-rows // height) % 65536"),
        "blocks in y are limited in another way",
    ),
    ("threads", but(GRID, "(columns, min(65535, rows))"), "threads are counted for blocks"),
]
