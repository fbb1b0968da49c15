"""What a barrier of the block does besides waiting, in LLVM IR: it reduces, counts threads, or lets a warp pass."""

from __future__ import annotations

from vgpu.base.context import ARRIVED, EXPECTED, GATHERED, NAMED, REDUCES, RESULTS
from vgpu.lower.warp import first_active
from vgpu.ptx import Imm, Instruction
from vgpu.runtime.emit import LANES, Value

MOST = 15  # the highest number of a barrier


def number_of(k, instruction: Instruction, operand) -> Value:
    """Which of the block's 16 barriers is meant: a register may hold any number, and those above are an error."""
    e = k.e
    number = first_active(k, k.bits_value(operand, 32))
    if not isinstance(operand, Imm):
        lanes = k.guarded_mask(k.guard(instruction.guard))
        wrong = e.select(e.icmp("ugt", number, e.const("i32", MOST)), lanes, e.const("i32", 0))
        k.fail_where(wrong, "bar_number", k.site(instruction, "warp"), e.splat(e.resize(number, 64)))
    return e.bin("and", number, e.const("i32", MOST))


def _gathered(k, number: Value, offset: int) -> str:
    """A pointer into the block's barriers (see `context.GATHERED`), at `offset` and the barrier's number."""
    e = k.e
    base = k.context("barriers")
    where = e.bin("add", base, e.const("i64", offset))
    where = e.bin("add", where, e.bin("shl", e.resize(number, 64), e.const("i64", 3)))
    return e.assign(f"inttoptr i64 {where.text} to ptr", "ptr", False).text


def gather_predicate(k, instruction: Instruction, number: Value) -> None:
    """Before waiting at bar.red: add this warp's lanes to the block's counts."""
    e = k.e
    predicate = k.bits_value(instruction.operands[-1], 1)
    true = e.bin("and", k.bits_of(predicate), k.mask)
    false = e.bin("and", k.mask, e.flip(true))
    for offset, bits in ((GATHERED, true), (GATHERED + 128, false)):
        p = _gathered(k, number, offset)
        old = e.assign(f"load i64, ptr {p}", "i64", False)
        new = e.bin("add", old, e.resize(e.intrinsic("llvm.ctpop", bits), 64))
        e.line(f"store i64 {new.text}, ptr {p}")
    e.line(f"store i64 1, ptr {_gathered(k, e.const('i32', 0), REDUCES)}")


def barrier_result(k, instruction: Instruction) -> None:
    e = k.e
    number = number_of(k, instruction, instruction.operands[1])
    places = [_gathered(k, number, offset) for offset in (RESULTS, RESULTS + 128)]
    counts = [e.assign(f"load i64, ptr {place}", "i64", False) for place in places]
    zero = e.const("i64", 0)
    mode = next(m for m in instruction.modifiers if m in ("popc", "and", "or"))
    results = {
        "popc": lambda: e.resize(counts[0], 32),
        "and": lambda: e.icmp("eq", counts[1], zero),
        "or": lambda: e.icmp("ne", counts[0], zero),
    }
    k.write(instruction.operands[0], results[mode]())


def expect(k, number: Value, count) -> None:
    """A barrier with a count of threads: note for how many it waits."""
    e = k.e
    threads = e.resize(first_active(k, k.bits_value(count, 32)), 64)
    e.line(f"store i64 {threads.text}, ptr {_gathered(k, number, EXPECTED)}")
    e.line(f"store i64 1, ptr {_gathered(k, e.const('i32', 0), NAMED)}")


def pass_barrier(k, instruction: Instruction) -> None:
    """Barriers at which no lane waits for the block: bar.arrive counts the warp in.

    bar.warp.sync needs nothing more: its lanes have been brought together at the start of the basic block.
    """
    if "arrive" not in instruction.modifiers:
        return
    if "cluster" in instruction.modifiers:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    e = k.e
    number = number_of(k, instruction, instruction.operands[0])
    expect(k, number, instruction.operands[1])
    p = _gathered(k, number, ARRIVED)
    old = e.assign(f"load i64, ptr {p}", "i64", False)
    # Where lanes may part, a warp comes in pieces.
    coming = k.guarded_mask(k.guard(instruction.guard))
    whole = e.select(e.icmp("eq", coming, e.const("i32", 0)), e.const("i64", 0), e.const("i64", LANES))
    came = e.resize(e.intrinsic("llvm.ctpop", coming), 64) if k.fine else whole
    e.line(f"store i64 {e.bin('add', old, came).text}, ptr {p}")


HANDLERS = {"result": barrier_result, "barrier": pass_barrier}
