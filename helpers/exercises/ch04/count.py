"""Sectors of a warp's request, from the stride and the offset of its lanes."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

REQUESTS = (
    (1, 0), (1, 1), (1, 8), (2, 0), (2, 1), (2, 2), (3, 0), (3, 5), (0, 9), (5, 2), (7, 31), (8, 0), (8, 7), (9, 3),
    (32, 0), (100, 1),
)  # fmt: skip


def _case(stride: int, offset: int) -> Case:
    touched = {4 * (lane * stride + offset) // 32 for lane in range(32)}
    return Case(f"stride {stride}, offset {offset}", (stride, offset), expected=len(touched))


EXERCISE = Exercise(
    key="ch04.count",
    title="sectors of a request, from stride and offset",
    language="python",
    name="sectors",
    cases=lambda: [_case(*request) for request in REQUESTS],
    hints=(
        "In which sector does element 0 lie? Element 7? Element 8?",
        "Element k lies in sector k // 8. Each sector counts once, however many lanes want a part of it.",
        "Collect (lane * stride + offset) // 8 for the 32 lanes in a set, and return how many there are.",
    ),
    solution="""
def sectors(stride, offset):
    touched = set()
    for lane in range(32):
        touched.add((lane * stride + offset) // 8)
    return len(touched)
""",
    why="A sector holds 8 floats, so element k lies in sector k // 8. The hardware does what a set does: it keeps each "
    "sector once. No formula is needed for the offset, nor for strides of more than 8 floats.",
    stretch="let the elements have any size in bytes: 1, 2, 4, 8 or 16.",
    mistakes=(
        Mistake(
            "the offset is left out",
            "All lanes read `offset` elements further on, so they may begin inside a sector and end in one more.",
            ((" + offset", ""),),
        ),
        Mistake(
            "the bytes between the first lane and the last",
            "At a large stride there are sectors between two lanes that no lane wants, and these do not move.",
            (
                """    first, last = offset, 31 * stride + offset
    return last // 8 - first // 8 + 1""",
                "    return 31 * stride // 8 + 1",
                "    return (31 * stride + offset) // 8 + 1",
            ),
        ),
        Mistake(
            "4 times the stride, without an end",
            "There are 32 lanes, and each wants one float. So there are never more than 32 sectors.",
            ("    return 4 * stride", "    return max(1, 4 * stride)"),
        ),
        Mistake(
            "elements are taken for bytes",
            "Stride and offset count floats. A sector of 32 bytes holds 8 of them.",
            (("// 8", "// 32"),),
        ),
        Mistake(
            "a sector is taken for another size",
            "A sector has 32 bytes, which are 8 floats.",
            (("// 8", "// 4"), ("// 8", "// 16"), ("// 8", "// 2")),
        ),
        Mistake(
            "a sector counts once for each lane",
            "A sector is fetched once for all the lanes that want a part of it.",
            (
                """    count = 0
    for lane in range(32):
        count += 1
    return count""",
            ),
        ),
        Mistake(
            "there are 32 lanes",
            "A warp has 32 lanes, and they count from 0 to 31.",
            (("range(32)", "range(31)"), ("range(32)", "range(1, 32)"), ("range(32)", "range(33)"),
             ("range(32)", "range(1, 33)")),
        ),
        Mistake(
            "the offset is multiplied, too",
            "Lane i reads element i * stride + offset: the offset is the same for all lanes.",
            (
                ("lane * stride + offset", "lane * (stride + offset)"),
                ("lane * stride + offset", "(lane + offset) * stride"),
            ),
        ),
        Mistake(
            "a formula for some requests",
            "4 * stride is right where stride is at most 8 and the first lane stands at the beginning of a sector.",
            ("    return min(4 * stride, 32)",
             "    return min(4 * stride, 32) + (offset % 8 > 0)"),
        ),
    ),
)  # fmt: skip
