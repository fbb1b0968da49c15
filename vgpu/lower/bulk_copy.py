"""Bulk copies in LLVM IR: calls of the runtime (`runtime/bulk_copy.py`), with and without a tensor map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu import ptx
from vgpu.base.context import (
    IM2COL,
    LOADS,
    MULTICAST,
    NEAR,
    PAIRS,
    PENDING,
    ROWS,
    STORES,
    TENSOR,
    TENSOR_TYPES,
)
from vgpu.ir import Value, vector
from vgpu.ir.value import V64
from vgpu.lower import async_copy, memory
from vgpu.lower.basic_blocks import items_of
from vgpu.ptx import Instruction, Mem
from vgpu.ptx.verify_async import ROW_MODES
from vgpu.ptx.words import RANKS
from vgpu.storage.tensor_map import MOST_AXES

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

TYPES = ("u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64")


def _spaces(instruction: Instruction) -> list[str]:
    return [word.split("::")[0] for word in instruction.modifiers if word.split("::")[0] in ("global", "shared")]


def _rank(instruction: Instruction) -> int:
    return next((int(word[0]) for word in instruction.modifiers if word in RANKS), 0)


def _refuse(kernel: Kernel, instruction: Instruction) -> None:
    if any(word.startswith(("im2col::", "cp_mask")) for word in instruction.modifiers):
        raise kernel.unsupported(f"the bulk copy `{instruction}`")


def reduction(kernel: Kernel, instruction: Instruction) -> tuple[Value, int]:
    """The runtime's function for `cp.reduce` and the bytes of an element; null and 1 for a plain copy."""
    if "reduce" not in instruction.modifiers:
        return kernel.ir.null(), 1
    operation = next((w for w in instruction.modifiers if w in memory.ATOMIC_WORDS), None)
    if _rank(instruction):  # the runtime takes a table where there is a tensor map, and else a function
        return _by_type(kernel, operation), 1
    kind = next((w for w in reversed(instruction.modifiers) if w in TYPES), None)
    function = None if kind is None else _combining(kernel, operation, kind)
    if kind is None or function is None:
        raise kernel.unsupported(f"the reduction `{instruction}`")
    return function, ptx.TYPE_BYTES[kind]


def _combining(kernel: Kernel, operation: str | None, kind: str) -> Value | None:
    """The runtime's function for an atomic operation on elements of a type; None for what PTX doesn't have."""
    if operation in ("and", "or", "xor"):
        kind = kind.replace("u", "b").replace("s", "b")
    name, bits = memory.atomic_name(operation, kind), 8 * ptx.TYPE_BYTES[kind]
    if name is None or (bits < 32 and kind not in ("f16", "bf16")) or (name in ("inc", "dec") and bits == 64):
        return None
    v = vector(f"i{bits}")
    return kernel.ir.external(v, f"wb_atom_{name}_{bits}", V64, v, "i32")


def _by_type(kernel: Kernel, operation: str | None) -> Value:
    """The functions for each type of `TENSOR_TYPES`, in a table: a tensor map has the type, which is not known here."""
    table = kernel.ir.room(f"[{len(TENSOR_TYPES)} x i64]", "functions")
    for number, kind in enumerate(TENSOR_TYPES):
        function = _combining(kernel, operation, kind)
        kernel.ir.store(kernel.ir.at(table, 8 * number), kernel.ir.null() if function is None else function, 8)
    return table


def copy(kernel: Kernel, instruction: Instruction) -> None:
    _refuse(kernel, instruction)
    target, source, *rest = instruction.operands
    words = set(instruction.modifiers)
    loads = _spaces(instruction)[0] == "shared"
    rank = _rank(instruction)
    remote, near = (source, target) if loads else (target, source)
    zero = kernel.ir.i32(0)
    function, element = reduction(kernel, instruction)
    if rank:
        sizes, coordinates = zero, [kernel.bits_value(item, 32) for item in remote.coordinates or ()]
    else:
        sizes, coordinates = kernel.bits_value(rest.pop(0), 32), [kernel.ir.i32(element)]
    word = "bulk_load" if loads else "bulk_store"
    number = kernel.site(instruction, word, "global")
    site = kernel.site_pointer(number)
    kernel.site(instruction, word, "shared")
    if kernel.watch:
        kernel.watch.place(
            kernel, instruction, "store" if loads else "load", "shared", 4, PENDING if loads else 0, of=number
        )
    mask = kernel.lanes_that_run(instruction)
    near_too = _spaces(instruction) == ["shared", "shared"]
    remotes = memory.address(kernel, Mem(remote.base, remote.offset), 32 if near_too else 64).to("i64")
    if near_too:
        remotes = remotes + kernel.context("shared_base")
    offsets = memory.address(kernel, near, 32)
    barriers = memory.address(kernel, rest.pop(0), 32) if loads else zero
    shifts = kernel.ir.i64(0)  # of 16 bits along W, H and D
    if "im2col" in words:
        for axis, item in enumerate(items_of(rest.pop(0))):
            shifts = shifts | kernel.bits_value(item, 16).to("i64") << 16 * axis
    multicast = "multicast::cluster" in words
    columns = bool({"im2col", "im2col_no_offs"} & words)
    blocks = kernel.bits_value(rest.pop(0), 16).to("i32") if multicast else zero
    vectors = [value.splat() for value in (remotes, offsets, barriers, sizes, blocks)]
    kind = (LOADS if loads else STORES) | TENSOR * bool(rank) | NEAR * near_too | MULTICAST * multicast
    kind |= IM2COL * columns | ROWS * bool(ROW_MODES & words) | PAIRS * ("cta_group::2" in words)
    axes = [value.splat() for value in (*coordinates, *[zero] * (MOST_AXES - len(coordinates)))]
    kernel.run_time("wb_bulk", site, *vectors, mask, kind, rank, function, shifts.splat(), *axes)


def commit(kernel: Kernel, instruction: Instruction) -> None:
    kernel.site(instruction, "queue")
    kernel.run_time("wb_bulk_commit", kernel.lanes_that_run(instruction))


def wait(kernel: Kernel, instruction: Instruction) -> None:
    kernel.site(instruction, "queue")
    mask = kernel.lanes_that_run(instruction)
    kernel.run_time("wb_bulk_wait", mask, kernel.bits_value(instruction.operands[0], 32))


def prefetch(kernel: Kernel, instruction: Instruction) -> None:
    """There are no caches to fetch into."""


FORMS = {"commit_group": commit, "wait_group": wait, "prefetch": prefetch}


def dispatch(kernel: Kernel, instruction: Instruction) -> None:
    """`cp` with all its forms."""
    words = instruction.modifiers
    if "bulk" not in words:
        async_copy.dispatch(kernel, instruction)
        return
    next((FORMS[word] for word in words if word in FORMS), copy)(kernel, instruction)


HANDLERS = {"copy": dispatch, "policy": async_copy.policy}
