"""Best fit and splitting: what the list of free blocks looks like after a request."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # free blocks, bytes asked for
    ((512,), 1), ((512,), 512), ((1024,), 600), ((512, 1024, 512), 1), ((4096, 8192, 3072), 1900),
    ((2048, 8192, 4096), 2049), ((3072, 2560, 2560), 2000), ((1024, 2048), 2049), ((), 5),
    ((6144, 5120, 1536, 5632), 4608),
)  # fmt: skip


def _case(free: tuple[int, ...], nbytes: int) -> Case:
    size = -(-nbytes // 512) * 512
    fitting = [(block, at) for at, block in enumerate(free) if block >= size]
    wanted = None
    if fitting:
        block, at = min(fitting)
        rest = [block - size] if block > size else []
        wanted = [*free[:at], *rest, *free[at + 1 :]]
    return Case(f"{nbytes} bytes from {list(free)}", (list(free), nbytes), expected=wanted)


EXERCISE = Exercise(
    key="ch18.place",
    title="a request, rounded, placed and split",
    language="python",
    name="place",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "First the size: what is the smallest multiple of 512 that is not below `nbytes`?",
        "Go through all blocks and remember the number of the smallest one that is large enough. None? Return None.",
        "size = (nbytes + 511) // 512 * 512. What is left of the best block takes its place in the list; a block that "
        "is used up is removed.",
    ),
    solution="""
def place(free, nbytes):
    size = (nbytes + 511) // 512 * 512
    best = None
    for i, block in enumerate(free):
        if block >= size and (best is None or block < free[best]):
            best = i
    if best is None:
        return None
    left = free[best] - size
    if left == 0:
        return free[:best] + free[best + 1:]
    return free[:best] + [left] + free[best + 1:]
""",
    why="Rounding makes all sizes multiples of 512, so what is left over is one too, and can be given out again. Best "
    "fit keeps large blocks whole for large requests. Of two blocks of one size the first is taken, which in "
    "PyTorch is the one at the lower address.",
    stretch="take the largest block instead (worst fit). Find a sequence of requests that then fails, and one that "
    "fails with best fit only.",
    mistakes=(
        Mistake(
            "not rounded",
            "The block has a multiple of 512 bytes, so round the request up first.",
            (("(nbytes + 511) // 512 * 512", "nbytes"),),
        ),
        Mistake(
            "rounded down",
            "A block may not be smaller than what was asked for: round up.",
            (("(nbytes + 511) // 512", "max(1, nbytes // 512)"),),
        ),
        Mistake(
            "512 too many",
            "A request that is a multiple of 512 already stays as it is.",
            (("nbytes + 511", "nbytes + 512"),),
        ),
        Mistake(
            "the first block that fits",
            "That is first fit. Best fit looks at all blocks and takes the smallest that is large enough.",
            ((" and (best is None or block < free[best])", " and best is None"),),
        ),
        Mistake(
            "the largest block",
            "That is worst fit, which cuts up what large requests will need. Take the smallest block that fits.",
            (("block < free[best]", "block > free[best]"),),
        ),
        Mistake(
            "the last of equal blocks",
            "Of blocks of the same size take the first: compare with <.",
            (("block < free[best]", "block <= free[best]"),),
        ),
        Mistake(
            "the rest is lost",
            "What is left of the block stays free: cut it off and keep it in the list.",
            (("    return free[:best] + [left] + free[best + 1:]", "    return free[:best] + free[best + 1:]"),),
        ),
        Mistake(
            "an empty block stays",
            "A block that is used up is no free block any more: remove it.",
            (("if left == 0", "if left < 0"),),
        ),
        Mistake(
            "a block that just fits is refused",
            "A block of exactly the size fits: use >=.",
            (("block >= size", "block > size"),),
        ),
    ),
)  # fmt: skip
