"""`cupy.cuda.texture`: CUDA arrays, textures and surfaces, on the virtual GPU.

Constructors and attributes are CuPy's. What CUDA refuses raises `CUDARuntimeError` with CUDA's name for the error.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from vgpu import operations
from vgpu.base.errors import Unsupported
from vgpu.standins.cupy import cudart as runtime
from vgpu.standins.cupy import streams
from vgpu.standins.cupy.missing import missing
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.storage import memory, textures

_LAYERED = 1  # CUDA's flag; CuPy has no name for it
_MOST_BYTES = 2**31  # offsets within a texture are 32-bit numbers here
_KINDS = {
    runtime.cudaChannelFormatKindSigned: "s",
    runtime.cudaChannelFormatKindUnsigned: "u",
    runtime.cudaChannelFormatKindFloat: "f",
}


def _invalid(why: str) -> runtime.CUDARuntimeError:
    return runtime.CUDARuntimeError(f"cudaErrorInvalidValue: {why}")


def _allocation_of(array: np.ndarray) -> memory.Allocation:
    allocation = memory.owner(array)
    assert allocation is not None, "arrays on the device lie in allocations"
    return allocation


class ChannelFormatDescriptor:
    """The channels of a texel: bits of x, y, z and w, and one of runtime.cudaChannelFormatKind…"""

    def __init__(self, x: int, y: int, z: int, w: int, f: int):
        self._given = {"x": int(x), "y": int(y), "z": int(z), "w": int(w), "f": int(f)}

    def get_channel_format(self) -> dict:
        """What was given."""
        return dict(self._given)

    def _format(self) -> textures.Format:
        bits = [self._given[name] for name in "xyzw"]
        used = [b for b in bits if b]
        kind = _KINDS.get(self._given["f"])
        same = len(used) in (1, 2, 4) and len(set(used)) == 1 and bits[: len(used)] == used
        if kind is None or not same or used[0] not in ((16, 32) if kind == "f" else (8, 16, 32)):
            raise runtime.CUDARuntimeError(
                f"cudaErrorInvalidChannelDescriptor: {self._given}. A texel has 1, 2 or 4 channels of 8, 16 or 32 "
                "bits each, all the same; floats have 16 or 32."
            )
        return textures.Format(kind, used[0], len(used))


class CUDAarray:
    """Memory for texels of 1, 2 or 3 dimensions, or in layers (flag 1), read through textures and surfaces only.

    Sizes are in texels; height 0 means one dimension, depth 0 at most two. With the flag for layers, depth is their
    number. As on a GPU, memory pools don't count it.
    """

    def __init__(self, desc: ChannelFormatDescriptor, width: int, height: int = 0, depth: int = 0, flags: int = 0):
        if not isinstance(desc, ChannelFormatDescriptor):
            raise TypeError(f"desc is a ChannelFormatDescriptor, and {type(desc).__name__} was given")
        if width <= 0 or height < 0 or depth < 0:
            raise _invalid(f"an array of {width} × {height} × {depth} texels; the width is at least 1")
        if flags & ~(_LAYERED | runtime.cudaArraySurfaceLoadStore):
            raise Unsupported(
                "the virtual GPU has arrays in one to three dimensions and in layers, with surfaces: cube maps, sparse "
                "arrays and arrays made for gathering need a GPU."
            )
        if depth and not height and not flags & _LAYERED:
            raise _invalid("an array with a depth needs a height")
        self.desc, self.width, self.height, self.depth, self.flags = desc, width, height, depth, flags
        self.ndim = 3 if depth else 2 if height else 1
        self._format = desc._format()
        shape = self._shape()
        nbytes = math.prod(shape) * self._format.bits // 8
        if nbytes > _MOST_BYTES:
            raise Unsupported(f"an array of {nbytes} bytes: the virtual GPU's textures have at most {_MOST_BYTES}")
        self._texels = memory.array(shape, self._dtype(), label="CUDA array", kind="cuda array")
        self._allocation = _allocation_of(self._texels)

    @property
    def ptr(self) -> int:
        """A number for the array; kernels cannot use it."""
        return self._allocation.serial

    def _dtype(self) -> np.dtype:
        return np.dtype(f"{ {'s': 'i'}.get(self._format.kind, self._format.kind) }{self._format.bits // 8}")

    def _shape(self) -> tuple[int, ...]:
        row = self.width * self._format.channels
        if self.depth:
            return (self.depth, max(self.height, 1), row) if self.height else (self.depth, row)
        return (self.height, row) if self.height else (row,)

    def _check(self, arr, contiguous: bool) -> np.ndarray:
        host = arr._host if isinstance(arr, ndarray) else arr
        if not isinstance(host, np.ndarray):
            raise TypeError(f"an array of CuPy or NumPy is needed, and {type(arr).__name__} was given")
        wanted = self._shape()
        if host.shape != wanted:
            raise ValueError(
                f"the array has shape {host.shape}, and this CUDA array needs {wanted}: "
                f"{self._format.channels} channels side by side in the last axis"
            )
        if host.dtype != self._dtype():
            raise ValueError(f"the array is {host.dtype.name}, and the texels are {self._dtype().name}: use astype")
        if contiguous and not host.flags.c_contiguous:
            raise ValueError("the array must be C-contiguous: copy into a fresh one")
        return host

    def copy_from(self, in_arr, stream=None) -> None:
        """Copy from an array of CuPy or NumPy: (depth, height, channels × width), or fewer axes.

        Errors: ValueError for another shape or dtype.
        """
        self._copy(in_arr, self._check(in_arr, False), stream, "H2D")

    def copy_to(self, out_arr, stream=None) -> None:
        """Copy to a C-contiguous array of CuPy or NumPy of the same shape and dtype; else ValueError."""
        self._copy(out_arr, self._check(out_arr, True), stream, "D2H")

    def _copy(self, arr, host: np.ndarray, stream, kind: str) -> None:
        """One copy in a stream, else in the current one."""
        target, source = (self._texels, host) if kind == "H2D" else (host, self._texels)
        queue = streams.queue_of(stream)

        def run() -> None:
            target[...] = source

        if isinstance(arr, ndarray):
            touched = operations.access(source, False) + operations.access(target, True)
            copy = operations.Operation(
                "D2D", None, "D2D (CUDA array)", host.nbytes, asynchronous=True, accesses=touched
            )
            operations.submit(queue, copy, run)
        else:
            operations.copy(queue, kind, host, self._texels, run, asynchronous=stream is not None)

    def _resource(self) -> textures.Resource:
        f, layered = self._format, bool(self.flags & _LAYERED)
        row = self.width * f.nbytes
        geometry = ("a2d" if self.height else "a1d") if layered else f"{self.ndim}d"
        height, depth = max(self.height, 1), max(self.depth, 1)
        return textures.Resource(
            self._allocation, self._allocation.address, f, geometry, self.width, height, depth, row, row * height
        )


class ResourceDescriptor:
    """The memory of a texture or surface: a CUDAarray, linear or pitched memory (runtime.cudaResourceType…)."""

    def __init__(
        self, restype: int, cuArr=None, arr=None, chDesc=None, sizeInBytes=0, width=0, height=0, pitchInBytes=0
    ):
        if restype == runtime.cudaResourceTypeMipmappedArray:
            raise missing("cuda.texture.ResourceDescriptor for mipmapped arrays", "cudaResourceTypeArray: one level")
        needs = {
            runtime.cudaResourceTypeArray: (("cuArr", cuArr, CUDAarray),),
            runtime.cudaResourceTypeLinear: (("arr", arr, ndarray), ("chDesc", chDesc, ChannelFormatDescriptor)),
            runtime.cudaResourceTypePitch2D: (("arr", arr, ndarray), ("chDesc", chDesc, ChannelFormatDescriptor)),
        }
        if restype not in needs:
            raise ValueError(f"restype is {restype}: use one of runtime.cudaResourceType…")
        for name, value, kind in needs[restype]:
            if not isinstance(value, kind):
                raise TypeError(
                    f"this resource needs {name}, of type {kind.__name__}; {type(value).__name__} was given"
                )
        self.cuArr, self.arr, self.chDesc = cuArr, arr, chDesc
        self._given = {
            "resType": restype, "sizeInBytes": int(sizeInBytes), "width": int(width), "height": int(height),
            "pitchInBytes": int(pitchInBytes),
        }  # fmt: skip

    def get_resource_desc(self) -> dict:
        """What was given."""
        return dict(self._given) | {"cuArr": self.cuArr, "arr": self.arr, "chDesc": self.chDesc}

    def _resource(self) -> textures.Resource:
        if self.cuArr is not None and self._given["resType"] == runtime.cudaResourceTypeArray:
            return self.cuArr._resource()
        host, f = self.arr._host, self.chDesc._format()
        address, allocation = host.ctypes.data, _allocation_of(host)
        if address % memory.ALIGNMENT:
            raise _invalid(f"a texture begins at a multiple of {memory.ALIGNMENT} bytes: copy the part of the array")
        if self._given["resType"] == runtime.cudaResourceTypeLinear:
            nbytes, width, height = self._given["sizeInBytes"], self._given["sizeInBytes"] // f.nbytes, 1
            geometry, pitch = "fetch", self._given["sizeInBytes"]
        else:
            width, height, pitch = (self._given[name] for name in ("width", "height", "pitchInBytes"))
            geometry, nbytes = "2d", pitch * max(height - 1, 0) + width * f.nbytes
            if pitch % 32 or pitch < width * f.nbytes:
                raise _invalid(f"the pitch is {pitch} bytes: it has to be a multiple of 32 and hold a row")
        if not width or not height or address - allocation.address + nbytes > allocation.nbytes:
            raise _invalid(f"a resource of {nbytes} bytes over an array of {host.nbytes}")
        if nbytes > _MOST_BYTES:
            raise Unsupported(f"a texture of {nbytes} bytes: the virtual GPU's have at most {_MOST_BYTES}")
        return textures.Resource(allocation, address, f, geometry, width, height, 1, pitch, nbytes, array=False)


class TextureDescriptor:
    """How a texture is read: runtime.cudaAddressMode…, cudaFilterMode… and cudaReadMode…, as CuPy takes them."""

    def __init__(
        self, addressModes=None, filterMode=0, readMode=0, sRGB=None, borderColors=None, normalizedCoords=None,
        maxAnisotropy=None,
    ):  # fmt: skip
        modes, border = tuple(addressModes or ()), tuple(borderColors or ())
        if len(modes) > 3:
            raise ValueError(f"{len(modes)} address modes were given: a texture has at most three axes")
        if len(border) > 4:
            raise ValueError(f"{len(border)} border colours were given: a texel has at most four channels")
        self._given = {
            "addressMode": (*modes, 0, 0, 0)[:3], "filterMode": filterMode, "readMode": readMode, "sRGB": sRGB or 0,
            "borderColor": (*map(float, border), 0.0, 0.0, 0.0, 0.0)[:4],
            "normalizedCoords": int(normalizedCoords or 0), "maxAnisotropy": maxAnisotropy or 0,
        }  # fmt: skip

    def get_texture_desc(self) -> dict:
        """What was given, and CUDA's defaults."""
        return dict(self._given)

    def _sampler(self, f: textures.Format, geometry: str) -> textures.Sampler:
        given = self._given
        if given["sRGB"]:
            raise Unsupported("the virtual GPU has no sRGB textures: convert the texels, or leave sRGB out.")
        if given["filterMode"] not in (0, 1) or given["readMode"] not in (0, 1):
            raise _invalid(f"filterMode {given['filterMode']} or readMode {given['readMode']} is none of CUDA's")
        if any(mode not in range(4) for mode in given["addressMode"]):
            raise _invalid(f"addressModes {given['addressMode']} are none of CUDA's")
        unit = bool(given["readMode"]) and f.kind != "f"
        if unit and f.bits == 32:
            raise _invalid("only integers of 8 and 16 bits can be read as cudaReadModeNormalizedFloat")
        linear = bool(given["filterMode"])
        if linear and f.kind != "f" and not unit:
            raise runtime.CUDARuntimeError(
                "cudaErrorInvalidFilterSetting: linear filtering gives floats; read integers of 8 or 16 bits as "
                "cudaReadModeNormalizedFloat"
            )
        if geometry == "fetch" and (linear or given["normalizedCoords"]):
            raise _invalid("linear memory is read by index only: no filtering, no normalised coordinates")
        bordered = textures.BORDER in given["addressMode"][: textures.AXES[geometry]]
        if bordered and any(given["borderColor"]) and f.kind != "f" and not unit:
            raise Unsupported(
                "the virtual GPU has border colours of textures that give floats only: use a border of 0."
            )
        return textures.Sampler(
            given["addressMode"], linear, bool(given["normalizedCoords"]), unit, given["borderColor"]
        )


class _Handle:
    """An object whose `ptr` is a handle that kernels take; the handle is destroyed with the object."""

    ResDesc: ResourceDescriptor

    def _create(self, resource: textures.Resource, sampler: textures.Sampler | None) -> None:
        self.ptr = textures.create(resource, sampler)
        weakref.finalize(self, textures.destroy, self.ptr).atexit = False

    def __repr__(self) -> str:
        array = self.ResDesc.cuArr
        shape = "linear memory" if array is None else " × ".join(
            str(n) for n in (array.width, array.height, array.depth) if n
        )  # fmt: skip
        return f"<{type(self).__name__} over {shape}>"


class TextureObject(_Handle):
    """A texture for a kernel's parameter of type cudaTextureObject_t; it keeps the memory alive."""

    def __init__(self, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor):
        if not isinstance(ResDesc, ResourceDescriptor) or not isinstance(TexDesc, TextureDescriptor):
            raise TypeError("TextureObject takes a ResourceDescriptor and a TextureDescriptor")
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        resource = ResDesc._resource()
        self._create(resource, TexDesc._sampler(resource.format, resource.geometry))


class SurfaceObject(_Handle):
    """A surface for a kernel's parameter of type cudaSurfaceObject_t, over an array with cudaArraySurfaceLoadStore."""

    def __init__(self, ResDesc: ResourceDescriptor):
        if not isinstance(ResDesc, ResourceDescriptor):
            raise TypeError("SurfaceObject takes a ResourceDescriptor")
        self.ResDesc = ResDesc
        if ResDesc.cuArr is None:
            raise _invalid("a surface needs a CUDAarray (cudaResourceTypeArray)")
        if not ResDesc.cuArr.flags & runtime.cudaArraySurfaceLoadStore:
            raise _invalid("make the CUDAarray with flags=runtime.cudaArraySurfaceLoadStore to have a surface over it")
        self._create(ResDesc._resource(), None)
