"""Loops that spin on memory: which they are, and which of them do nothing else.

A warp in such a loop needs others to move: it should let them, soon. One that only waits cannot change anything, so
that it may be put to sleep until its next turn, and when all warps of a launch sleep it will never end.
"""

from __future__ import annotations

from vgpu.lower.basic_blocks import BasicBlock, kind_of, registers_in, results, sources
from vgpu.ptx import Instruction, Special

POLLING = {"volatile", "acquire", "relaxed", "mmio"}
WAITED = ("load", "cluster_wait")
FENCES = {"membar", "fence", "nanosleep"}


def polls(instruction: Instruction, kind: str, fenced: bool = False) -> bool:
    """Whether an instruction reads what other threads may be about to change."""
    if instruction.opcode == "atom" or kind == "cluster_wait":
        return True
    words = {m.split("::")[0] for m in instruction.modifiers}
    return kind == "load" and bool(POLLING & words or (fenced and not {"param", "const", "local"} & words))


def spinning(basic_blocks: list[BasicBlock]) -> list[set[int]]:
    """The loops whose end depends on what they read from memory that others write: the basic blocks of each."""

    def shared_store(instruction: Instruction) -> bool:
        return _shared(instruction) and kind_of(instruction) == "store"

    found = []
    for loop in _loops(basic_blocks):
        inside = [basic_blocks[i] for i in loop]
        every = [i for s in inside for i in (*s.body, *([s.last] if s.last else []))]
        fenced = any(i.opcode in FENCES for i in every)
        tainted = {n for i in every if polls(i, kind_of(i), fenced) for n in results(i)}
        size = -1
        while size != len(tainted):
            size = len(tainted)
            told = any(shared_store(i) and tainted.intersection(sources(i)) for i in every)  # one thread tells others
            for i in every:
                if tainted.intersection(sources(i)) or (told and _shared(i) and kind_of(i) == "load"):
                    tainted.update(results(i))
        if any(s.end == "branch" and tainted.intersection(_guard(s.last)) for s in inside):
            found.append(loop)
    return found


def waiting(basic_blocks: list[BasicBlock], live_in: list[set[str]]) -> set[int]:
    """Basic blocks that are a whole loop which only waits: no store, nothing carried from round to round."""
    found = set()
    for s in basic_blocks:
        if s.end != "branch" or s.index not in s.targets or s.synchronises:
            continue
        kinds = [kind_of(i) for i in s.body]
        loads = [i for i, kind in zip(s.body, kinds, strict=True) if kind in WAITED]
        fenced = any(i.opcode in FENCES for i in s.body)
        if not loads or not all(polls(i, kind_of(i), fenced) or "param" in i.modifiers for i in loads):
            continue
        if not all(kind in ("arithmetic", "fence", "address", *WAITED) for kind in kinds):
            continue
        if any(isinstance(o, Special) and o.name.startswith(("%clock", "%globaltimer"))
               for i in s.body for o in i.operands):  # fmt: skip
            continue
        written = {n for i in s.body for n in results(i)}
        if not written & live_in[s.index]:
            found.add(s.index)
    return found


def _shared(instruction: Instruction) -> bool:
    return any(m.split("::")[0] == "shared" for m in instruction.modifiers)


def _guard(instruction: Instruction | None) -> set[str]:
    return set() if instruction is None else set(registers_in(instruction.guard))


def _loops(basic_blocks: list[BasicBlock]) -> list[set[int]]:
    """The natural loops; backward jumps to one place belong to one loop."""
    before: dict[int, list[int]] = {s.index: [] for s in basic_blocks}
    for s in basic_blocks:
        for target in s.targets:
            before[target].append(s.index)
    loops: dict[int, set[int]] = {}
    for s in basic_blocks:
        for head in s.targets:
            if head > s.index:
                continue
            loop, work = {head}, [s.index]
            while work:
                index = work.pop()
                if index not in loop:
                    loop.add(index)
                    work.extend(before[index])
            loops.setdefault(head, set()).update(loop)
    return list(loops.values())
