"""Grey pixels from three planes of colour: a structure of arrays."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import sectors_per_request
from helpers.exercises.ch04.budgets import sectors_in_all

BLOCK = 128
SUM = "0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i]"


def _case(n: int) -> Case:
    planes = numbers((3, n), seed=n)
    wanted = (planes[0] / 4 + planes[1] / 2 + planes[2] / 4).astype(np.float32)
    return Case(plural(n, "pixel"), (planes, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch04.grey",
    title="grey from planes of colour, in CUDA C",
    language="cuda",
    name="grey",
    cases=lambda: [_case(n) for n in (1, 31, 32, 97, 128, 1000)],
    measured=lambda: _case(4096),
    budgets=(
        Budget(
            "sectors per 128 bytes of a load request",
            sectors_per_request("read"),
            4.2,
            "32 neighbouring floats fill 4 sectors, and 32 neighbouring float4s 16, 4 for each 128 bytes.",
        ),
        sectors_in_all(3 * 4096),
    ),
    thread_of=thread_1d,
    hints=(
        "Draw the memory: first all the reds, then all the greens, then all the blues.",
        "Plane c starts at c * n, and pixel i is i further on.",
        "out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];",
    ),
    solution="""
extern "C" __global__
void grey(const float* planes, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];
}
""",
    why="A structure of arrays puts the same field of neighbouring pixels side by side. Each of the three loads takes "
    "4 sectors, where interleaved colours take 12.",
    stretch="when n is no multiple of 8, the planes for green and blue start inside a sector. Pad them, and count.",
    mistakes=(
        Mistake(
            "still read as interleaved colours",
            "3 * i + c is the index in an array of structs. Here each colour has a plane of n floats: c * n + i.",
            ((("planes[i]", "planes[3 * i]"), ("[n + i]", "[3 * i + 1]"), ("[2 * n + i]", "[3 * i + 2]")),),
        ),
        Mistake(
            "one plane's neighbours taken for colours",
            "i + 1 and i + 2 are the reds of the next pixels. The green of pixel i is a plane further on: n + i.",
            ((("[n + i]", "[i + 1]"), ("[2 * n + i]", "[i + 2]")),),
        ),
        Mistake(
            "the weights are mixed up",
            "Each colour comes from its own plane, but grey is 0.25 r + 0.5 g + 0.25 b: the second plane counts twice "
            "as much as the others.",
            (
                (SUM, "(planes[i] + planes[n + i] + planes[2 * n + i]) / 3"),
                (("0.25f * planes[i]", ".299f * planes[i]"), ("0.5f", ".587f"),
                 ("0.25f * planes[2", ".114f * planes[2")),
                (SUM, "planes[i] + planes[n + i] + planes[2 * n + i]"),
                (("0.25f * planes[i]", "0.5f * planes[i]"), ("0.5f * planes[n", "0.25f * planes[n")),
                (("0.25f * planes[2", "0.5f * planes[2"), ("0.5f * planes[n", "0.25f * planes[n")),
            ),
        ),
        Mistake(
            "a colour is left out",
            "Three planes make one grey: 0.25 r + 0.5 g + 0.25 b.",
            (
                (" + 0.25f * planes[2 * n + i]", ""), (" + 0.5f * planes[n + i]", ""),
                ("0.25f * planes[i] + ", ""), ("[2 * n + i]", "[n + i]"),
            ),
        ),
        Mistake(
            "each thread has a run of pixels",
            "A run for each thread looks tidy from inside one thread. The warp loads together: in one request its 32 "
            "lanes should read 32 neighbouring pixels.",
            ("int j = 8 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
             f"for (int i = j; i < min(n, j + 8); ++i) out[i] = {SUM};",),
        ),
        Mistake(
            "one lane works, the others watch",
            "A lane alone asks for the same sector eight times in a row. Let each thread take one pixel, so that a "
            "warp's request uses all of a sector at once.",
            (
                "int j = blockIdx.x * blockDim.x; if (threadIdx.x == 0)\n"
                f"for (int i = j; i < min(n, j + 128); ++i) out[i] = {SUM};",
                f"if (blockIdx.x == 0 && threadIdx.x == 0) for (int i = 0; i < n; ++i) out[i] = {SUM};",
            ),
        ),
        Mistake(
            "every thread does everything",
            "Right, but each thread goes through all the pixels. Each has one of its own: blockIdx.x * blockDim.x + "
            "threadIdx.x.",
            (f"for (int i = 0; i < n; ++i) out[i] = {SUM};",),
        ),
        Mistake(
            "loaded more than once",
            "Right, but colours are loaded again: after a store to out the compiler cannot know that planes are as "
            "they were. Keep them in variables, and store once.",
            (("if (i < n)\n", "if (i < n) out[i] = 0.25f * planes[i] + 0.5f * planes[n + i];\n    if (i < n)\n"),),
        ),
    ),
)  # fmt: skip
