"""Where a layout puts things: from a coordinate (row, column) to a place in memory, and back.

A layout is given as text of CuTe's notation, "(4, 8):(8, 1)", as a pair (shape, stride) of nested tuples, as a pair
(function of row and column, (rows, columns)), or as an object that has a `shape` of two modes and is called with a row
and a column. A mode that is a tuple itself is counted with its first part fastest, as CuTe does.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

MOST_ELEMENTS = 512
Nested: TypeAlias = "int | tuple[Nested, ...] | list[Nested]"


def flat(nested: Nested) -> list[int]:
    """The integers of nested tuples, from left to right."""
    return [leaf for part in nested for leaf in flat(part)] if isinstance(nested, tuple | list) else [int(nested)]


def place(coordinate: int, shape: Nested, stride: Nested) -> int:
    """Where a layout's mode puts its element number `coordinate`, its first part counting fastest."""
    found = 0
    for size, step in zip(flat(shape), flat(stride), strict=True):
        coordinate, here = divmod(coordinate, size)
        found += here * step
    return found


@dataclass(frozen=True, eq=False)
class Places:
    """A layout as a table: `offsets[row, column]` is the place of each coordinate."""

    offsets: np.ndarray
    said: str

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.offsets.size

    @property
    def cosize(self) -> int:
        """One more than the last place that is used."""
        return int(self.offsets.max()) + 1

    @property
    def inverse(self) -> dict[int, list[tuple[int, int]]]:
        """The coordinates that lie at each place that is used: none twice, if a layout can be turned round."""
        found: dict[int, list[tuple[int, int]]] = {}
        for (row, column), place_ in np.ndenumerate(self.offsets):
            found.setdefault(int(place_), []).append((row, column))
        return found

    def one_to_one(self) -> bool:
        """Whether no place is used twice."""
        return len(np.unique(self.offsets)) == self.size


def places(layout: Any) -> Places:
    """The table of a layout in any of the forms above; ValueError and TypeError say what is wrong with it."""
    said = layout if isinstance(layout, str) else ""
    if isinstance(layout, str):
        layout = _parsed(layout)
    if isinstance(layout, tuple | list) and len(layout) == 2:
        first, second = layout
        if callable(first):
            function, shape = first, tuple(second)
        else:
            shape, stride = _two_modes(first, second)
            said = said or f"{_text(first)}:{_text(second)}"
            function = lambda row, column: place(row, shape[0], stride[0]) + place(column, shape[1], stride[1])
    elif callable(layout) and hasattr(layout, "shape"):
        function, shape = layout, layout.shape
        said = str(layout)
        shape = shape if isinstance(shape, tuple) and len(shape) == 2 else (1, shape)
        if shape[0] == 1 and layout.shape is not shape:
            function = lambda row, column: layout(column)
    else:
        raise TypeError(f'a layout is text such as "(4, 8):(8, 1)", or (function, (rows, columns)); got {layout!r}')
    rows, columns = (prod(flat(mode)) for mode in shape)
    if not 1 <= rows * columns <= MOST_ELEMENTS:
        raise ValueError(f"a layout of {rows} × {columns} has no room here: give 1 to {MOST_ELEMENTS} elements")
    table = np.array([[int(function(row, column)) for column in range(columns)] for row in range(rows)])
    if table.min() < 0:
        raise ValueError(f"a place in memory is 0 or more; this layout has {table.min()}")
    return Places(table, said)


def _parsed(text: str) -> tuple[Any, Any]:
    shape, colon, stride = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return ast.literal_eval(shape.strip()), ast.literal_eval(stride.strip())
    except (ValueError, SyntaxError):
        raise ValueError(f'a layout in text is shape:stride, such as "(4, 8):(8, 1)"; got {text!r}') from None


def _two_modes(shape: Nested, stride: Nested) -> tuple[tuple, tuple]:
    """Shape and stride as two modes: what has one is a single row."""
    if len(flat(shape)) != len(flat(stride)):
        raise ValueError(f"a shape and its stride have as many numbers: {_text(shape)} and {_text(stride)}")
    if isinstance(shape, Collection) and isinstance(stride, Collection) and len(shape) == len(stride) == 2:
        return tuple(shape), tuple(stride)
    return (1, shape), (0, stride)


def _text(nested: Nested) -> str:
    return str(nested).replace(" ", "")
