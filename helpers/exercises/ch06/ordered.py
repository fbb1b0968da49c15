"""Whether something orders a write of one thread before a read of another: how far each barrier reaches."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

NOTHING, WARP, BLOCK, GRID, LAUNCH = "nothing", "__syncwarp", "__syncthreads", "grid barrier", "new launch"
PAIRS = {
    "the same thread": ((1, 40), (1, 40)),
    "two lanes of a warp": ((1, 33), (1, 62)),
    "two neighbours of two warps": ((0, 31), (0, 32)),
    "the same place in two blocks": ((0, 5), (1, 5)),
    "two warps far apart": ((2, 0), (2, 127)),
    "two blocks, the reader in the first": ((3, 64), (0, 1)),
}
REACH = {
    NOTHING: ("the same thread",),
    WARP: ("the same thread", "two lanes of a warp"),
    BLOCK: ("the same thread", "two lanes of a warp", "two neighbours of two warps", "two warps far apart"),
    GRID: tuple(PAIRS),
    LAUNCH: tuple(PAIRS),
}


def _cases() -> list[Case]:
    return [
        Case(f"{barrier}, {name}", (barrier, writer, reader), expected=name in REACH[barrier])
        for barrier in REACH
        for name, (writer, reader) in PAIRS.items()
    ]


EXERCISE = Exercise(
    key="ch06.ordered",
    title="how far each barrier reaches",
    language="python",
    name="ordered",
    cases=_cases,
    hints=(
        "Which threads does each of the four wait for?",
        "A thread's own accesses are in order without any barrier. A warp is 32 threads of one block in a row.",
        "Compare the blocks, writer[0] and reader[0], and the warps, writer[1] // 32 and reader[1] // 32.",
    ),
    solution="""
def ordered(barrier, writer, reader):
    same_block = writer[0] == reader[0]
    same_warp = same_block and writer[1] // 32 == reader[1] // 32
    if barrier in ("grid barrier", "new launch"):
        return True
    if barrier == "__syncthreads":
        return same_block
    if barrier == "__syncwarp":
        return same_warp
    return writer == reader
""",
    why="A barrier orders the threads that wait at it, and no others. So the question is always the same: do the "
    "writer and the reader both belong to those who wait? What one thread does itself is in order without a barrier.",
    stretch="an atomic and two fences order a write and a read without any waiting. What has the reader to check?",
    mistakes=(
        Mistake(
            "a block's barrier orders the grid",
            "__syncthreads() lets the threads of one block wait for one another. A thread of another block may not "
            "even have begun.",
            (("return same_block", "return True"),),
        ),
        Mistake(
            "a warp's barrier orders the block",
            "__syncwarp() orders the 32 lanes of one warp: thread 31 and thread 32 belong to two warps.",
            (("return same_warp", "return same_block"),),
        ),
        Mistake(
            "a warp is in step by itself",
            "Since Volta lanes of a warp need not run in step. Without a barrier only a thread's own accesses are in "
            "order.",
            (("return writer == reader", "return same_warp"),),
        ),
        Mistake(
            "the block is not looked at",
            "Threads with the same number stand in different blocks, too: compare writer[0] with reader[0] first.",
            (("same_block and writer", "writer"), ("writer[0] == reader[0]", "writer[1] // 128 == reader[1] // 128")),
        ),
        Mistake(
            "a thread needs a barrier for itself",
            "What a thread has written it reads again without any barrier: its own accesses are in order.",
            (("return writer == reader", "return False"),),
        ),
        Mistake(
            "a new launch orders nothing",
            "Kernels of one stream run one after the other: a launch begins when the one before it has ended, and sees "
            "all that it has written.",
            (('("grid barrier", "new launch")', '("grid barrier",)'),),
        ),
        Mistake(
            "a block's barrier is for one warp only",
            "__syncthreads() lets all threads of the block wait, whichever warp they belong to.",
            (("return same_block", "return same_warp"),),
        ),
        Mistake(
            "everything is in order",
            "Nothing orders two threads unless you ask for it.",
            ("    return True", ("return writer == reader", "return True")),
        ),
    ),
)  # fmt: skip
