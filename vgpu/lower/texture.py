"""Texture reads and surface accesses in LLVM IR.

A texture read is one call of the runtime, which finds the texture behind the handle and calls the function compiled
for it (`sampling`). A surface access asks the runtime for addresses and moves the data as a load or store does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu import ptx
from vgpu.base.context import CLAMP_OUTSIDE, TEXTURE_FIELD, TEXTURE_RESULTS, TRAP_OUTSIDE, ZERO_OUTSIDE
from vgpu.ir import LANES, Value
from vgpu.ir.value import V32, V64
from vgpu.lower import memory as lower_memory
from vgpu.lower.basic_blocks import items_of
from vgpu.ptx import Imm, Instruction, Mem, Pair, Reg
from vgpu.storage.textures import code

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

COUNTED_KINDS = ("texture", "surface_load", "surface_store")
SITE_KINDS = (*COUNTED_KINDS, "texture_query")
OUTSIDE = {"trap": TRAP_OUTSIDE, "clamp": CLAMP_OUTSIDE, "zero": ZERO_OUTSIDE}
COMPONENTS = {"r": 0, "g": 1, "b": 2, "a": 3}
QUERIES = {"width": "width", "height": "height", "depth": "depth", "array_size": "depth"}
COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}  # the layer, where there is one, comes first


def geometry_of(instruction: Instruction) -> str | None:
    """The geometry an instruction names: reads with integer coordinates are of linear memory."""
    named = next((m for m in instruction.modifiers if m in COORDINATES), None)
    if instruction.opcode in ("tex", "tld4") and instruction.modifiers[-1] == "s32":
        return "fetch" if named == "1d" else None
    return named


def _operands(kernel: Kernel, instruction: Instruction, memory: Mem, count: int) -> tuple[Value, list[Value]]:
    """The handles, and three vectors of coordinates in the order of the instruction."""
    if not isinstance(memory.base, Reg | Imm) or memory.coordinates is None:
        raise kernel.unsupported(f"`{instruction}` of a texture that is no object")
    given = [kernel.lanes_value(c, 32) for c in memory.coordinates[:count]]
    return kernel.lanes_value(memory.base, 64), given + [kernel.ir.i32(0).splat()] * (3 - len(given))


def _result(kernel: Kernel, offset: int, kind: str) -> Value:
    """What the runtime gave, from the worker's buffer."""
    data = kernel.ir.load(kernel.context_place("texture_data"), "ptr", 8)
    return kernel.ir.load(kernel.ir.at(data, TEXTURE_RESULTS + offset), kind, 64)


def read(kernel: Kernel, instruction: Instruction) -> None:
    """`tex` and `tld4`."""
    destination, memory, *more = instruction.operands
    geometry, words = geometry_of(instruction), instruction.modifiers
    result = words[-2]
    levels = {"level", "grad"} & set(words)  # a texture has one level: which is requested makes no difference
    if geometry is None or result not in ("f32", "s32", "u32") or "v4" not in words or (more and not levels):
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    field = TEXTURE_FIELD["sample"]
    if instruction.opcode == "tld4":
        field = TEXTURE_FIELD[f"gather_{next(COMPONENTS[word] for word in words if word in COMPONENTS)}"]
    count = 1 if geometry == "fetch" else COORDINATES[geometry]
    handles, coordinates = _operands(kernel, instruction, memory, count)
    guard = kernel.guard(instruction.guard)
    site = kernel.new_site(instruction, "texture", geometry)
    how = code(geometry, result == "f32")
    kernel.run_time(
        "wb_texture", site, handles, kernel.guarded_mask(guard), how, field, *coordinates, kernel.ir.i32(kernel.count)
    )
    if isinstance(destination, Pair):
        kernel.write(destination.second, kernel.ir.number("i1", 1), guard)  # all of a texture is in memory, always
        destination = destination.first
    for number, place in enumerate(destination.items):
        if place is not None:
            kernel.write(place, _result(kernel, number * 4 * LANES, V32), guard)


def surface(kernel: Kernel, instruction: Instruction) -> None:
    """`suld.b` and `sust.b`."""
    words, storing = instruction.modifiers, instruction.opcode == "sust"
    memory, data = instruction.operands if storing else instruction.operands[::-1]
    geometry = geometry_of(instruction)
    kind = next((m for m in words if m in ("b8", "b16", "b32", "b64")), None)
    if geometry is None or kind is None or words[0] != "b" or words[-1] not in OUTSIDE:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    places = items_of(data)
    size = ptx.TYPE_BYTES[kind]
    handles, (a, b, c) = _operands(kernel, instruction, memory, COORDINATES[geometry])
    if geometry in ("a1d", "a2d"):  # the runtime takes x, y, z
        a, b, c = b, c, a
    guard = kernel.guard(instruction.guard)
    nbytes = size * len(places)
    site = kernel.new_site(instruction, "surface_store" if storing else "surface_load", geometry, nbytes)
    how = (code(geometry, None), kernel.ir.i32(nbytes), kernel.ir.i32(OUTSIDE[words[-1]]))
    given = (site, handles, kernel.guarded_mask(guard), *how, a, b, c, kernel.ir.i32(kernel.count))
    answer = kernel.run_time("wb_surface", *given, result="i64")
    where = _result(kernel, 0, V64)
    for index, place in enumerate(places):
        at = where + index * size if index else where
        if storing:
            lower_memory.store_element(kernel, at, answer, kernel.lanes_value(place, 8 * size))
        elif place is not None:
            kernel.write(place, lower_memory.load_element(kernel, at, answer, 8 * size), guard)


def query(kernel: Kernel, instruction: Instruction) -> None:
    """`txq` and `suq`: the sizes."""
    destination, memory = instruction.operands
    word = next((m for m in instruction.modifiers if m in QUERIES), None)
    if word is None or not isinstance(memory.base, Reg | Imm) or "level" in instruction.modifiers:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    guard, surface = kernel.guard(instruction.guard), int(instruction.opcode == "suq")
    handles, site = kernel.lanes_value(memory.base, 64), kernel.new_site(instruction, "texture_query")
    given = (site, handles, kernel.guarded_mask(guard), TEXTURE_FIELD[QUERIES[word]], surface)
    kernel.write(destination, kernel.run_time("wb_texture_query", *given, result=V32), guard)


HANDLERS = {"texture": read, "surface": surface, "texture_query": query}
