"""A kernel's PTX to LLVM IR: one function `i32 run_warp(state, context)` that runs a warp until it must wait.

`state` holds the 32 program counters and the registers that cross segments; inside a segment registers are SSA
values. Lanes at the lowest pending segment run together under a mask. A jump that cannot overtake waiting lanes
goes straight to its target; every other one goes through the dispatcher.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from helpers.vgpu import isa, layout, ptx
from helpers.vgpu.context import PC_DONE, SITE_BYTES, SLOT
from helpers.vgpu.errors import Unsupported, VirtualGPUError
from helpers.vgpu.isa import in_llvm as isa_llvm
from helpers.vgpu.lacking import lacking
from helpers.vgpu.lines import line_of
from helpers.vgpu.lower import bulk_copy as lower_bulk_copy
from helpers.vgpu.lower import calls, flow, formats, inline, outline, segments
from helpers.vgpu.lower import mbarrier as lower_mbarrier
from helpers.vgpu.lower import memory as lower_memory
from helpers.vgpu.lower import order as lower_order
from helpers.vgpu.lower import tensor as lower_tensor
from helpers.vgpu.lower import texture as lower_texture
from helpers.vgpu.lower import warp as lower_warp
from helpers.vgpu.lower import watch as lower_watch
from helpers.vgpu.lower.calls import Calls
from helpers.vgpu.lower.control import Control
from helpers.vgpu.lower.emit import FLOAT_OF_BITS, LANES, Emitter, Value
from helpers.vgpu.ptx import RESERVED, Imm, Instruction, Location, Not, Pair, Reg, Special, Sym, Vec

HEADER_BYTES = 192  # program counters, the turn, and room to align the registers
SEGMENT_SLOTS = 4  # executions, lanes, divergent branches, unused
HANDLERS = {
    **lower_memory.HANDLERS,
    **lower_warp.HANDLERS,
    **lower_tensor.HANDLERS,
    **lower_bulk_copy.HANDLERS,
    **lower_mbarrier.HANDLERS,
    **lower_texture.HANDLERS,
    **lower_order.HANDLERS,
    **calls.HANDLERS,
}


@dataclass(frozen=True)
class Site:
    """An instruction that counts or can fail, by its number: where it stands and what it accesses."""

    instruction: Instruction
    kind: str
    space: str = ""
    nbytes: int = 0
    matrices: int = 0  # 8×8 matrices that `ldmatrix` and `stmatrix` move, each in one wavefront at least


@dataclass(frozen=True)
class Lowered:
    """A kernel in LLVM IR with what the launcher must know of it."""

    name: str
    text: str
    sites: tuple[Site, ...]
    segments: tuple[segments.Segment, ...]
    state_bytes: int
    static_shared: int
    dynamic_offset: int
    zeroed_shared: int  # bytes of shared memory, from its beginning, that are zero when a block begins
    local_bytes: int
    parameters_addressed: bool
    loose_barriers: bool  # lanes of a warp may meet at different barrier instructions
    asks: bool = False  # warps may ask memory whether they may go on
    places: tuple[lower_watch.Place, ...] = ()  # what is watched, from number 1 on


def lower(
    module: ptx.Module, function: ptx.Function, addresses: dict[str, int], name: str, count: bool, filename: str = "",
    fine: bool = False, watch: bool = False,
) -> Lowered:  # fmt: skip
    """Write `function` as LLVM IR; `addresses` are those of the module's variables, `count` weaves counters in.

    `filename` is the learner's file as the PTX names it, for errors. `fine` makes every access to memory a place
    where other lanes, warps and blocks may have their turn; `watch` weaves the sanitizer in.
    """
    try:
        lowering = Lowering(module, function, addresses, name, count, filename, fine)
        lowering.watch = lower_watch.Watch(lowering) if watch else None
        return lowering.run()
    except (VirtualGPUError, ptx.PTXSyntaxError):
        raise
    except Exception as error:
        raise Unsupported(
            f"the PTX of {function.name} could not be translated ({type(error).__name__}: {error}). If a compiler "
            "wrote it, this is a fault of the virtual GPU, and worth a report."
        ) from error


class Lowering(Control, Calls):
    """One kernel on its way to LLVM IR; `e` is the emitter, `mask` the lanes that run the current segment."""

    def __init__(self, module, function, addresses, name, count, filename, fine=False):
        self.fine = fine
        self.asked: list = []  # in a loop that waits: what counts its loads for the lanes that leave
        self.own = {index for index, path in module.files.items() if path == filename}
        self.module, self.function, self.name, self.count = module, function, name, count
        flat = inline.flatten(module, function, self.own)
        self.registers = {**flat.registers, "%cc": "pred"}
        self.flow = flow.analyse(flat.body, self.registers, fine)
        self.addresses = addresses
        self.parameters, _ = layout.parameter_layout(function)
        self.shared, self.static_shared, self.dynamic_offset = layout.shared_layout(module, function)
        # With the locals of inlined functions; those of functions that stay functions have "@" in their names.
        own = [v for v in flat.variables.values() if v.space == "local" and "@" not in v.name]
        self.locals, kernel_bytes = layout.place_locals(own)
        self.parameters_addressed = False
        self.sites: list[Site] = []
        self.e = Emitter()
        self.slots: dict[str, int] = {}
        self.state_bytes = HEADER_BYTES
        self.called = flat.called
        self.local_bytes = self.lay_out_stacks(flat.variables, kernel_bytes)
        self.env: dict[str, Value] = {}
        self.loaded: dict[str, Value] = {}
        self.written: set[str] = set()
        self.parked = 0
        self.repeated, self.outlined = outline.repeated(flat.body), {}
        self.watch: lower_watch.Watch | None = None
        self.variables = {**module.variables, **flat.variables}
        self.location: Location | None = None

    # ------------------------------------------------------------ the function

    def run(self) -> Lowered:
        e = self.e
        e.line("%mask_slot = alloca i32")
        e.line("%others_slot = alloca i32")  # the lowest segment at which lanes wait that are not in hand
        e.line("%aside_slot = alloca i32")  # the segment of the one group of lanes set aside, and its lanes
        e.line("%lanes_slot = alloca i32")
        e.line("%index_slot = alloca i32")
        if self.watch:
            e.line("%watched_slot = alloca <32 x i64>, align 64")
        self.set_aside(e.const("i32", 0), e.const("i32", PC_DONE))
        e.line("%target_slot = alloca i32")
        e.line("%forced_slot = alloca i1")
        self.prologue()
        self.wake()
        e.line("br label %dispatch")
        self.dispatcher()
        for segment in self.flow.segments:
            self.segment(segment)
        body = "\n".join(e.lines)
        runtime = [
            f"declare i64 @wb_{k}_{s}(ptr, ptr, <32 x i{w}>, i32, i32, i32)"
            for k in "cp" for s, w in (("global", 64), ("shared", 32), ("local", 64))
        ]  # fmt: skip
        declarations = "\n".join(sorted(e.declarations | set(runtime)))
        text = (
            f"{declarations}\n\ndefine i32 @{self.name}(ptr noalias align 64 %state, ptr noalias align 64 %ctx) "
            f"nounwind {{\nentry:\n{body}\n}}\n\n"
            + "\n".join(made[2] for made in self.outlined.values() if made)
            + "\n!0 = !{}\n"
        )
        return Lowered(
            self.name, text, tuple(self.sites), tuple(self.flow.segments), -(-self.state_bytes // 64) * 64,
            self.static_shared, self.dynamic_offset, RESERVED.nbytes if RESERVED.name in self.shared else 0,
            self.local_bytes, self.parameters_addressed,
            any(self.is_loose(s.last) for s in self.flow.segments if s.end == "barrier"),
            bool(self.flow.spinning or self.flow.waits),
            tuple(self.watch.places) if self.watch else (),
        )  # fmt: skip

    @staticmethod
    def is_loose(barrier: Instruction) -> bool:
        """Whether a barrier may be reached by some lanes of a warp here, by others there (no .aligned)."""
        return barrier.opcode == "barrier" and "aligned" not in barrier.modifiers

    def prologue(self) -> None:
        """Values that stay the same while a warp runs, loaded once."""
        e = self.e
        self.fixed: dict[str, Value] = {}
        for slot in ("params", "shared_base", "sites", "segments", "local_base", "warp"):
            self.fixed[slot] = self.context(slot)
        warp_bytes = e.bin("mul", self.fixed["warp"], e.const("i64", LANES * self.local_bytes))
        self.fixed["local_warp"] = e.bin("add", self.fixed["local_base"], warp_bytes)
        e.line(f"%params = inttoptr i64 {self.fixed['params'].text} to ptr")
        e.line(f"%sites = inttoptr i64 {self.fixed['sites'].text} to ptr")
        e.line(f"%segments = inttoptr i64 {self.fixed['segments'].text} to ptr")
        e.line(f"%fuel_p = getelementptr i64, ptr %ctx, i64 {SLOT['fuel']}")
        e.line("%turn_p = getelementptr i8, ptr %state, i64 128")

    def context(self, slot: str, invariant: bool = True) -> Value:
        """A slot of the context, as i64."""
        e = self.e
        p = e.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT[slot]}", "ptr", False)
        return e.assign(f"load i64, ptr {p.text}" + (", !invariant.load !0" if invariant else ""), "i64", False)

    def lanes_of(self, mask: Value) -> Value:
        return self.e.assign(f"bitcast i32 {mask.text} to <{LANES} x i1>", "i1", True)

    def bits_of(self, lanes: Value) -> Value:
        lanes = self.e.splat(lanes)
        return self.e.assign(f"bitcast {lanes.full} {lanes.text} to i32", "i32", False)

    # ------------------------------------------------------------ segments

    def segment(self, segment: segments.Segment) -> None:
        e = self.e
        self.env, self.loaded, self.written = {}, {}, set()
        self.here = segment
        self.parted = not self.flow.structured or segment.index in self.flow.diverged
        e.label(f"s{segment.index}")
        if segment.synchronises:
            lower_warp.gather_lanes(self, segment)
        self.mask = e.assign("load i32, ptr %mask_slot", "i32", False)
        self.active = self.lanes_of(self.mask)
        self.asked = []
        if self.count and segment.index not in self.flow.waits:
            self.tally(segment.index, 0, e.const("i64", 1))
            self.tally(segment.index, 1, e.resize(e.intrinsic("llvm.ctpop", self.mask), 64))
        if segment.resumes is not None:
            self.resume(segment)
        for instruction in segment.body:
            self.instruction(instruction)
        self.location = segment.last.location if segment.last else self.location
        {
            "jump": self.end_jump,
            "branch": self.end_branch,
            "barrier": self.end_barrier,
            "leave": self.end_leave,
            "call": self.end_call,
            "return": self.end_return,
        }[segment.end](segment)

    def tally(self, index: int, slot: int, amount: Value) -> None:
        """Add to one of a segment's counters."""
        e = self.e
        p = e.assign(f"getelementptr i64, ptr %segments, i64 {index * SEGMENT_SLOTS + slot}", "ptr", False)
        old = e.assign(f"load i64, ptr {p.text}", "i64", False)
        new = e.bin("add", old, amount)
        e.line(f"store i64 {new.text}, ptr {p.text}")

    def spill(self, segment: segments.Segment) -> None:
        """Write the registers that later segments read back to the warp's state."""
        wanted = set().union(*(self.flow.live_in[t] for t in segment.targets)) if segment.targets else set()
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

    # ------------------------------------------------------------ registers and operands

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

    def bits_value(self, operand, bits: int) -> Value:
        """An operand as plain bits of a given width."""
        e = self.e
        if isinstance(operand, Reg):
            value = self.read(operand.name)
            if value.type == "i1" and bits != 1:
                return e.resize(value, bits)
            return e.resize(value, bits)
        if isinstance(operand, Not):
            return e.flip(self.read(operand.reg.name))
        if isinstance(operand, Imm):
            return e.const(f"i{bits}", _immediate(operand, bits))
        if isinstance(operand, Special):
            return e.resize(lower_warp.special(self, operand.name), bits)
        if isinstance(operand, Sym):
            return e.resize(lower_memory.symbol(self, operand), bits)
        if isinstance(operand, Vec):
            return self.pack(operand, bits)
        raise self.unsupported(f"operand {operand}")

    def pack(self, operand: Vec, bits: int) -> Value:
        e, part = self.e, bits // len(operand.items)
        result = e.const(f"i{bits}", 0)
        for index, item in enumerate(operand.items):
            piece = e.resize(self.bits_value(item, part), bits)
            result = e.bin("or", result, e.bin("shl", piece, e.const(f"i{bits}", index * part)))
        return result

    def typed(self, operand, kind: isa.Type) -> Value:
        """An operand as a meaning wants it: iN, i1, float or double; f16 and bf16 widened to float."""
        return self.as_typed(self.bits_value(operand, kind.bits), kind)

    def as_typed(self, value: Value, kind: isa.Type) -> Value:
        if kind.kind == "f":
            return self.e.as_float(value)
        return formats.widen_half(self.e, value, kind.name) if kind.kind == "h" else value

    def untyped(self, value: Value, kind: isa.Type) -> Value:
        """A meaning's result as bits."""
        if kind.kind == "h":
            return formats.narrow_half(self.e, value, kind.name)
        return self.e.bits(value) if kind.kind == "f" else value

    def unsupported(self, what: str) -> Unsupported:
        return lacking(what, line_of(self.location, self.own))

    # ------------------------------------------------------------ instructions

    def instruction(self, instruction: Instruction) -> None:
        if instruction.location is not None:
            self.location = instruction.location
        kind = segments.kind_of(instruction)
        if self.watch:
            lower_watch.before(self, instruction, kind)
        if kind == "arithmetic":
            self.arithmetic(instruction)
        elif kind in HANDLERS:
            HANDLERS[kind](self, instruction)
        else:
            raise self.unsupported(f"the PTX instruction `{instruction}`")
        if self.watch:
            lower_watch.after(self, kind)

    def arithmetic(self, instruction: Instruction) -> None:
        special = lower_warp.structural(self, instruction)
        if special:
            return
        found = isa.match(instruction.opcode, instruction.modifiers)
        if found is None:
            raise self.unsupported(f"the PTX instruction `{instruction}`")
        guard = self.guard(instruction.guard)
        op, form = found.op, found.form
        given = list(instruction.operands[1:])
        kinds = [isa.operand_type(symbol, form) for symbol in op.inputs]
        symbols = op.inputs
        if "c" in symbols:
            given.append(Reg("%cc"))
        if found.packed:
            values = self.packed(op, form, given, kinds)
        else:
            arguments = [self.typed(o, k) for o, k in zip(given, kinds, strict=False)]
            values = outline.meaning(self, instruction, op, form, arguments)
        destination = instruction.operands[0]
        places = [destination.first, destination.second] if isinstance(destination, Pair) else [destination]
        outputs = op.outputs
        if "c" in outputs:
            places = [places[0], Reg("%cc")]
        for place, symbol, value in zip(places, outputs, values, strict=False):
            if place is None:
                continue
            kind = isa.operand_type(symbol, form)
            bits = value if found.packed else self.untyped(value, kind)
            name = place.name
            # Narrow results in wider registers are extended as their type says.
            if kind.kind in "usb" and self.bits(name) > kind.bits:
                bits = self.e.resize(bits, self.bits(name), signed=kind.kind == "s")
            self.write(place, bits, guard)

    def meaning(self, op: isa.Op, form: isa.Form, arguments: list[Value]) -> list[Value]:
        e = self.e
        flush = "ftz" in form.mods
        if flush:
            arguments = [isa_llvm.flush(e, a) if a.type == "float" else a for a in arguments]
        if isinstance(op.llvm, str):
            plain = op.llvm[0] != "@"
            result = e.bin(op.llvm, *arguments) if plain else e.intrinsic(op.llvm[1:], *arguments)
        else:
            result = op.llvm(e, form, *arguments)
        values = list(result) if isinstance(result, tuple) else [result]
        if form.t.is_float and op.opcode != "cvt":
            if "sat" in form.mods:
                values[0] = isa_llvm.saturate(e, values[0])
            if "relu" in form.mods:
                values[0] = isa_llvm.relu(e, values[0])
        if flush and values[0].type == "float" and form.t.name == "f32":
            values[0] = isa_llvm.flush(e, values[0])
        return values

    def packed(self, op, form, given, kinds) -> list[Value]:
        """An operation on the two values packed in one register."""
        e, bits, parts = self.e, form.t.bits, []
        for shift in (0, bits):
            arguments = []
            for operand, symbol, kind in zip(given, op.inputs, kinds, strict=False):
                if symbol not in ("t", "s"):
                    arguments.append(self.bits_value(operand, kind.bits))
                    continue
                whole = self.bits_value(operand, 2 * bits)
                arguments.append(self.as_typed(e.resize(e.bin("lshr", whole, e.const(whole.type, shift)), bits), kind))
            parts.append([self.untyped(v, form.t) if v.type != "i1" else v for v in self.meaning(op, form, arguments)])
        low, high = parts
        if low[0].type == "i1":
            return [low[0], high[0]]
        low, high = (e.resize(part[0], 2 * bits) for part in parts)
        return [e.bin("or", low, e.bin("shl", high, e.const(high.type, bits)))]

    # ------------------------------------------------------------ sites

    def site(self, instruction: Instruction, kind: str, space: str = "", nbytes: int = 0, matrices: int = 0) -> int:
        located = replace(instruction, location=instruction.location or self.location)
        self.sites.append(Site(located, kind, space, nbytes, matrices))
        return len(self.sites) - 1

    def site_pointer(self, number: int) -> str:
        return self.e.assign(f"getelementptr i8, ptr %sites, i64 {number * SITE_BYTES}", "ptr", False).text


def _immediate(operand: Imm, bits: int) -> int:
    if operand.kind == "f64" and bits == 32:
        double = struct.unpack("<d", operand.value.to_bytes(8, "little"))[0]
        return struct.unpack("<I", struct.pack("<f", double))[0]
    return operand.value & ((1 << bits) - 1)
