"""Texture reads and surface accesses in LLVM IR.

A texture read is one call of the runtime, which finds the texture behind the handle and calls the function compiled
for it (`sampling`). A surface access asks the runtime for addresses and moves the data as a load or store does.
"""

from __future__ import annotations

from vgpu import ptx
from vgpu.base.context import CLAMP_OUTSIDE, SLOT, TEXTURE_FIELD, TEXTURE_RESULTS, TRAP_OUTSIDE, ZERO_OUTSIDE
from vgpu.ptx import Imm, Instruction, Pair, Reg, Vec
from vgpu.runtime.emit import LANES, Value
from vgpu.storage.textures import code

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


def _operands(k, instruction: Instruction, memory, count: int) -> tuple[Value, list[Value]]:
    """The handles, and three vectors of coordinates in the order of the instruction."""
    e = k.e
    if not isinstance(memory.base, Reg | Imm) or memory.coordinates is None:
        raise k.unsupported(f"`{instruction}` of a texture that is no object")
    handles = e.splat(k.bits_value(memory.base, 64))
    given = [e.splat(k.bits_value(c, 32)) for c in memory.coordinates[:count]]
    return handles, given + [e.splat(e.const("i32", 0))] * (3 - len(given))


def _results(k, offset: int) -> str:
    """A pointer into the worker's buffer for what the runtime gives."""
    e = k.e
    slot = e.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT['texture_data']}", "ptr", False)
    data = e.assign(f"load ptr, ptr {slot.text}", "ptr", False)
    return e.assign(f"getelementptr i8, ptr {data.text}, i64 {TEXTURE_RESULTS + offset}", "ptr", False).text


def read(k, instruction: Instruction) -> None:
    """`tex` and `tld4`."""
    e = k.e
    destination, memory, *more = instruction.operands
    geometry, words = geometry_of(instruction), instruction.modifiers
    result = words[-2]
    levels = {"level", "grad"} & set(words)  # one level: which is asked for makes no difference
    if geometry is None or result not in ("f32", "s32", "u32") or "v4" not in words or (more and not levels):
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    slot = TEXTURE_FIELD["sample"]
    if instruction.opcode == "tld4":
        slot = TEXTURE_FIELD[f"gather_{next(COMPONENTS[word] for word in words if word in COMPONENTS)}"]
    count = 1 if geometry == "fetch" else COORDINATES[geometry]
    handles, (a, b, c) = _operands(k, instruction, memory, count)
    guard = k.guard(instruction.guard)
    mask = k.guarded_mask(guard)
    site = k.site_pointer(k.site(instruction, "texture", geometry, 0))
    v, wide = f"<{LANES} x i32>", f"<{LANES} x i64>"
    e.declarations.add(f"declare void @wb_texture(ptr, ptr, {wide}, i32, i64, i64, {v}, {v}, {v}, i32)")
    e.line(
        f"call void @wb_texture(ptr %ctx, ptr {site}, {wide} {handles.text}, i32 {mask.text}, "
        f"i64 {code(geometry, result == 'f32')}, i64 {slot}, {v} {a.text}, {v} {b.text}, {v} {c.text}, "
        f"i32 {int(k.count)})"
    )
    if isinstance(destination, Pair):
        k.write(destination.second, e.const("i1", 1), guard)  # all of a texture is in memory, always
        destination = destination.first
    for number, place in enumerate(destination.items):
        if place is not None:
            p = _results(k, number * 4 * LANES)
            k.write(place, e.assign(f"load {v}, ptr {p}, align 64", "i32", True), guard)


def surface(k, instruction: Instruction) -> None:
    """`suld.b` and `sust.b`."""
    e, words = k.e, instruction.modifiers
    storing = instruction.opcode == "sust"
    memory, data = instruction.operands if storing else instruction.operands[::-1]
    geometry = geometry_of(instruction)
    kind = next((m for m in words if m in ("b8", "b16", "b32", "b64")), None)
    if geometry is None or kind is None or words[0] != "b" or words[-1] not in OUTSIDE:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    places = data.items if isinstance(data, Vec) else (data,)
    bits = 8 * ptx.TYPE_BYTES[kind]
    nbytes = bits // 8 * len(places)
    handles, (a, b, c) = _operands(k, instruction, memory, COORDINATES[geometry])
    if geometry in ("a1d", "a2d"):  # the runtime takes x, y, z
        a, b, c = b, c, a
    guard = k.guard(instruction.guard)
    mask = k.guarded_mask(guard)
    site = k.site_pointer(k.site(instruction, "surface_store" if storing else "surface_load", geometry, nbytes))
    v, wide = f"<{LANES} x i32>", f"<{LANES} x i64>"
    e.declarations.add(f"declare i64 @wb_surface(ptr, ptr, {wide}, i32, i64, i32, i32, {v}, {v}, {v}, i32)")
    answer = e.assign(
        f"call i64 @wb_surface(ptr %ctx, ptr {site}, {wide} {handles.text}, i32 {mask.text}, "
        f"i64 {code(geometry, None)}, i32 {nbytes}, i32 {OUTSIDE[words[-1]]}, {v} {a.text}, {v} {b.text}, "
        f"{v} {c.text}, i32 {int(k.count)})",
        "i64", False,
    )  # fmt: skip
    where = e.assign(f"load {wide}, ptr {_results(k, 0)}, align 64", "i64", True)
    for index, place in enumerate(places):
        at = e.bin("add", where, e.const("i64", index * bits // 8)) if index else where
        if storing:
            value = e.splat(k.bits_value(place, bits))
            e.declarations.add(f"declare void @wb_store{bits}({wide}, {value.full}, i64)")
            e.line(f"call void @wb_store{bits}({wide} {at.text}, {value.full} {value.text}, i64 {answer.text})")
        elif place is not None:
            e.declarations.add(f"declare <{LANES} x i{bits}> @wb_load{bits}({wide}, i64)")
            call = f"call <{LANES} x i{bits}> @wb_load{bits}({wide} {at.text}, i64 {answer.text})"
            k.write(place, e.resize(e.assign(call, f"i{bits}", True), k.bits(place.name)), guard)


def query(k, instruction: Instruction) -> None:
    """`txq` and `suq`: the sizes."""
    e = k.e
    destination, memory = instruction.operands
    word = next((m for m in instruction.modifiers if m in QUERIES), None)
    if word is None or not isinstance(memory.base, Reg | Imm) or "level" in instruction.modifiers:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    handles = e.splat(k.bits_value(memory.base, 64))
    guard = k.guard(instruction.guard)
    mask = k.guarded_mask(guard)
    surface = instruction.opcode == "suq"
    site = k.site_pointer(k.site(instruction, "texture_query"))
    v, wide = f"<{LANES} x i32>", f"<{LANES} x i64>"
    e.declarations.add(f"declare {v} @wb_texture_query(ptr, ptr, {wide}, i32, i64, i64)")
    call = (
        f"call {v} @wb_texture_query(ptr %ctx, ptr {site}, {wide} {handles.text}, i32 {mask.text}, "
        f"i64 {TEXTURE_FIELD[QUERIES[word]]}, i64 {int(surface)})"
    )
    k.write(destination, e.assign(call, "i32", True), guard)


HANDLERS = {"texture": read, "surface": surface, "texture_query": query}
