"""Tensor maps as a program in C++ makes them: `cuTensorMapEncodeTiled` of the driver API."""

from __future__ import annotations

import ctypes
from dataclasses import replace

from vgpu.base.errors import Unsupported
from vgpu.operations import CUDARuntimeError
from vgpu.storage.tensor_map import DATA_TYPES, MOST_AXES, SWIZZLES, describe, element_bytes


class TensorMaps:
    """The part of the driver API for tensor maps."""

    def do_tensor_map(
        self, target: int, kind: int, rank: int, address: int, sizes: int, strides: int, box: int, steps: int,
        interleave: int, swizzle: int, fill: int,
    ) -> None:  # fmt: skip
        """Write the 128 bytes of a map; what `cuTensorMapEncodeTiled` refuses is an invalid value."""
        if kind >= len(DATA_TYPES) or interleave or swizzle >= len(SWIZZLES):
            raise Unsupported(
                "cuTensorMapEncodeTiled: the virtual GPU has tensor maps of whole elements, not interleaved, swizzled "
                "by 32, 64 or 128 bytes or not at all."
            )
        axes, nbytes = min(rank, MOST_AXES), element_bytes(DATA_TYPES[kind])
        numbers = lambda at, kind, count: list((kind * count).from_address(at))[::-1] if count > 0 else []
        whole, short = ctypes.c_uint64, ctypes.c_uint32
        try:
            found = describe(
                address, nbytes, numbers(sizes, whole, axes), [*numbers(strides, whole, axes - 1), nbytes],
                numbers(box, short, axes), swizzle=SWIZZLES[swizzle], steps=numbers(steps, short, axes),
            )  # fmt: skip
        except ValueError as error:
            raise CUDARuntimeError(f"cuTensorMapEncodeTiled: {error}") from None
        ctypes.memmove(target, replace(found, fills_nan=bool(fill), type=DATA_TYPES[kind]).encode(), 128)

    def do_driver_function(self, name: int) -> None:
        raise Unsupported(
            f"{ctypes.string_at(name).decode()}: of the driver API there is cuTensorMapEncodeTiled only. Use the "
            "runtime API's functions."
        )
