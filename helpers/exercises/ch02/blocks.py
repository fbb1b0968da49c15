"""The blocks that cover so many elements."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, cover

PAIRS = ((1, 128), (127, 128), (128, 128), (129, 128), (1000, 256), (1024, 256), (7, 32), (10**9, 1024))
UP = "(n + threads - 1) // threads"

EXERCISE = Exercise(
    key="ch02.blocks",
    title="how many blocks",
    language="python",
    name="blocks",
    cases=lambda: [Case(f"blocks({n:,}, {t})", (n, t), expected=cover(n, t)) for n, t in PAIRS],
    hints=(
        "129 elements with 128 threads a block need 2 blocks; 128 need 1.",
        "You want the quotient rounded up, in whole numbers: // rounds down.",
        "Add threads - 1 before dividing: (n + threads - 1) // threads.",
    ),
    solution="""
def blocks(n, threads):
    return (n + threads - 1) // threads
""",
    why="Adding threads - 1 lifts any remainder over the next multiple and leaves exact multiples alone. Whole numbers "
    "stay exact where math.ceil(n / threads) rounds for very large n.",
    stretch="Python has a two-sign trick for the same: -(-n // threads). Why does it work?",
    mistakes=(
        Mistake(
            "rounded down",
            "n // threads drops the last, unfilled block, and its elements are never computed.",
            ((UP, "n // threads"), (UP, "max(1, n // threads)")),
        ),
        Mistake(
            "one block too many when it fits exactly",
            "n // threads + 1 launches a block of idle threads whenever threads divides n.",
            ((UP, "n // threads + 1"),),
        ),
        Mistake(
            "rounded to the nearest",
            "To the nearest is down as often as up; a partly filled block still has to run.",
            ((UP, "round(n / threads)"), (UP, "int(n / threads + 0.5)")),
        ),
        Mistake(
            "a fraction of a block",
            "A launch has whole blocks: round the quotient up. / keeps the fraction, // drops it.",
            ((UP, "n / threads"), ("//", "/")),
        ),
        Mistake(
            "the last block is lost",
            "(n - 1) // threads is the index of the last block. Blocks are counted from 0, so there is one more.",
            (("n + threads - 1", "n - 1"),),
        ),
        Mistake(
            "threads divided by elements",
            "That is how often the elements fit into a block. Asked is how many blocks the elements take.",
            ((UP, "-(-threads // n)"), (UP, "threads // n")),
        ),
        Mistake(
            "brackets are missing",
            "// comes before +: only what stands right before it is divided. Put the whole sum in brackets.",
            ((UP, "n + threads - 1 // threads"), ("(n + threads - 1)", "n + (threads - 1)")),
        ),
        Mistake(
            "another block size",
            "You divide by the same number in every case, or by that of a warp's threads. How many threads a block has "
            "comes as an argument.",
            tuple((UP, f"-(-n // {threads})") for threads in (32, 64, 128, 256, 512, 1024)),
        ),
        Mistake(
            "threads counted, not blocks",
            "That is how many threads the launch has. Asked is the number of blocks, each of `threads` threads.",
            ((UP, f"{UP} * threads"),),
        ),
    ),
)  # fmt: skip
