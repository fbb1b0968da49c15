"""What a tree costs: its steps, its additions, and the atomics that join its blocks."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

LAUNCHES = ((1, 32), (256, 256), (257, 256), (1000, 128), (4096, 64), (2**20, 256), (2**20, 1024), (97, 2))


def _case(n: int, threads: int) -> Case:
    blocks = (n + threads - 1) // threads
    expected = (threads.bit_length() - 1, blocks * (threads - 1), blocks)
    return Case(f"{plural(n, 'element')} in blocks of {threads} threads", (n, threads), expected=expected)


EXERCISE = Exercise(
    key="ch07.cost",
    title="what a tree costs",
    language="python",
    name="cost",
    cases=lambda: [_case(*launch) for launch in LAUNCHES],
    hints=(
        "First: how many blocks does the launch have, so that every element has its thread?",
        "A block of 256 threads takes 8 steps and 128 + 64 + … + 1 additions, also where some of its threads loaded a "
        "0. Then one atomic follows.",
        "blocks = (n + threads - 1) // threads; steps = threads.bit_length() - 1; additions = blocks * (threads - 1).",
    ),
    solution="""
def cost(n, threads):
    blocks = (n + threads - 1) // threads
    steps = threads.bit_length() - 1
    additions = blocks * (threads - 1)
    atomics = blocks
    return steps, additions, atomics
""",
    why="Every addition turns two values into one, so a block that begins with `threads` values needs threads - 1 "
    "additions, in whatever order. Steps are few because many additions share a step. Wider blocks have more steps, "
    "and leave fewer atomics.",
    stretch="1,024 elements in one block, or in 32 blocks of 32: which needs more additions, atomics counted as well?",
    mistakes=(
        Mistake(
            "the last block is missing",
            "The last block may be only partly filled, and is launched all the same: round up, "
            "(n + threads - 1) // threads.",
            (("(n + threads - 1) // threads", "n // threads"),
             ("(n + threads - 1) // threads", "max(1, n // threads)")),
        ),
        Mistake(
            "a block too many",
            "Where n is a multiple of the block size, n // threads + 1 launches a block without any element.",
            (("(n + threads - 1) // threads", "n // threads + 1"),),
        ),
        Mistake(
            "log n steps, log n additions",
            "A step makes many additions at once: the first one of 256 threads makes 128.",
            (("blocks * (threads - 1)", "blocks * steps"), ("blocks * (threads - 1)", "steps")),
        ),
        Mistake(
            "one addition too many in each block",
            "The last addition leaves one value, and nothing is left to add: 64 + 32 + … + 1 is 127, not 128.",
            (("blocks * (threads - 1)", "blocks * threads"),),
        ),
        Mistake(
            "each thread adds in each step",
            "Half of the threads add in the first step, a quarter in the second. The others have nothing to add.",
            (("blocks * (threads - 1)", "blocks * threads * steps"),
             ("blocks * (threads - 1)", "blocks * threads // 2 * steps")),
        ),
        Mistake(
            "as if zeros were not added",
            "Threads without an element load a 0, and version 2 adds it like any other value.",
            (("blocks * (threads - 1)", "n - 1"), ("blocks * (threads - 1)", "n - blocks")),
        ),
        Mistake(
            "one step too many or too few",
            "Count the distances 1, 2, 4, … below the number of threads: 32 threads have 5 of them.",
            (("threads.bit_length() - 1", "threads.bit_length()"),
             ("threads.bit_length() - 1", "threads.bit_length() - 2")),
        ),
        Mistake(
            "steps as if all n were one tree",
            "The tree ends at the border of the block, so its height follows from the threads of a block.",
            (("threads.bit_length() - 1", "(n - 1).bit_length()"),),
        ),
        Mistake(
            "one atomic for each thread",
            "Only thread 0 of each block reaches the atomic.",
            (("atomics = blocks", "atomics = blocks * threads"), ("atomics = blocks", "atomics = n"),
             ("atomics = blocks", "atomics = threads")),
        ),
    ),
)  # fmt: skip
