"""The lanes of a launch that work on no element: without a thread, or with a thread that the guard stops."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, cover, plural

LAUNCHES = (
    (1, 1), (130, 48), (1000, 128), (4096, 256), (9600, 100), (100, 1024), (33, 33), (66, 33), (64, 96), (10**6, 192),
    (97, 32),
)  # fmt: skip
BLOCKS = "    blocks = (n + threads - 1) // threads\n"
WARPS = "(threads + 31) // 32"


def _case(n: int, threads: int) -> Case:
    lanes = cover(n, threads) * cover(threads, 32) * 32
    return Case(f"{plural(n, 'element')}, blocks of {threads}", (n, threads), expected=lanes - n)


EXERCISE = Exercise(
    key="ch02.idle",
    title="lanes without an element, in Python",
    language="python",
    name="idle",
    cases=lambda: [_case(*launch) for launch in LAUNCHES],
    hints=(
        "There are two kinds of idle lanes. For which of them does the launch have a thread?",
        "Count all lanes first: blocks, times warps of a block, times 32. Both divisions round up.",
        "blocks * ((threads + 31) // 32) * 32 - n, with blocks = (n + threads - 1) // threads.",
    ),
    solution="""
def idle(n, threads):
    blocks = (n + threads - 1) // threads
    warps_of_a_block = (threads + 31) // 32
    return blocks * warps_of_a_block * 32 - n
""",
    why="A block has whole warps, and a grid has whole blocks, so two numbers are rounded up. The first leaves "
    "lanes without a thread in every block. The second leaves threads without an element in the last block only.",
    stretch="which block sizes up to 1,024 leave no lane idle for 9,600 elements?",
    mistakes=(
        Mistake(
            "only the threads that the guard stops",
            "A block of 48 has two warps, and 16 lanes of the second have no thread. These count as well.",
            (("blocks * warps_of_a_block * 32 - n", "blocks * threads - n"),),
        ),
        Mistake(
            "only the lanes without a thread",
            "The last block may have threads without an element, which the guard stops. These count as well.",
            (("* 32 - n", "* 32 - blocks * threads"), ("blocks * warps_of_a_block * 32 - n",
             "blocks * (warps_of_a_block * 32 - threads)")),
        ),
        Mistake(
            "the lanes of one block only",
            "In every block the last warp may have lanes without a thread, and not only in one.",
            (("blocks * warps_of_a_block * 32 - n", "(warps_of_a_block * 32 - threads) + blocks * threads - n"),
             ("blocks * warps_of_a_block * 32 - n", "warps_of_a_block * 32 - threads")),
        ),
        Mistake(
            "warps that reach over into the next block",
            "Each block begins with a new warp. Round the threads of one block up, and not those of the grid.",
            (("    return blocks * warps_of_a_block * 32 - n", "    return (blocks * threads + 31) // 32 * 32 - n"),
             ("    return blocks * warps_of_a_block * 32 - n", "    return (n + 31) // 32 * 32 - n")),
        ),
        Mistake(
            "blocks rounded down",
            "The last block is launched even if it is not full.",
            ((BLOCKS, "    blocks = n // threads\n"),),
        ),
        Mistake(
            "one block too many",
            "If the elements fill whole blocks, no further block is launched.",
            ((BLOCKS, "    blocks = n // threads + 1\n"),),
        ),
        Mistake(
            "warps of a block rounded down",
            "A block of 48 threads has two warps: the second is not full, and runs all the same.",
            ((WARPS, "threads // 32"), (WARPS, "max(1, threads // 32)")),
        ),
        Mistake(
            "all lanes",
            "That is how many lanes there are. Take away those that work on an element.",
            (("* 32 - n", "* 32"),),
        ),
        Mistake(
            "warps counted, not lanes",
            "A warp has 32 lanes, and asked is how many of them are idle.",
            (("warps_of_a_block * 32 - n", "warps_of_a_block - n"),),
        ),
    ),
)  # fmt: skip
