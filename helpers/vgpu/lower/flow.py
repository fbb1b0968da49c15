"""The flow of control of a kernel: segments, what is live between them, and what is the same for all lanes.

A segment is a run of instructions that lanes enter at the top and leave at the bottom together. Lanes that are at
different segments wait for one another: the lowest runs first, so lanes meet again where their paths join.

Values that are the same in all lanes of a warp ("uniform") need one scalar instead of 32. A register that is
written once from uniform values is uniform always. One that is written more often (a loop counter) is so only as
long as no group of lanes can write it while another group, waiting elsewhere, still wants its old value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from helpers.vgpu import isa
from helpers.vgpu.lower import called, spins
from helpers.vgpu.lower.called import ENTRY
from helpers.vgpu.ptx import Instruction, Label, Mem, Not, Pair, Reg, Special, Sym, Vec

NO_RESULT = {
    "st",
    "red",
    "bra",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "membar",
    "fence",
    "nanosleep",
    "prefetch",
    "call",
    "stmatrix",
    "sust",
    "prefetchu",
    "applypriority",
    "discard",
    "return",
    "frame.store",
}
# What calls that stay calls are made of; "frames" and a call that a jump leads over add no instruction of their own.
CALL_KINDS = {
    "barrier.result": "result", "invoke": "invoke", "return": "return", "frames": "frames", "frame.load": "frame",
    "frame.store": "frame",
}  # fmt: skip
INVARIANT_SPECIALS = (
    "%ctaid", "%ntid", "%nctaid", "%nwarpid", "%warpid", "%smid", "%nsmid", "%gridid", "%dynamic", "%total", "WARP_SZ",
    "%cluster", "%ncluster", "%is_explicit", "%reserved", "%envreg",
)  # fmt: skip
SYNC_KINDS = {"shuffle", "vote", "match", "redux", "elect", "tensor"}


def kind_of(instruction: Instruction) -> str:
    """ "arithmetic", "move" or the kind that `isa.KINDS` gives."""
    opcode = instruction.opcode
    return CALL_KINDS.get(opcode) or isa.KINDS.get(opcode, "arithmetic")


def registers_in(operand) -> list[str]:
    """The names of all registers an operand reads (or writes, if it is a destination)."""
    if isinstance(operand, Reg):
        return [operand.name]
    if isinstance(operand, Not):
        return [operand.reg.name]
    if isinstance(operand, Pair):
        return registers_in(operand.first) + registers_in(operand.second)
    if isinstance(operand, Vec):
        return [name for item in operand.items for name in registers_in(item)]
    if isinstance(operand, Mem):
        return registers_in(operand.base) + [n for c in operand.coordinates or () for n in registers_in(c)]
    return []


def _no_result(instruction: Instruction) -> bool:
    return instruction.opcode in NO_RESULT or (instruction.opcode == "wmma" and "store" in instruction.modifiers)


def results(instruction: Instruction) -> list[str]:
    """Registers written."""
    if instruction.opcode == "call":
        return [f"{name}@0" for name in instruction.operands[0].returns]
    if instruction.opcode == "invoke":
        return called.result_names(instruction.operands[0])
    if _no_result(instruction) or not instruction.operands:
        return []
    if isinstance(instruction.operands[0], Mem):  # copies, and what updates an object in memory
        return []
    if instruction.opcode in ("bar", "barrier"):
        return []  # what a reducing barrier gives is written by the "barrier.result" that follows it
    found = registers_in(instruction.operands[0])
    row = isa.match(instruction.opcode, instruction.modifiers)
    if row and "c" in row.op.outputs:
        found.append("%cc")
    return found


def sources(instruction: Instruction) -> list[str]:
    """Registers read, the guard included."""
    found = registers_in(instruction.guard)
    if instruction.opcode == "call":
        return found + [f"{name}@0" for name in instruction.operands[0].arguments]
    if instruction.opcode == "invoke":
        return called.source_names(instruction.operands[0])
    plain_barrier = instruction.opcode in ("bar", "barrier") and "red" not in instruction.modifiers
    writes = not _no_result(instruction) and not plain_barrier
    if instruction.operands and isinstance(instruction.operands[0], Mem):
        writes = False
    for operand in instruction.operands[1:] if writes else instruction.operands:
        found += registers_in(operand)
    row = isa.match(instruction.opcode, instruction.modifiers)
    if row and "c" in row.op.inputs:
        found.append("%cc")
    return found


@dataclass
class Segment:
    """Instructions `body`, then `end`: "jump", "branch", "barrier", "call", "return" or "leave"."""

    index: int
    body: list[Instruction] = field(default_factory=list)
    end: str = "jump"
    last: Instruction | None = None
    targets: tuple[int, ...] = ()
    synchronises: bool = False
    shared_end: bool = False  # where lanes of guarded instructions such as `@p ret` end; it adds no instruction
    owner: str = ""  # the function this is part of, "" for the kernel
    resumes: Segment | None = None  # the segment whose call ends here: lanes come back from it, and from nowhere else

    @property
    def begun(self) -> bool:
        """Whether what follows needs a segment of its own to jump to."""
        return bool(self.body) or self.resumes is not None

    @property
    def counted(self) -> list[Instruction]:
        """The instructions of the kernel that lanes execute here, without those that stand for parts of others."""
        last = [] if self.last is None or self.shared_end else [self.last]
        return [i for i in (*self.body, *last) if kind_of(i) not in ("result", "frames") and "piece" not in i.modifiers]


def split(body, unsynchronised: frozenset[int] = frozenset(), cuts: frozenset[int] = frozenset()) -> list[Segment]:
    """Cut a flat body into segments.

    `unsynchronised` are positions of .sync instructions to begin one at, `cuts` those of instructions to begin one
    at and to end one after.
    """
    segments: list[Segment] = [Segment(0)]
    labels: dict[str, int] = {}
    pending: list[tuple[Segment, str]] = []

    def close(segment: Segment, end: str, last, *targets) -> None:
        segment.end, segment.last, segment.targets = end, last, targets
        segments.append(Segment(len(segments), owner=segment.owner))

    for position, statement in enumerate(body):
        here = segments[-1]
        if isinstance(statement, Label):
            if here.begun:
                close(here, "jump", None, len(segments))
            if statement.name.startswith(ENTRY):
                segments[-1].owner = statement.name.removeprefix(ENTRY)
            labels[statement.name] = len(segments) - 1
            continue
        kind = kind_of(statement)
        if (position in cuts or position - 1 in cuts) and here.body:
            close(here, "jump", None, len(segments))
            here = segments[-1]
        if position in unsynchronised:
            if here.begun:
                close(here, "jump", None, len(segments))
                here = segments[-1]
            here.synchronises = True
        if kind == "branch":
            following = len(segments)
            if statement.guard is None:
                close(here, "jump", statement, -1)
            else:
                close(here, "branch", statement, -1, following)
            pending.append((here, statement.operands[0].name))
        elif kind == "invoke":
            close(here, "call", statement, len(segments))
            here.shared_end = "jumped" in statement.modifiers
            segments[-1].resumes = here
        elif kind in ("leave", "trap", "return"):
            if statement.guard is None:
                close(here, "return" if kind == "return" else "leave", statement)
            else:
                close(here, "branch", statement, -2, len(segments))
        elif kind == "barrier" and _blocks(statement):
            if statement.guard is not None and here.body:
                close(here, "jump", None, len(segments))
                here = segments[-1]
            close(here, "barrier", statement, len(segments))
            if "red" in statement.modifiers:
                segments[-1].body.append(replace(statement, opcode="barrier.result", guard=None))
        else:
            here.body.append(statement)
    segments[-1].end, segments[-1].targets = "leave", ()
    for segment, name in pending:
        segment.targets = tuple(labels[name] if t == -1 else t for t in segment.targets)
    leaving: dict[str, int] = {}
    for segment in list(segments):
        if -2 in segment.targets:
            opcode = segment.last.opcode
            if opcode not in leaving:
                leaving[opcode] = len(segments)
                plain = Instruction(opcode, (), (), None, segment.last.location, segment.last.text)
                end = "return" if opcode == "return" else "leave"
                segments.append(Segment(len(segments), [], end, plain, shared_end=True))
            segment.targets = tuple(leaving[opcode] if t == -2 else t for t in segment.targets)
    return segments


def _blocks(statement: Instruction) -> bool:
    """Whether a bar/barrier instruction makes lanes wait for the block (bar.warp.sync does not)."""
    return (
        "warp" not in statement.modifiers
        and "arrive" not in statement.modifiers
        and "cluster" not in statement.modifiers
    )


@dataclass
class Flow:
    """What the lowering wants to know about a kernel."""

    segments: list[Segment]
    live_in: list[set[str]]
    crossing: set[str]
    uniform: set[str]
    diverged: set[int]
    structured: bool
    stacked: bool  # there are calls that stay calls
    entries: dict[str, int]  # where the functions start that stay functions
    spinning: set[int]  # segments of loops that ask memory whether they may go on
    waits: set[int]  # segments that are such a loop and do nothing else


def analyse(body, registers: dict[str, str], fine: bool = False) -> Flow:
    """Segments, liveness and uniformity of a flat kernel body.

    `fine`: lanes may part and change at every access to memory, whatever the kernel's branches say.
    """
    if fine:
        return _analyse_fine(body)
    flow = _analyse(body, split(body))
    inside = {id(i) for s in flow.segments if s.index in flow.diverged or not flow.structured for i in s.body}
    wanted = frozenset(
        position
        for position, statement in enumerate(body)
        if isinstance(statement, Instruction) and id(statement) in inside and _synchronises(statement)
    )
    if wanted:
        flow = _analyse(body, split(body, wanted))
    return flow


def _analyse_fine(body) -> Flow:
    whole = split(body)
    alone = spins.waiting(whole, _liveness(whole), kind_of, results)
    asleep = {id(i) for index in alone for i in whole[index].body}
    instructions = [(at, s) for at, s in enumerate(body) if isinstance(s, Instruction)]
    sync = frozenset(at for at, s in instructions if _synchronises(s))
    cuts = frozenset(at for at, s in instructions if _shared_with_others(s) and id(s) not in asleep)
    return _analyse(body, split(body, sync, cuts), structured=False)


def _shared_with_others(statement: Instruction) -> bool:
    """Whether an instruction accesses memory that other threads may write or read."""
    if kind_of(statement) not in ("load", "store", "atomic"):
        return kind_of(statement) == "fence" and statement.opcode != "inlined"
    return not {"param", "const", "local"} & {m.split("::")[0] for m in statement.modifiers}


def _synchronises(statement: Instruction) -> bool:
    if kind_of(statement) in SYNC_KINDS:
        return "sync" in statement.modifiers
    return statement.opcode in ("bar", "barrier") and "warp" in statement.modifiers


def _analyse(body, segments: list[Segment], structured: bool = True) -> Flow:
    may_meet = structured
    live_in = _liveness(segments)
    crossing = set().union(*live_in) if live_in else set()
    invariant, flowing = _uniform_by_data(segments)
    asks = any(
        kind_of(i) in ("atomic", "mbarrier") or {"volatile", "acquire", "relaxed"} & set(i.modifiers)
        for s in segments for i in s.body if i.opcode in ("atom", "red", "ld", "mbarrier")
    )  # fmt: skip
    entries: dict[str, int] = {}
    for segment in segments:
        if segment.owner:
            entries.setdefault(segment.owner, segment.index)
    stacked = any(s.end == "call" for s in segments)
    spinning = spins.spinning(segments, kind_of, sources, results)
    # Where functions are called, lanes at other depths may stand at the same loop: they take turns by fuel alone.
    waits = set() if stacked else spins.waiting(segments, live_in, kind_of, results) & spinning
    after = [] if stacked else _post_dominators(segments)
    while True:
        uniform = invariant | flowing
        if stacked:  # lanes that return from a function may come back one by one
            diverged, forbidden, structured = {s.index for s in segments}, set(), False
        else:
            diverged, forbidden, structured = _divergence(segments, live_in, uniform, after)
        barrier_inside = any(segments[index].end == "barrier" for index in diverged)
        sync_inside = any(segments[i].synchronises for i in diverged)
        # Lanes that spin on memory must take turns, and a barrier in a branch lets others run ahead: then
        # lanes need not meet again where their paths join, and only invariant registers stay uniform.
        loops = any(t <= index for index in diverged for t in segments[index].targets)
        structured = structured and not barrier_inside and not sync_inside and not (asks and loops)
        structured = structured and may_meet
        # Registers that never leave their segment are written and read under one mask.
        local_only = {name for name in flowing if name not in crossing}
        kept = (flowing - forbidden) if structured else local_only
        kept |= local_only
        kept = _closure(segments, invariant, kept)
        if kept == flowing:
            return Flow(segments, live_in, crossing, uniform, diverged, structured, stacked, entries, spinning, waits)
        flowing = kept


def _liveness(segments: list[Segment]) -> list[set[str]]:
    gen, kill = [], []
    for segment in segments:
        used: set[str] = set()
        written: set[str] = set()
        for instruction in (*segment.body, *([segment.last] if segment.last else [])):
            used |= {name for name in sources(instruction) if name not in written}
            if instruction.guard is None:
                written |= set(results(instruction))
            else:  # a lane whose guard is false keeps the old value
                used |= {name for name in results(instruction) if name not in written}
        gen.append(used)
        kill.append(written)
    live: list[set[str]] = [set(g) for g in gen]
    changed = True
    while changed:
        changed = False
        for segment in reversed(segments):
            out: set[str] = set().union(*(live[t] for t in segment.targets)) if segment.targets else set()
            # The result of a reducing barrier is read after it: it is written by what follows.
            now = gen[segment.index] | (out - kill[segment.index])
            if now != live[segment.index]:
                live[segment.index] = now
                changed = True
    return live


def _definitions(segments):
    found: dict[str, list[tuple[Segment, Instruction]]] = {}
    for segment in segments:
        for instruction in (*segment.body, *([segment.last] if segment.last else [])):
            for name in results(instruction):
                found.setdefault(name, []).append((segment, instruction))
    return found


def _operand_is_uniform(operand, uniform: set[str], invariant: bool) -> bool:
    if isinstance(operand, Special):
        if operand.name.startswith(INVARIANT_SPECIALS):
            return True
        return not invariant and operand.name.startswith(("%clock", "%globaltimer"))
    if isinstance(operand, Sym):  # a variable in a function's frame has its place on the thread's own stack
        return "@" not in operand.name
    if isinstance(operand, Vec):
        return all(_operand_is_uniform(item, uniform, invariant) for item in operand.items)
    return all(name in uniform for name in registers_in(operand))


def _result_is_uniform(instruction: Instruction, uniform: set[str], invariant: bool) -> bool:
    """Whether the results are uniform (or invariant), given the registers that are."""
    kind = kind_of(instruction)
    if instruction.guard is not None and not all(n in uniform for n in registers_in(instruction.guard)):
        return False
    if invariant and instruction.guard is not None:
        return False
    if kind == "arithmetic":
        if "%cc" in sources(instruction) and "%cc" not in uniform:
            return False
        return all(_operand_is_uniform(o, uniform, invariant) for o in instruction.operands[1:])
    if kind == "load":
        memory = instruction.operands[1]
        if "param" in instruction.modifiers and isinstance(memory.base, Sym):
            return True
        if invariant or "local" in instruction.modifiers:
            return False
        return all(name in uniform for name in registers_in(memory))
    if kind == "mbarrier":  # lanes that ask for one parity of one barrier get one answer
        named = [n for o in instruction.operands[1:] for n in registers_in(o)]
        return not invariant and "parity" in instruction.modifiers and all(n in uniform for n in named)
    if kind in ("address", "inspect"):
        return "local" not in instruction.modifiers and _operand_is_uniform(instruction.operands[1], uniform, invariant)
    if kind == "vote":
        # Lanes that name different members get different answers; activemask has no operand for them.
        return not invariant and all(n in uniform for o in instruction.operands[2:] for n in registers_in(o))
    if kind == "call":
        return not invariant
    return kind == "result" and not invariant


def _uniform_by_data(segments) -> tuple[set[str], set[str]]:
    """(registers written once from invariant values, further registers written from uniform values only)."""
    definitions = _definitions(segments)
    invariant: set[str] = set()
    once = {n for n, d in definitions.items() if len(d) == 1 and n != "%cc"}
    changed = True
    while changed:
        changed = False
        for name in once - invariant:
            if _result_is_uniform(definitions[name][0][1], invariant, True):
                invariant.add(name)
                changed = True
    return invariant, _closure(segments, invariant, set(definitions) - invariant)


def _closure(segments, invariant: set[str], flowing: set[str]) -> set[str]:
    """The largest part of `flowing` whose definitions read only registers of it and invariant ones."""
    definitions = _definitions(segments)
    flowing = set(flowing)
    changed = True
    while changed:
        changed = False
        for name in list(flowing):
            uniform = flowing | invariant
            if not all(_result_is_uniform(instruction, uniform, False) for _, instruction in definitions[name]):
                flowing.discard(name)
                changed = True
    return flowing


def _post_dominators(segments) -> list[int]:
    """For each segment the set (as bits) of segments that every path from it to the end passes."""
    count = len(segments)
    everything = (1 << count) - 1
    after = [everything] * count
    for segment in segments:
        if not segment.targets:
            after[segment.index] = 1 << segment.index
    changed = True
    while changed:
        changed = False
        for segment in reversed(segments):
            if not segment.targets:
                continue
            meet = everything
            for target in segment.targets:
                meet &= after[target]
            now = meet | 1 << segment.index
            if now != after[segment.index]:
                after[segment.index] = now
                changed = True
    return after


def _join(index: int, after: list[int]) -> int | None:
    """The nearest segment after `index` that all its paths pass."""
    rest = after[index] & ~(1 << index)
    found = [i for i in range(len(after)) if rest >> i & 1]
    for candidate in found:
        if after[candidate] == rest:
            return candidate
    return None


def _reach(segments, start: int, stop: int | None) -> set[int]:
    seen: set[int] = set()
    work = [start]
    while work:
        index = work.pop()
        if index == stop or index in seen:
            continue
        seen.add(index)
        work.extend(segments[index].targets)
    return seen


def _divergence(segments, live_in, uniform: set[str], after):
    """Segments that part of a warp may run, registers that cannot be uniform there, and whether lanes always meet."""
    diverged: set[int] = set()
    forbidden: set[str] = set()
    structured = True
    written = [set().union(*map(set, map(results, s.body)), set()) for s in segments]
    for segment in segments:
        if segment.end != "branch" or all(n in uniform for n in registers_in(segment.last.guard)):
            continue
        if len(set(segment.targets)) == 1:
            continue
        join = _join(segment.index, after)
        arms = [_reach(segments, t, join) for t in segment.targets]
        inside = arms[0] | arms[1]
        diverged |= inside
        if join is not None and any(index > join for index in inside):
            structured = False
        shared = arms[0] & arms[1] if join not in segment.targets else set()
        for mine, other_start in ((0, segment.targets[1]), (1, segment.targets[0])):
            wanted = set(live_in[join]) if join is not None else set()
            if other_start != join:
                wanted |= live_in[other_start]
            for index in arms[mine]:
                forbidden |= written[index] if index in shared else written[index] & wanted
    return diverged, forbidden, structured
