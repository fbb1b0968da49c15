"""The sanitizer's hooks in a kernel: what `lower` adds where a kernel is to be watched, and nothing otherwise.

Every access is told to the shadow (`runtime.shadow`) after its check, and may lose lanes there; `element` does check,
shadow and data of shared memory in one call. Instructions that bring lanes together, fences and strong accesses tell
who knows of whom. A `Place` numbers the source: what the sanitizer reports, and what the entries of the shadow carry.

For other kinds of instruction that move data or order threads: call `access` for what is read or written (it gives
the lanes that may go on), `join` where lanes of a warp come to know of each other, and let the host's `event` know
where threads of different warps do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu.base.context import PENDING
from vgpu.ir import Value, element_bits, vector
from vgpu.ir.value import V64
from vgpu.lower import definedness, in_flight
from vgpu.lower.basic_blocks import kind_of, registers_in, results
from vgpu.lower.flow import SYNC_KINDS
from vgpu.lower.spaces import KINDS, window_of
from vgpu.ptx import Imm, Instruction, Mem, Operand, Sym
from vgpu.ptx.lines import line_of
from vgpu.runtime.overwrites import LOAD, STORE

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.control import Control
    from vgpu.lower.state import State

PLAIN, VOLATILE, ATOMIC = 0, 1, 2
STRONG_WORDS = {"relaxed": ATOMIC, "acquire": ATOMIC, "release": ATOMIC, "acq_rel": ATOMIC, "volatile": VOLATILE}
ACQUIRES, RELEASES = {"acquire", "acq_rel", "sc"}, {"release", "acq_rel", "sc"}


@dataclass(frozen=True)
class Place:
    """A place in the source that is watched: what stands there, and what its address is made from."""

    instruction: Instruction
    kind: str
    space: str
    nbytes: int
    strength: int
    origins: tuple[str, ...] = ()  # parameters and variables that the address is computed from
    words: tuple[str, ...] = ()
    line: int | None = None  # the user's; where the compiler names none, the one before
    bounds: tuple[int, int | None] | None = None  # of the one shared or local array meant; None: to the window's end
    site: int | None = None  # of a bulk copy, which tells of itself by its site


class Watch:
    """What one lowering needs to watch: the places, where addresses come from, whether the kernel has fences."""

    def __init__(self, kernel: State):
        self.places: list[Place] = []
        body = [i for s in kernel.flow.basic_blocks for i in (*s.body, *([s.last] if s.last else []))]
        # What the compiler made up (line 0) belongs to the line before.
        self.lines, line = {}, None
        for instruction in body:
            line = line_of(instruction.location, kernel.own) or line
            self.lines[id(instruction)] = line
        self.fenced = any(_is_fence(i) or {"acquire", "release", "acq_rel"} & set(i.modifiers) for i in body)
        self.origins = _origins(
            body, set(kernel.shared) | set(kernel.locals) | set(kernel.parameters) | set(kernel.addresses)
        )
        self.compared = _compared(body)
        self.sources = _mask_sources(body, kernel.module.files)
        # What `definedness` wants: the last (place, where), and which shadows are made of which.
        self.accessed: tuple[int, Value] | None = None
        self.merged: dict[frozenset[str], Value] = {}
        self.made_of: dict[str, frozenset[str]] = {}
        # What printf prints lies in local memory, which is not followed: there a store of it has to count as its use.
        self.early = in_flight.early(kernel.flow.basic_blocks)
        self.products: dict[int, int] = {}  # places of products, by the ids of their instructions
        self.prints = any(i.opcode == "call" and i.operands[0].target.name == "vprintf" for i in body)

    def product(self, kernel: Control, instruction: Instruction) -> int:
        """The place of a product, which others name, too."""
        if id(instruction) not in self.products:
            self.products[id(instruction)] = self.place(kernel, instruction, "load", "shared", 4)
        return self.products[id(instruction)]

    def made_from(self, memory: Mem) -> tuple[str, ...]:
        """The variables and parameters that an address is made from."""
        base = memory.base
        found = {base.name} if isinstance(base, Sym) else self.origins.get(getattr(base, "name", ""), set())
        return tuple(sorted(found))

    def bounds(self, kernel: State, space: str, origins: tuple[str, ...]) -> tuple[int, int | None] | None:
        """The extent of the one shared or local array that an address is made from."""
        arrays = [name for name in origins if name in kernel.shared or name in kernel.locals]
        if len(arrays) != 1 or UNKNOWN in origins or any(name in kernel.addresses for name in origins):
            return None
        # A generic address may be the array's or that of a pointer among the parameters.
        if space == "generic" and any(name in kernel.parameters for name in origins):
            return None
        name, variable = arrays[0], kernel.variables.get(arrays[0])
        if variable is None:
            return None
        start = kernel.shared[name] if name in kernel.shared else kernel.locals[name]
        return start, None if variable.external else start + variable.nbytes

    def place(
        self, kernel: Control, instruction: Instruction, kind: str, space: str = "", nbytes: int = 0,
        strength: int = PLAIN, origins: tuple[str, ...] = (), words: tuple[str, ...] = (), of: int | None = None,
    ) -> int:  # fmt: skip
        """A number for a place, from 1 on."""
        site = kernel.sites[kernel.site(instruction, "watch", space, nbytes)]  # with the location it has or inherits
        bounds, line = self.bounds(kernel, space, origins), self.lines.get(id(instruction))
        self.places.append(Place(site.instruction, kind, space, nbytes, strength, origins, words, line, bounds, of))
        return len(self.places)


def _is_fence(instruction: Instruction) -> bool:
    return instruction.opcode in ("membar", "fence")


def _strength(kernel: Kernel, instruction: Instruction) -> int:
    if instruction.opcode in ("atom", "red"):
        return ATOMIC
    if kernel.watching.compared & set(results(instruction)):
        return ATOMIC
    return max((STRONG_WORDS.get(word, PLAIN) for word in instruction.modifiers), default=PLAIN)


UNKNOWN = "?"  # among origins: a pointer that was read from memory
CARRIES = {"mov", "selp", "slct", "add", "sub", "cvta", "mad"}  # what may make a pointer of a pointer


def _origins(body: Sequence[Instruction], variables: set[str]) -> dict[str, set[str]]:
    """For each register the variables and parameters of which its value is computed, by arithmetic alone.

    A 64-bit number read from memory may be a pointer, until it is scaled as an index is.
    """
    found: dict[str, set[str]] = {}

    def of(operand: Operand) -> set[str]:
        if isinstance(operand, Sym):
            return {operand.name} & variables
        return set().union(*(found.get(name, set()) for name in registers_in(operand)), set())

    def made(instruction: Instruction, kind: str) -> set[str]:
        operands = instruction.operands[1:]
        if kind == "load" and "param" in instruction.modifiers:
            base = operands[0].base
            return {base.name} & variables if isinstance(base, Sym) else {UNKNOWN}
        if kind == "load":
            return {UNKNOWN} if instruction.modifiers[-1] in ("b64", "u64", "s64") else set()
        if kind not in ("arithmetic", "address", "shuffle"):
            return set()
        origins = set().union(*(of(o) for o in operands), set())
        pointers = operands[2:] if instruction.opcode == "mad" else operands
        kept = instruction.opcode in CARRIES and any(UNKNOWN in of(o) for o in pointers)
        return origins if kept else origins - {UNKNOWN}

    changed = True
    while changed:
        changed = False
        for instruction in body:
            origin = made(instruction, kind_of(instruction))
            for name in results(instruction) if origin else ():
                have = found.setdefault(name, set())
                if not origin <= have:
                    have |= origin
                    changed = True
    return found


def _compared(body: Sequence[Instruction]) -> set[str]:
    """Registers whose value a compare-and-swap expects in memory, as it is or computed from them.

    What is read for that may be stale without harm (NVIDIA "CUDA C++ Programming Guide", atomic functions: any atomic
    made of atomicCAS begins with a plain read), so such a read counts as an atomic one.
    """
    found = {
        name for i in body if i.opcode == "atom" and "cas" in i.modifiers for name in registers_in(i.operands[2])
    }  # fmt: skip
    changed = True
    while changed:
        changed = False
        for instruction in body:
            if kind_of(instruction) == "arithmetic" and found & set(results(instruction)):
                more = {name for operand in instruction.operands[1:] for name in registers_in(operand)} - found
                changed |= bool(more)
                found |= more
    return found


def _mask_sources(body: Sequence[Instruction], files: dict[int, str]) -> dict[str, set[str]]:
    """Registers that hold what `activemask` said, directly or copied.

    Cooperative groups ask it for groups of the threads that happen to be together, which is what they are for.
    """
    found: dict[str, set[str]] = {}
    for instruction in body:
        names = results(instruction)
        if instruction.opcode == "activemask":
            if instruction.location and "cooperative_groups" in files.get(instruction.location.file, ""):
                continue
            for name in names:
                found.setdefault(name, set()).add("activemask")
        elif instruction.opcode == "mov" and names:
            for name in registers_in(instruction.operands[1]):
                if name in found:
                    found.setdefault(names[0], set()).update(found[name])
    return found


# ---------------------------------------------------------------- accesses


def access(
    kernel: Kernel, instruction: Instruction, memory: Mem, space: str, nbytes: int, rule: int, where: Value,
    answer: Value, stored: list[tuple[Value, Value]] | None = None, bounded: bool = True, pending: bool = False,
    element: int = 0,
) -> tuple[Value, int]:  # fmt: skip
    """Tell the shadow of an access; give the runtime's answer about its lanes anew, and the place.

    where: offsets within the shared or the thread's local window, host addresses otherwise; stored: (host addresses,
    value) of each element a store writes, None where they are not at hand; bounded: whether the access has to stay in
    the array that its address is made from; pending: whether it is an asynchronous copy's, which has to land yet;
    element: the bytes of one, where a load's values are followed to their uses (0: unwritten ones are told at once).
    """
    ir, watch = kernel.ir, kernel.watching
    i32 = ir.i32
    number, strength = _begun(kernel, instruction, memory, space, nbytes, rule, bounded, pending)
    mask = answer.to("i32")
    if space in ("const", "param"):
        return answer, number
    where = where.to("i64").splat()
    differs = i32(0 if stored is not None else -1)
    for at, value in stored or ():
        name = f"wb_s_differs{element_bits(value.kind)}"
        differs = differs | kernel.run_time(name, i32(number), at, value, mask, result="i32")
    window = window_of(space)
    watch.accessed = number, where
    definedness.prepare(kernel, instruction, nbytes)
    if strength and not pending and watch.fenced and window != "local":
        order = (rule != 1) | (rule != 0) << 1 | bool(RELEASES & set(instruction.modifiers)) << 2
        passes(kernel, number, order, where, mask, window == "shared")
    how = i32(_how(rule, strength, element))
    given = (i32(number), where, mask, i32(nbytes), how, differs, definedness.unset(kernel))
    good = kernel.run_time(f"wb_s_{window}", *given, result="i32")
    # The pattern's shape holds as long as no lane is missing.
    return good.eq(mask).select(answer, good.to("i64")), number


def fuses(kernel: Kernel, instruction: Instruction, space: str) -> bool:
    """Whether `element` does this access: not if it may carry knowledge, which only lanes that pass the check may."""
    return space == "shared" and not (_strength(kernel, instruction) and kernel.watching.fenced)


def element(
    kernel: Kernel, instruction: Instruction, memory: Mem, bits: int, site: Value, where: Value, mask: Value,
    value: Value | None, counted: bool,
) -> Value:  # fmt: skip
    """Check a load (value None) or store of 4 or 8 bytes a lane in shared memory, tell the shadow, do it: its values.

    where: offsets in shared memory; of a load for which it is a scalar, the value is one.
    """
    kind, rule, followed = ("load", LOAD, bits // 8) if value is None else ("store", STORE, 0)
    number, strength = _begun(kernel, instruction, memory, "shared", bits // 8, rule)
    kernel.watching.accessed = number, where.to("i64")
    definedness.prepare(kernel, instruction, bits // 8)
    how = kernel.ir.i32(_how(rule, strength, followed))
    given = (site, kernel.ir.i32(number), where.splat(), mask, how, definedness.unset(kernel))
    function = f"wb_s_{'c' if counted else 'p'}_shared_{kind}{bits}"
    if value is not None:
        return kernel.run_time(function, *given, value.splat())
    found = kernel.run_time(function, *given, result=vector(f"i{bits}"))
    return found if where.vector else found.reduce("or")  # lanes that are off have 0


def _begun(
    kernel: Kernel, instruction: Instruction, memory: Mem, space: str, nbytes: int, rule: int, bounded: bool = True,
    pending: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """The place of an access, and its strength."""
    watch = kernel.watching
    strength = PENDING if pending else _strength(kernel, instruction)
    words = tuple(w for w in instruction.modifiers if w in ACQUIRES | RELEASES | {"sys", "gpu", "cta", "cluster"})
    origins = watch.made_from(memory) if bounded else ()
    return watch.place(kernel, instruction, KINDS[rule], space, nbytes, strength, origins, words), strength


def _how(rule: int, strength: int, element: int) -> int:
    """The `rule` that the shadow gets."""
    followed = (element.bit_length() - 1) << 4 | 1 << 7 if element else 0
    return rule | strength << 2 | followed


def stored(kernel: Kernel, number: int, elements: list[tuple[Value, Value]], answer: Value) -> None:
    """After a store: lanes that wrote different values to one address."""
    for at, value in elements:
        kernel.run_time(f"wb_s_clash{element_bits(value.kind)}", kernel.ir.i32(number), at, value, answer.to("i32"))


def passes(kernel: Kernel, number: int, order: int, where: Value, mask: Value, shared: bool) -> None:
    """Something that may carry knowledge from thread to thread, at `where` (offsets if it is `shared`).

    order: bit 0 says that it may acquire, bit 1 that it may release, bit 2 that it releases without a fence.
    """
    where = where.to("i64").splat()
    if shared:
        where = (where + kernel.context("shared_base")).splat()
    place = kernel.ir.room(V64, "watched_slot")
    kernel.ir.store(place, where, 64)
    kernel.run_time("wb_s_strong", number, order, mask.to("i64"), place)


# ---------------------------------------------------------------- everything else


def before(kernel: Kernel, instruction: Instruction, kind: str) -> None:
    """What is to be told before an instruction without an address."""
    for product in kernel.watching.early.get(id(instruction), ()):
        numbers = kernel.watching.place(kernel, instruction, "use"), kernel.watching.product(kernel, product)
        kernel.run_time("wb_s_touched", *numbers, kernel.lanes_that_run(instruction).to("i64"))
    together = kind in SYNC_KINDS and "sync" in instruction.modifiers
    if _of_whole_warps(instruction, kind):
        join(kernel)
    elif together or (kind == "barrier" and "warp" in instruction.modifiers):
        _collective(kernel, instruction)
    elif _is_fence(instruction):
        mask = kernel.lanes_that_run(instruction).to("i64")
        wide = int("cta" not in instruction.modifiers)
        kernel.run_time("wb_s_fence", kernel.watching.place(kernel, instruction, "fence"), wide, mask)
    elif kind == "barrier" and "arrive" in instruction.modifiers and "cluster" not in instruction.modifiers:
        counted(kernel, instruction, instruction.operands[0], instruction.operands[1], 1)


def after(kernel: Kernel, instruction: Instruction, kind: str) -> None:
    """What is to be told after an instruction: a warp's matrices are there for all its lanes."""
    if _of_whole_warps(instruction, kind):
        join(kernel)


def _of_whole_warps(instruction: Instruction, kind: str) -> bool:
    return kind == "tensor" or (kind == "tensor_memory" and "sync" in instruction.modifiers)


def join(kernel: Kernel) -> None:
    """The running lanes of the warp come to know of what each of them did."""
    kernel.run_time("wb_s_join", kernel.mask)


def counted(kernel: Control, instruction: Instruction, number: Operand, count: Operand, arrives: int = 0) -> None:
    """A barrier with a count of threads: lanes come to it (and, of `bar.arrive`, go on)."""
    from vgpu.lower.warp import first_active

    place = kernel.watching.place(kernel, instruction, "barrier")
    many = first_active(kernel, kernel.bits_value(count, 32)).to("i64")
    barrier = first_active(kernel, kernel.bits_value(number, 32)).to("i64") << 33
    kernel.run_time("wb_s_counted", place, many | barrier | arrives << 32, kernel.lanes_that_run(instruction).to("i64"))


def _collective(kernel: Kernel, instruction: Instruction) -> None:
    operand = instruction.operands[-1] if instruction.operands else Imm(0xFFFFFFFF)
    taken = {w for name in registers_in(operand) for w in kernel.watching.sources.get(name, ())}
    active = kernel.lanes_that_run(instruction)
    number = kernel.ir.i32(kernel.watching.place(kernel, instruction, "collective", words=tuple(taken)))
    if taken:
        kernel.run_time("wb_s_active", kernel.state, number, active)
    kernel.run_time("wb_s_collective", kernel.state, number, active, kernel.lanes_value(operand, 32))
