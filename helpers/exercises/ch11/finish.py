"""When a pipeline of chunks is done, worked out by hand."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # µs of a chunk: to the GPU, kernel, back; number of chunks
    (40, 40, 40, 4),
    (40, 40, 40, 1),
    (10, 30, 10, 5),
    (50, 20, 10, 3),
    (5, 10, 60, 6),
    (20, 35, 35, 8),
    (7, 0, 3, 2),
)


def _end(to_gpu: int, kernel: int, back: int, chunks: int) -> int:
    """Three engines, each with one chunk at a time, moment by moment."""
    sent = worked = returned = 0
    for _ in range(chunks):
        sent += to_gpu
        worked = max(sent, worked) + kernel
        returned = max(worked, returned) + back
    return returned


SLOWEST = "    slowest = max(to_gpu, kernel, back)\n"
RESULT = "to_gpu + kernel + back + (chunks - 1) * slowest"

EXERCISE = Exercise(
    key="ch11.finish",
    title="when a pipeline is done",
    language="python",
    name="finish",
    cases=lambda: [
        Case(f"{to_gpu}, {kernel} and {back} µs, {chunks} chunk{'s' * (chunks > 1)}",
             (to_gpu, kernel, back, chunks), expected=_end(to_gpu, kernel, back, chunks))
        for to_gpu, kernel, back, chunks in GIVEN
    ],
    hints=(
        "Draw three rows on paper, one for each worker, and put in three chunks of 10, 30 and 10 µs.",
        "The first chunk passes all three workers. How much later than its predecessor is each further chunk done?",
        "Each further chunk is done later by the time of the slowest of the three steps.",
    ),
    solution=f"""
def finish(to_gpu, kernel, back, chunks):
{SLOWEST}    return {RESULT}
""",
    why="The first chunk needs all three steps. After that a chunk comes out whenever the slowest worker has done "
    "another one, and the two others wait for it. So only a faster slowest step makes a long pipeline faster.",
    stretch="let n chunks share the same data, so that each step of a chunk takes a n-th. Towards which time does the "
    "pipeline go as n grows, and what stops you from taking a thousand chunks?",
    mistakes=(
        Mistake(
            "one chunk after the other",
            "That is one stream: nothing overlaps. Here a chunk can be copied while another is worked at.",
            ((RESULT, "chunks * (to_gpu + kernel + back)"),),
        ),
        Mistake(
            "as if all three were always busy",
            "While the first chunk comes in, the other two workers have nothing to do, and so it is at the end.",
            ((RESULT, "chunks * slowest"), (RESULT, "max(chunks * slowest, to_gpu + kernel + back)")),
        ),
        Mistake(
            "one chunk too many",
            "The first chunk is already in the sum of the three steps, so chunks - 1 follow it.",
            (("(chunks - 1)", "chunks"),),
        ),
        Mistake(
            "the kernel is taken for the slowest",
            "Whichever of the three takes longest sets the pace. It may be a copy.",
            (("max(to_gpu, kernel, back)", "kernel"),),
        ),
        Mistake(
            "a copy is taken for the slowest",
            "Whichever of the three takes longest sets the pace. It may be the kernel, or the other copy.",
            (("max(to_gpu, kernel, back)", "to_gpu"), ("max(to_gpu, kernel, back)", "max(to_gpu, back)"),
             ("max(to_gpu, kernel, back)", "back"), ("max(to_gpu, kernel, back)", "max(to_gpu, kernel)"),
             ("max(to_gpu, kernel, back)", "max(kernel, back)")),
        ),
        Mistake(
            "a way for both copies",
            "There is an engine for each direction: copies in and copies back run side by side.",
            (("max(to_gpu, kernel, back)", "max(to_gpu + back, kernel)"),),
        ),
        Mistake(
            "the times are those of a chunk already",
            "to_gpu, kernel and back are the times of one chunk. Do not divide them by the number of chunks.",
            ((RESULT, "(to_gpu + kernel + back) / chunks + (chunks - 1) * slowest / chunks"),),
        ),
        Mistake(
            "the fastest step sets the pace",
            "The slow workers cannot keep up with the fastest one: look for the largest of the three.",
            (("max(to_gpu, kernel, back)", "min(to_gpu, kernel, back)"),),
        ),
    ),
)  # fmt: skip
