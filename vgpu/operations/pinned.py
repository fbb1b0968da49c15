"""Pinned host memory: whether an array lies in it, and arrays that say when the host looks."""

from __future__ import annotations

import contextlib

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
    place = memory.describe(first)
    inside = place.allocation is not None and not place.freed and place.offset < place.allocation.nbytes
    return inside and place.allocation.kind == "pinned"


@contextlib.contextmanager
def registered(arrays):
    """Host arrays pinned for the length of a with block."""
    bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays if array.size]
    _registered.extend(bounds)
    try:
        yield
    finally:
        for bound in bounds:
            _registered.remove(bound)


class PinnedArray(np.ndarray):
    """A host array in pinned memory; while a recorder listens, the host's reads and writes of it are noted."""

    def __getitem__(self, key):
        part = super().__getitem__(key)
        if not isinstance(part, PinnedArray):
            self._touched(False)
        return part

    def __setitem__(self, key, value) -> None:
        part = super().__getitem__(key)
        place = isinstance(part, PinnedArray) and np.may_share_memory(part, self)  # neither a number nor a copy
        (part if place else self)._touched(True)
        super().__setitem__(key, value)

    def __iter__(self):
        self._touched(False)
        return super().__iter__()

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **named):
        for value in inputs:
            if isinstance(value, PinnedArray):
                value._touched(False)
        for value in out:
            if isinstance(value, PinnedArray):
                value._touched(True)
        inputs = [value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in inputs]
        plain = tuple(value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in out)
        result = getattr(ufunc, method)(*inputs, **({"out": plain} if out else {}), **named)
        return out[0] if len(out) == 1 else result

    def __array_function__(self, function, types, args, kwargs):
        self._touched(False)
        return super().__array_function__(function, types, args, kwargs)

    def tolist(self):
        self._touched(False)
        return super().tolist()

    def item(self, *args):
        self._touched(False)
        return super().item(*args)

    def copy(self, order="C"):
        self._touched(False)
        return self.view(np.ndarray).copy(order)

    def fill(self, value) -> None:
        self._touched(True)
        super().fill(value)

    def _touched(self, writes: bool) -> None:
        if recorders.recording():
            kind = "host write" if writes else "host read"
            touched = access(self.view(np.ndarray), writes, "the host's buffer")
            before = recorders.last()
            if before is not None and before.kind == kind and same_place(before.accesses, touched):
                return  # one call of NumPy's often looks more than once
            recorders.note(Operation(kind, label=f"{kind} of {size_text(self.nbytes)}", accesses=touched))
