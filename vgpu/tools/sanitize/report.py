"""From the monitor's events to findings: each mistake is described once and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu import faults
from vgpu.base.context import PC_DONE
from vgpu.lower import is_loose
from vgpu.ptx import Mem
from vgpu.runtime.shadow import CLASH, IN_FLIGHT, PAIR_KINDS, UNFENCED, WRITE_LATE, WRITE_TWICE
from vgpu.storage import heap_words, memory
from vgpu.storage.host import size_text
from vgpu.tools.sanitize.findings import Finding
from vgpu.tools.sanitize.kinds import KINDS
from vgpu.tools.sanitize.names import LaunchNames, element_text

if TYPE_CHECKING:
    from vgpu.lower import Lowered
    from vgpu.lower.watch import Place
    from vgpu.storage.heap import HeapAllocation

_DOES = {"load": "reads", "store": "writes", "atomic": "updates", "free": "frees"}
_DID = {"load": "read", "store": "wrote", "atomic": "updated", "free": "freed"}
_ENDS = {
    "deadlock": "deadlock", "timeout": "timeout", "assert": "assertion", "trap": "trap", "partial": "partial_warp",
    "unlike": "partial_warp", "warpgroup": "partial_warp", "descriptor": "out_of_bounds",
    "stride": "misaligned", "stalled": "deadlock", "stack": "stack_overflow",
    "pointer": "bad_call", "texture": "bad_handle", "barrier_lost": "mbarrier", "barrier_arrivals": "mbarrier",
    "barrier_bytes": "mbarrier", "barrier_count": "mbarrier", "barrier_early": "mbarrier",
    "free": "bad_free", "bulk_alignment": "misaligned", "bulk_size": "misaligned", "unfinished": "timeout",
    "tensor_place": "out_of_bounds", "tensor_quarter": "out_of_bounds", "tensor_free": "bad_free",
}  # fmt: skip


def _of_one_element(place: Place, other: Place) -> bool:
    """Whether two places are a load and a store of the same address in each thread, as in `x[i] += 1`."""
    mine, theirs = ([o for o in each.instruction.operands if isinstance(o, Mem)] for each in (place, other))
    return {place.kind, other.kind} == {"load", "store"} and bool(mine) and mine == theirs


_FREE_LATER = "free memory after its last use by any thread: put a barrier between, or let the last thread free it."
_SPANS = ("warp", "block", "grid")  # by reach
GOES_ON = ("bounds", "alignment", "free")  # faults after which the other lanes, and these, can go on


@dataclass
class _CountedFinding:
    """A finding and its count: `count`, and `cells` of the monitor's table of pairs.

    `reaches` are how far apart the threads of its pairs were: 0 in a warp, 1 in a block, 2 in the grid. The finding
    describes a pair with the largest reach: what orders those two threads orders the others as well.
    """

    finding: Finding
    count: int
    cells: list[tuple[int, int, int]] = field(default_factory=list)
    reaches: set[int] = field(default_factory=set)
    overwrites: bool = False
    update: bool = False  # several threads read, change and write one element


_UNFINISHED = {
    "product_pending": "registers of the product{}", "load_pending": "registers that a load{} fills",
    "tensor_pending": "tensor memory that a product or copy{} reads or writes",
    "tensor_stored": "tensor memory that a store{} writes",
}  # fmt: skip
_AWAITED = {
    "product_pending": "a wait for its group", "load_pending": "tcgen05.wait::ld",
    "tensor_pending": "a wait for an mbarrier to which it was committed", "tensor_stored": "tcgen05.wait::st",
}  # fmt: skip


class Report:
    """Collects findings of one launch, the first instance of each kind, pair of lines and array."""

    def __init__(self, names: LaunchNames, lowered: Lowered, cooperative: bool = False):
        self.names, self.lowered, self.cooperative = names, lowered, cooperative
        self.entries: dict[tuple, _CountedFinding] = {}
        self.by_site: dict[tuple, _CountedFinding] = {}
        self.ended_early = False
        self.error: Exception | None = None  # what a plain launch would have raised first

    def _add(
        self, finding: Finding, count: int, cell: tuple[int, int, int] | None = None, reach: int | None = None
    ) -> _CountedFinding:
        lines = frozenset((finding.line, finding.other_line))
        key = (finding.kind, lines, finding.array, finding.space)
        entry = self.entries.setdefault(key, _CountedFinding(finding, 0))
        if reach is not None:
            if reach > max(entry.reaches, default=reach):
                entry.finding = finding
            entry.reaches.add(reach)
        entry.count += count
        if cell is not None:
            entry.cells.append(cell)
        return entry

    def findings(self, pairs: np.ndarray) -> tuple[Finding, ...]:
        """All findings, by line; `pairs` are the monitor's counts."""
        self._merge_updates()
        found = [
            replace(
                entry.finding, count=entry.count + sum(int(pairs[cell]) for cell in entry.cells),
                spans=tuple(_SPANS[reach] for reach in sorted(entry.reaches)), overwrites=entry.overwrites,
            )
            for entry in self.entries.values()
        ]  # fmt: skip
        # A read that races with the first write of its element also reads unwritten memory: one mistake, not two.
        racing = {(f.array, line) for f in found if f.kind.startswith("race_") for line in (f.line, f.other_line)}
        found = [f for f in found if f.kind != "uninitialised" or (f.array, f.line) not in racing]
        # A wrong mask and a shuffle from lanes that take no part are the same mistake.
        masks = {f.line for f in found if f.kind in ("mask_absent", "mask_ended", "mask_self")}
        found = [f for f in found if f.kind != "shuffle_absent" or f.line not in masks]
        # Whether a read came before or after the free that it races with depends on the schedule.
        freeing = {line for f in found if f.fix == _FREE_LATER for line in (f.line, f.other_line)}
        found = [f for f in found if f.kind != "use_after_free" or f.line not in freeing]
        rank = {kind: i for i, kind in enumerate(KINDS)}
        return tuple(
            sorted(
                found, key=lambda f: (f.level != "error", f.line or 0, f.other_line or 0, rank[f.kind], f.array or "")
            )
        )

    def _merge_updates(self) -> None:
        """Merge the races of `x += 1` by several threads: its reads and its writes race, and it is one mistake."""
        for key in list(self.entries):
            kind, lines, array, space = key
            if kind not in ("race_write_write", "race_lanes") or len(lines) > 1:
                continue
            for read in list(self.entries.values()):
                found = read.finding
                same = (found.kind, found.array, found.space) == ("race_read_write", array, space)
                whole = {found.line, found.other_line}
                if same and (whole == lines or (read.update and lines <= whole)):
                    self.entries.pop(key, None)
                    read.update = True
        add = "cuda.atomic.add" if self.names.kernel.language == "numba" else "atomicAdd"
        fix = f"several threads update one element: use an atomic such as {add}, or give each its own."
        for entry in self.entries.values():
            if entry.update:
                entry.finding = replace(entry.finding, fix=fix)

    def _place(self, number: int) -> tuple[Place, int | None, str]:
        """The place of this number, from 1 on, with its line and the line's text."""
        place = self.lowered.places[number - 1]
        return place, place.line, self.names.text(place.line)

    # ------------------------------------------------------------ faults

    def fault(self, fault: faults.Fault, lanes: int = 1) -> None:
        """A fault that an ordinary launch would have raised."""
        found = self.by_site.get((fault.kind, fault.site))
        if found is not None and fault.kind in GOES_ON:
            found.count += lanes
            return
        names = self.names
        error = faults.error(names.kernel, self.lowered, fault, names.grid, names.block, names.arrays)
        self.error = self.error or error
        first, _, rest = str(error).partition("\n")
        fix = rest.partition("Usual fix: ")[2].replace("\n", " ").strip()
        kind = self._fault_kind(fault)
        array, index = None, None
        if kind == "out_of_bounds" and (named := re.search(r"`(\w+)\[(-?\d+)\]`", first)):
            array, index = named[1], int(named[2])
        what = first.partition(": ")[2] if ": " in first and kind not in ("assertion", "trap") else first
        space = self.lowered.sites[fault.site].space if fault.kind in ("bounds", "alignment") else ""
        finding = Finding(
            kind, error.line, names.text(error.line), what or first, fix or KINDS[kind].fix, thread=error.thread,
            block=error.block or names.block_index(fault.block), array=array, index=index, space=space,
        )  # fmt: skip
        self.by_site[fault.kind, fault.site] = self._add(finding, lanes)
        self.ended_early |= fault.kind not in GOES_ON

    def _fault_kind(self, fault: faults.Fault) -> str:
        if fault.kind == "alignment":
            return "misaligned"
        if fault.kind == "deadlock":
            return "barrier_divergent" if _diverged_at_barriers(fault.program_counters) else "deadlock"
        if fault.kind == "all wait":
            return "grid_barrier" if self.cooperative else "deadlock"
        if fault.kind != "bounds":
            return _ENDS.get(fault.kind, "fault")
        site = self.lowered.sites[fault.site]
        if site.space in ("shared", "local"):
            return "out_of_bounds"
        address = faults.access.signed(fault.address, 64)
        if address < 4096 and fault.detail != (faults.ENDED,):
            return "null_pointer"
        freed = memory.describe(address).freed or heap_words.is_freed(address)
        return "use_after_free" if freed else "out_of_bounds"

    def stray(self, number: int, thread: int, block: int, address: int, bounds: np.ndarray, lanes: int) -> None:
        """An access whose address is computed from one array and lies outside of it, in valid memory."""
        found = self.by_site.get(("stray", number))
        if found is not None:
            found.count += lanes
            return
        place, line, text = self._place(number)
        names = self.names
        space = {"generic": "shared"}.get(place.space, place.space)
        start, end = int(bounds[0]), int(bounds[1])
        array, _ = names.element(space, start, place.nbytes)
        index = (address - start) // max(1, place.nbytes)
        count = (end - start) // max(1, place.nbytes)
        other, other_index = names.element(space, address, place.nbytes)
        landed = f", in {element_text(other, other_index)}" if other else ""
        who = names.said(names.thread_index(thread), names.block_index(block))
        what = (
            f"{who} {_DOES[place.kind]} {element_text(array, index)}{landed}; {element_text(array, None)} has {count} "
            f"elements of {place.nbytes} bytes."
        )
        kind = "overrun" if space == "shared" else "out_of_bounds"
        finding = Finding(
            kind, line, text, what, KINDS[kind].fix, thread=names.thread_index(thread),
            block=names.block_index(block), array=array, index=index, space=space, address=None,
        )  # fmt: skip
        self.by_site["stray", number] = self._add(finding, lanes)

    # ------------------------------------------------------------ races and unwritten memory

    @staticmethod
    def _space(place: Place, address: int) -> str:
        """The space of an access. A generic one to shared memory comes with an offset instead of an address."""
        return place.space if place.space != "generic" else "shared" if address < 1 << 20 else "global"

    def in_global(self, number: int, address: int) -> bool:
        """Whether an access is one of global memory."""
        return self._space(self.lowered.places[number - 1], address) == "global"

    def pair(
        self, row: int, number: int, thread: int, block: int, address: int, other: tuple[int, int, int] | None
    ) -> None:
        """The first conflict of two places in a row of the monitor's pairs, or a read of unwritten memory.

        other: the number of the place, the thread and the block that it conflicts with; None for unwritten memory.
        """
        kind = row % PAIR_KINDS
        place, line, text = self._place(number)
        names = self.names
        if place.kind == "shuffle":
            self._absent(row, number, thread, block, address % 32)
            return
        space = self._space(place, address)
        array, index = names.element(space, address, place.nbytes)
        me, here = names.thread_index(thread), names.block_index(block)
        inside = heap_words.within(address) if space == "global" else None
        lies = f" It lies {inside}." if inside else ""
        common: dict[str, Any] = dict(
            line=line, source=text, thread=me, block=here, array=array, index=index, space=space,
            address=address if space != "global" else None,
        )  # fmt: skip
        if other is None:
            unset = self._unset(place, common, element_text(array, index))
            self._add(replace(unset, what=unset.what + lies), 0, (row, number, 0))
            return
        other_number, other_thread, other_block = other
        there = self._place(other_number) if other_number else (place, line, text)
        them, their_block = names.thread_index(other_thread), names.block_index(other_block)
        two_blocks = other_block != block
        who = f"{names.said(me, here)} {_DOES[place.kind]} {element_text(array, index)}"
        they = names.said(them, their_block if two_blocks else None)
        where = f" at line {there[1]}" if there[1] is not None and there[1] != line else ""
        if kind == CLASH:
            key, what = "race_lanes", f"{who}, and {they} writes another value there at the same time."
        elif kind == WRITE_TWICE and number == other_number and not two_blocks and thread // 32 == other_thread // 32:
            # The lanes of one store happened to run one after another.
            key, what = "race_lanes", f"{who}, and {they} writes another value there; nothing orders the two."
        elif kind == IN_FLIGHT:
            key, what = "copy_pending", f"{who} while an asynchronous copy to it, issued by {they}{where}, is pending."
        elif kind == UNFENCED:
            product = place.instruction.opcode in ("wgmma", "tcgen05")
            key, how = ("product_fence", "product") if product else ("proxy_fence", "bulk copy")
            what = f"{who} by a {how}, which {they} stored{where}, and no fence.proxy.async stands between the two."
        else:
            key = self._race(kind, place, there[0])
            between = "nothing orders the two blocks" if two_blocks else "nothing orders the two"
            what = f"{who}, which {they} {_DID[there[0].kind]}{where}; {between}."
        finding = Finding(
            key, what=what + lies, fix=_FREE_LATER if "free" in (place.kind, there[0].kind) else self._fix(
                key, two_blocks, thread // 32 == other_thread // 32, space),
            other_line=there[1], other_source=there[2], other_thread=them, other_block=their_block, **common,
        )  # fmt: skip
        reach = 2 if two_blocks else int(thread // 32 != other_thread // 32)
        entry = self._add(finding, 0, (row, number, other_number), reach)
        entry.overwrites |= kind == WRITE_LATE
        entry.update |= key == "race_read_write" and _of_one_element(place, there[0])

    @staticmethod
    def _race(kind: int, place: Place, other: Place) -> str:
        if (place.kind == "atomic") != (other.kind == "atomic"):
            return "race_atomic"
        return "race_write_write" if kind == WRITE_TWICE else "race_read_write"

    def _fix(self, key: str, two_blocks: bool, same_warp: bool, space: str) -> str:
        language = self.names.kernel.language
        numba = language == "numba"
        if key in ("copy_pending", "proxy_fence", "product_fence", "race_lanes", "race_atomic"):
            return KINDS[key].fix
        if two_blocks and space == "shared":
            call = "cute.arch.cluster_arrive() and cute.arch.cluster_wait()" if language == "cute" else "cluster.sync()"
            return (
                f"the blocks of a cluster run in any order: put the cluster's barrier, {call}, between the two, and "
                "one at the end of a kernel whose other blocks may still use its shared memory."
            )
        if two_blocks:
            fix = (
                "blocks run in any order: give every block its own elements, use atomics, or split the work in two "
                "launches."
            )
            atomics = (place for place in self.lowered.places if place.kind == "atomic" and place.space != "shared")
            if language not in ("cuda", "numba") or next(atomics, None) is None:
                return fix
            call = "cuda.threadfence()" if numba else "__threadfence()"
            return f"{fix} If an atomic says that another block's data is ready, put {call} before and after it."
        if key == "race_write_write":
            return KINDS[key].fix
        if same_warp:
            call = "cuda.syncwarp()" if numba else "__syncwarp()"
            return f"the lanes of a warp do not run in lock-step: put {call} between the two."
        call = "cuda.syncthreads()" if numba else "__syncthreads()"
        return f"put a barrier, {call}, between the two; in a loop, also one before the next iteration writes again."

    def _unset(self, place: Place, common: dict[str, Any], element: str) -> Finding:
        scopes = {"local": "the thread has not", "global": "nobody has"}
        who = self.names.said(common["thread"], common["block"])
        element = "a local array" if common["space"] == "local" else element
        written = "written before" if common["space"] == "local" else "written"
        what = f"{who} {_DOES[place.kind]} {element}, which {scopes.get(common['space'], 'no thread has')} {written}."
        return Finding("uninitialised", what=what, fix=KINDS["uninitialised"].fix, **common)

    def _absent(self, row: int, number: int, thread: int, block: int, lane: int) -> None:
        """A use of a shuffle's result that came from a lane which took no part."""
        _, line, text = self._place(number)
        me, here = self.names.thread_index(thread), self.names.block_index(block)
        what = f"{self.names.said(me, here)} uses a value that came from lane {lane}, which isn't part of this shuffle."
        finding = Finding("shuffle_absent", line, text, what, KINDS["shuffle_absent"].fix, thread=me, block=here)
        self._add(finding, 0, (row, number, 0))

    def left(self, number: int, thread: int, block: int) -> None:
        """A block has ended, and no thread has waited for this bulk store."""
        _, line, text = self._place(number)
        me, here = self.names.thread_index(thread), self.names.block_index(block)
        what = f"{self.names.said(me, here)} issues a bulk store, and ends without having waited for its group."
        self._add(Finding("store_pending", line, text, what, KINDS["store_pending"].fix, thread=me, block=here), 1)

    def early(self, number: int, product: int, thread: int, block: int) -> None:
        """Registers of a product of a warpgroup are touched while it is in flight."""
        self._too_soon("product_pending", number, product, thread, block)

    def tensor(self, key: str, number: int, other: int, thread: int, block: int) -> None:
        """Tensor memory, or registers that are loaded from it, is touched too soon: what is not complete is `other`."""
        self._too_soon(key, number, other, thread, block)

    def _too_soon(self, key: str, number: int, product: int, thread: int, block: int) -> None:
        (place, line, text), (_, other_line, other_text) = self._place(number), self._place(product)
        me, here = self.names.thread_index(thread), self.names.block_index(block)
        where = f" at line {other_line}" if other_line not in (None, line) else ""
        what = (
            f"{self.names.said(me, here)} and its warp use {_UNFINISHED[key].format(where)} in "
            f"`{place.instruction.opcode}`, before {_AWAITED[key]}."
        )
        fix = KINDS[key].fix
        self._add(
            Finding(
                key, line, text, what, fix, other_line=other_line, other_source=other_text, thread=me,
                block=here,
            ), 1,
        )  # fmt: skip

    def lost(self, pieces: Iterable[HeapAllocation]) -> None:
        """Heap allocations of this launch that no pointer leads to any more."""
        names = self.names
        lines: dict[int | None, list[HeapAllocation]] = {}
        if self.by_site:  # faults left out accesses and frees, which may be the reason
            return
        for piece in pieces:
            lines.setdefault(piece.caller[0].line(piece.caller[1]), []).append(piece)
        for line, found in lines.items():
            first = found[0]
            what = f"nothing points any more to {heap_words.owned(first)}, and no thread has freed them."
            if len(found) > 1:
                total = sum(piece.nbytes for piece in found)
                what = f"{what[:-1]}; the same holds for {len(found)} allocations, {size_text(total)} in all."
            _, _, block, thread = first.caller
            me, here = names.thread_index(thread), names.block_index(block)
            fix = KINDS["heap_leak"].fix
            self._add(Finding("heap_leak", line, names.text(line), what, fix, thread=me, block=here), len(found))

    # ------------------------------------------------------------ barriers and masks

    def uneven(self, places: dict[int, int], ended: np.ndarray, block: int) -> None:
        """A block's barrier opened for threads that go on in these basic blocks (one thread of each); others ended."""
        names = self.names
        found: list[tuple[int | None, int]] = []
        loose = True  # whether all these barriers are of the kind at which diverged threads may wait
        for target, thread in sorted(places.items()):
            basic_blocks = self.lowered.basic_blocks
            barriers = (each.last for each in basic_blocks if each.end == "barrier" and target in each.targets)
            barrier = next(barriers, None)
            if barrier is not None and len(barrier.operands) < 2:
                found.append((names.line(barrier), thread))
                loose = loose and is_loose(barrier)
        here = names.block_index(block)
        lines = dict(reversed(found))
        if len(lines) > 1 and not loose:
            (line, thread), (other_line, other) = sorted(lines.items(), key=lambda item: item[0] or 0)[:2]
            me, them = names.thread_index(thread), names.thread_index(other)
            what = f"{names.said(me, here)} waits at line {line}, and {names.said(them)} at line {other_line}."
            self._add(
                Finding(
                    "barrier_divergent", line, names.text(line), what, KINDS["barrier_divergent"].fix,
                    other_line=other_line, other_source=names.text(other_line), thread=me, block=here,
                    other_thread=them, other_block=here,
                ), 1,
            )  # fmt: skip
        if len(ended) and found:
            line, thread = found[0]
            me, them = names.thread_index(thread), names.thread_index(int(ended[0]))
            what = f"{names.said(me, here)} waits at the barrier, and {names.said(them)} has ended before."
            self._add(
                Finding(
                    "barrier_ended", line, names.text(line), what, KINDS["barrier_ended"].fix, thread=me, block=here,
                    other_thread=them, other_block=here,
                ), 1,
            )  # fmt: skip

    def counted(self, number: int, count: int, thread: int, block: int) -> None:
        """A barrier for a number of threads that isn't a whole number of warps."""
        _, line, text = self._place(number)
        me, here = self.names.thread_index(thread), self.names.block_index(block)
        what = f"{self.names.said(me, here)} comes to a barrier for {count} threads."
        self._add(Finding("barrier_count", line, text, what, KINDS["barrier_count"].fix, thread=me, block=here), 1)

    def mask(self, number: int, warp: int, active: int, alive: int, named: list[int], block: int) -> None:
        """A `.sync` instruction whose mask leaves the lane itself out, or names lanes that are elsewhere."""
        place, line, text = self._place(number)
        names = self.names
        # Naming lanes that have ended is a mistake only in a shuffle, which would take values from them.
        exist = (
            (1 << min(32, int(np.prod(names.block)) - 32 * warp)) - 1 if place.instruction.opcode == "shfl" else alive
        )
        for lane in (lane for lane in range(32) if active >> lane & 1):
            missing = named[lane] & exist & ~active
            without = not named[lane] >> lane & 1
            if not missing and not without:
                continue
            me, here = names.thread_index(32 * warp + lane), names.block_index(block)
            mask = f"{names.said(me, here)} names the mask 0x{named[lane]:08x}"
            common: dict[str, Any] = dict(line=line, source=text, thread=me, block=here)
            if without:
                what = f"{mask}, in which its own lane {lane} is missing."
                self._add(Finding("mask_self", what=what, fix=KINDS["mask_self"].fix, **common), 1)
            else:
                elsewhere = missing & alive
                kind, missing = ("mask_absent", elsewhere) if elsewhere else ("mask_ended", missing)
                absent = (missing & -missing).bit_length() - 1
                them = names.thread_index(32 * warp + absent)
                state = "is not here" if elsewhere else "has ended"
                what = f"{mask}, and lane {absent}, {names.said(them)}, {state}."
                self._add(
                    Finding(kind, what=what, fix=KINDS[kind].fix, other_thread=them,
                            other_block=here, **common), 1,
                )  # fmt: skip
            return
        lane = (active & -active).bit_length() - 1
        if "activemask" not in place.words or alive == active:
            return
        absent = ((alive & ~active) & -(alive & ~active)).bit_length() - 1
        me, them = (names.thread_index(32 * warp + one) for one in (lane, absent))
        here = names.block_index(block)
        what = f"{names.said(me, here)} takes the mask 0x{active:08x} of activemask(), without {names.said(them)}."
        self._add(
            Finding("activemask", line, text, what, KINDS["activemask"].fix, thread=me, block=here,
                    other_thread=them, other_block=here), 1,
        )  # fmt: skip


def _diverged_at_barriers(standing: tuple[int, ...]) -> bool:
    """Whether lanes of one warp wait at different barriers."""
    warps = [standing[at : at + 32] for at in range(0, len(standing), 32)]
    return any(len({pc for pc in warp if pc != PC_DONE}) > 1 for warp in warps)
