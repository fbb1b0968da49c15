"""The functions of the driver API that programs in C++ may call, beside those of the runtime API."""

from __future__ import annotations

import ctypes

from vgpu.base.errors import Unsupported
from vgpu.operations import CUDARuntimeError
from vgpu.storage.tensor_map import BYTES, encoded


class Driver:
    """The part of the driver API for tensor maps; what it has for errors is `Host`'s, which keeps the texts."""

    def do_tensor_map(
        self, target: int, kind: int, rank: int, address: int, sizes: int, strides: int, box: int, steps: int,
        interleave: int, swizzle: int, fill: int,
    ) -> None:  # fmt: skip
        """Write the 128 bytes of a map; what `cuTensorMapEncodeTiled` refuses is an invalid value."""
        try:
            made = encoded(kind, rank, address, sizes, strides, box, steps, interleave, swizzle, fill)
        except ValueError as error:
            raise CUDARuntimeError(f"cuTensorMapEncodeTiled: {error}") from None
        ctypes.memmove(target, made, BYTES)

    def do_driver_function(self, name: int) -> None:
        raise Unsupported(
            f"{ctypes.string_at(name).decode()}: of the driver API there are cuTensorMapEncodeTiled, cuGetErrorName "
            "and cuGetErrorString. Use the runtime API's functions."
        )
