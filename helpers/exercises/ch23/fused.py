"""The worst chain of the backward pass as one kernel: the mask of ReLU and the gradient of the bias."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers
from helpers.checking.measures import sectors_per_request

BLOCK = 128
COUNTED = (8, 6, 256)
SHAPES = ((1, 1, 1), (2, 3, 5), (1, 2, 128), (3, 5, 67), (40, 1, 3), (2, 4, 200))


def _case(images: int, channels: int, pixels: int) -> Case:
    out = np.maximum(numbers((images, channels, pixels), seed=pixels), 0)
    slope = numbers((images, channels, pixels), seed=channels + 17)
    below = np.where(out > 0, slope, np.float32(0)).astype(np.float32)
    bias = below.sum(axis=(0, 2), dtype=np.float64).astype(np.float32)
    sizes = (np.int32(images), np.int32(channels), np.int32(pixels))
    wanted = np.concatenate([below.ravel(), bias])
    return Case(f"{images} × {channels} × {pixels}", (out, slope, Out(wanted), *sizes), (channels,), (BLOCK,))


AT = "(i / pixels * channels + blockIdx.x) * pixels + i % pixels"
LOOP = "for (int i = threadIdx.x; i < images * pixels; i += 128) {"

EXERCISE = Exercise(
    key="ch23.fused",
    title="ReLU's mask and the bias's gradient in one kernel, in CUDA C",
    language="cuda",
    name="relu_bias_backward",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(*COUNTED),
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            4.5,
            "Neighbouring threads should take neighbouring pixels: thread 0 takes the positions 0, 128, 256 and so on.",
        ),
    ),
    sanitize=True,
    hints=(
        "The block goes through all positions of its channel anyway, in order to add them up. What else does it know "
        "at each position?",
        "At each position: read `out` and `slope`, choose the slope or 0, store that in `below`, and add it to `sum`.",
        "float mine = out[at] > 0 ? slope[at] : 0; below[at] = mine; sum += mine; in the loop over all images.",
    ),
    solution=f"""
extern "C" __global__
void relu_bias_backward(const float* out, const float* slope, float* below,
                        int images, int channels, int pixels) {{
    float* bias = below + images * channels * pixels;
    __shared__ float part[128];
    float sum = 0;
    {LOOP}
        int at = {AT};
        float mine = out[at] > 0 ? slope[at] : 0;
        below[at] = mine;
        sum += mine;
    }}
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {{
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }}
    if (threadIdx.x == 0) bias[blockIdx.x] = part[0];
}}
""",
    why="As two kernels the chain writes `below` to memory and reads all of it back in order to add it up. As one it "
    "has the value in a register at that moment. So a launch and a whole pass over `below` are saved.",
    stretch="there is one block a channel, and a network has few channels. What would you change so that the kernel "
    "fills a GPU, and what would that cost?",
    equivalent=(
        (("if (threadIdx.x == 0) bias", "if (threadIdx.y == 0) bias"), "all threads store the same finished sum"),
        (("if (threadIdx.x == 0) bias", "if (threadIdx.x == 1) bias"), "another thread stores the same finished sum"),
        (("float part[128]", "float part[129]"), "the last place is never used"),
    ),
    mistakes=(
        Mistake(
            "the bias gets the slope without the mask",
            "Where ReLU gave 0 nothing passes: the bias gets none of that slope either.",
            (("sum += mine;", "sum += slope[at];"),),
        ),
        Mistake(
            "below is not stored",
            "The layer before needs the masked slope: store it in `below`.",
            (("        below[at] = mine;\n", ""),
             (("        below[at] = mine;\n", ""),
              ("float mine = out[at] > 0 ? slope[at] : 0;", "float mine = slope[at];"))),
        ),
        Mistake(
            "the mask looks at the slope",
            "ReLU let through what was above 0 in `out`. The sign of the slope has no part in it.",
            (("out[at] > 0 ? slope[at]", "slope[at] > 0 ? slope[at]"),),
        ),
        Mistake(
            "the first image alone",
            "The positions of a channel are those of all images.",
            ((LOOP, "for (int i = threadIdx.x; i < pixels; i += 128) {"),),
        ),
        Mistake(
            "each thread takes one position",
            "There may be more positions than threads: go on in steps of 128.",
            ((LOOP, "{ int i = threadIdx.x; if (i >= images * pixels) i = 0;"),
             (LOOP, "for (int i = threadIdx.x; i < images * pixels && i < 128; i += 128) {")),
        ),
        Mistake(
            "channels and images are swapped",
            "Position i is pixel i % pixels of image i / pixels, and images lie channels * pixels apart.",
            ((AT, "(blockIdx.x * images + i / pixels) * pixels + i % pixels"),),
        ),
    ),
)  # fmt: skip
