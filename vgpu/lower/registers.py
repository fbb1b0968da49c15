"""Registers in LLVM IR: SSA values inside a basic block, places in the warp's state between basic blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from vgpu import ptx
from vgpu.ir import LANES, Value, vector
from vgpu.ir.ramp import Bounded, Ramp
from vgpu.lower.state import State
from vgpu.ptx import Not, Reg


class Registers(State):
    """The part of a lowering that keeps registers: `env` has a basic block's values, `slots` those of others."""

    def read(self, name: str) -> Value:
        """The current value of a register: iN, or i1 for predicates."""
        if name not in self.env:
            if name in self.settled or name in self.flow.live_in[self.here.index]:
                self.env[name] = self.load_register(name)
            else:  # never written on any path: any value will do
                self.env[name] = self.ir.number(f"i{self.bits(name)}", 0)
        return self.env[name]

    def write(self, operand: Reg | str | None, value: Value, guard: Value | None = None) -> None:
        """Give a register (by operand or name) a value of its width; `_` and missing registers take nothing."""
        name = operand.name if isinstance(operand, Reg) else operand
        if name is None or name not in self.registers:
            return
        value = (value.as_int() if value.is_float else value).to(f"i{self.bits(name)}")
        if guard is not None:
            value = guard.select(value, self.read(name))
        if self.side is not None and name in self.flow.crossing - self.flow.uniform - self.flow.ramps:
            value = self.side.select(value, self.read(name))
        # A uniform register has room for one value: 32 of them would be stored over its neighbours.
        assert not (value.vector and name in self.flow.uniform), f"{name} is uniform, and gets a value for each lane"
        self.env[name] = value
        self.written.add(name)

    def guard(self, operand: Reg | Not | None) -> Value | None:
        if operand is None:
            return None
        return ~self.read(operand.reg.name) if isinstance(operand, Not) else self.read(operand.name)

    def guarded_mask(self, guard: Value | None) -> Value:
        """Bits of the active lanes for which the guard holds."""
        if guard is None:
            return self.mask
        return self.mask & guard.bits() if guard.vector else guard.select(self.mask, 0)

    def lanes_that_run(self, instruction: ptx.Instruction) -> Value:
        """Bits of the active lanes for which the instruction's guard holds."""
        return self.guarded_mask(self.guard(instruction.guard))

    def spill(self, targets: Iterable[int]) -> None:
        """Write the registers that these basic blocks read, or later ones, back to the warp's state."""
        wanted = set().union(*(self.flow.live_in[t] for t in targets))
        for name in sorted(self.written & wanted):
            self.store_register(name, self.env[name])

    def store_register(self, name: str, value: Value) -> None:
        slot = self.slot(name)
        if name in self.flow.uniform:
            if isinstance(value, Bounded) and name in self.flow.once:
                self.bounds[name] = value.bounds
            self.set_state(slot, value.to("i32") if value.element == "i1" else value, 4)
            return
        if name in self.flow.ramps:
            self.store_ramp(name, value)
            return
        value = value.splat()
        if self.parted:
            value = self.active.select(value, self.loaded.get(name) or self.load_register(name))
            if value.element in ("i32", "i64"):  # LLVM would store under a mask, for which the next load waits long
                value = value.fence()
        if value.element == "i1":
            self.set_state(slot, value.bits(), 4)
        else:
            self.set_state(slot, value)

    def store_ramp(self, name: str, value: Value) -> None:
        """Keep the first lane of a register that may be a ramp; where it is none, the kernel is lowered once more."""
        if isinstance(value, Ramp):
            self.kept_ramps[name] = partial(Ramp, step=value.step, bounds=value.bounds, whole_warps=value.whole_warps)
            value = value.base
        elif not value.vector:
            self.kept_ramps[name] = partial(Bounded, bounds=value.bounds if isinstance(value, Bounded) else None)
        else:
            self.uneven.add(name)
            return
        self.set_state(self.slot(name), value, 4)

    def load_ramp(self, name: str) -> Value:
        first = self.get_state(self.slot(name), f"i{self.bits(name)}", 4)
        if name in self.kept_ramps:
            return self.kept_ramps[name](first)
        self.uneven.add(name)  # it is read before what writes it is lowered
        return first

    def in_state(self, names: Sequence[str]) -> Value | None:
        """Have registers of 32 bits in the warp's state, where what is written next is read: a pointer to the first.

        None where their places don't follow one another.
        """
        first = self.slot(names[0])
        if [self.slot(name) - first for name in names] != [4 * LANES * index for index in range(len(names))]:
            return None
        for name in names:
            if name in self.written:
                self.store_register(name, self.env[name])
        for name in names:
            self.env.pop(name, None)
            self.loaded.pop(name, None)
        self.written -= set(names)
        self.settled |= set(names)
        return self.ir.at(self.state, first)

    def slot(self, name: str) -> int:
        if name not in self.slots:
            bits = self.bits(name)
            single = name in self.flow.uniform or name in self.flow.ramps
            size = 64 if single or bits == 1 else bits // 8 * LANES
            self.slots[name] = self.state_bytes
            self.state_bytes += -(-size // 64) * 64
        return self.slots[name]

    def bits(self, name: str) -> int:
        kind = self.registers[name]
        return 1 if kind == "pred" else 8 * ptx.TYPE_BYTES[kind]

    def load_register(self, name: str) -> Value:
        bits, slot, uniform = self.bits(name), self.slot(name), name in self.flow.uniform
        if name in self.flow.ramps:
            return self.load_ramp(name)
        if bits == 1:
            value = self.get_state(slot, "i32", 4)
            value = value.to("i1") if uniform else value.lanes()
        else:
            value = self.get_state(slot, f"i{bits}", 4) if uniform else self.get_state(slot, vector(f"i{bits}"))
            value = Bounded(value, self.bounds[name]) if name in self.bounds else value
        self.loaded[name] = value
        return value
