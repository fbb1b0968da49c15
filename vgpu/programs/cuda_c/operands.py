"""What CUDA's libraries take and do: device memory as arrays of NumPy, and the work as one operation."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vgpu import operations
from vgpu.base.errors import Unsupported
from vgpu.operations import CUDARuntimeError, Queue
from vgpu.storage import memory

TYPES: dict[int, type[np.generic]] = {
    0: np.float32, 1: np.float64, 2: np.float16, 3: np.int8, 4: np.complex64, 5: np.complex128, 8: np.uint8,
    10: np.int32,
}  # fmt: skip
"""NumPy's types by the numbers of `cudaDataType`."""


def scalar_type(number: int) -> type[np.generic]:
    """NumPy's type of a `cudaDataType`. Raises Unsupported."""
    if number not in TYPES:
        raise Unsupported(f"the virtual GPU's libraries have no cudaDataType {number}, such as bfloat16 or float8.")
    return TYPES[number]


BFLOAT16 = 14
"""The number of `cudaDataType` for what NumPy has no type: its bits are kept as `uint16`."""


def storage_type(number: int) -> type[np.generic]:
    """As `scalar_type`, and `uint16` for bfloat16: for what `widened` reads and `narrowed` makes."""
    return np.uint16 if number == BFLOAT16 else scalar_type(number)


def widened(values: np.ndarray, number: int, wide: np.dtype) -> np.ndarray:
    """Numbers of a `cudaDataType` in a type for calculating."""
    if number == BFLOAT16:
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(wide, copy=False)


def narrowed(values: np.ndarray, number: int) -> np.ndarray:
    """Numbers as a `cudaDataType` has them, rounded to the nearest, to even in the middle."""
    if number != BFLOAT16:
        return values.astype(scalar_type(number))
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


def live(address: int, nbytes: int = 1) -> Any:
    """The allocation that has all of these bytes and wasn't freed; None for any other address."""
    place = memory.describe(address)
    found = place.allocation
    return None if found is None or place.freed or place.offset + nbytes > found.nbytes else found


def view(address: int, shape: Sequence[int], strides: Sequence[int], of: type[np.generic]) -> np.ndarray:
    """Device memory as an array; strides in elements. Raises CUDARuntimeError where it isn't on the device."""
    item = np.dtype(of).itemsize
    low = sum(min(0, (n - 1) * step) for n, step in zip(shape, strides, strict=True)) * item
    high = (sum(max(0, (n - 1) * step) for n, step in zip(shape, strides, strict=True)) + 1) * item
    if 0 in shape:
        return np.empty(tuple(shape), of)
    if live(address + low, high - low) is None:
        raise CUDARuntimeError(
            f"cudaErrorIllegalAddress: an operand of {' × '.join(map(str, shape))} numbers isn't in device memory"
        )
    buffer = memoryview((ctypes.c_char * (high - low)).from_address(address + low))
    return np.ndarray(tuple(shape), of, buffer=buffer, offset=-low, strides=[step * item for step in strides])


def submit(
    queue: Queue, what: str, read: Sequence[np.ndarray], written: Sequence[np.ndarray], run: Callable[[], None]
) -> None:
    """Do a library's work in a queue, as one operation that touches these arrays."""
    touched = [piece for array in read for piece in operations.access(array, False)]
    touched += [piece for array in written for piece in operations.access(array, True)]
    nbytes = sum(array.nbytes for array in (*read, *written))
    done = operations.Operation("array", None, what, nbytes, asynchronous=True, accesses=tuple(touched))
    operations.submit(queue, done, run)
