"""Calls of functions that stay functions, in LLVM IR: frames, passing arguments, going there and coming back.

Each thread has its own stacks (see `called`) and its own depth; the dispatcher lets the deepest threads run first, so
that those that come back early wait for the others at the place they were called from. Registers lie in the warp's
state, one place for each whatever the depth; a function that may be called again before it is done keeps those that
it still needs in its frame.
"""

from __future__ import annotations

from dataclasses import dataclass

from vgpu import ptx
from vgpu.base.context import PC_DONE, PC_SYNC
from vgpu.ir import LANES, Value
from vgpu.ir.value import V32
from vgpu.lower import called, memory
from vgpu.lower.basic_blocks import BasicBlock, items_of
from vgpu.lower.called import LINK, Invocation, Passed
from vgpu.lower.control import Control
from vgpu.lower.dispatch import Chosen
from vgpu.ptx import Imm, Instruction, Reg, Sym
from vgpu.storage import layout

WORD = 4 * LANES  # bytes of one word of the stack for all lanes of a warp
RUN = 1 << 32  # the answer of an access check for lanes that lie side by side
LINE = 64
Window = tuple[Value, Value]


def invoked(basic_block: BasicBlock) -> Invocation:
    """The call at the end of a basic block."""
    assert basic_block.last is not None
    return basic_block.last.operands[0]


@dataclass(frozen=True)
class Frame:
    """What a function needs of both stacks: words of the hidden one, bytes of the local one, where things lie."""

    words: int
    nbytes: int
    keep: int  # the word at which kept registers begin
    locals: dict[str, int]


class Calls(Control):
    """The part of a lowering that keeps the stacks; kernels without such calls have none."""

    def lay_out_stacks(self) -> None:
        """Find every function's frame, reserve the hidden stack, and find the bytes of local memory a thread needs."""
        if not self.flow.stacked:
            return
        kernel_bytes = layout.align_up(self.kernel_bytes, 16)
        self.kept: dict[int, list[str]] = {}
        most: dict[str, int] = {}
        for basic_block in self.flow.basic_blocks:
            if basic_block.end == "call":
                names = self.kept[basic_block.index] = self.registers_to_keep(basic_block)
                words = sum(self.words(name) for name in names)
                most[basic_block.owner] = max(words, most.get(basic_block.owner, 0))
        self.frames = {"": Frame(0, kernel_bytes, 0, {})}
        for name, one in self.called.items():
            own = {n: v for n, v in self.variables.items() if v.space == "local" and n.endswith(f"@{name}")}
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
        self.local_bytes = (-(-total // LINE) | 1) * LINE

    def registers_to_keep(self, basic_block: BasicBlock) -> list[str]:
        """Registers that are read after a call and that the function may overwrite by being called once more."""
        invocation = invoked(basic_block)
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
        return self.get_state(self.places[name], V32)

    def set_stack_value(self, name: str, value: Value | int) -> None:
        """Set it for the active lanes."""
        self.set_state(self.places[name], self.active.select(value, self.stack_value(name)))

    def move_stack(self, words: int, nbytes: int) -> None:
        for name, by in (("top", words), ("base", nbytes)):
            self.set_stack_value(name, self.stack_value(name) + by)

    def window(self, beyond: int = 0) -> Window:
        """Addresses of word `beyond` of the lanes' frames, and the mask with a note whether lanes lie side by side."""
        top, state = self.stack_value("top"), self.state.to("i64")
        lanes = self.ir.each_lane("i64", [self.stack_at + beyond * WORD + 4 * lane for lane in range(LANES)])
        start = top.to("i64") * WORD
        where = start + lanes + state
        together = top.eq(top.lane(0)).bits().eq(-1) & self.mask.eq(-1)
        shape = together.select(self.ir.i64(RUN), 0)
        return where, shape | self.mask.to("i64")

    def load_word(self, window: Window, word: int) -> Value:
        where, answer = window
        return memory.load_element(self, where + word * WORD, answer, 32)

    def store_word(self, window: Window, word: int, value: Value) -> None:
        where, answer = window
        memory.store_element(self, where + word * WORD, answer, value.splat())

    def load_bits(self, window: Window, offset: int, bits: int) -> Value:
        """A value of any width at a byte offset of a frame."""
        low = self.load_word(window, offset // 4)
        if bits == 64:
            high = self.load_word(window, offset // 4 + 1).to("i64")
            return low.to("i64") | high << 32
        if offset % 4:
            low = low >> 8 * (offset % 4)
        return low.to(f"i{bits}")

    def store_bits(self, window: Window, offset: int, value: Value, bits: int) -> None:
        if bits == 64:
            self.store_word(window, offset // 4, value.to("i32"))
            self.store_word(window, offset // 4 + 1, (value >> 32).to("i32"))
            return
        if bits < 32:  # the rest of the word stays
            shift = 8 * (offset % 4)
            old = self.load_word(window, offset // 4)
            old = old & ~(((1 << bits) - 1) << shift)
            value = old | value.to("i32") << shift
        self.store_word(window, offset // 4, value)

    def local_base(self, name: str) -> Value | None:
        """Where in each thread's local memory a variable of a function's frame lies; None for the kernel's own."""
        owner = name.partition("@")[2]
        if not owner:
            return None
        if name not in self.frames[owner].locals:  # what it passes on to others lies in registers
            raise self.unsupported("the address of a parameter in a function that is called through a stack")
        offset = self.frames[owner].locals[name]
        return (self.stack_value("base") + offset).to("i64")

    # ------------------------------------------------------------ choosing who runs

    def deepest(self, pcs: Value) -> Chosen:
        """Of the lanes that can run the deepest, and of these the lowest."""
        ready = pcs.below(PC_SYNC)
        # Shallow is high; lanes that cannot run are higher than all others, whatever their depth.
        rank = ready.select((1 << 30) - self.stack_value("depth"), 1 << 31)
        key = rank.to("i64") << 32 | pcs.to("i64")
        chosen, overtakes = self.take_turns(ready, key, key.reduce("umin"))
        here = key.eq(chosen)
        rivals = rank.eq((chosen >> 32).to("i32")) & ~here
        return Chosen(chosen.to("i32"), here.bits(), rivals.select(pcs, PC_DONE).reduce("umin"), overtakes)

    # ------------------------------------------------------------ there

    def end_call(self, basic_block: BasicBlock) -> None:
        invocation = invoked(basic_block)
        (following,) = basic_block.targets
        caller, kept = self.frames[basic_block.owner], self.kept[basic_block.index]
        assert basic_block.last is not None
        site = self.site(basic_block.last, "call")
        target, needed = self.destination(invocation, site)
        self.check_room(caller, needed, site)
        if kept:
            window, word = self.window(), caller.keep
            for name in kept:
                value = self.read(name)
                wide = value.to(f"i{max(32, self.bits(name))}")
                self.store_bits(window, 4 * word, wide, max(32, self.bits(name)))
                word += self.words(name)
        window = self.window(caller.words)
        self.store_word(window, LINK, self.ir.i32(following))
        offsets, _, _ = called.places(invocation.signature)
        for at, argument in zip(offsets, invocation.arguments, strict=True):
            self.pass_argument(window, at, argument)
        results = set(called.result_names(invocation))
        for name in sorted((self.written & self.flow.live_in[following]) - set(kept) - results):
            self.store_register(name, self.env[name])
        self.move_stack(caller.words, caller.nbytes)
        self.set_stack_value("depth", self.stack_value("depth") + 1)
        self.flush()
        if target.vector:
            self.set_pcs(self.mask, target)
            self.ir.go("dispatch")
        else:  # no lane is deeper, so none comes first
            self.vars.others.set(PC_DONE)
            self.straight_on(int(target.text))

    def destination(self, invocation: Invocation, site: int) -> tuple[Value, Value]:
        """The basic block at which the function begins, and the bytes of its frame; one a lane through pointers."""
        ir = self.ir
        if isinstance(invocation.target, Sym):
            name = invocation.target.name
            return ir.i32(self.flow.entries[name]), ir.i32(self.frames[name].nbytes)
        handle = self.lanes_value(invocation.target, 64)
        target, needed = ir.i32(PC_DONE).splat(), ir.i32(0).splat()
        for name in self.callees(invocation):
            meant = handle.eq(self.called[name].handle)
            target = meant.select(self.flow.entries[name], target)
            needed = meant.select(self.frames[name].nbytes, needed)
        lost = target.eq(PC_DONE).bits() & self.mask
        self.fail_where(lost, "pointer", site, handle)
        return target, needed

    def check_room(self, caller: Frame, needed: Value, site: int) -> None:
        limit = layout.STACK_BYTES + self.frames[""].nbytes
        end = self.stack_value("base") + caller.nbytes + needed
        over = end.above(limit).bits() & self.mask
        self.fail_where(over, "stack", site, self.stack_value("depth").to("i64"))

    def pass_argument(self, window: Window, at: int, argument: Passed) -> None:
        """The pieces of an argument, put together to words."""
        words: dict[int, Value] = {}
        for offset, nbytes, register in argument.pieces:
            value = self.bits_value(register, 8 * nbytes)
            if nbytes >= 4:
                self.store_bits(window, at + offset, value, 8 * nbytes)
                continue
            part = value.to("i32") << 8 * (offset % 4)
            word = (at + offset) // 4
            words[word] = words[word] | part if word in words else part
        for word, value in words.items():
            self.store_word(window, word, value)

    # ------------------------------------------------------------ and back

    def end_return(self, basic_block: BasicBlock) -> None:
        link = self.load_word(self.window(), LINK)
        self.set_stack_value("depth", self.stack_value("depth") - 1)
        self.flush()
        self.set_pcs(self.mask, link)
        self.ir.go("dispatch")

    def resume(self, basic_block: BasicBlock) -> None:
        """After a call: take the results out of the frame that is left, and the kept registers out of this one."""
        before = basic_block.resumes
        assert before is not None
        invocation = invoked(before)
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
                self.bring_back(name, value.to(f"i{bits}"))
                word += self.words(name)

    def bring_back(self, name: str, value: Value) -> None:
        self.env[name] = value
        self.written.add(name)


# ---------------------------------------------------------------- instructions


def begin(kernel: Calls, instruction: Instruction) -> None:
    """The kernel begins for these lanes, whose stacks are empty; a random schedule may have others running already."""
    for name in kernel.places:
        kernel.set_stack_value(name, 0)


def frame(kernel: Calls, instruction: Instruction) -> None:
    """A function reads its parameters or writes its results."""
    bits = 8 * ptx.TYPE_BYTES[instruction.modifiers[-1]]
    window = kernel.window()
    guard = kernel.guard(instruction.guard)
    if instruction.opcode == "frame.load":
        target, at = instruction.operands
        for index, item in enumerate(items_of(target)):
            if isinstance(item, Reg):
                value = kernel.load_bits(window, at.value + index * bits // 8, bits)
                signed = instruction.modifiers[-1][0] == "s"
                kernel.write(item, value.to(f"i{kernel.bits(item.name)}", signed), guard)
        return
    at, source = instruction.operands
    if guard is not None:
        window = window[0], kernel.guarded_mask(guard).to("i64")
    for index, item in enumerate(items_of(source)):
        if isinstance(item, (Reg, Imm)):
            kernel.store_bits(window, at.value + index * bits // 8, kernel.bits_value(item, bits), bits)


HANDLERS = {"frames": begin, "frame": frame}
