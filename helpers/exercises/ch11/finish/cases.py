from __future__ import annotations

from helpers.checking.exercise import Case

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


def cases() -> list[Case]:
    return [
        Case(
            f"{to_gpu}, {kernel} and {back} µs, {chunks} chunk{'s' * (chunks > 1)}",
            (to_gpu, kernel, back, chunks),
            expected=_end(to_gpu, kernel, back, chunks),
        )
        for to_gpu, kernel, back, chunks in GIVEN
    ]
