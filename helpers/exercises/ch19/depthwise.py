"""A convolution of each channel by itself: little arithmetic for the bytes it moves."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 64


def _convolved(image: np.ndarray, weight: np.ndarray) -> np.ndarray:
    height, width = image.shape[1:]
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    taps = [(r, s) for r in range(3) for s in range(3)]
    return sum(weight[:, r, s, None, None] * padded[:, r : r + height, s : s + width] for r, s in taps)


def _case(channels: int, height: int, width: int) -> Case:
    image, weight = numbers((channels, height, width), seed=width), numbers((channels, 3, 3), seed=channels)
    sizes = (np.int32(channels), np.int32(height), np.int32(width))
    threads = channels * height * width
    return Case(
        f"{plural(channels, 'channel')} of {height} × {width}",
        (image, weight, Out(_convolved(image, weight)), *sizes), (cover(threads, BLOCK),), (BLOCK,),
    )  # fmt: skip


SHAPES = ((1, 1, 1), (1, 4, 5), (3, 6, 6), (4, 3, 17), (2, 13, 2), (5, 8, 8))
INSIDE = "y >= 0 && y < height && x >= 0 && x < width"
TAP = "weight[9 * c + 3 * r + s]"

EXERCISE = Exercise(
    key="ch19.depthwise",
    title="a depthwise 3 × 3 convolution, in CUDA C",
    language="cuda",
    name="depthwise",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    hints=(
        "Split i into column, row and channel by % and /, as `direct` does.",
        "There is no loop over channels: output (c, row, column) reads channel c alone, with its own nine weights.",
        "y = row + r - 1 and x = column + s - 1; add image[(c * height + y) * width + x] * weight[9 * c + 3 * r + s].",
    ),
    solution="""
extern "C" __global__
void depthwise(const float* image, const float* weight, float* out, int channels, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * height * width) return;
    int column = i % width;
    int row = i / width % height;
    int c = i / (width * height);
    float sum = 0;
    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
            int y = row + r - 1, x = column + s - 1;
            if (y >= 0 && y < height && x >= 0 && x < width)
                sum += image[(c * height + y) * width + x] * weight[9 * c + 3 * r + s];
        }
    out[i] = sum;
}
""",
    why="Each output takes nine multiply-adds, whatever the number of channels; the direct convolution takes nine for "
    "every channel. The bytes hardly change. So a depthwise layer saves arithmetic, and then waits for memory.",
    stretch="followed by a 1 × 1 convolution it replaces a whole 3 × 3 layer. Count the FLOPs of both for 64 channels.",
    mistakes=(
        Mistake(
            "all channels share the first filter",
            "Channel c has its own nine weights. They begin at weight[9 * c].",
            ((TAP, "weight[3 * r + s]"),),
        ),
        Mistake(
            "summed over all channels",
            "A depthwise convolution does not mix channels: output channel c reads input channel c alone.",
            (("    out[i] = sum;", """    for (int d = 0; d < channels; ++d)
        if (d != c)
            for (int t = 0; t < 9; ++t) {
                int y = row + t / 3 - 1, x = column + t % 3 - 1;
                if (y >= 0 && y < height && x >= 0 && x < width)
                    sum += image[(d * height + y) * width + x] * weight[9 * c + t];
            }
    out[i] = sum;"""),),
        ),
        Mistake(
            "columns beyond the edge",
            "x = -1 and x = width lie in the row above or below, so memory answers with a wrong pixel and no error. "
            "Guard both ends of both directions.",
            ((INSIDE, "y >= 0 && y < height && c * height * width + y * width + x >= 0 && "
              "y * width + x < height * width"),),
        ),
        Mistake(
            "the window is not centred",
            "With a padding of 1 the middle tap falls on the output's own pixel: y = row + r - 1, x = column + s - 1.",
            (("int y = row + r - 1, x = column + s - 1", "int y = row + r, x = column + s"),),
        ),
        Mistake(
            "the filter is turned round",
            "PyTorch's convolution is a cross-correlation: tap (r, s) goes with pixel (row + r - 1, column + s - 1).",
            ((TAP, "weight[9 * c + 8 - 3 * r - s]"),),
        ),
        Mistake(
            "the filter is transposed",
            "The weights lie row by row: tap (r, s) is 3 * r + s.",
            ((TAP, "weight[9 * c + 3 * s + r]"),),
        ),
    ),
)  # fmt: skip
