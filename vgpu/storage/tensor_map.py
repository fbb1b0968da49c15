"""Tensor maps for the virtual GPU: 128 bytes that describe an array and a box of it.

On a GPU the driver encodes a `CUtensorMap` in an undocumented form; kernels only pass on its address. The virtual GPU
has a separate form (`context.TENSOR_MAP`) with the same contents and the same limits.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vgpu.base.context import COLUMNS, FILL_NAN, TENSOR_MAP, TENSOR_MARK, TENSOR_TYPES
from vgpu.base.context import TENSOR_BYTES as BYTES
from vgpu.base.errors import Unsupported

SWIZZLES = (0, 32, 64, 128)
DATA_TYPES = (*TENSOR_TYPES, "f32", "f32", "f32")
"""The types of elements by the numbers of `CUtensorMapDataType`; the last are TF32, and floats without subnormals."""
MOST_AXES = 5


@dataclass(frozen=True)
class TensorDescriptor:
    """An array in global memory and the box that one copy moves; the elements along axis 0 are contiguous.

    `strides` are bytes, one per axis, `box` the box's extent in elements, `steps` the traversal stride in elements,
    `swizzle` the bytes of a swizzled row or 0. In im2col mode `box` is channels and pixels, and `corners` the lower and
    the upper end of W, H and D, as far as the array has them. `fills_nan`: what lies outside is NaN, and not zero.
    `type`: one of `TENSOR_TYPES`, which reductions need, or "".
    """

    address: int
    element: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    corners: tuple[tuple[int, int], ...] = ()
    fills_nan: bool = False
    type: str = ""

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def counts(self) -> tuple[int, ...]:
        """The copied elements of a box along each axis, or channels and pixels."""
        if self.corners:
            return self.box
        steps = (1, *self.steps[1:])  # the hardware knows no step along axis 0
        return tuple(-(-b // s) for b, s in zip(self.box, steps, strict=True))

    def encode(self) -> bytes:
        data = bytearray(BYTES)
        more = MOST_AXES - self.rank
        mode = COLUMNS * bool(self.corners) | FILL_NAN * self.fills_nan
        kind = TENSOR_TYPES.index(self.type) + 1 if self.type else 0
        struct.pack_into("<Q4I", data, 0, TENSOR_MARK, self.rank, self.element | kind << 8, self.swizzle, mode)
        box = (*self.box, *(low & 0xFFFF | (high & 0xFFFF) << 16 for low, high in self.corners))
        struct.pack_into("<Q", data, TENSOR_MAP["address"], self.address)
        for name, letter, values, rest in (
            ("sizes", "I", self.sizes, 1), ("strides", "Q", self.strides, 0), ("box", "I", box, 1),
        ):  # fmt: skip
            struct.pack_into(f"<5{letter}", data, TENSOR_MAP[name], *values, *[rest] * more)
        struct.pack_into("<4I", data, TENSOR_MAP["steps"] + 4, *(*self.steps, *[1] * more)[1:])
        return bytes(data)


def describe(
    address: int,
    element: int,
    shape: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    *,
    swizzle: int = 0,
    steps: Sequence[int] | None = None,
) -> TensorDescriptor:
    """A checked tensor map; `shape`, `strides` (bytes), `box` and `steps` in NumPy's order, the fastest axis last.

    Raises ValueError for what `cuTensorMapEncodeTiled` refuses, naming the limit. Source: NVIDIA "CUDA Driver API",
    tensor map object management.
    """
    rank = len(shape)
    if not 1 <= rank <= MOST_AXES:
        raise ValueError(f"a tensor map has 1 to {MOST_AXES} dimensions, and the array has {rank}")
    steps = tuple(steps) if steps is not None else (1,) * rank
    _each_axis(rank, box=box, steps=steps)
    _require(all(1 <= n <= 256 for n in box), f"a box has 1 to 256 elements along each axis, not {tuple(box)}")
    return _checked(address, element, shape, strides, steps, swizzle, _reverse(box), ())


def describe_im2col(
    address: int,
    element: int,
    shape: Sequence[int],
    strides: Sequence[int],
    corners: tuple[Sequence[int], Sequence[int]],
    *,
    channels: int,
    pixels: int,
    swizzle: int = 0,
    steps: Sequence[int] | None = None,
) -> TensorDescriptor:
    """A checked tensor map of im2col mode, of an array with the axes N, D, H, W, C, or without D, or without D and H.

    `corners` are the lower and the upper one, a number each for D, H and W. Raises ValueError for what
    `cuTensorMapEncodeIm2col` refuses. Source: as `describe`, and "PTX ISA", im2col mode.
    """
    rank = len(shape)
    if not 3 <= rank <= MOST_AXES:
        raise ValueError(f"a tensor map of im2col mode has 3 to {MOST_AXES} dimensions, and the array has {rank}")
    steps = tuple(steps) if steps is not None else (1,) * rank
    _each_axis(rank, steps=steps)
    _each_axis(rank - 2, lower=corners[0], upper=corners[1])
    most = CORNERS[rank]
    _require(all(-most <= n < most for corner in corners for n in corner),
             f"corners of {rank} dimensions are {-most} to {most - 1}, not {corners}")  # fmt: skip
    _require(all(size + high > low for size, low, high in zip(shape[1:-1], *corners, strict=True)),
             f"nothing lies between the corners {tuple(corners[0])} and {tuple(corners[1])}")  # fmt: skip
    _require(1 <= channels <= 256, f"a pixel has 1 to 256 channels, not {channels}")
    _require(1 <= pixels <= 1024, f"a column has 1 to 1024 pixels, not {pixels}")
    both = tuple(zip(*map(_reverse, corners), strict=True))
    return _checked(address, element, shape, strides, steps, swizzle, (int(channels), int(pixels)), both)


CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}  # corners of so many dimensions are less than this, or its negative


def _checked(
    address: int, element: int, shape: Sequence[int], strides: Sequence[int], steps: tuple[int, ...], swizzle: int,
    box: tuple[int, ...], corners: tuple[tuple[int, int], ...],
) -> TensorDescriptor:  # fmt: skip
    """What both modes ask of an array; `box` and `corners` are in the order of a map, the rest in NumPy's."""
    _require(element in (1, 2, 4, 8), f"elements have 1, 2, 4 or 8 bytes, not {element}")
    _require(swizzle in SWIZZLES, f"swizzle is one of {SWIZZLES} bytes, not {swizzle!r}")
    _require(address % 16 == 0, "the array has to begin at a multiple of 16 bytes")
    _require(all(1 <= n <= 2**32 - 1 for n in shape), f"every size is 1 to 2^32 - 1, not {tuple(shape)}")
    _require(strides[-1] == element or shape[-1] == 1, "elements along the last axis have to lie side by side")
    wrong = [s for s in strides[:-1] if s % 16 or not 0 <= s < 2**40]
    _require(
        not wrong,
        f"rows have to be a multiple of 16 bytes apart, and these are {wrong[0] if wrong else 0}: pad the array's rows",
    )
    _require(all(1 <= n <= 8 for n in steps), f"steps are 1 to 8, not {steps}")
    row = box[0] * element
    _require(row % 16 == 0, f"a row of the box has to be a multiple of 16 bytes, and {box[0]} elements are {row}")
    if swizzle:
        _require(row <= swizzle, f"a row of the box may have {swizzle} bytes with this swizzle, and has {row}")
    found = _reverse(strides)
    return TensorDescriptor(
        int(address), element, _reverse(shape), (element, *found[1:]), box, _reverse(steps), swizzle, corners
    )


def _reverse(values: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(v) for v in values)[::-1]


def _each_axis(rank: int, **given: Sequence[int]) -> None:
    for name, values in given.items():
        if len(values) != rank:
            raise ValueError(f"{name} has {len(values)} numbers, and the array has {rank} dimensions of that kind")


def decode(raw: bytes, rank: int) -> TensorDescriptor | None:
    """The tensor map of `rank` dimensions in these 128 bytes; None where `describe` would not have made them."""
    mark, has, element, swizzle, mode = struct.unpack_from("<Q4I", raw)
    element, kind = element & 0xFF, element >> 8
    columns = bool(mode & COLUMNS)
    if mark != TENSOR_MARK or has != rank or mode & ~(COLUMNS | FILL_NAN) or (columns and rank < 3):
        return None
    (address,) = struct.unpack_from("<Q", raw, TENSOR_MAP["address"])
    sizes, strides, box = (
        struct.unpack_from(f"<{rank}{letter}", raw, TENSOR_MAP[name])
        for name, letter in (("sizes", "I"), ("strides", "Q"), ("box", "I"))
    )
    if kind > len(TENSOR_TYPES):
        return None
    steps = (1, *struct.unpack_from("<4I", raw, TENSOR_MAP["steps"] + 4))[:rank]
    common = (address, element, sizes[::-1], strides[::-1])
    more = {"swizzle": swizzle, "steps": steps[::-1]}
    try:
        if columns:
            lower, upper = (
                tuple(struct.unpack("<h", struct.pack("<H", n >> bits & 0xFFFF))[0] for n in box[:1:-1])
                for bits in (0, 16)
            )
            found = describe_im2col(*common, (lower, upper), channels=box[0], pixels=box[1], **more)
        else:
            found = describe(*common, box[::-1], **more)
    except ValueError:
        return None
    found = replace(found, fills_nan=bool(mode & FILL_NAN), type=("", *TENSOR_TYPES)[kind])
    return found if found.element == strides[0] else None


def encoded(
    kind: int, rank: int, address: int, sizes: int, strides: int, box: int, steps: int, interleave: int, swizzle: int,
    fill: int,
) -> bytes:  # fmt: skip
    """The 128 bytes of a map, from the arguments of `cuTensorMapEncodeTiled`: `sizes` to `steps` are addresses.

    Raises ValueError for what the driver refuses, Unsupported for what the virtual GPU hasn't.
    """
    if kind >= len(DATA_TYPES) or interleave or swizzle >= len(SWIZZLES):
        raise Unsupported(
            "cuTensorMapEncodeTiled: the virtual GPU has tensor maps of whole elements, not interleaved, swizzled by "
            "32, 64 or 128 bytes or not at all."
        )
    axes, nbytes = min(rank, MOST_AXES), element_bytes(DATA_TYPES[kind])
    numbers = lambda at, kind, count: list((kind * count).from_address(at))[::-1] if count > 0 else []
    whole, short = ctypes.c_uint64, ctypes.c_uint32
    found = describe(
        address, nbytes, numbers(sizes, whole, axes), [*numbers(strides, whole, axes - 1), nbytes],
        numbers(box, short, axes), swizzle=SWIZZLES[swizzle], steps=numbers(steps, short, axes),
    )  # fmt: skip
    return replace(found, fills_nan=bool(fill), type=DATA_TYPES[kind]).encode()


def element_bytes(kind: str) -> int:
    """The bytes of an element of a type of `TENSOR_TYPES`."""
    return int(kind.lstrip("bfsu")) // 8


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)
