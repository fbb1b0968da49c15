"""What a program in C++ knows by a handle: numbers that stand for objects of Python."""

from __future__ import annotations

import itertools
from typing import Any

from vgpu.operations import CUDARuntimeError


class Handles:
    """Objects by number. Numbers aren't used twice, so a handle that was destroyed is an error."""

    def __init__(self) -> None:
        self._numbers = itertools.count(0x1000, 0x10)
        self._objects: dict[int, Any] = {}

    def add(self, item: Any) -> int:
        """The new number of an object."""
        number = next(self._numbers)
        self._objects[number] = item
        return number

    def drop(self, number: int) -> None:
        """Forget an object; 0 stands for none."""
        if number:
            self[number]
            del self._objects[number]

    def __getitem__(self, number: int) -> Any:
        try:
            return self._objects[number]
        except KeyError:
            raise CUDARuntimeError("cudaErrorInvalidValue: there is no such object, or no more") from None
