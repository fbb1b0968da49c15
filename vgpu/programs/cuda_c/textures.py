"""CUDA arrays, textures and surfaces as a program in C++ makes them: CuPy's classes, from CUDA's structures."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from vgpu.programs.cuda_c.operands import live
from vgpu.standins.cupy import cudart
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.pointer import Memory, MemoryPointer
from vgpu.standins.cupy.texture import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    SurfaceObject,
    TextureDescriptor,
    TextureObject,
)

if TYPE_CHECKING:
    from vgpu.programs.cuda_c.handles import Handles


class _Channels(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_int) for name in "xyzwf")]


class _Linear(ctypes.Structure):
    _fields_ = [("address", ctypes.c_size_t), ("channels", _Channels), ("nbytes", ctypes.c_size_t)]


class _Pitched(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_size_t),
        ("channels", _Channels),
        *((name, ctypes.c_size_t) for name in ("width", "height", "pitch")),
    ]


class _Kinds(ctypes.Union):
    _fields_ = [("array", ctypes.c_size_t), ("linear", _Linear), ("pitched", _Pitched), ("room", ctypes.c_int * 32)]


class ResourceDesc(ctypes.Structure):
    """`cudaResourceDesc`."""

    _fields_ = [("kind", ctypes.c_int), ("of", _Kinds), ("flags", ctypes.c_uint)]


class TextureDesc(ctypes.Structure):
    """`cudaTextureDesc`, as far as textures without mipmaps use it."""

    _fields_ = [
        ("modes", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("read", ctypes.c_int),
        ("srgb", ctypes.c_int),
        ("border", ctypes.c_float * 4),
        ("normalised", ctypes.c_int),
    ]


class Textures:
    """The calls about arrays, textures and surfaces."""

    def __init__(self, handles: Handles):
        self._handles = handles
        self._objects: dict[int, TextureObject | SurfaceObject] = {}

    def do_array_create(
        self, target: int, x: int, y: int, z: int, w: int, kind: int, width: int, height: int, depth: int, flags: int
    ) -> None:
        made = CUDAarray(ChannelFormatDescriptor(x, y, z, w, kind), width, height, depth, flags)
        ctypes.c_size_t.from_address(target).value = self._handles.add(made)

    def do_array_free(self, array: int) -> None:
        self._handles.drop(array)

    def do_array_rows(self, array: int, target: int) -> None:
        found = self._handles[array]._resource()
        values = found.address, found.row_bytes, found.slice_bytes, found.format.nbytes
        ctypes.memmove(target, (ctypes.c_size_t * 4)(*values), 32)

    def do_array_info(self, array: int, target: int) -> None:
        found = self._handles[array]
        values = *found.desc.get_channel_format().values(), found.width, found.height, found.depth, found.flags
        ctypes.memmove(target, (ctypes.c_long * 9)(*values), 72)

    def do_texture_create(self, target: int, resource: int, texture: int) -> None:
        of = self._resource(ResourceDesc.from_address(resource))
        made = TextureObject(of, _sampler(TextureDesc.from_address(texture))) if texture else SurfaceObject(of)
        self._objects[made.ptr] = made
        ctypes.c_ulonglong.from_address(target).value = made.ptr

    def do_texture_destroy(self, handle: int) -> None:
        self._objects.pop(handle, None)

    def _resource(self, given: ResourceDesc) -> ResourceDescriptor:
        if given.kind == cudart.cudaResourceTypeArray:
            return ResourceDescriptor(given.kind, cuArr=self._handles[given.of.array])
        if given.kind == cudart.cudaResourceTypeLinear:
            of = given.of.linear
            return ResourceDescriptor(
                given.kind, arr=_bytes(of.address), chDesc=_channels(of.channels), sizeInBytes=of.nbytes
            )
        of = given.of.pitched
        return ResourceDescriptor(
            given.kind, arr=_bytes(of.address), chDesc=_channels(of.channels), width=of.width, height=of.height,
            pitchInBytes=of.pitch,
        )  # fmt: skip


def _channels(given: _Channels) -> ChannelFormatDescriptor:
    return ChannelFormatDescriptor(given.x, given.y, given.z, given.w, given.f)


def _bytes(address: int) -> ndarray:
    """Device memory from an address on, as bytes. Raises CUDARuntimeError for any other address."""
    allocation = live(address)
    if allocation is None:
        raise cudart.CUDARuntimeError("cudaErrorInvalidValue: a texture's address isn't on the device")
    nbytes = allocation.address + allocation.nbytes - address
    return ndarray((nbytes,), np.uint8, memptr=MemoryPointer(Memory(address, nbytes, allocation), 0))


def _sampler(given: TextureDesc) -> TextureDescriptor:
    return TextureDescriptor(
        tuple(given.modes), given.filter, given.read, given.srgb, tuple(given.border), given.normalised
    )
