"""How many additions stand between an element and the sum: what the rounding of a sum grows with."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

LAUNCHES = ((1, 1, 32), (256, 1, 256), (257, 1, 256), (2**20, 512, 256), (2**20, 64, 256), (10_000, 7, 128),
            (97, 4, 64), (2**26, 1024, 1024))  # fmt: skip


def _case(n: int, blocks: int, threads: int) -> Case:
    each = (n + blocks * threads - 1) // (blocks * threads)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads} threads"
    return Case(name, (n, blocks, threads), expected=each + threads.bit_length() - 1 + blocks)


EXERCISE = Exercise(
    key="ch07.depth",
    title="the additions above one element",
    language="python",
    name="depth",
    cases=lambda: [_case(*launch) for launch in LAUNCHES],
    hints=(
        "Follow the very first element that thread 0 adds. What is added to the sum that holds it, and how often?",
        "Three parts one after another: the thread's own loop, the steps of the tree, and the atomics of the blocks.",
        "each = (n + blocks * threads - 1) // (blocks * threads); then each + (threads.bit_length() - 1) + blocks.",
    ),
    solution="""
def depth(n, blocks, threads):
    all_threads = blocks * threads
    loop = (n + all_threads - 1) // all_threads
    tree = threads.bit_length() - 1
    atomics = blocks
    return loop + tree + atomics
""",
    why="Every addition rounds once, so the depth bounds how many roundings can pile up in one element's way. The "
    "chain of a million elements has a depth of a million. Version 5 with 512 blocks of 256 has 8 + 8 + 512, and "
    "nearly all of it is the chain of atomics. So libraries join the blocks by one more tree, too.",
    stretch="replace the atomics by a second launch of one block of 1,024 threads. What is the depth then?",
    mistakes=(
        Mistake(
            "the loop as if there were one block",
            "All threads of all blocks share the elements: a thread goes on by blocks * threads elements.",
            (("all_threads = blocks * threads", "all_threads = threads"),),
        ),
        Mistake(
            "the loop as if blocks were threads",
            "A block has many threads, and each of them has a loop of its own.",
            (("all_threads = blocks * threads", "all_threads = blocks"),),
        ),
        Mistake(
            "the longest loop is rounded up",
            "If the elements do not divide evenly, some threads add one more, and the question is about the most.",
            (("(n + all_threads - 1) // all_threads", "n // all_threads"),
             ("(n + all_threads - 1) // all_threads", "n / all_threads")),
        ),
        Mistake(
            "one addition too few",
            "One is missing. The sum of a thread starts as 0, and its first element is added to it like the others. "
            "The tree of 32 threads has 5 steps.",
            (("(n + all_threads - 1) // all_threads", "(n + all_threads - 1) // all_threads - 1"),
             ("threads.bit_length() - 1", "threads.bit_length() - 2")),
        ),
        Mistake(
            "the work of the tree, not its steps",
            "A block makes threads - 1 additions, but an element passes through one in each step.",
            (("threads.bit_length() - 1", "threads - 1"),),
        ),
        Mistake(
            "one step too many",
            "Count the distances 1, 2, 4, … below the number of threads: 32 threads have 5 of them.",
            (("threads.bit_length() - 1", "threads.bit_length()"),),
        ),
        Mistake(
            "no tree",
            "Between a thread's own sum and the block's atomic stand the steps of the tree.",
            (("tree = threads.bit_length() - 1", "tree = 0"),),
        ),
        Mistake(
            "the atomics are a chain",
            "The sums of the blocks are added to one result, one after another. The sum that arrives first is in the "
            "result when all the others are added.",
            (("atomics = blocks", "atomics = 1"), ("atomics = blocks", "atomics = 0"),
             ("atomics = blocks", "atomics = blocks.bit_length() - 1")),
        ),
        Mistake(
            "the parts follow one another",
            "An element passes the loop, then the tree, then the atomics: add the three.",
            (("loop + tree + atomics", "loop * tree + atomics"), ("loop + tree + atomics", "max(loop, tree, atomics)")),
        ),
    ),
)  # fmt: skip
