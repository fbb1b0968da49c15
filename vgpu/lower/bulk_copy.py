"""Bulk copies in LLVM IR: calls of the runtime (`runtime/bulk_copy.py`), with and without a tensor map."""

from __future__ import annotations

from vgpu import ptx
from vgpu.base.context import LOADS, PENDING, STORES, TENSOR
from vgpu.lower import async_copy, memory
from vgpu.lower.async_copy import V32, V64, call
from vgpu.ptx import Instruction, Mem

AXES = 5
TYPES = ("u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64")


def _spaces(instruction: Instruction) -> list[str]:
    return [word.split("::")[0] for word in instruction.modifiers if word.split("::")[0] in ("global", "shared")]


def _rank(instruction: Instruction) -> int:
    found = [word for word in instruction.modifiers if len(word) == 2 and word[1] == "d" and word[0] in "12345"]
    return int(found[0][0]) if found else 0


def _refuse(k, instruction: Instruction) -> None:
    words = set(instruction.modifiers)
    if "multicast::cluster" in words or _spaces(instruction) == ["shared", "shared"]:
        raise k.unsupported(f"copies within a cluster (`{instruction}`)")
    strange = [w for w in words if w.startswith(("im2col", "tile::", "cp_mask", "cta_group"))]
    if strange:
        raise k.unsupported(f"the bulk copy `{instruction}`")


def reduction(k, instruction: Instruction) -> tuple[str, int]:
    """The runtime's function for `cp.reduce` and the bytes of an element; "null" and 1 for a plain copy."""
    if "reduce" not in instruction.modifiers:
        return "null", 1
    operation = next((w for w in instruction.modifiers if w in memory.ATOMIC_WORDS), "")
    kind = next((w for w in reversed(instruction.modifiers) if w in TYPES), None)
    if kind is None:  # by a tensor map: the map has the type, which is not known here
        raise k.unsupported(f"the reduction by a tensor map `{instruction}`")
    key = "b16" if kind == "bf16" else "h" if kind == "f16" else kind[0]
    name, nbytes = memory.ATOMIC_NAMES.get((operation, key)), ptx.TYPE_BYTES[kind]
    if name is None or (name in ("inc", "dec") and nbytes == 8):
        raise k.unsupported(f"the reduction `{instruction}`")
    v = f"<32 x i{8 * nbytes}>"
    function = f"wb_atom_{name}_{8 * nbytes}"
    k.e.declarations.add(f"declare {v} @{function}({V64}, {v}, i32)")
    return f"@{function}", nbytes


def copy(k, instruction: Instruction) -> None:
    e = k.e
    _refuse(k, instruction)
    target, source, *rest = instruction.operands
    loads = _spaces(instruction)[0] == "shared"
    rank = _rank(instruction)
    remote, near = (source, target) if loads else (target, source)
    zero = e.splat(e.const("i32", 0))
    sizes, coordinates, element = zero, [zero] * AXES, 1
    function, element = reduction(k, instruction)
    if rank:
        given = remote.coordinates or ()
        items = given[0].items if len(given) == 1 and hasattr(given[0], "items") else given
        if len(items) != rank:
            raise k.unsupported(f"`{instruction}` with {len(items)} coordinates")
        for axis, item in enumerate(items):
            coordinates[axis] = e.splat(k.bits_value(item, 32))
    else:
        sizes = e.splat(k.bits_value(rest.pop(0), 32))
        coordinates[0] = e.splat(e.const("i32", element))
    word = "bulk_load" if loads else "bulk_store"
    number = k.site(instruction, word, "global")
    site = k.site_pointer(number)
    k.site(instruction, word, "shared")
    if k.watch:
        k.watch.place(k, instruction, "store" if loads else "load", "shared", 4, PENDING if loads else 0, of=number)
    mask = k.guarded_mask(k.guard(instruction.guard))
    remotes = e.splat(memory.address(k, Mem(remote.base, remote.offset), 64))
    offsets = e.splat(memory.address(k, near, 32))
    barriers = e.splat(memory.address(k, rest.pop(0), 32)) if loads else zero
    kind = (LOADS if loads else STORES) | (TENSOR if rank else 0)
    vectors = ", ".join(f"{V32} {c.text}" for c in coordinates)
    arguments = (
        f"ptr %ctx, ptr {site}, {V64} {remotes.text}, {V32} {offsets.text}, {V32} {barriers.text}, "
        f"{V32} {sizes.text}, i32 {mask.text}, i64 {kind}, i64 {rank}, ptr {function}, {vectors}"
    )
    types = f"ptr, ptr, {V64}, {V32}, {V32}, {V32}, i32, i64, i64, ptr, {', '.join([V32] * AXES)}"
    e.line(call(k, "wb_bulk", types, arguments))


def commit(k, instruction: Instruction) -> None:
    k.site(instruction, "queue")
    mask = k.guarded_mask(k.guard(instruction.guard))
    k.e.line(call(k, "wb_bulk_commit", "ptr, i32", f"ptr %ctx, i32 {mask.text}"))


def wait(k, instruction: Instruction) -> None:
    k.site(instruction, "queue")
    mask = k.guarded_mask(k.guard(instruction.guard))
    pending = k.bits_value(instruction.operands[0], 32)
    k.e.line(call(k, "wb_bulk_wait", "ptr, i32, i32", f"ptr %ctx, i32 {mask.text}, i32 {pending.text}"))


def prefetch(k, instruction: Instruction) -> None:
    """There are no caches to fetch into."""


FORMS = {"commit_group": commit, "wait_group": wait, "prefetch": prefetch}


def dispatch(k, instruction: Instruction) -> None:
    """`cp` with all its forms."""
    words = instruction.modifiers
    if "async" not in words:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    if "bulk" not in words:
        async_copy.dispatch(k, instruction)
        return
    next((FORMS[word] for word in words if word in FORMS), copy)(k, instruction)


HANDLERS = {"copy": dispatch, "policy": async_copy.policy}
