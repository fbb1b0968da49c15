"""Output size and receptive field of a stack of layers, as a plain function."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

STACKS = (
    ("one 5×5", (28, [(5, 1, 0)])),
    ("one 3×3 of stride 2", (17, [(3, 2, 1)])),
    ("two 3×3", (16, [(3, 1, 1), (3, 1, 1)])),
    ("LeNet at 16 × 16", (16, [(5, 1, 2), (2, 2, 0), (5, 1, 0), (2, 2, 0)])),
    ("the first layers of a ResNet", (224, [(7, 2, 3), (3, 2, 1), (3, 1, 1), (3, 1, 1)])),
    ("no layer at all", (9, [])),
)


def _field(size: int, layers: list[tuple[int, int, int]]) -> tuple[int, int]:
    sees, jump = 1, 1
    for kernel, stride, padding in layers:
        size = (size + 2 * padding - kernel) // stride + 1
        sees = sees + (kernel - 1) * jump
        jump = jump * stride
    return size, sees


SIZE = "size = (size + 2 * padding - kernel) // stride + 1"
SEES, JUMP = "sees = sees + (kernel - 1) * jump", "jump = jump * stride"

EXERCISE = Exercise(
    key="ch19.field",
    title="output size and receptive field of a stack",
    language="python",
    name="field",
    cases=lambda: [Case(name, arguments, expected=_field(*arguments)) for name, arguments in STACKS],
    hints=(
        "Go through the layers once. Three numbers change: the size, what an output sees, and how far neighbours are.",
        "A layer lets an output see kernel - 1 more outputs of the layer before. Those are `jump` pixels apart.",
        "sees = sees + (kernel - 1) * jump first, and only then jump = jump * stride.",
    ),
    solution="""
def field(size, layers):
    sees, jump = 1, 1
    for kernel, stride, padding in layers:
        size = (size + 2 * padding - kernel) // stride + 1
        sees = sees + (kernel - 1) * jump
        jump = jump * stride
    return size, sees
""",
    why="A window of k taps reaches k - 1 outputs of the layer before beyond the first. Those outputs lie as many "
    "pixels apart as the product of all strides before. So strides early in a network make every later layer see far, "
    "and padding changes the size, but not what an output sees.",
    stretch="dilation d puts d - 1 gaps between the taps. Which of the three lines change, and how?",
    mistakes=(
        Mistake(
            "the stride of a layer counts for the layer itself",
            "The taps of a layer are as far apart as the outputs of the layers before it. Its own stride moves its "
            "outputs apart, so it counts from the next layer on: update jump last.",
            (((SEES, JUMP), (f"    {JUMP}\n    return", "    sees = sees + (kernel - 1) * jump\n    return")),),
        ),
        Mistake(
            "strides are left out",
            "After a layer of stride 2 neighbouring outputs are 2 pixels apart, so every later tap reaches 2 pixels "
            "further on. Keep the product of the strides.",
            ((JUMP, "jump = jump"), (SEES, "sees = sees + kernel - 1")),
        ),
        Mistake(
            "every layer adds its whole kernel",
            "The first tap of a window falls on what was seen already: a kernel of 3 adds 2, not 3.",
            ((SEES, "sees = sees + kernel * jump"), (SEES, "sees = sees + kernel")),
        ),
        Mistake(
            "padding on one side only",
            "The image is padded on both sides: size + 2 * padding.",
            ((SIZE, "size = (size + padding - kernel) // stride + 1"), (SIZE, "size = (size - kernel) // stride + 1")),
        ),
        Mistake(
            "one position is missing",
            "The window stands at its first place before it moves: divide, then add 1.",
            ((SIZE, "size = (size + 2 * padding - kernel) // stride"),
             (SIZE, "size = (size + 2 * padding - kernel + 1) // stride")),
        ),
        Mistake(
            "the two results change places",
            "The size comes first, what an output sees second.",
            (("return size, sees", "return sees, size"),),
        ),
    ),
)  # fmt: skip
