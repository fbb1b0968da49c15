"""tensor_map(array, box) and im2col_map: for kernels that copy parts of an array with one instruction (TMA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vgpu.base.errors import Unsupported
from vgpu.standins.backend import on_gpu
from vgpu.storage.tensor_map import TensorDescriptor, describe, describe_im2col

# The driver's names of element types; the virtual GPU only needs their size.
_TYPES = {
    "uint8": "UINT8", "int8": "UINT8", "uint16": "UINT16", "int16": "UINT16", "uint32": "UINT32", "int32": "INT32",
    "uint64": "UINT64", "int64": "INT64", "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64",
    "bfloat16": "BFLOAT16",
}  # fmt: skip
_LETTERS = {"UINT": "u", "INT": "s", "FLOAT": "f", "BFLOAT": "bf"}


class TensorMap(np.void):  # type: ignore[misc] # NumPy's stubs call it final; at run time it isn't
    """The 128 bytes of a `CUtensorMap`, which print as what they describe."""

    description = ""

    def __repr__(self) -> str:
        return f"TensorMap({self.description})" if self.description else f"TensorMap of {self.nbytes} bytes"

    __str__ = __repr__


def tensor_map(
    array: Any, box: Sequence[int], *, swizzle: int = 0, interleave: str = "none", steps: Sequence[int] | None = None
) -> TensorMap:
    """A `CUtensorMap` of an array, to be passed to a parameter `const __grid_constant__ CUtensorMap`.

    array: on the device, at most 5 dimensions. box: elements of one copy, one number a dimension, in the array's own
    order; kernels give coordinates in the opposite order, the fastest first. swizzle: 0, or the 32, 64 or 128 bytes of
    a row whose 16-byte parts are permuted in shared memory. steps: 1 to 8, how far one element of the box is from
    the next. Elements outside the array are read as zero. Keep the array for as long as kernels use its map.
    Raises TypeError for anything but an array on the device, ValueError for what the hardware doesn't support.
    Source: NVIDIA "CUDA Driver API", cuTensorMapEncodeTiled.
    """
    if isinstance(box, int) or isinstance(steps, int):
        raise TypeError(f"box and steps have one number a dimension, such as {(8,) * np.ndim(array)}")
    address = _address(array, "tensor_map(array, box)")
    if interleave != "none":
        raise Unsupported(f"interleave={interleave!r}: tensor maps are made here for plain layouts only, 'none'.")
    found = describe(
        address, array.dtype.itemsize, array.shape, array.strides, box, swizzle=swizzle, steps=steps
    )  # fmt: skip
    return _made(found, array.dtype.name)


def im2col_map(
    array: Any, lower: Sequence[int], upper: Sequence[int], *, channels: int, pixels: int, swizzle: int = 0,
    steps: Sequence[int] | None = None,
) -> TensorMap:  # fmt: skip
    """A `CUtensorMap` of im2col mode: a copy takes some channels of pixels of images, in the order of a convolution.

    array: on the device, with the axes N, W, C, or N, H, W, C, or N, D, H, W, C. lower, upper: where the base of the
    filter begins and ends, for each of (D,) (H,) W: relative to the first element and to the last one, so that a filter
    of 3 with padding of 1 has -1 and -1. channels: 1 to 256 elements of a pixel. pixels: 1 to 1024, the pixels of one
    copy. steps: 1 to 8 for each axis, a convolution's stride (those of N and C don't count). swizzle: as `tensor_map`.
    Kernels give the coordinates of the base of the first pixel, and the offset of the filter's element from the base
    (`cp.async.bulk.tensor.4d….im2col`). What lies outside the images is read as zero. Raises as `tensor_map`.
    Source: NVIDIA "CUDA Driver API", cuTensorMapEncodeIm2col.
    """
    address = _address(array, "im2col_map(array, lower, upper)")
    found = describe_im2col(
        address, array.dtype.itemsize, array.shape, array.strides, (lower, upper), channels=channels, pixels=pixels,
        swizzle=swizzle, steps=steps,
    )  # fmt: skip
    return _made(found, array.dtype.name)


def _address(array: Any, call: str) -> int:
    """Where an array on the device begins."""
    if isinstance(array, np.ndarray) or not hasattr(getattr(array, "data", None), "ptr"):
        given = "a NumPy array, in the host's memory" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise TypeError(f"{call} takes an array on the device, such as cp.asarray(x); got {given}")
    if array.dtype.name not in _TYPES:
        raise ValueError(f"a tensor map has no elements of {array.dtype.name}; it has {', '.join(_TYPES)}")
    return array.data.ptr


def _made(found: TensorDescriptor, dtype: str) -> TensorMap:
    if on_gpu():
        return _encoded_by_driver(found, dtype)
    letters = _TYPES[dtype].rstrip("0123456789")
    found = replace(found, type=_TYPES[dtype].replace(letters, _LETTERS[letters]))
    row = found.box[0] * found.element
    if found.swizzle and row != found.swizzle:
        raise Unsupported(
            f"a swizzle of {found.swizzle} bytes for rows of {row}: the virtual GPU swizzles rows of exactly as many "
            f"bytes. Make the box {found.swizzle // found.element} elements wide."
        )
    return as_argument(found.encode(), in_words(found, dtype))


def as_argument(data: bytes, description: str = "") -> TensorMap:
    """128 bytes as a scalar that both CuPy and its stand-in hand to a kernel by value."""
    made = np.frombuffer(data, np.dtype((TensorMap, f"V{len(data)}")))[0]
    made.description = description
    return made


def in_words(found: TensorDescriptor, dtype: str) -> str:
    """The array and its box, in the array's own order of dimensions."""
    shape, box = ("×".join(map(str, reversed(sizes))) for sizes in (found.sizes, found.box))
    steps = f", every {'×'.join(map(str, reversed(found.steps)))}th element" if set(found.steps) != {1} else ""
    swizzle = f", swizzled by {found.swizzle} bytes" if found.swizzle else ""
    if found.corners:
        return f"{shape} {dtype}, columns of {found.box[1]} pixels with {found.box[0]} channels{steps}{swizzle}"
    return f"{shape} {dtype}, boxes of {box}{steps}{swizzle}"


def driver_arguments(found: TensorDescriptor, kind: str) -> tuple:
    """The arguments of `cuTensorMapEncodeTiled`, which takes strides of all dimensions but the fastest, or of
    `cuTensorMapEncodeIm2col`, which takes corners, channels and pixels in the place of a box."""
    from cuda.bindings import driver

    swizzles = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}
    long, short = driver.cuuint64_t, driver.cuuint32_t
    box: tuple[Any, ...] = ([short(n) for n in found.box],)
    if found.corners:
        channels, pixels = found.box
        box = ([low for low, _ in found.corners], [high for _, high in found.corners], channels, pixels)
    return (
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{kind}"),
        found.rank,
        found.address,
        [long(n) for n in found.sizes],
        [long(n) for n in found.strides[1:]],
        *box,
        [short(n) for n in found.steps],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzles[found.swizzle]}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )


def _encoded_by_driver(found: TensorDescriptor, dtype: str) -> TensorMap:
    from cuda.bindings import driver

    encode = driver.cuTensorMapEncodeIm2col if found.corners else driver.cuTensorMapEncodeTiled
    status, encoded = encode(*driver_arguments(found, _TYPES[dtype]))
    if status != driver.CUresult.CUDA_SUCCESS:
        raise ValueError(f"the driver refused the tensor map ({status.name}): it needs a GPU of compute capability 9.0")
    return as_argument(bytes(np.array([int(word) for word in encoded.opaque], np.uint64)), in_words(found, dtype))


def __dir__() -> list[str]:
    return ["im2col_map", "tensor_map"]
