"""Calls of functions that stay functions, in LLVM IR: frames, passing arguments, going there and coming back.

Each thread has its own stacks (see `called`) and its own depth; the dispatcher lets the deepest threads run first, so
that those that come back early wait for the others at the place they were called from. Registers lie in the warp's
state, one place for each whatever the depth; a function that may be called again before it is done keeps those that
it still needs in its frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vgpu import ptx
from vgpu.base.context import ERROR_CODE, FAILED, PC_DONE, PC_SYNC
from vgpu.lower import called
from vgpu.lower.basic_blocks import BasicBlock
from vgpu.lower.called import LINK, Invocation, Passed
from vgpu.ptx import Imm, Instruction, Reg, Sym, Vec
from vgpu.runtime.emit import LANES, Value
from vgpu.storage import layout

WORD = 4 * LANES  # bytes of one word of the stack for all lanes of a warp
RUN = 1 << 32  # the answer of an access check for lanes that lie side by side
LINE = 64


@dataclass(frozen=True)
class Frame:
    """What a function needs of both stacks: words of the hidden one, bytes of the local one, where things lie."""

    words: int
    nbytes: int
    keep: int  # the word at which kept registers begin
    locals: dict[str, int]


class Calls:
    """The part of `lower.Lowering` that keeps the stacks; kernels without such calls have none."""

    def lay_out_stacks(self, variables: dict[str, ptx.Variable], kernel_bytes: int) -> int:
        """Find every function's frame and reserve the hidden stack; the local memory a thread needs, in bytes."""
        if not self.flow.stacked:
            return kernel_bytes
        kernel_bytes = layout.align_up(kernel_bytes, 16)
        self.kept: dict[int, list[str]] = {}
        most: dict[str, int] = {}
        for basic_block in self.flow.basic_blocks:
            if basic_block.end == "call":
                names = self.kept[basic_block.index] = self.registers_to_keep(basic_block)
                words = sum(self.words(name) for name in names)
                most[basic_block.owner] = max(words, most.get(basic_block.owner, 0))
        self.frames = {"": Frame(0, kernel_bytes, 0, {})}
        for name, one in self.called.items():
            own = {n: v for n, v in variables.items() if v.space == "local" and n.endswith(f"@{name}")}
            offsets, nbytes = layout.place_locals(own.values())
            keep = called.places(one.signature)[2]
            total = layout.frame_bytes(one.signature, nbytes)
            self.frames[name] = Frame(keep + most.get(name, 0), total, keep, offsets)
        per_byte = max((f.words / f.nbytes for name, f in self.frames.items() if name), default=0)
        words = int(layout.STACK_BYTES * per_byte) + 1  # as many as the other stack has room for frames
        self.places = {name: self.state_bytes + index * WORD for index, name in enumerate(("top", "base", "depth"))}
        self.stack_at = self.state_bytes + 3 * WORD
        self.state_bytes = layout.align_up(self.stack_at + words * WORD, 64)
        total = kernel_bytes + layout.STACK_BYTES
        # An odd number of cache lines between threads, or their stacks would all fall into one set of the cache.
        return (-(-total // LINE) | 1) * LINE

    def registers_to_keep(self, basic_block: BasicBlock) -> list[str]:
        """Registers that are read after a call and that the function may overwrite by being called once more."""
        invocation: Invocation = basic_block.last.operands[0]
        again = any(
            basic_block.owner == n or basic_block.owner in self.called[n].reaches for n in self.callees(invocation)
        )
        if not basic_block.owner or not again:
            return []
        (following,) = basic_block.targets
        results = set(called.result_names(invocation))
        return sorted(self.flow.live_in[following] - results - self.flow.uniform)

    def callees(self, invocation: Invocation) -> list[str]:
        """The functions that a call may lead to."""
        if isinstance(invocation.target, Sym):
            return [invocation.target.name]
        fits = invocation.signature
        return [name for name, one in self.called.items() if one.by_pointer and one.signature == fits]

    def words(self, name: str) -> int:
        return max(1, self.bits(name) // 32)

    # ------------------------------------------------------------ the stacks

    def stack_value(self, name: str) -> Value:
        """One of each lane's "top" (word of the current frame), "base" (byte of its locals) and "depth"."""
        p = self.e.assign(f"getelementptr i8, ptr %state, i64 {self.places[name]}", "ptr", False)
        return self.e.assign(f"load <{LANES} x i32>, ptr {p.text}, align 64", "i32", True)

    def set_stack_value(self, name: str, value: Value, mask: Value | None = None) -> None:
        e = self.e
        value = e.splat(value)
        if mask is not None:
            value = e.select(mask, value, self.stack_value(name))
        p = e.assign(f"getelementptr i8, ptr %state, i64 {self.places[name]}", "ptr", False)
        e.line(f"store {value.full} {value.text}, ptr {p.text}, align 64")

    def move_stack(self, words: int, nbytes: int) -> None:
        e = self.e
        for name, by in (("top", words), ("base", nbytes)):
            self.set_stack_value(name, e.bin("add", self.stack_value(name), e.const("i32", by)), self.active)

    def window(self, beyond: int = 0) -> tuple[Value, Value]:
        """Addresses of word `beyond` of the lanes' frames, and the mask with a note whether lanes lie side by side."""
        e = self.e
        top = self.stack_value("top")
        state = e.assign("ptrtoint ptr %state to i64", "i64", False)
        lanes = e.vector_const("i64", [self.stack_at + beyond * WORD + 4 * lane for lane in range(LANES)])
        start = e.bin("mul", e.resize(top, 64), e.const("i64", WORD))
        where = e.bin("add", e.bin("add", start, lanes), state)
        first = e.assign(f"extractelement {top.full} {top.text}, i32 0", "i32", False)
        level = e.icmp("eq", self.bits_of(e.icmp("eq", top, first)), e.const("i32", -1))
        together = e.bin("and", level, e.icmp("eq", self.mask, e.const("i32", -1)))
        shape = e.select(together, e.const("i64", RUN), e.const("i64", 0))
        return where, e.bin("or", shape, e.resize(self.mask, 64))

    def load_word(self, window, word: int) -> Value:
        e, (where, answer) = self.e, window
        at = e.bin("add", where, e.const("i64", word * WORD))
        e.declarations.add(f"declare <{LANES} x i32> @wb_load32(<{LANES} x i64>, i64)")
        call = f"call <{LANES} x i32> @wb_load32({at.full} {at.text}, i64 {answer.text})"
        return e.assign(call, "i32", True)

    def store_word(self, window, word: int, value: Value) -> None:
        e, (where, answer) = self.e, window
        at, value = e.bin("add", where, e.const("i64", word * WORD)), e.splat(value)
        e.declarations.add(f"declare void @wb_store32(<{LANES} x i64>, <{LANES} x i32>, i64)")
        e.line(f"call void @wb_store32({at.full} {at.text}, {value.full} {value.text}, i64 {answer.text})")

    def load_bits(self, window, offset: int, bits: int) -> Value:
        """A value of any width at a byte offset of a frame."""
        e = self.e
        low = self.load_word(window, offset // 4)
        if bits == 64:
            high = e.resize(self.load_word(window, offset // 4 + 1), 64)
            return e.bin("or", e.resize(low, 64), e.bin("shl", high, e.const("i64", 32)))
        if offset % 4:
            low = e.bin("lshr", low, e.const("i32", 8 * (offset % 4)))
        return e.resize(low, bits)

    def store_bits(self, window, offset: int, value: Value, bits: int) -> None:
        e = self.e
        if bits == 64:
            self.store_word(window, offset // 4, e.resize(value, 32))
            self.store_word(window, offset // 4 + 1, e.resize(e.bin("lshr", value, e.const("i64", 32)), 32))
            return
        if bits < 32:  # the rest of the word stays
            shift = 8 * (offset % 4)
            old = self.load_word(window, offset // 4)
            old = e.bin("and", old, e.const("i32", ~(((1 << bits) - 1) << shift)))
            value = e.bin("or", old, e.bin("shl", e.resize(value, 32), e.const("i32", shift)))
        self.store_word(window, offset // 4, value)

    def local_base(self, name: str) -> Value | None:
        """Where in each thread's local memory a variable of a function's frame lies; None for the kernel's own."""
        owner = name.partition("@")[2]
        if not owner:
            return None
        if name not in self.frames[owner].locals:  # what it passes on to others lies in registers
            raise self.unsupported("the address of a parameter in a function that is called through a stack")
        offset = self.frames[owner].locals[name]
        return self.e.resize(self.e.bin("add", self.stack_value("base"), self.e.const("i32", offset)), 64)

    # ------------------------------------------------------------ choosing who runs

    def choose(self) -> None:
        """Of the lanes that can run the deepest, and of these the lowest: `%pc`, `%here` and `%others0`."""
        e = self.e
        v, wide = f"<{LANES} x i32>", f"<{LANES} x i64>"
        e.declarations.add(f"declare i64 @llvm.vector.reduce.umin.v{LANES}i64({wide})")
        pcs = Value("%pcs", "i32", True)
        ready = e.icmp("ult", pcs, e.const("i32", PC_SYNC))
        # Shallow is high; lanes that cannot run are higher than all others, whatever their depth.
        rank = e.select(
            ready, e.bin("sub", e.const("i32", 1 << 30), self.stack_value("depth")), e.const("i32", 1 << 31)
        )
        key = e.bin("or", e.bin("shl", e.resize(rank, 64), e.const("i64", 32)), e.resize(pcs, 64))
        low = e.assign(f"call i64 @llvm.vector.reduce.umin.v{LANES}i64({wide} {key.text})", "i64", False)
        chosen = self.take_turns(ready, key, low)
        e.line(f"%pc = trunc i64 {chosen.text} to i32")
        here = e.icmp("eq", key, chosen)
        e.line(f"%here = and <{LANES} x i1> {here.text}, {e.splat(e.const('i1', 1)).text}")
        level = e.icmp("eq", rank, e.resize(e.bin("lshr", chosen, e.const("i64", 32)), 32))
        rivals = e.bin("and", level, e.flip(here))
        elsewhere = e.select(rivals, pcs, e.const("i32", PC_DONE))
        e.line(f"%others0 = call i32 @llvm.vector.reduce.umin.v32i32({v} {elsewhere.text})")

    # ------------------------------------------------------------ there

    def end_call(self, basic_block) -> None:
        e = self.e
        invocation: Invocation = basic_block.last.operands[0]
        (following,) = basic_block.targets
        caller, kept = self.frames[basic_block.owner], self.kept[basic_block.index]
        site = self.site(basic_block.last, "call")
        target, needed = self.destination(basic_block, invocation, site)
        self.check_room(basic_block, caller, needed, site)
        if kept:
            window, word = self.window(), caller.keep
            for name in kept:
                value = self.read(name)
                wide = e.resize(value, max(32, self.bits(name)))
                self.store_bits(window, 4 * word, wide, max(32, self.bits(name)))
                word += self.words(name)
        window = self.window(caller.words)
        self.store_word(window, LINK, e.const("i32", following))
        offsets, _, _ = called.places(invocation.signature)
        for at, argument in zip(offsets, invocation.arguments, strict=True):
            self.pass_argument(window, at, argument)
        results = set(called.result_names(invocation))
        for name in sorted((self.written & self.flow.live_in[following]) - set(kept) - results):
            self.store_register(name, self.env[name])
        self.move_stack(caller.words, caller.nbytes)
        self.set_stack_value("depth", e.bin("add", self.stack_value("depth"), e.const("i32", 1)), self.active)
        self.flush()
        if target.vector:
            self.set_pcs(self.mask, target)
            e.line("br label %dispatch")
        else:  # nobody is deeper, so nobody comes first
            e.line(f"store i32 {PC_DONE}, ptr %others_slot")
            self.straight_on(int(target.text))

    def destination(self, basic_block, invocation: Invocation, site: int) -> tuple[Value, Value]:
        """The basic block at which the function begins, and the bytes of its frame; one a lane through pointers."""
        e = self.e
        if isinstance(invocation.target, Sym):
            name = invocation.target.name
            return e.const("i32", self.flow.entries[name]), e.const("i32", self.frames[name].nbytes)
        handle = e.splat(self.bits_value(invocation.target, 64))
        target, needed = e.splat(e.const("i32", PC_DONE)), e.splat(e.const("i32", 0))
        for name in self.callees(invocation):
            meant = e.icmp("eq", handle, e.const("i64", self.called[name].handle))
            target = e.select(meant, e.const("i32", self.flow.entries[name]), target)
            needed = e.select(meant, e.const("i32", self.frames[name].nbytes), needed)
        lost = e.bin("and", self.bits_of(e.icmp("eq", target, e.const("i32", PC_DONE))), self.mask)
        self.fail_where(lost, "pointer", site, handle)
        return target, needed

    def check_room(self, basic_block, caller: Frame, needed: Value, site: int) -> None:
        e = self.e
        limit = layout.STACK_BYTES + self.frames[""].nbytes
        end = e.bin("add", e.bin("add", self.stack_value("base"), e.const("i32", caller.nbytes)), needed)
        over = e.bin("and", self.bits_of(e.icmp("ugt", end, e.const("i32", limit))), self.mask)
        self.fail_where(over, "stack", site, e.resize(self.stack_value("depth"), 64))

    def fail_where(self, lanes: Value, kind: str, site: int, address: Value) -> None:
        """End the run with an error if there are such lanes (bits)."""
        e = self.e
        self.parked += 1
        bad, fine = f"bad{self.parked}", f"fine{self.parked}"
        none = e.icmp("eq", lanes, e.const("i32", 0))
        e.line(f"br i1 {none.text}, label %{fine}, label %{bad}")
        e.label(bad)
        e.declarations.add(f"declare void @wb_fail_at(ptr, i64, i64, i32, <{LANES} x i64>)")
        e.line(
            f"call void @wb_fail_at(ptr %ctx, i64 {ERROR_CODE[kind]}, i64 {site}, i32 {lanes.text}, "
            f"{address.full} {address.text})"
        )
        e.line(f"ret i32 {FAILED}")
        e.label(fine)

    def pass_argument(self, window, at: int, argument: Passed) -> None:
        """The pieces of an argument, put together to words."""
        e = self.e
        words: dict[int, Value] = {}
        for offset, nbytes, register in argument.pieces:
            value = self.bits_value(register, 8 * nbytes)
            if nbytes >= 4:
                self.store_bits(window, at + offset, value, 8 * nbytes)
                continue
            part = e.bin("shl", e.resize(value, 32), e.const("i32", 8 * (offset % 4)))
            word = (at + offset) // 4
            words[word] = e.bin("or", words[word], part) if word in words else part
        for word, value in words.items():
            self.store_word(window, word, value)

    # ------------------------------------------------------------ and back

    def end_return(self, basic_block) -> None:
        e = self.e
        link = self.load_word(self.window(), LINK)
        self.set_stack_value("depth", e.bin("sub", self.stack_value("depth"), e.const("i32", 1)), self.active)
        self.flush()
        self.set_pcs(self.mask, link)
        e.line("br label %dispatch")

    def resume(self, basic_block) -> None:
        """After a call: take the results out of the frame that is left, and the kept registers out of this one."""
        before = basic_block.resumes
        invocation: Invocation = before.last.operands[0]
        caller = self.frames[before.owner]
        _, offsets, _ = called.places(invocation.signature)
        wanted = self.flow.live_in[basic_block.index]
        window = self.window()
        for at, result in zip(offsets, invocation.returns, strict=True):
            for offset, nbytes, register in result.pieces:
                if register.name in wanted:
                    self.bring_back(register.name, self.load_bits(window, at + offset, 8 * nbytes))
        self.move_stack(-caller.words, -caller.nbytes)
        if kept := self.kept[before.index]:
            window, word = self.window(), caller.keep
            for name in kept:
                bits = self.bits(name)
                value = self.load_bits(window, 4 * word, max(32, bits))
                self.bring_back(name, self.e.resize(value, bits))
                word += self.words(name)

    def bring_back(self, name: str, value: Value) -> None:
        self.env[name] = value
        self.written.add(name)


# ---------------------------------------------------------------- instructions


def begin(k, instruction: Instruction) -> None:
    """The kernel begins for these lanes, whose stacks are empty; a random schedule may have others under way."""
    for name in k.places:
        k.set_stack_value(name, k.e.const("i32", 0), k.active)


def _items(operand) -> Iterable:
    return operand.items if isinstance(operand, Vec) else (operand,)


def frame(k, instruction: Instruction) -> None:
    """A function reads its parameters or writes its results."""
    bits = 8 * ptx.TYPE_BYTES[instruction.modifiers[-1]]
    window = k.window()
    guard = k.guard(instruction.guard)
    if instruction.opcode == "frame.load":
        target, at = instruction.operands
        for index, item in enumerate(_items(target)):
            if isinstance(item, Reg):
                value = k.load_bits(window, at.value + index * bits // 8, bits)
                signed = instruction.modifiers[-1][0] == "s"
                k.write(item, k.e.resize(value, k.bits(item.name), signed=signed), guard)
        return
    at, source = instruction.operands
    if guard is not None:
        window = window[0], k.e.resize(k.guarded_mask(guard), 64)
    for index, item in enumerate(_items(source)):
        if isinstance(item, (Reg, Imm)):
            k.store_bits(window, at.value + index * bits // 8, k.bits_value(item, bits), bits)


HANDLERS = {"frames": begin, "frame": frame}
