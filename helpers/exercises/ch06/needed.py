"""The smallest thing that orders a write of one thread before a read of another: how far each barrier reaches."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

NOTHING, WARP, BLOCK, LAUNCH = "nothing", "__syncwarp", "__syncthreads", "new launch"
PAIRS = {
    "the same thread": ((1, 40), (1, 40), NOTHING),
    "two lanes of a warp": ((1, 33), (1, 62), WARP),
    "the first and the last lane of a warp": ((0, 63), (0, 32), WARP),
    "two neighbours of two warps": ((0, 31), (0, 32), BLOCK),
    "two neighbours of two later warps": ((2, 96), (2, 95), BLOCK),
    "two warps far apart": ((2, 0), (2, 255), BLOCK),
    "the same place in two blocks": ((0, 5), (1, 5), LAUNCH),
    "neighbours across the border of two blocks": ((0, 127), (1, 0), LAUNCH),
    "two blocks, the reader in the first": ((3, 64), (0, 1), LAUNCH),
}

EXERCISE = Exercise(
    key="ch06.needed",
    title="the smallest thing that orders two threads",
    language="python",
    name="needed",
    cases=lambda: [Case(name, (writer, reader), expected=least) for name, (writer, reader, least) in PAIRS.items()],
    hints=(
        "Which threads does each of them wait for? Begin with the two that are closest to one another.",
        "A thread's own accesses are in order without any barrier. A warp is 32 threads of one block in a row.",
        "Compare writer with reader, then the blocks, writer[0] and reader[0], then the warps, writer[1] // 32 and "
        "reader[1] // 32.",
    ),
    solution="""
def needed(writer, reader):
    if writer == reader:
        return "nothing"
    if writer[0] != reader[0]:
        return "new launch"
    if writer[1] // 32 == reader[1] // 32:
        return "__syncwarp"
    return "__syncthreads"
""",
    why="A barrier orders the threads that wait at it, and no others. So the question is always the same: do the "
    "writer and the reader both belong to those who wait? What one thread does itself is in order without a barrier.",
    stretch="within one launch an atomic and two fences can hand an element to another block. What does the reader "
    "have to check?",
    mistakes=(
        Mistake(
            "a block's barrier orders the grid",
            "__syncthreads() lets the threads of one block wait for one another. A thread of another block may not "
            "even have begun.",
            (('"new launch"', '"__syncthreads"'),
             (('    if writer[0] != reader[0]:\n        return "new launch"\n', ""),
              ("if writer[1]", "if writer[0] == reader[0] and writer[1]"))),
        ),
        Mistake(
            "a warp's barrier orders the block",
            "__syncwarp() orders the 32 lanes of one warp: thread 31 and thread 32 belong to two warps.",
            (('return "__syncthreads"', 'return "__syncwarp"'),),
        ),
        Mistake(
            "a warp is in step by itself",
            "Since Volta lanes of a warp need not run in step. Without a barrier only a thread's own accesses are in "
            "order.",
            (('return "__syncwarp"', 'return "nothing"'),),
        ),
        Mistake(
            "the block is not looked at",
            "Threads with the same number stand in different blocks, too: compare writer[0] with reader[0] first.",
            ((('    if writer[0] != reader[0]:\n        return "new launch"\n', ""),),),
        ),
        Mistake(
            "a thread needs a barrier for itself",
            "What a thread has written it reads again without any barrier: its own accesses are in order.",
            (('return "nothing"', 'return "__syncwarp"'),),
        ),
        Mistake(
            "more than is needed",
            "The barrier of the block orders the lanes of a warp as well, but a smaller one is enough for them.",
            (('return "__syncwarp"', 'return "__syncthreads"'),),
        ),
        Mistake(
            "the barrier of the block for all",
            "Two lanes of one warp need less than the whole block, and two threads of different blocks need more.",
            ('    return "nothing" if writer == reader else "__syncthreads"', '    return "__syncthreads"'),
        ),
        Mistake(
            "always a new launch",
            "A new launch orders everything, and threads of one block can have it for less.",
            ('    return "new launch"', '    return "nothing" if writer == reader else "new launch"'),
        ),
    ),
)  # fmt: skip
