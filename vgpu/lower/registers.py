"""Registers in LLVM IR: SSA values inside a basic block, places in the warp's state between basic blocks."""

from __future__ import annotations

from vgpu import ptx
from vgpu.lower import basic_blocks
from vgpu.ptx import Not, Reg
from vgpu.runtime.emit import FLOAT_OF_BITS, LANES, Value


class Registers:
    """The part of `lower.Lowering` that keeps registers: `env` has a basic block's values, `slots` those of others."""

    def read(self, name: str) -> Value:
        """The current value of a register: iN, or i1 for predicates."""
        if name not in self.env:
            if name in self.flow.live_in[self.here.index]:
                self.env[name] = self.load_register(name)
            else:  # never written on any path: any value will do
                self.env[name] = self.e.const(f"i{self.bits(name)}", 0)
        return self.env[name]

    def write(self, operand, value: Value, guard: Value | None = None) -> None:
        """Give a register (by operand or name) a value of its width; `_` and missing registers take nothing."""
        name = operand.name if isinstance(operand, Reg) else operand
        if name is None or name not in self.registers:
            return
        bits = self.bits(name)
        if value.type != f"i{bits}":
            value = self.e.resize(self.e.bits(value) if value.type in FLOAT_OF_BITS.values() else value, bits)
        if guard is not None:
            value = self.e.select(guard, value, self.read(name))
        self.env[name] = value
        self.written.add(name)

    def guard(self, operand) -> Value | None:
        if operand is None:
            return None
        if isinstance(operand, Not):
            return self.e.flip(self.read(operand.reg.name))
        return self.read(operand.name)

    def guarded_mask(self, guard: Value | None) -> Value:
        """Bits of the active lanes for which the guard holds."""
        if guard is None:
            return self.mask
        if guard.vector:
            return self.e.bin("and", self.mask, self.bits_of(guard))
        return self.e.select(guard, self.mask, self.e.const("i32", 0))

    def lanes_of(self, mask: Value) -> Value:
        return self.e.assign(f"bitcast i32 {mask.text} to <{LANES} x i1>", "i1", True)

    def bits_of(self, lanes: Value) -> Value:
        lanes = self.e.splat(lanes)
        return self.e.assign(f"bitcast {lanes.full} {lanes.text} to i32", "i32", False)

    def spill(self, basic_block: basic_blocks.BasicBlock) -> None:
        """Write the registers that later basic blocks read back to the warp's state."""
        wanted = set().union(*(self.flow.live_in[t] for t in basic_block.targets)) if basic_block.targets else set()
        for name in sorted(self.written & wanted):
            self.store_register(name, self.env[name])

    def store_register(self, name: str, value: Value) -> None:
        e, slot = self.e, self.slot(name)
        p = e.assign(f"getelementptr i8, ptr %state, i64 {slot}", "ptr", False)
        if name in self.flow.uniform:
            if value.type == "i1":
                value = e.cast("zext", value, "i32")
            e.line(f"store {value.type} {value.text}, ptr {p.text}, align 4")
            return
        value = e.splat(value)
        if self.parted:
            value = e.select(self.active, value, self.old_value(name))
            if value.type in ("i32", "i64"):  # LLVM would store under a mask, for which the next load waits long
                value = e.fence(value)
        if value.type == "i1":
            bits = self.bits_of(value)
            e.line(f"store i32 {bits.text}, ptr {p.text}, align 4")
        else:
            e.line(f"store {value.full} {value.text}, ptr {p.text}, align 64")

    def old_value(self, name: str) -> Value:
        return self.loaded.get(name) or self.load_register(name)

    def slot(self, name: str) -> int:
        if name not in self.slots:
            bits = self.bits(name)
            size = 64 if name in self.flow.uniform or bits == 1 else bits // 8 * LANES
            self.slots[name] = self.state_bytes
            self.state_bytes += -(-size // 64) * 64
        return self.slots[name]

    def bits(self, name: str) -> int:
        kind = self.registers[name]
        return 1 if kind == "pred" else 8 * ptx.TYPE_BYTES[kind]

    def load_register(self, name: str) -> Value:
        e, bits = self.e, self.bits(name)
        p = e.assign(f"getelementptr i8, ptr %state, i64 {self.slot(name)}", "ptr", False)
        if name in self.flow.uniform:
            value = e.assign(
                f"load i{max(bits, 32) if bits == 1 else bits}, ptr {p.text}, align 4",
                f"i{32 if bits == 1 else bits}",
                False,
            )
            value = e.cast("trunc", value, "i1") if bits == 1 else value
        elif bits == 1:
            value = self.lanes_of(e.assign(f"load i32, ptr {p.text}, align 4", "i32", False))
        else:
            value = e.assign(f"load <{LANES} x i{bits}>, ptr {p.text}, align 64", f"i{bits}", True)
        self.loaded[name] = value
        return value
