"""The flow of control of a kernel: basic blocks, what is live between them, and what is the same for all lanes.

Lanes that are at different basic blocks wait for one another: the lowest runs first, so lanes meet again where their
paths join. Values that are the same in all lanes of a warp ("uniform") need one scalar instead of 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vgpu.lower import spins
from vgpu.lower.basic_blocks import BasicBlock, kind_of, results, sources, split
from vgpu.lower.uniform import Definitions, divergence, post_dominators
from vgpu.ptx import Instruction, Label

SYNC_KINDS = {"shuffle", "vote", "match", "redux", "elect", "tensor", "tensor_memory"}


@dataclass
class Flow:
    """What the lowering wants to know about a kernel."""

    basic_blocks: list[BasicBlock]
    live_in: list[set[str]]
    crossing: set[str]
    uniform: set[str]
    once: set[str]  # registers that one instruction writes
    ramps: set[str]  # … of which the first lane may be kept, since the others are evenly apart
    diverged: set[int]
    structured: bool
    stacked: bool  # there are calls that stay calls
    entries: dict[str, int]  # where the functions start that stay functions
    spin_loops: list[set[int]]  # loops that spin on memory: the basic blocks of each
    spinning: set[int]  # those of all of them
    waits: set[int]  # basic blocks that are such a loop and do nothing else


def analyse(
    body: Sequence[Instruction | Label], registers: dict[str, str], fine: bool = False, rows: bool = False
) -> Flow:
    """Basic blocks, liveness and uniformity of a flat kernel body.

    `fine`: lanes may part and change at every access to memory, whatever the kernel's branches say. `rows`: the threads
    of a warp lie side by side in x.
    """
    if fine:
        return _analyse_fine(body)
    flow = _analyse(body, split(body), rows=rows)
    inside = {id(i) for s in flow.basic_blocks if s.index in flow.diverged or not flow.structured for i in s.body}
    wanted = frozenset(
        position
        for position, statement in enumerate(body)
        if isinstance(statement, Instruction) and id(statement) in inside and _synchronises(statement)
    )
    if wanted:
        flow = _analyse(body, split(body, wanted), rows=rows)
    return flow


def _analyse_fine(body: Sequence[Instruction | Label]) -> Flow:
    whole = split(body)
    alone = spins.waiting(whole, _liveness(whole))
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


def _analyse(
    body: Sequence[Instruction | Label], basic_blocks: list[BasicBlock], structured: bool = True, rows: bool = False
) -> Flow:
    may_meet = structured
    live_in = _liveness(basic_blocks)
    crossing = set().union(*live_in) if live_in else set()
    definitions = Definitions(basic_blocks, rows)
    invariant, flowing = definitions.uniform_by_data()
    polls = any(
        kind_of(i) in ("atomic", "mbarrier") or {"volatile", "acquire", "relaxed"} & set(i.modifiers)
        for s in basic_blocks for i in s.body if i.opcode in ("atom", "red", "ld", "mbarrier")
    )  # fmt: skip
    entries: dict[str, int] = {}
    for basic_block in basic_blocks:
        if basic_block.owner:
            entries.setdefault(basic_block.owner, basic_block.index)
    stacked = any(s.end == "call" for s in basic_blocks)
    spin_loops = spins.spinning(basic_blocks)
    spinning = set().union(*spin_loops)
    # Where functions are called, lanes at other depths may stand at the same loop: they take turns by fuel alone.
    waits = set() if stacked else spins.waiting(basic_blocks, live_in) & spinning
    after = [] if stacked else post_dominators(basic_blocks)
    forbidden: set[str]
    while True:
        uniform = invariant | flowing
        if stacked:  # lanes that return from a function may come back one by one
            diverged, forbidden, structured = {s.index for s in basic_blocks}, set(), False
        else:
            diverged, forbidden, structured = divergence(basic_blocks, live_in, uniform, after)
        barrier_inside = any(basic_blocks[index].end == "barrier" for index in diverged)
        sync_inside = any(basic_blocks[i].synchronises for i in diverged)
        # Lanes that spin on memory must take turns, and a barrier in a branch lets others run ahead: then
        # lanes need not meet again where their paths join, and only invariant registers stay uniform.
        loops = any(t <= index for index in diverged for t in basic_blocks[index].targets)
        structured = structured and not barrier_inside and not sync_inside and not (polls and loops)
        structured = structured and may_meet
        # Registers that never leave their basic block are written and read under one mask.
        local_only = {name for name in flowing if name not in crossing}
        kept = (flowing - forbidden) if structured else local_only
        kept |= local_only
        kept = definitions.closure(invariant, kept)
        if kept == flowing:
            return Flow(
                basic_blocks, live_in, crossing, uniform, definitions.once,
                set() if stacked else definitions.ramps(invariant), diverged, structured, stacked, entries, spin_loops,
                spinning, waits,
            )  # fmt: skip
        flowing = kept


def _liveness(basic_blocks: list[BasicBlock]) -> list[set[str]]:
    gen, kill = [], []
    for basic_block in basic_blocks:
        used: set[str] = set()
        written: set[str] = set()
        for instruction in (*basic_block.body, *([basic_block.last] if basic_block.last else [])):
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
        for basic_block in reversed(basic_blocks):
            out: set[str] = set().union(*(live[t] for t in basic_block.targets)) if basic_block.targets else set()
            # The result of a reducing barrier is read after it: it is written by what follows.
            now = gen[basic_block.index] | (out - kill[basic_block.index])
            if now != live[basic_block.index]:
                live[basic_block.index] = now
                changed = True
    return live
