"""Pinned host memory: whether an array lies in it, and arrays that note the host's reads and writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from vgpu.operations import recorders
from vgpu.operations.accesses import access, same_place
from vgpu.operations.operation import Operation
from vgpu.storage import memory
from vgpu.storage.host import size_text

_registered: list[tuple[int, int]] = []  # host memory pinned for a while: first address, one past the last


def is_pinned(array: np.ndarray) -> bool:
    """Whether a host array lies in pinned memory."""
    if array.size == 0:
        return True
    first, past = np.lib.array_utils.byte_bounds(array)
    if any(start <= first and past <= end for start, end in list(_registered)):
        return True
    found = memory.describe(first)
    if found.allocation is None or found.freed or found.offset >= found.allocation.nbytes:
        return False
    return found.allocation.kind == "pinned"


@contextlib.contextmanager
def registered(arrays: Iterable[np.ndarray]) -> Iterator[None]:
    """Pin host arrays for the length of a `with` block."""
    bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays if array.size]
    _registered.extend(bounds)
    try:
        yield
    finally:
        for bound in bounds:
            _registered.remove(bound)


class PinnedArray(np.ndarray):
    """A host array in pinned memory; while there is a recorder, the host's reads and writes of it are noted."""

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if not isinstance(part, PinnedArray):
            self._touched(False)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        part = super().__getitem__(key)
        is_view = isinstance(part, PinnedArray) and np.may_share_memory(part, self)  # neither a number nor a copy
        (part if is_view else self)._touched(True)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        self._touched(False)
        return super().__iter__()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple[Any, ...] = (), **named: Any
    ) -> Any:
        for value in inputs:
            if isinstance(value, PinnedArray):
                value._touched(False)
        for value in out:
            if isinstance(value, PinnedArray):
                value._touched(True)
        given = [value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in inputs]
        plain = tuple(value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in out)
        result = getattr(ufunc, method)(*given, **({"out": plain} if out else {}), **named)
        return out[0] if len(out) == 1 else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self._touched(False)
        return super().__array_function__(function, types, args, kwargs)

    def tolist(self) -> Any:
        self._touched(False)
        return super().tolist()

    def item(self, *args: Any) -> Any:
        self._touched(False)
        return super().item(*args)

    def copy(self, order: Any = "C") -> Any:
        self._touched(False)
        return self.view(np.ndarray).copy(order)

    def fill(self, value: Any) -> None:
        self._touched(True)
        super().fill(value)

    def _touched(self, writes: bool) -> None:
        if recorders.recording():
            kind = "host write" if writes else "host read"
            touched = access(self.view(np.ndarray), writes, "the host's buffer")
            before = recorders.last()
            if before is not None and before.kind == kind and same_place(before.accesses, touched):
                return  # one call of NumPy often reads more than once
            recorders.note(Operation(kind, label=f"{kind} of {size_text(self.nbytes)}", accesses=touched))
