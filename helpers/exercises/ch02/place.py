"""The block, the warp and the lane of the thread that has a given number in the whole grid."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

PLACES = (
    (0, 128), (31, 128), (32, 128), (127, 128), (128, 128), (300, 128),
    (49, 48), (80, 48), (95, 48), (96, 48), (33, 33), (65, 33), (99, 100), (1000, 256), (7, 1),
)  # fmt: skip
THREAD, BLOCK = "    thread = i % threads\n", "    block = i // threads\n"


def _case(i: int, threads: int) -> Case:
    block, thread = divmod(i, threads)
    return Case(f"element {i}, blocks of {threads}", (i, threads), expected=(block, *divmod(thread, 32)))


EXERCISE = Exercise(
    key="ch02.place",
    title="block, warp and lane of an element, in Python",
    language="python",
    name="place",
    cases=lambda: [_case(*each) for each in PLACES],
    hints=(
        "First find the thread: which number has it within its block?",
        "The thread's number in its block is i % threads. A warp begins at every 32nd thread of a block.",
        "With thread = i % threads the warp is thread // 32 and the lane is thread % 32.",
    ),
    solution="""
def place(i, threads):
    block = i // threads
    thread = i % threads
    return block, thread // 32, thread % 32
""",
    why="The two divisions come one after the other. The first one leads into the block, and everything after counts "
    "from the beginning of that block. Where 32 divides the size of a block, i % 32 gives the same lane; for blocks of "
    "48 it does not.",
    stretch="go the other way: from (block, warp, lane) to the element, or to None where the block has no such thread.",
    mistakes=(
        Mistake(
            "warps and lanes counted through the whole grid",
            "Each block begins with a new warp. Count warps and lanes within the block, in i % threads.",
            ((THREAD, "    thread = i\n"),),
        ),
        Mistake(
            "the lane counted through the whole grid",
            "i % 32 is the lane only where 32 divides the size of a block. Blocks of 48 begin a warp at element 48.",
            (("thread % 32", "i % 32"),),
        ),
        Mistake(
            "the warp counted through the whole grid",
            "Asked is the warp's number within its block, which begins at 0 in every block.",
            (("thread // 32", "i // 32"),),
        ),
        Mistake(
            "the thread for the lane",
            "The thread's number in its block goes on after 31; a lane is its place within the warp, 0 to 31.",
            (("thread % 32", "thread"),),
        ),
        Mistake(
            "warp and lane exchanged",
            "thread // 32 says how many whole warps lie before the thread. thread % 32 is its place in its own.",
            (("thread // 32, thread % 32", "thread % 32, thread // 32"),),
        ),
        Mistake(
            "block and thread exchanged",
            "i // threads says how many whole blocks lie before element i, and i % threads is the place of the thread "
            "in its block.",
            ((("i // threads", "i % threads"), ("thread = i % threads", "thread = i // threads")),),
        ),
        Mistake(
            "a block of another size",
            "How many threads a block has comes as an argument, and it is not always 128 or 256.",
            tuple((("i // threads", f"i // {size}"), ("thread = i % threads", f"thread = i % {size}"))
                  for size in (32, 128, 256)),
        ),
        Mistake(
            "a fraction of a warp",
            "/ keeps the fraction. // divides whole numbers, and rounds down.",
            (("thread // 32", "thread / 32"), ("i // threads", "i / threads")),
        ),
    ),
)  # fmt: skip
