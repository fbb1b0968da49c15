"""Textures and surfaces, and the table of their handles.

A texture is memory (a `Resource`) read through a `Sampler`; a surface is a resource read and written directly. A
kernel gets a 64-bit handle. Handles are never reused, so the use of a destroyed one can be reported.

CUDA arrays are stored row by row. Hardware stores them in blocks that are close in two dimensions; the layout is not
documented. Only for counting sectors, a sector of a 2-D or 3-D array is taken to hold 16 bytes of each of two rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vgpu.base import steady
from vgpu.base.context import TEXTURE_FIELD
from vgpu.storage import memory

WRAP, CLAMP, MIRROR, BORDER = range(4)  # CUDA's numbers for address modes
GEOMETRIES = ("fetch", "1d", "2d", "3d", "a1d", "a2d")  # as PTX names them; "fetch" is linear memory
AXES = {"fetch": 1, "1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}  # coordinates besides the layer
CALLS = {
    "fetch": "tex1Dfetch", "1d": "tex1D", "2d": "tex2D", "3d": "tex3D", "a1d": "tex1DLayered", "a2d": "tex2DLayered",
}  # fmt: skip
SURFACE_CALLS = {"1d": "surf1D", "2d": "surf2D", "3d": "surf3D", "a1d": "surf1DLayered", "a2d": "surf2DLayered"}
TILE_BYTES, TILE_ROWS = 16, 2


@dataclass(frozen=True)
class Format:
    """A texel: `kind` "s", "u" or "f", bits of a channel (8, 16 or 32), and 1, 2 or 4 channels."""

    kind: str
    bits: int
    channels: int

    @property
    def nbytes(self) -> int:
        return self.bits // 8 * self.channels

    def __str__(self) -> str:
        kind = {"s": "signed", "u": "unsigned", "f": "float"}[self.kind]
        return f"{self.channels} × {self.bits}-bit {kind}"


@dataclass(frozen=True, eq=False)
class Resource:
    """Memory as texels: sizes in texels (`depth` counts layers too), `row_bytes` and `slice_bytes` between them."""

    allocation: object = field(repr=False)
    address: int = field(repr=False)
    format: Format
    geometry: str
    width: int
    height: int = 1
    depth: int = 1
    row_bytes: int = 0
    slice_bytes: int = 0
    array: bool = True  # a CUDA array, and not plain memory

    @property
    def tiled(self) -> bool:
        """Whether sectors are counted as blocks of two rows."""
        return self.array and self.geometry in ("2d", "3d", "a2d")

    @property
    def shape_text(self) -> str:
        sizes = {
            "2d": (self.width, self.height), "3d": (self.width, self.height, self.depth), "a1d": (self.width,),
            "a2d": (self.width, self.height),
        }.get(self.geometry, (self.width,))  # fmt: skip
        text = " × ".join(str(n) for n in sizes) + " texels"
        return f"{self.depth} layers of {text}" if self.geometry in ("a1d", "a2d") else text


@dataclass(frozen=True)
class Sampler:
    """How a texture is read: an address mode for each axis, filter, coordinates and conversion of integers."""

    modes: tuple[int, ...] = (CLAMP, CLAMP, CLAMP)
    linear: bool = False
    normalised: bool = False  # coordinates run from 0 to 1
    unit_read: bool = False  # integers are read as floats in [0, 1] or [-1, 1]
    border: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Bound:
    """A texture or surface with its handle; a surface has no sampler, and `sampler` is an unused default."""

    handle: int
    resource: Resource
    sampler: Sampler
    is_surface: bool
    _words: list[np.ndarray] = field(default_factory=list, repr=False)  # made when a kernel first reads it

    @property
    def gives_floats(self) -> bool:
        return self.resource.format.kind == "f" or self.sampler.unit_read

    @property
    def modes(self) -> tuple[int, ...]:
        """The effective address modes: without normalised coordinates, wrap and mirror are clamp."""
        known = self.sampler.modes[: AXES[self.resource.geometry]]
        if self.sampler.normalised:
            return known
        return tuple(CLAMP if mode in (WRAP, MIRROR) else mode for mode in known)

    @property
    def freed(self) -> bool:
        return bool(getattr(self.resource.allocation, "freed", False))

    def words(self, functions: Callable[[Bound], dict[str, int]]) -> np.ndarray:
        """The descriptor that compiled kernels read: an int64 for each of TEXTURE_FIELD.

        `functions` returns the addresses of the functions that sample the texture.
        """
        if self._words:
            return self._words[0]
        resource = self.resource
        values = {name: getattr(resource, name) for name in _COPIED_FIELDS}
        values |= {
            "code": code(resource.geometry, None if self.is_surface else self.gives_floats),
            "texel_bytes": resource.format.nbytes,
            "tile": int(resource.tiled),
        }
        if not self.is_surface:
            border = np.array(self.sampler.border, np.float32).view(np.uint32).tolist()
            values |= {f"border_{channel}": bits for channel, bits in enumerate(border)}
            values |= functions(self)
        words = np.zeros(len(TEXTURE_FIELD), np.int64)
        for name, value in values.items():
            words[TEXTURE_FIELD[name]] = value
        self._words.append(words)
        return self._words[0]


_COPIED_FIELDS = ("address", "width", "height", "depth", "row_bytes", "slice_bytes")  # from resource to descriptor


def code(geometry: str, floats: bool | None) -> int:
    """The code that an instruction compares with its own kind of texture; `floats` is None for a surface."""
    return 3 * GEOMETRIES.index(geometry) + {None: 1, False: 2, True: 3}[floats]


_lock = steady.lock(rank=3)
_serials = itertools.count(1)
_live: dict[int, Bound] = {}
_issued = 0  # the highest handle given so far


def create(resource: Resource, sampler: Sampler | None) -> int:
    """The handle of a new texture, or of a surface where `sampler` is None."""
    global _issued
    with _lock:
        handle = next(_serials)
        _live[handle] = Bound(handle, resource, sampler or Sampler(), sampler is None)
        _issued = handle
        return handle


def destroy(handle: int) -> None:
    """Remove a handle; an unknown one is ignored."""
    _live.pop(handle, None)


def lookup(handle: int) -> Bound | None:
    """The texture or surface of a handle; None if there is none, or if its memory has been freed."""
    bound = _live.get(int(handle))
    return None if bound is None or bound.freed else bound


def table(functions: Callable[[Bound], dict[str, int]]) -> tuple[np.ndarray, list[Bound]]:
    """The addresses of the descriptors by handle (0: none), and the objects to keep alive while they are used.

    functions: returns the addresses of the functions that sample a texture, by their names in TEXTURE_FIELD.
    """
    with _lock:
        bounds = [bound for bound in list(_live.values()) if not bound.freed]
        pointers = np.zeros(_issued + 1, np.int64)
    for bound in bounds:
        pointers[bound.handle] = bound.words(functions).ctypes.data
    return pointers, bounds


def complaint(handle: int, geometry: str, surface: bool, floats: bool | None) -> tuple[str, str] | None:
    """What is wrong with such a use of a handle, and the usual fix; None if it is right."""
    wanted = "surface" if surface else "texture"
    if handle == 0:
        return f"a null handle was used as a {wanted}", f"pass a {wanted} object for every such parameter."
    bound = _live.get(handle)
    if bound is None:
        if handle <= _issued:
            return (
                f"the {wanted} object was destroyed already",
                "keep a reference to the object for as long as kernels use it.",
            )
        found = memory.describe(handle)
        if found.allocation is not None and found.offset < found.allocation.nbytes:
            return (
                f"the address of an array was used as a {wanted} handle",
                f"pass a {wanted} object, or take a pointer in the kernel.",
            )
        return f"the number {handle} is no {wanted} handle", f"pass a {wanted} object."
    if bound.freed:
        return (
            f"the memory behind the {wanted} was freed already",
            "keep a reference to the array for as long as kernels use it.",
        )
    if bound.is_surface != surface:
        have = "surface" if bound.is_surface else "texture"
        return (
            f"a {have} object was used as a {wanted}",
            f"pass a {wanted} object, or call the functions for a {have}.",
        )
    calls = SURFACE_CALLS if surface else CALLS
    if bound.resource.geometry != geometry:
        right = calls.get(bound.resource.geometry, "another function")
        return (
            f"{calls[geometry]} was called for a {wanted} that {right} reads ({bound.resource.shape_text})",
            f"call {right}, or make the {wanted} over a resource of another kind.",
        )
    if not surface and floats != bound.gives_floats:
        gives, wanted = ("floats", "integers") if bound.gives_floats else ("integers", "floats")
        return (
            f"the kernel asks for {wanted}, and the texture ({bound.resource.format}) gives {gives}",
            "name the texels' own type in the call, or read integers as cudaReadModeNormalizedFloat.",
        )
    return None
