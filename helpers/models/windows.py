"""Windows that slide over an image: what a convolution or pooling reads, and what a stack of them sees.

All is told along one side of a square image, as the other side is the same.
Source of the formulas: Dumoulin and Visin, A guide to convolution arithmetic for deep learning, 2016,
https://arxiv.org/abs/1603.07285; Araujo, Norris and Sim, Computing receptive fields of convolutional neural networks,
Distill, 2019, https://doi.org/10.23915/distill.00021
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np


@dataclass(frozen=True)
class Window:
    """A square window of `kernel` taps `dilation` apart, moved by `stride` over an image padded by `padding`."""

    kernel: int
    stride: int = 1
    padding: int = 0
    dilation: int = 1

    def __post_init__(self) -> None:
        if min(self.kernel, self.stride, self.dilation) < 1 or self.padding < 0:
            raise ValueError(f"kernel, stride and dilation are 1 or more, padding 0 or more; got {self}")

    @property
    def span(self) -> int:
        """Pixels from the first tap to the last, both included."""
        return (self.kernel - 1) * self.dilation + 1

    def outputs(self, size: int) -> int:
        """Positions of the window along a side of `size` pixels. ValueError where it does not fit once."""
        room = size + 2 * self.padding - self.span
        if room < 0:
            raise ValueError(
                f"a window that spans {self.span} pixels does not fit {size} pixels with {self.padding} of padding on "
                "each side: take a smaller kernel or dilation, or more padding"
            )
        return room // self.stride + 1

    def taps(self, position: int) -> list[int]:
        """The pixels read for one output; those of the padding are below 0, or at `size` and above."""
        first = position * self.stride - self.padding
        return [first + tap * self.dilation for tap in range(self.kernel)]

    def __str__(self) -> str:
        said = f"{self.kernel}×{self.kernel}"
        said += f" stride {self.stride}" if self.stride > 1 else ""
        said += f" padding {self.padding}" if self.padding else ""
        return said + (f" dilation {self.dilation}" if self.dilation > 1 else "")


def outputs(stack: Sequence[Window], size: int) -> int:
    """Outputs along a side of `size` pixels after all windows of a stack."""
    return reduce(lambda left, window: window.outputs(left), stack, size)


def receptive_field(stack: Sequence[Window]) -> tuple[int, int]:
    """(pixels along a side that one output sees, pixels between neighbouring outputs), the padding counted in."""
    field, jump = 1, 1
    for window in stack:
        field, jump = field + (window.span - 1) * jump, jump * window.stride
    return field, jump


def paths(stack: Sequence[Window], size: int, position: int) -> np.ndarray:
    """By how many paths through the stack each of `size` pixels reaches the output at `position`; 0: it is not seen.

    IndexError for a position that the last layer does not have.
    """
    sizes = [size]
    for window in stack:
        sizes.append(window.outputs(sizes[-1]))
    if not 0 <= position < sizes[-1]:
        raise IndexError(f"the stack leaves {sizes[-1]} outputs along a side; there is none at {position}")
    counts = np.zeros(sizes[-1], dtype=np.int64)
    counts[position] = 1
    for window, below in zip(reversed(stack), reversed(sizes[:-1]), strict=True):
        reached = np.zeros(below, dtype=np.int64)
        for output in np.flatnonzero(counts):
            for pixel in window.taps(int(output)):
                if 0 <= pixel < below:
                    reached[pixel] += counts[output]
        counts = reached
    return counts
