"""Why a request fails, or does not: the cache, the driver, fragments, or nothing left."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # segments of blocks (MiB, used), MiB that the driver has left, MiB asked for
    (((20, False),), 0, 20), (((20, True),), 40, 22), (((12, True), (8, False)), 40, 8),
    (((10, True), (10, False)), 4, 12), (((6, True), (7, False), (7, True)), 6, 30),
    (((8, False), (4, True), (8, False)), 0, 16), (((8, False), (4, True), (8, False)), 0, 17),
    (((10, True), (10, False), (20, False)), 4, 24), (((6, False), (14, True)), 10, 16), ((), 8, 8), ((), 8, 9),
)  # fmt: skip


def _case(blocks: tuple, left: int, asked: int) -> Case:
    free = [mib for mib, used in blocks if not used]
    if any(mib >= asked for mib in free):
        wanted = "cached"
    elif left >= asked:
        wanted = "driver"
    else:
        wanted = "fragmented" if sum(free) + left >= asked else "full"
    told = ", ".join(f"{mib} {'used' if used else 'free'}" for mib, used in blocks) or "nothing cached"
    return Case(f"{asked} MiB with {told}; driver {left}", (list(blocks), left, asked), expected=wanted)


EXERCISE = Exercise(
    key="ch18.diagnose",
    title="why it is out of memory",
    language="python",
    name="diagnose",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Ask in the order in which the allocator asks: is there a free block that is large enough?",
        "If there is none, can the driver give all of it? If not, compare the request with everything that is free.",
        "any free block >= asked: 'cached'. Else left >= asked: 'driver'. Else the sum of the free blocks plus left: "
        "enough makes it 'fragmented', and not enough makes it 'full'.",
    ),
    solution="""
def diagnose(blocks, left, asked):
    free = [mib for mib, used in blocks if not used]
    for mib in free:
        if mib >= asked:
            return "cached"
    if left >= asked:
        return "driver"
    if sum(free) + left >= asked:
        return "fragmented"
    return "full"
""",
    why="Only the last two end in an error, and they want different cures. When the memory is full, the program has to "
    "hold less: a smaller batch, checkpoints, another precision. When it is fragmented, there is enough, and what "
    "helps is another order of allocation, or a setting of the allocator.",
    stretch="let a segment that is free from end to end go back to the driver before the answer is given, as PyTorch "
    "does. Which of the cases change?",
    mistakes=(
        Mistake(
            "free memory is added up at once",
            "A tensor needs one piece. First look for a single free block that is large enough.",
            (("    for mib in free:\n        if mib >= asked:\n            return \"cached\"",
              "    if sum(free) >= asked:\n        return \"cached\""),),
        ),
        Mistake(
            "blocks in use are counted as free",
            "A block that a tensor uses cannot be given out.",
            ((" if not used]", "]"),),
        ),
        Mistake(
            "the used blocks instead of the free ones",
            "You have taken the blocks in use. What can be given out is what is not used.",
            (("if not used]", "if used]"),),
        ),
        Mistake(
            "the driver is asked first",
            "The cache exists so that the driver is not asked: look there first.",
            (("    free = [", "    if left >= asked:\n        return \"driver\"\n    free = ["),),
        ),
        Mistake(
            "a block that just fits is refused",
            "A block of exactly the size is large enough: use >=.",
            (("mib >= asked", "mib > asked"),),
        ),
        Mistake(
            "what the driver has left is forgotten",
            "Free is what lies in the cache and what the driver still has, together.",
            (("sum(free) + left", "sum(free)"),),
        ),
        Mistake(
            "every failure is called full",
            "Compare the request with the sum of all that is free: if that were enough, it is fragmented.",
            (('"fragmented"', '"full"'),),
        ),
    ),
)  # fmt: skip
