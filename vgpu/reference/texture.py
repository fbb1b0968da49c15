"""Textures and surfaces in the reference interpreter: one lane and one texel at a time, by the documented formulas.

Source: NVIDIA, "CUDA C++ Programming Guide", appendix "Texture Fetching", and "PTX ISA", chapters on texture and
surface instructions. Everything is computed in single precision, in the order in which it is written there.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np

from vgpu import isa
from vgpu.base.errors import Misaligned, OutOfBounds, Unsupported
from vgpu.faults.texture import BadHandle
from vgpu.ptx import Instruction, Mem, Pair
from vgpu.ptx import Vec as Vector
from vgpu.reference.warp import Frame, Warp
from vgpu.storage import textures

f32 = np.float32
DTYPES = {"s": "i", "u": "u", "f": "f"}


def _unknown(instruction: Instruction) -> Unsupported:
    return Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")


def _bound(
    warp: Warp, instruction: Instruction, lane: int, handle: int, geometry: str, surface: bool, floats: bool | None
) -> textures.Bound:
    """The texture or surface of a handle; raises BadHandle if the instruction can't use it."""
    wrong = textures.complaint(handle, geometry, surface, floats)
    if wrong is not None:
        raise BadHandle(f"{wrong[0]}, {warp.position(instruction, lane)}", **warp.where(instruction, lane))
    found = textures.lookup(handle)
    assert found is not None, "`complaint` reports every handle without memory"
    return found


def _coordinates(warp: Warp, frame: Frame, memory: Mem, kind: str) -> np.ndarray:
    return np.stack([warp.read(frame, item, isa.TYPES[kind]) for item in memory.coordinates or ()])


# ---------------------------------------------------------------- textures


def read(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`tex` and `tld4`."""
    target, memory, *more = instruction.operands
    words = instruction.modifiers
    geometry = next((word for word in words if word in textures.GEOMETRIES), None)
    kind, result = words[-1], words[-2]
    if kind == "s32":
        geometry = "fetch" if geometry == "1d" else None
    if geometry is None or "v4" not in words or result not in ("f32", "u32", "s32"):
        raise _unknown(instruction)
    if more and "level" not in words and "grad" not in words:
        raise _unknown(instruction)
    handles = warp.read(frame, memory.base, isa.TYPES["u64"])
    given = _coordinates(warp, frame, memory, "u32")
    channel = "rgba".index(words[0]) if instruction.opcode == "tld4" else None
    values = np.zeros((4, 32), np.uint32)
    for lane in np.flatnonzero(mask).tolist():
        bound = _bound(warp, instruction, lane, int(handles[lane]), geometry, False, result == "f32")
        if channel is not None and not bound.gives_floats:
            what = f"tex2Dgather of a texture of {bound.resource.format}"
            raise BadHandle(f"{what}, {warp.position(instruction, lane)}", **warp.where(instruction, lane))
        values[:, lane] = _texture(bound, given[:, lane], channel).view(np.uint32)
    if isinstance(target, Pair):
        warp.write(frame, target.second, np.ones(32, bool), isa.TYPES["pred"], mask)
        target = target.first
    for register, lanes in zip(target.items, values, strict=True):
        warp.write(frame, register, lanes, isa.TYPES["u32"], mask)


def _texture(bound: textures.Bound, given: np.ndarray, channel: int | None) -> np.ndarray:
    """The four words that one lane reads."""
    resource, sampler = bound.resource, bound.sampler
    if resource.geometry == "fetch":
        index = int(given[0])
        return _four(_texel(bound, (index,)) if index < resource.width else _zeros(bound))
    layer = None
    if resource.geometry in ("a1d", "a2d"):
        layer, given = min(int(given[0]), resource.depth - 1), given[1:]
    sizes = (resource.width, resource.height, resource.depth)[: textures.AXES[resource.geometry]]
    coordinates = given[: len(sizes)].view(f32)
    axes = []
    for x, n, mode in zip(coordinates, sizes, bound.modes, strict=True):
        x = _in_texels(x, n, mode, sampler.normalised)
        if sampler.linear or channel is not None:
            shifted = f32(x - f32(0.5))
            i = int(np.floor(shifted))
            alpha = f32(np.floor(f32((shifted - f32(i)) * f32(256)) + f32(0.5)) / f32(256))
            axes.append([(_index(i, n, mode), f32(1) - alpha), (_index(i + 1, n, mode), alpha)])
        else:
            axes.append([(_index(int(np.floor(x)), n, mode), f32(1))])

    def fetch(position: tuple[int | None, ...]) -> np.ndarray:
        known = tuple(index for index in position if index is not None)
        return _texel(bound, known, layer) if len(known) == len(position) else _border(bound)

    if channel is not None:
        (left, right), (upper, lower) = axes
        corners = [(left, lower), (right, lower), (right, upper), (left, upper)]
        found = [_four(fetch((x[0], y[0])))[channel] for x, y in corners]
        return np.array(found)
    if not sampler.linear:
        return _four(fetch(tuple(axis[0][0] for axis in axes)))
    total: np.ndarray | None = None
    with np.errstate(invalid="ignore", over="ignore"):
        for corner in itertools.product(*axes[::-1]):
            weight = f32(np.prod([w for _, w in corner[::-1]], dtype=f32))
            part = weight * fetch(tuple(index for index, _ in corner[::-1]))
            total = part if total is None else total + part
    assert total is not None, "a texture has at least one axis"
    return _four(total)


def _in_texels(x: Any, n: int, mode: int, normalised: bool) -> Any:
    """The coordinate in texels; wrap and mirror bring it into 0 … n, the others leave it at most one texel outside."""
    if not normalised:
        return _clamped(x, n)
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.floor(x)
        fraction = x - whole
        if mode == textures.WRAP:
            x = fraction
        elif mode == textures.MIRROR:
            x = fraction if np.fmod(whole, f32(2)) == 0 else f32(1) - fraction
        x = f32(x * f32(n))
    if mode in (textures.WRAP, textures.MIRROR):
        return x if x >= 0 else f32(0)
    return _clamped(x, n)


def _clamped(x: Any, n: int) -> Any:
    """A coordinate clamped to one texel outside the texture."""
    if not x > -1:  # NaN too
        return f32(-1)
    return x if x < n + 1 else f32(n + 1)


def _index(i: int, n: int, mode: int) -> int | None:
    """The texel that stands for index i, or None for the border."""
    if 0 <= i < n:
        return i
    if mode == textures.BORDER:
        return None
    if mode == textures.WRAP:
        return i % n
    return 0 if i < 0 else n - 1


def _zeros(bound: textures.Bound) -> np.ndarray:
    return np.zeros(bound.resource.format.channels, f32 if bound.gives_floats else np.uint32)


def _border(bound: textures.Bound) -> np.ndarray:
    if not bound.gives_floats:
        return _zeros(bound)
    return np.array(bound.sampler.border, f32)[: bound.resource.format.channels]


def _texel(bound: textures.Bound, position: tuple[int, ...], layer: int | None = None) -> np.ndarray:
    """A texel's channels as float32, or as 32-bit words where integers stay integers."""
    resource, f = bound.resource, bound.resource.format
    x, y, z = (*position, 0, 0)[:3]
    z = z if layer is None else layer
    start = resource.address + z * resource.slice_bytes + y * resource.row_bytes + x * f.nbytes
    raw = np.frombuffer(ctypes.string_at(start, f.nbytes), f"{DTYPES[f.kind]}{f.bits // 8}")
    if f.kind == "f":
        return raw.astype(f32)
    if not bound.sampler.unit_read:
        return raw.astype(np.int32 if f.kind == "s" else np.uint32).view(np.uint32)
    most = np.iinfo(raw.dtype).max
    return np.maximum(raw.astype(f32) / f32(most), f32(-1))


def _four(channels: np.ndarray) -> np.ndarray:
    return np.concatenate([channels, np.zeros(4 - len(channels), channels.dtype)])


# ---------------------------------------------------------------- surfaces


def surface(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`suld.b` and `sust.b`: x counts bytes."""
    words, storing = instruction.modifiers, instruction.opcode == "sust"
    memory, data = instruction.operands if storing else instruction.operands[::-1]
    geometry = next((word for word in words if word in textures.SURFACE_CALLS), None)
    word = next((w for w in words if w in ("b8", "b16", "b32", "b64")), None)
    if geometry is None or word is None or words[0] != "b" or words[-1] not in ("trap", "clamp", "zero"):
        raise _unknown(instruction)
    registers = data.items if isinstance(data, Vector) else (data,)
    kind = isa.TYPES[word]
    nbytes = kind.bits // 8 * len(registers)
    handles = warp.read(frame, memory.base, isa.TYPES["u64"])
    given = _coordinates(warp, frame, memory, "s32")
    rows = np.zeros((32, nbytes), np.uint8)
    if storing:
        values = [warp.read(frame, item, kind) for item in registers]
        rows = np.ascontiguousarray(np.stack(values, axis=1)).view(np.uint8)
    for lane in np.flatnonzero(mask).tolist():
        bound = _bound(warp, instruction, lane, int(handles[lane]), geometry, True, None)
        start = _surface_address(warp, instruction, lane, bound.resource, given[:, lane].tolist(), nbytes, words[-1])
        if start is None:
            continue
        if storing:
            ctypes.memmove(start, rows[lane].tobytes(), nbytes)
        else:
            rows[lane] = np.frombuffer(ctypes.string_at(start, nbytes), np.uint8)
    if not storing:
        columns = rows.view(kind.dtype)
        for index, register in enumerate(registers):
            warp.write(frame, register, columns[:, index], kind, mask)


def _surface_address(
    warp: Warp,
    instruction: Instruction,
    lane: int,
    resource: textures.Resource,
    given: list[int],
    nbytes: int,
    mode: str,
) -> int | None:
    """The host address of an access, or None for one without effect."""
    if resource.geometry in ("a1d", "a2d"):
        layer, *given = given
        x, y, z = (given[0], given[1] if resource.geometry == "a2d" else 0, layer)
    else:
        axes = textures.AXES[resource.geometry]
        x, y, z = (*given[:axes], 0, 0)[:3]
    highest = (resource.width * resource.format.nbytes - nbytes, resource.height - 1, resource.depth - 1)
    if mode == "clamp":
        x, y, z = (min(max(value, 0), most) for value, most in zip((x, y, z), highest, strict=True))
    if not all(0 <= value <= most for value, most in zip((x, y, z), highest, strict=True)):
        if mode == "zero":
            return None
        text = f"surface access of {nbytes} bytes at byte {x}, row {y}, slice {z} of {resource.shape_text}"
        raise OutOfBounds(f"{text}, {warp.position(instruction, lane)}", **warp.where(instruction, lane))
    if x % nbytes:
        text = f"surface access at byte {x}, which is no multiple of {nbytes}"
        raise Misaligned(f"{text}, {warp.position(instruction, lane)}", **warp.where(instruction, lane))
    return resource.address + z * resource.slice_bytes + y * resource.row_bytes + x


def query(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`txq` and `suq`: sizes in texels; the number of layers is the depth."""
    target, memory = instruction.operands
    names = {"width": "width", "height": "height", "depth": "depth", "array_size": "depth"}
    word = next((w for w in instruction.modifiers if w in names), None)
    if word is None or "level" in instruction.modifiers:
        raise _unknown(instruction)
    handles, found = warp.read(frame, memory.base, isa.TYPES["u64"]), np.zeros(32, np.uint32)
    surface = instruction.opcode == "suq"
    for lane in np.flatnonzero(mask).tolist():
        handle = int(handles[lane])
        bound = textures.lookup(handle)
        geometry = bound.resource.geometry if bound is not None else "2d"
        floats = None if bound is None or bound.is_surface else bound.gives_floats
        found[lane] = getattr(_bound(warp, instruction, lane, handle, geometry, surface, floats).resource, names[word])
    warp.write(frame, target, found, isa.TYPES["u32"], mask)


ACTIONS = {"texture": read, "surface": surface, "texture_query": query}
