"""The composition of two layouts, value by value."""

from __future__ import annotations

from math import prod

from helpers.checking.exercise import Case, Exercise, Mistake
from helpers.models.layouts import place

PAIRS = (
    ((6, 2), (8, 2), (4, 3), (3, 1)),
    ((20,), (2,), (5, 4), (4, 1)),
    ((10, 2), (16, 4), (5, 4), (1, 5)),
    ((4, 8), (8, 1), (32,), (1,)),
    ((4, 2, 3), (2, 1, 8), (4,), (2,)),
    ((5,), (3,), (1,), (0,)),
    ((3, 4), (4, 1), (2, 2), (5, 1)),
)


def _case(outer_shape, outer_stride, inner_shape, inner_stride) -> Case:
    count = prod(inner_shape)
    wanted = [place(place(i, inner_shape, inner_stride), outer_shape, outer_stride) for i in range(count)]
    name = f"{outer_shape}:{outer_stride} after {inner_shape}:{inner_stride}"
    return Case(name, (outer_shape, outer_stride, inner_shape, inner_stride), expected=wanted)


EXERCISE = Exercise(
    key="ch13.composed",
    title="compose two layouts, value by value",
    language="python",
    name="composed",
    cases=lambda: [_case(*pair) for pair in PAIRS],
    hints=(
        "Write a function of its own that gives the place of number i in one flat layout, and use it twice.",
        "Number i has i % size as its first coordinate; i // size counts on through the other parts.",
        "composed is [where(where(i, inner…), outer…) for i in range(number of elements of the inner layout)].",
    ),
    solution="""
def where(index, shape, stride):
    place = 0
    for size, step in zip(shape, stride):
        place += index % size * step
        index //= size
    return place


def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    count = 1
    for size in inner_shape:
        count *= size
    return [where(where(i, inner_shape, inner_stride), outer_shape, outer_stride) for i in range(count)]
""",
    why="A layout is a function, so composing is calling one with the result of the other. What CuTe adds is that the "
    "result is a layout again whenever the sizes divide, so that it can be composed further, at compile time.",
    stretch="the last pair of the cases has no shape and stride. Which step of `compose` refuses it, and why?",
    mistakes=(
        Mistake(
            "the outer layout is applied first",
            "A ∘ B is A(B(i)): i is a number of the inner layout, and its place there is a number of the outer one.",
            (
                ("where(where(i, inner_shape, inner_stride), outer_shape, outer_stride)",
                 "where(where(i, outer_shape, outer_stride), inner_shape, inner_stride)"),
            ),
        ),
        Mistake(
            "only the inner layout is applied",
            "These are places of the inner layout. Each is a number of the outer layout, which has a place for it.",
            (("where(where(i, inner_shape, inner_stride), outer_shape, outer_stride)",
              "where(i, inner_shape, inner_stride)"),),
        ),
        Mistake(
            "only the outer layout is applied",
            "These are the first places of the outer layout. The inner one says which of them are wanted.",
            (("where(where(i, inner_shape, inner_stride), outer_shape, outer_stride)",
              "where(i, outer_shape, outer_stride)"),),
        ),
        Mistake(
            "the last part counts fastest",
            "That is how NumPy counts. In CuTe the first part of a shape counts fastest.",
            (("zip(shape, stride)", "zip(shape[::-1], stride[::-1])"),),
        ),
        Mistake(
            "strides are left out",
            "A coordinate has to be multiplied by its stride: that is how far one step goes.",
            (("index % size * step", "index % size"),),
        ),
        Mistake(
            "as many elements as the outer layout",
            "The inner layout chooses, so the result has as many elements as it has.",
            (("for size in inner_shape", "for size in outer_shape"),),
        ),
        Mistake(
            "every part gets the whole number",
            "Number i is dealt out to the parts: i % size to the first one, and i // size to those that follow.",
            (("        index //= size\n", ""), ("index % size * step", "index * step")),
        ),
        Mistake(
            "sizes are multiplied, not added",
            "A shape of (4, 3) has 4 · 3 coordinates, not 4 + 3.",
            (("count *= size", "count += size"),),
        ),
    ),
)  # fmt: skip
