"""FLOP for each byte of a convolution, from the shapes alone."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

# name, the image's shape, the weight's shape, stride, padding, bytes of a number
LAYERS = (
    ("one pixel, one weight", (1, 1, 1, 1), (1, 1, 1, 1), 1, 0, 4),
    ("1×1", (1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 4),
    ("3×3", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 4),
    ("3×3 without padding", (2, 8, 9, 7), (16, 8, 3, 3), 1, 0, 4),
    ("7×7 of stride 2", (1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 4),
    ("depthwise 3×3", (1, 144, 56, 56), (144, 1, 3, 3), 1, 1, 4),
    ("3×3 late, 16-bit numbers", (1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 2),
    ("3×3 late, 64 images", (64, 512, 7, 7), (512, 512, 3, 3), 1, 1, 2),
)


def _intensity(image, weight, stride, padding, itemsize) -> float:
    images, channels, height, width = image
    filters, depth, size, _ = weight
    down = (height + 2 * padding - size) // stride + 1
    across = (width + 2 * padding - size) // stride + 1
    outputs = images * filters * down * across
    moved = images * channels * height * width + filters * depth * size * size + outputs
    return 2 * outputs * depth * size * size / (itemsize * moved)


FLOP = "flop = 2 * outputs * depth * size * size"
MOVED = "images * channels * height * width + filters * depth * size * size + outputs"
DOWN = "down = (height + 2 * padding - size) // stride + 1"
ACROSS = "across = (width + 2 * padding - size) // stride + 1"

EXERCISE = Exercise(
    key="ch19.intensity",
    title="FLOP for each byte of a convolution",
    language="python",
    name="intensity",
    cases=lambda: [Case(name, tuple(given), expected=_intensity(*given)) for name, *given in LAYERS],
    hints=(
        "Three things are moved: inputs, weights and outputs. How many numbers has each of them?",
        "Each output is a sum over depth * size * size taps, where depth is the second number of the weight's shape. "
        "The size of the output comes from the formula of the receptive fields' section.",
        "flop = 2 * outputs * depth * size * size, and the bytes are itemsize * (inputs + weights + outputs).",
    ),
    solution="""
def intensity(image, weight, stride, padding, itemsize):
    images, channels, height, width = image
    filters, depth, size, _ = weight
    down = (height + 2 * padding - size) // stride + 1
    across = (width + 2 * padding - size) // stride + 1
    outputs = images * filters * down * across
    flop = 2 * outputs * depth * size * size
    moved = images * channels * height * width + filters * depth * size * size + outputs
    return flop / (itemsize * moved)
""",
    why="The numbers that are moved come from the shapes, and so does the work. The second number of the weight's "
    "shape is how many channels one filter looks at. For a depthwise layer that is 1, so each output has only nine "
    "taps, while all the inputs and outputs still have to be moved.",
    stretch="what does the fraction become for very many images? Write it down without the weights, and compare it "
    "with the ridge of an A100.",
    mistakes=(
        Mistake(
            "a multiplication and an addition counted as one",
            "Each tap is multiplied and then added to the sum: these are two FLOP.",
            ((FLOP, "flop = outputs * depth * size * size"),),
        ),
        Mistake(
            "the weights are not moved",
            "The weights come from memory, too. For the late 3×3 layer they are most of the bytes.",
            (
                (" + filters * depth * size * size", ""),
                ((" + filters * depth * size * size", ""), (DOWN, "down = height"), (ACROSS, "across = width")),
            ),
        ),
        Mistake(
            "the outputs are not moved",
            "Each output is stored once, and these bytes count like the others.",
            (("size * size + outputs", "size * size"),),
        ),
        Mistake(
            "every filter looks at all channels",
            "In a depthwise layer a filter looks at one channel. The second number of the weight's shape says how many "
            "channels a filter looks at.",
            ((FLOP, "flop = 2 * outputs * channels * size * size"),),
        ),
        Mistake(
            "an output for each pixel",
            "With a stride, or without padding, there are fewer outputs than pixels: "
            "(height + 2 * padding - size) // stride + 1 along a side.",
            (((DOWN, "down = height"), (ACROSS, "across = width")),
             ((DOWN, "down = height // stride"), (ACROSS, "across = width // stride"))),
        ),
        Mistake(
            "numbers in place of bytes",
            "A number has `itemsize` bytes, so the sum of all numbers has to be multiplied by that.",
            (("(itemsize * moved)", "moved"), ("(itemsize * moved)", "(4 * moved)")),
        ),
        Mistake(
            "an input counts each time it is used",
            "Each input is moved once at least, however many windows it lies under. The intensity compares the work "
            "with the fewest bytes that are possible.",
            ((MOVED, "outputs * depth * size * size + filters * depth * size * size + outputs"),),
        ),
    ),
)  # fmt: skip
