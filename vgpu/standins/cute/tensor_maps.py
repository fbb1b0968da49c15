"""Tensor maps that the host's code of CuTe DSL makes without the driver, bit by bit as the hardware reads them.

NVIDIA documents no bits. Where they lie was found by experiment, from what CuTe DSL 4.8 makes of tensors of known
sizes, strides, types, boxes and swizzles: 64 bytes, of the 128 that a kernel's parameter has.
"""

from __future__ import annotations

import struct
from dataclasses import replace

from vgpu.base.context import TENSOR_MARK
from vgpu.base.errors import Unsupported
from vgpu.storage.tensor_map import BYTES, DATA_TYPES, SWIZZLES, TensorDescriptor, describe, element_bytes

_TILED = 2  # the lowest four bits of the second word


def as_ours(raw: bytes) -> bytes:
    """A kernel's parameter, in the virtual GPU's form if it is a tensor map. Raises Unsupported for packed elements."""
    if raw[:8] == TENSOR_MARK.to_bytes(8, "little"):  # made by `cuTensorMapEncodeTiled`
        return raw
    found = _decode(raw) if len(raw) == BYTES else None
    return raw if found is None else found.encode()


def _decode(raw: bytes) -> TensorDescriptor | None:
    """The tensor map in a hardware's bits; None for bits that describe none."""
    address, kind, *words = struct.unpack_from("<8Q", raw)
    rank, element, interleave, swizzle = (kind >> bit & mask for bit, mask in ((4, 7), (7, 15), (11, 3), (13, 3)))
    if kind & 15 != _TILED or not 1 <= rank + 1 <= 5 or interleave:
        return None
    if element >= len(DATA_TYPES):  # those that follow pack 4 or 6 bits
        raise Unsupported("a tensor map of packed elements of 4 or 6 bits: the virtual GPU has those of whole bytes.")
    low = (kind >> 32, *_halves(words[0]), words[1] & 0xFFFFFFFF)
    strides = [16 * (part | (words[1] >> 32 + 4 * axis & 15) << 32) for axis, part in enumerate(low)]
    sizes = [1 + half for word in words[2:5] for half in _halves(word)][:5]
    steps = [1 + (words[4] >> 32 + 3 * axis & 7) for axis in range(5)]
    box = [1 + byte for byte in (words[4] >> 56, *struct.unpack("<4B", raw[56:60]))]
    size = element_bytes(DATA_TYPES[element])
    order = slice(rank, None, -1)
    try:
        found = describe(
            address, size, sizes[order], [size, *strides][order], box[order], swizzle=SWIZZLES[swizzle],
            steps=steps[order],
        )  # fmt: skip
    except ValueError:
        return None
    return replace(found, type=DATA_TYPES[element])


def _halves(word: int) -> tuple[int, int]:
    return word & 0xFFFFFFFF, word >> 32
