"""The sanitizer's hooks in a kernel: what `lower` adds where a kernel is to be watched, and nothing otherwise.

Every access is told to the shadow (`runtime.shadow`) after its check, and may lose lanes there; instructions that
bring lanes together, fences and strong accesses tell who knows of whom. A `Place` numbers the source: what the
sanitizer reports, and what the entries of the shadow carry.

For other kinds of instruction that move data or order threads: call `access` for what is read or written (it gives
the lanes that may go on), `join` where lanes of a warp come to know of each other, and let the host's `event` know
where threads of different warps do.
"""

from __future__ import annotations

from dataclasses import dataclass

from vgpu.base.context import PENDING
from vgpu.lower import definedness
from vgpu.lower.basic_blocks import kind_of, registers_in, results
from vgpu.lower.flow import SYNC_KINDS
from vgpu.ptx import Instruction, Mem, Sym
from vgpu.ptx.lines import line_of
from vgpu.runtime.emit import LANES, Value

V64, V32 = f"<{LANES} x i64>", f"<{LANES} x i32>"
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

    def __init__(self, k):
        self.places: list[Place] = []
        body = [i for s in k.flow.basic_blocks for i in (*s.body, *([s.last] if s.last else []))]
        # What the compiler made up (line 0) belongs to the line before.
        self.lines, line = {}, None
        for instruction in body:
            line = line_of(instruction.location, k.own) or line
            self.lines[id(instruction)] = line
        self.fenced = any(_is_fence(i) or {"acquire", "release", "acq_rel"} & set(i.modifiers) for i in body)
        self.origins = _origins(body, set(k.shared) | set(k.locals) | set(k.parameters) | set(k.addresses))
        self.compared = _compared(body)
        self.sources = _mask_sources(body, k.module.files)
        # What `definedness` wants: a count for labels, the last (place, where), and which shadows are made of which.
        self.uses, self.accessed, self.merged = 0, None, {}
        # What printf prints lies in local memory, where nobody looks: there a store of it has to count as its use.
        self.prints = any(i.opcode == "call" and i.operands[0].target.name == "vprintf" for i in body)

    def made_from(self, memory: Mem) -> tuple[str, ...]:
        """The variables and parameters that an address is made from."""
        base = memory.base
        found = {base.name} if isinstance(base, Sym) else self.origins.get(getattr(base, "name", None), set())
        return tuple(sorted(found))

    def bounds(self, k, space: str, origins: tuple[str, ...]) -> tuple[int, int | None] | None:
        """The extent of the one shared or local array that an address is made from."""
        arrays = [name for name in origins if name in k.shared or name in k.locals]
        if len(arrays) != 1 or UNKNOWN in origins or any(name in k.addresses for name in origins):
            return None
        # A generic address may be the array's or that of a pointer among the parameters.
        if space == "generic" and any(name in k.parameters for name in origins):
            return None
        name, variable = arrays[0], k.variables.get(arrays[0])
        if variable is None:
            return None
        start = k.shared[name] if name in k.shared else k.locals[name]
        return start, None if variable.external else start + variable.nbytes

    def place(self, k, instruction, kind, space="", nbytes=0, strength=PLAIN, origins=(), words=(), of=None) -> int:
        """A number for a place, from 1 on."""
        site = k.sites[k.site(instruction, "watch", space, nbytes)]  # with the location it has or inherits
        bounds, line = self.bounds(k, space, origins), self.lines.get(id(instruction))
        self.places.append(
            Place(site.instruction, kind, space, nbytes, strength, origins, tuple(words), line, bounds, of)
        )
        return len(self.places)


def _is_fence(instruction: Instruction) -> bool:
    return instruction.opcode in ("membar", "fence")


def _strength(k, instruction: Instruction) -> int:
    if instruction.opcode in ("atom", "red"):
        return ATOMIC
    if k.watch.compared & set(results(instruction)):
        return ATOMIC
    return max((STRONG_WORDS.get(word, PLAIN) for word in instruction.modifiers), default=PLAIN)


UNKNOWN = "?"  # among origins: a pointer that was read from memory
CARRIES = {"mov", "selp", "slct", "add", "sub", "cvta", "mad"}  # what may make a pointer of a pointer


def _origins(body, variables: set[str]) -> dict[str, set[str]]:
    """For each register the variables and parameters of which its value is computed, by arithmetic alone.

    A 64-bit number read from memory may be a pointer, until it is scaled as an index is.
    """
    found: dict[str, set[str]] = {}

    def of(operand) -> set[str]:
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


def _compared(body) -> set[str]:
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


def _mask_sources(body, files: dict[int, str]) -> dict[str, set[str]]:
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
    k, instruction: Instruction, memory: Mem, space: str, nbytes: int, rule: int, where: Value, answer: Value,
    stored=None, bounded: bool = True, pending: bool = False, element: int = 0,
) -> tuple[Value, int]:  # fmt: skip
    """Tell the shadow of an access; give the runtime's answer about its lanes anew, and the place.

    where: offsets within the shared or the thread's local window, host addresses otherwise; stored: (host addresses,
    value) of each element a store writes, None where they are not at hand; bounded: whether the access has to stay in
    the array that its address is made from; pending: whether it is an asynchronous copy's, which has to land yet;
    element: the bytes of one, where a load's values are followed to their uses (0: unwritten ones are told at once).
    """
    e, watch = k.e, k.watch
    strength = PENDING if pending else _strength(k, instruction)
    words = tuple(w for w in instruction.modifiers if w in ACQUIRES | RELEASES | {"sys", "gpu", "cta", "cluster"})
    kind = ("load", "store", "atomic")[rule]
    origins = watch.made_from(memory) if bounded else ()
    number = watch.place(k, instruction, kind, space, nbytes, strength, origins, words)
    mask = e.resize(answer, 32)
    if space in ("const", "param"):
        return answer, number
    where = e.splat(e.resize(where, 64))
    differs = e.const("i32", 0 if stored is not None else -1)
    for at, value in stored or ():
        name = f"wb_s_differs{value.type[1:]}"
        e.declarations.add(f"declare i32 @{name}(ptr, i32, {V64}, {value.full}, i32)")
        call = f"call i32 @{name}(ptr %ctx, i32 {number}, {V64} {at.text}, {value.full} {value.text}, i32 {mask.text})"
        differs = e.bin("or", differs, e.assign(call, "i32", False))
    window = {"shared": "shared", "local": "local"}.get(space, "global")
    watch.accessed = number, where
    definedness.prepare(k, instruction, nbytes)
    followed = (element.bit_length() - 1) << 4 | 1 << 7 if element else 0
    if strength and not pending and watch.fenced and window != "local":
        words = set(instruction.modifiers)
        order = (rule != 1) | (rule != 0) << 1 | bool(words & RELEASES) << 2
        passes(k, number, order, where, mask, window == "shared")
    e.declarations.add(f"declare i32 @wb_s_{window}(ptr, i32, {V64}, i32, i32, i32, i32, ptr)")
    good = e.assign(
        f"call i32 @wb_s_{window}(ptr %ctx, i32 {number}, {V64} {where.text}, i32 {mask.text}, i32 {nbytes}, "
        f"i32 {rule | strength << 2 | followed}, i32 {differs.text}, ptr %unset_slot)",
        "i32", False,
    )  # fmt: skip
    # The pattern's shape holds as long as no lane is missing.
    return e.select(e.icmp("eq", good, mask), answer, e.resize(good, 64)), number


def stored(k, number: int, elements, answer: Value) -> None:
    """After a store: lanes that wrote different values to one address."""
    e = k.e
    mask = e.resize(answer, 32)
    for at, value in elements:
        name = f"wb_s_clash{value.type[1:]}"
        e.declarations.add(f"declare void @{name}(ptr, i32, {V64}, {value.full}, i32)")
        e.line(
            f"call void @{name}(ptr %ctx, i32 {number}, {V64} {at.text}, {value.full} {value.text}, i32 {mask.text})"
        )


def passes(k, number: int, order: int, where: Value, mask: Value, shared: bool) -> None:
    """Something that may carry knowledge from thread to thread, at `where` (offsets if it is `shared`).

    order: bit 0 says that it may acquire, bit 1 that it may release, bit 2 that it releases without a fence.
    """
    e = k.e
    where = e.splat(e.resize(where, 64))
    if shared:
        where = e.splat(e.bin("add", where, k.fixed["shared_base"]))
    e.line(f"store {V64} {where.text}, ptr %watched_slot, align 64")
    e.declarations.add("declare void @wb_s_strong(ptr, i64, i64, i64, ptr)")
    wide = e.resize(mask, 64)
    e.line(f"call void @wb_s_strong(ptr %ctx, i64 {number}, i64 {order}, i64 {wide.text}, ptr %watched_slot)")


# ---------------------------------------------------------------- everything else


def before(k, instruction: Instruction, kind: str) -> None:
    """What is to be told before an instruction without an address."""
    e = k.e
    together = kind in SYNC_KINDS and "sync" in instruction.modifiers
    if kind == "tensor":
        join(k)
    elif together or (kind == "barrier" and "warp" in instruction.modifiers):
        _collective(k, instruction)
    elif _is_fence(instruction):
        mask = e.resize(k.guarded_mask(k.guard(instruction.guard)), 64)
        number = k.watch.place(k, instruction, "fence")
        wide = int(not {"cta"} & set(instruction.modifiers))
        e.declarations.add("declare void @wb_s_fence(ptr, i64, i64, i64)")
        e.line(f"call void @wb_s_fence(ptr %ctx, i64 {number}, i64 {wide}, i64 {mask.text})")
    elif kind == "barrier" and "arrive" in instruction.modifiers:
        counted(k, instruction, instruction.operands[0], instruction.operands[1], 1)


def after(k, kind: str) -> None:
    """What is to be told after an instruction: a warp's matrices are there for all its lanes."""
    if kind == "tensor":
        join(k)


def join(k) -> None:
    """The running lanes of the warp come to know of what each of them did."""
    k.e.declarations.add("declare void @wb_s_join(ptr, i32)")
    k.e.line(f"call void @wb_s_join(ptr %ctx, i32 {k.mask.text})")


def counted(k, instruction: Instruction, number, count, arrives: int = 0) -> None:
    """A barrier with a count of threads: lanes come to it (and, of `bar.arrive`, go on)."""
    from vgpu.lower.warp import first_active

    e = k.e
    place = k.watch.place(k, instruction, "barrier")
    many = e.resize(first_active(k, k.bits_value(count, 32)), 64)
    barrier = e.bin("shl", e.resize(first_active(k, k.bits_value(number, 32)), 64), e.const("i64", 33))
    told = e.bin("or", e.bin("or", many, barrier), e.const("i64", arrives << 32))
    mask = e.resize(k.guarded_mask(k.guard(instruction.guard)), 64)
    e.declarations.add("declare void @wb_s_counted(ptr, i64, i64, i64)")
    e.line(f"call void @wb_s_counted(ptr %ctx, i64 {place}, i64 {told.text}, i64 {mask.text})")


def _collective(k, instruction: Instruction) -> None:
    e = k.e
    guard = k.guard(instruction.guard)
    operand = instruction.operands[-1] if instruction.operands else None
    named = e.splat(k.bits_value(operand, 32)) if operand is not None else e.splat(e.const("i32", 0xFFFFFFFF))
    taken = {w for name in registers_in(operand) for w in k.watch.sources.get(name, ())} if operand else set()
    number = k.watch.place(k, instruction, "collective", words=tuple(taken))
    active = k.guarded_mask(guard)
    if taken:
        e.declarations.add("declare void @wb_s_active(ptr, ptr, i32, i32)")
        e.line(f"call void @wb_s_active(ptr %ctx, ptr %state, i32 {number}, i32 {active.text})")
    e.declarations.add(f"declare void @wb_s_collective(ptr, ptr, i32, i32, {V32})")
    e.line(f"call void @wb_s_collective(ptr %ctx, ptr %state, i32 {number}, i32 {active.text}, {V32} {named.text})")
