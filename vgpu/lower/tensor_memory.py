"""Tensor memory in LLVM IR (`tcgen05`): moves to and from registers here, all else by calls of the runtime.

A column's 128 lanes lie side by side in memory, so a move loads 16 or 32 lanes of each column that it needs and sorts
them into the registers. The runtime says where it begins; for a warp that may not go on that is the start of tensor
memory, so that reading is always safe.

A GPU may do at any time what `mma`, `cp` and `shift` ask for, until their commit completes; here it is done at once,
as are moves. What a kernel must wait for, `sanitize` finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.context import COLUMN
from vgpu.ir import LANES, Value, vector
from vgpu.ir.value import V32, V64
from vgpu.isa import tensor_memory, umma
from vgpu.lower import memory as lower_memory
from vgpu.lower import watch
from vgpu.lower.basic_blocks import items_of
from vgpu.lower.mbarrier import RELEASES
from vgpu.ptx import Instruction, Mem, Operand, Vec
from vgpu.runtime.overwrites import STORE
from vgpu.runtime.umma import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vgpu.lower.calls import Calls as Kernel

MASKS = 8  # words that name lanes of D


def _site(kernel: Kernel, instruction: Instruction) -> int:
    return kernel.site(instruction, "tensor_memory")


def _whole(kernel: Kernel, instruction: Instruction) -> tuple[int, Value]:
    """The instruction's site, and its lanes: all or none."""
    site = _site(kernel, instruction)
    return site, kernel.run_time("wb_whole", site, kernel.lanes_that_run(instruction), result="i32")


def _address(kernel: Kernel, operand: Mem | Operand) -> Value:
    """An address in tensor memory, in all lanes."""
    if isinstance(operand, Mem):
        return lower_memory.address(kernel, operand, 32).splat()
    return kernel.lanes_value(operand, 32)


def _tell(kernel: Kernel, instruction: Instruction, mask: Value, *operands: Value) -> None:
    """Let the sanitizer know what is asked for: up to four operands, each in all lanes."""
    if not kernel.watch:
        return
    room = kernel.ir.room(f"[{4 * 8 * LANES} x i8]", "told_operands")
    for index, operand in enumerate(operands):
        kernel.ir.store(kernel.ir.at(room, 8 * LANES * index), operand.to("i64").splat(), 64)
    kernel.run_time("wb_s_tensor", kernel.watching.product(kernel, instruction), mask.to("i64"), room)


# ---------------------------------------------------------------- allocation


def allocate(kernel: Kernel, instruction: Instruction) -> None:
    target, columns = instruction.operands
    site, mask = _whole(kernel, instruction)
    offsets = lower_memory.shared_offset(kernel, instruction, target)
    found = kernel.run_time(
        "wb_tensor_alloc", site, mask, kernel.lanes_value(columns, 32), offsets.splat(), result="i64"
    )
    lanes = found.below(0, signed=True).select(0, mask & 1)
    into = kernel.new_site(instruction, "store", "shared", 4)
    answer = lower_memory.check(kernel, into, "shared", offsets, lanes, 4, STORE, False)
    if kernel.watch:
        answer = watch.access(kernel, instruction, target, "shared", 4, STORE, offsets.splat(), answer)[0]
    places = (offsets.to("i64") + kernel.context("shared_base")).splat()
    lower_memory.store_element(kernel, places, answer, found.to("i32").splat())


def deallocate(kernel: Kernel, instruction: Instruction) -> None:
    address, columns = (kernel.lanes_value(operand, 32) for operand in instruction.operands)
    kernel.run_time("wb_tensor_dealloc", *_whole(kernel, instruction), address, columns)


def relinquish(kernel: Kernel, instruction: Instruction) -> None:
    kernel.run_time("wb_tensor_relinquish", _whole(kernel, instruction)[1])


# ---------------------------------------------------------------- registers


def _begin(kernel: Kernel, instruction: Instruction, moved: tensor_memory.Move, split: int) -> tuple[Value, Value]:
    """Where a move begins, and its lanes: all or none."""
    site, mask = _whole(kernel, instruction)
    memory = next(operand for operand in instruction.operands if isinstance(operand, Mem))
    given = (_address(kernel, memory), moved.lanes, moved.columns, split)
    _tell(kernel, instruction, mask, given[0])
    found = kernel.run_time("wb_tensor_place", site, mask, *given, result="i64")
    place = (kernel.context("tensor_memory") + found.intrinsic("llvm.smax", 0)).to("ptr")
    return place, found.below(0, signed=True).select(0, mask)


def load(kernel: Kernel, instruction: Instruction) -> None:
    target, _, *rest = instruction.operands
    moved = tensor_memory.move(instruction.modifiers)
    assert moved is not None, "the form has been checked"
    split = rest[0].value if rest else 0
    place, _ = _begin(kernel, instruction, moved, split)
    columns: dict[int, Value] = {}

    def column(number: int) -> Value:
        if number not in columns:
            where = kernel.ir.at(place, number * COLUMN)
            columns[number] = kernel.ir.load(where, vector("i32", moved.lanes), 4 * moved.lanes)
        return columns[number]

    guard = kernel.guard(instruction.guard)
    for register, item in enumerate(items_of(target)):
        cells = [moved.cell(register, thread) for thread in range(LANES)]
        found = _picked(kernel, moved, cells, split, 0, column)
        if moved.halves:
            found = found & 0xFFFF | _picked(kernel, moved, cells, split, 1, column) << 16
        kernel.write(item, found, guard)


def _picked(
    kernel: Kernel, moved: tensor_memory.Move, cells: Sequence[tuple[int, int, int]], split: int, further: int,
    column: Callable[[int], Value],
) -> Value:  # fmt: skip
    """What the threads of a warp find in their cells, so many columns further on."""
    numbers = sorted({(half, at) for _, at, half in cells})
    joined = kernel.ir.join([column(at + half * split + further) for half, at in numbers])
    return joined.shuffle(None, [numbers.index((half, at)) * moved.lanes + lane for lane, at, half in cells])


def store(kernel: Kernel, instruction: Instruction) -> None:
    _, *rest, source = instruction.operands
    moved = tensor_memory.move(instruction.modifiers)
    assert moved is not None, "the form has been checked"
    split = rest[0].value if rest else 0
    values = [kernel.lanes_value(item, 32) for item in items_of(source)]
    place, mask = _begin(kernel, instruction, moved, split)
    homes: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}  # column -> lane -> the register and thread
    for register in range(moved.registers):
        for thread in range(LANES):
            lane, at, half = moved.cell(register, thread)
            homes.setdefault((half, at), {})[lane] = register, thread
    with kernel.ir.when(mask.ne(0)):
        for (half, at), threads in homes.items():
            registers = sorted({register for register, _ in threads.values()})
            joined = kernel.ir.join([values[register] for register in registers])
            order = [registers.index(r) * LANES + t for r, t in (threads[lane] for lane in range(moved.lanes))]
            words = joined.shuffle(None, order)
            for further, part in enumerate((words & 0xFFFF, words >> 16) if moved.halves else (words,)):
                where = kernel.ir.at(place, (at + half * split + further) * COLUMN)
                kernel.ir.store(where, part, 4 * moved.lanes)


# ---------------------------------------------------------------- what one thread asks for


def copy(kernel: Kernel, instruction: Instruction) -> None:
    target, descriptor = instruction.operands
    _, (blocks, shape, packed) = tensor_memory.form(instruction.modifiers) or ("", (None,) * 3)
    rows, nbytes, firsts = tensor_memory.COPIES[str(shape)]
    bits, up = tensor_memory.PACKED.get(str(packed), (0, 0))
    number = _site(kernel, instruction)
    starts = sum(first << 8 * quarter for quarter, first in enumerate(firsts))
    given = (
        _address(kernel, target),
        kernel.lanes_value(descriptor, 64),
        rows,
        nbytes,
        starts,
        bits,
        up,
        int(blocks or 1),
    )
    mask = kernel.lanes_that_run(instruction)
    _tell(kernel, instruction, mask, *given[:2])
    kernel.run_time("wb_tensor_cp", kernel.site_pointer(number), mask, *given)


def shift(kernel: Kernel, instruction: Instruction) -> None:
    given = (_address(kernel, instruction.operands[0]), tensor_memory.ctas(instruction.modifiers))
    mask = kernel.lanes_that_run(instruction)
    _tell(kernel, instruction, mask, given[0])
    kernel.run_time("wb_tensor_shift", _site(kernel, instruction), mask, *given)


def commit(kernel: Kernel, instruction: Instruction) -> None:
    barrier, *blocks = instruction.operands
    if "shared::cluster" in instruction.modifiers:
        addresses = lower_memory.address(kernel, barrier, 32).splat()
    else:
        generic = lower_memory.address(kernel, barrier, 64).splat()
        addresses = kernel.run_time("wb_to_cluster", generic, result=V64).to(V32)
    wanted = kernel.bits_value(blocks[0], 16).to("i32").splat() if blocks else kernel.ir.i32(0).splat()
    mask = kernel.lanes_that_run(instruction)
    _tell(kernel, instruction, mask, addresses)
    if kernel.watch:
        watch.passes(kernel, kernel.watching.product(kernel, instruction), RELEASES, addresses, mask, shared=True)
    site = kernel.site_pointer(_site(kernel, instruction))
    kernel.run_time("wb_tensor_commit", site, mask, addresses, wanted, int(bool(blocks)))


def multiply(kernel: Kernel, instruction: Instruction) -> None:
    target, a, b, descriptor, *rest = instruction.operands
    made = umma.variant(instruction.modifiers, isinstance(a, Mem))
    assert made is not None, "the form has been checked"
    ir = kernel.ir
    zero = ir.i32(0).splat()
    kept = rest.pop(0) if isinstance(rest[0], Vec) else None
    scales = [_address(kernel, rest.pop(0)) for _ in "ab"] if made.scales else [zero, zero]
    keep = kernel.bits_value(rest[0], 1).bits()
    down = rest[1].value if len(rest) > 1 else 0
    off = ir.null()
    if kept is not None:
        off = ir.room(f"[{4 * LANES * MASKS} x i8]", "lanes_off")
        for index, item in enumerate(kept.items):
            ir.store(ir.at(off, 4 * LANES * index), kernel.lanes_value(item, 32), 64)
    left = _address(kernel, a).to("i64") if made.in_tensor_memory else kernel.lanes_value(a, 64)
    number, mask = _site(kernel, instruction), kernel.lanes_that_run(instruction)
    given = (_address(kernel, target), left, kernel.lanes_value(b, 64), kernel.lanes_value(descriptor, 32))
    _tell(kernel, instruction, mask, *given)
    kernel.run_time(PREFIX + made.name, kernel.site_pointer(number), mask, *given, keep, down, off, *scales)


def nothing(kernel: Kernel, instruction: Instruction) -> None:
    """`wait` and `fence`: what they wait for has happened."""
    if "sync" in instruction.modifiers:
        _tell(kernel, instruction, _whole(kernel, instruction)[1])


FORMS = {
    "alloc": allocate, "dealloc": deallocate, "relinquish": relinquish, "ld": load, "st": store, "wait": nothing,
    "fence": nothing, "cp": copy, "shift": shift, "commit": commit, "mma": multiply,
}  # fmt: skip


def dispatch(kernel: Kernel, instruction: Instruction) -> None:
    """`tcgen05` with all its forms."""
    name, _ = tensor_memory.form(instruction.modifiers) or ("", ())
    if name == "mma" and umma.variant(instruction.modifiers, isinstance(instruction.operands[1], Mem)) is None:
        name = ""
    if name not in FORMS:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    FORMS[name](kernel, instruction)


HANDLERS = {"tensor_memory": dispatch}
