from __future__ import annotations

from typing import Any

from helpers.checking.exercise import Case

# name, the image's shape, the weight's shape, stride, padding, bytes of a number
LAYERS: tuple[tuple[Any, ...], ...] = (
    ("one pixel, one weight", (1, 1, 1, 1), (1, 1, 1, 1), 1, 0, 4),
    ("1×1", (1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 4),
    ("3×3", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 4),
    ("3×3 without padding", (2, 8, 9, 7), (16, 8, 3, 3), 1, 0, 4),
    ("7×7 of stride 2", (1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 4),
    ("depthwise 3×3", (1, 144, 56, 56), (144, 1, 3, 3), 1, 1, 4),
    ("3×3 late, 16-bit numbers", (1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 2),
    ("3×3 late, 64 images", (64, 512, 7, 7), (512, 512, 3, 3), 1, 1, 2),
)


def _intensity(image: tuple[int, ...], weight: tuple[int, ...], stride: int, padding: int, itemsize: int) -> float:
    images, channels, height, width = image
    filters, depth, size, _ = weight
    down = (height + 2 * padding - size) // stride + 1
    across = (width + 2 * padding - size) // stride + 1
    outputs = images * filters * down * across
    moved = images * channels * height * width + filters * depth * size * size + outputs
    return 2 * outputs * depth * size * size / (itemsize * moved)


def cases() -> list[Case]:
    return [Case(name, tuple(given), expected=_intensity(*given)) for name, *given in LAYERS]
