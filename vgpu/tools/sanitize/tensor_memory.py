"""Tensor memory under the sanitizer: what is in flight, and which warps know that it is complete.

A product, copy or shift is complete for a warp that has waited for an mbarrier to which it was committed, and for those
that hear of it from there on: at barriers, and by other mbarriers. Its matrices in shared memory are read by the
asynchronous proxy. What other blocks of a pair do isn't followed. Source: NVIDIA "PTX ISA", memory consistency model of
the `tcgen05` instructions.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vgpu.isa import tensor_memory, umma
from vgpu.ptx import Instruction, Mem
from vgpu.reference.umma import LINES, rows_of
from vgpu.reference.warpgroup import laid_out
from vgpu.runtime.cluster import RANK_SHIFT

if TYPE_CHECKING:
    from vgpu.tools.sanitize.monitor import Monitor

MOST_BLOCKS = 64  # that are remembered


def _cells() -> np.ndarray:
    return np.zeros((tensor_memory.LANES, tensor_memory.COLUMNS), np.int64)


@dataclass
class _Block:
    """One block's tensor memory: for each cell the number of what wrote it last, of threads' requests and of stores.

    `places` has the place of each number (from 1 on), `done` up to which number each warp knows of requests, `flags`
    what waiting for a barrier tells, `learned` when a warp came to know of a number. `stores`: the warp of a store;
    `waited`: up to which number a warp has waited for its stores; `loads`: places of loads that it hasn't waited for.
    """

    asked: np.ndarray = field(default_factory=_cells)
    stored: np.ndarray = field(default_factory=_cells)
    places: list[int] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    flags: dict[tuple, int] = field(default_factory=dict)
    learned: list[tuple[int, int]] = field(default_factory=list)
    stores: dict[int, int] = field(default_factory=dict)
    waited: dict[int, int] = field(default_factory=dict)
    loads: dict[int, set[int]] = field(default_factory=dict)

    def number(self, place: int) -> int:
        self.places.append(place)
        return len(self.places)


class TensorMemory:
    """Records what a launch does with tensor memory."""

    def __init__(self, monitor: Monitor):
        self.monitor = monitor
        self.blocks: dict[int, _Block] = {}

    def _here(self) -> _Block:
        block = self.monitor.block()
        if block not in self.blocks and len(self.blocks) == MOST_BLOCKS:
            del self.blocks[next(iter(self.blocks))]  # which has probably ended
        return self.blocks.setdefault(block, _Block())

    # ------------------------------------------------------------ who knows

    def passes(self, key: tuple, warp: int, order: int) -> None:
        """A warp leaves what it knows at a flag (bit 1 of `order`), or takes what it finds there (bit 0)."""
        here = self.blocks.get(self.monitor.block())
        if here is None:
            return
        if order & 1:
            self._learn(here, warp, here.flags.get(key, 0))
        if order & 2:
            here.flags[key] = max(here.flags.get(key, 0), here.done.get(warp, 0))

    def _learn(self, here: _Block, warp: int, number: int) -> None:
        if number > here.done.get(warp, 0):
            here.done[warp] = number
            here.learned.append((number, self.monitor["time"]))

    def met(self) -> None:
        """Warps meet at a barrier: all count as knowing what one of them does."""
        here = self._here()
        most = max(here.done.values(), default=0)
        for warp in range(self.monitor.run.warps):
            self._learn(here, warp, most)

    def _knows(self, here: _Block, warp: int, number: int) -> bool:
        floor = self.monitor["floor"]  # the last barrier of the whole block
        known = max((n for n, time in here.learned if time < floor), default=0)
        return number <= max(known, here.done.get(warp, 0))

    # ------------------------------------------------------------ what happens

    def told(self, place: int, mask: int, operands: int) -> None:
        """The running warp executes the instruction at a place; of a thread's request the first lane counts."""
        warp, lane = self.monitor.worker["warp"], (mask & -mask).bit_length() - 1
        instruction = self.monitor.lowered.places[place - 1].instruction
        words = [int(each) for each in (ctypes.c_uint64 * 128).from_address(operands)[lane::32]]
        name, found = tensor_memory.form(instruction.modifiers) or ("", ())
        if name in ("ld", "st"):
            self._move(place, instruction, warp, words[0])
        elif name == "wait":
            here = self._here()
            if found[0] == "ld":
                here.loads.pop(warp, None)
            else:
                here.waited[warp] = len(here.places)
        elif name == "commit":
            here, offset = self._here(), words[0] & (1 << RANK_SHIFT) - 1
            key = self.monitor.block(), offset
            here.flags[key] = max(here.flags.get(key, 0), len(here.places))
        elif tensor_memory.ctas(instruction.modifiers) == 1:
            thread = 32 * warp + lane
            {"mma": self._multiply, "cp": self._copy, "shift": self._shift}[name](place, instruction, thread, words)

    def touched(self, place: int, load: int) -> None:
        """An instruction touches registers of the load at a place: has its warp waited?"""
        warp = self.monitor.worker["warp"]
        if load in self._here().loads.get(warp, ()):
            self.monitor.report.tensor("load_pending", place, load, 32 * warp, self.monitor.block())

    def _move(self, place: int, instruction: Instruction, warp: int, address: int) -> None:
        moved, here = tensor_memory.move(instruction.modifiers), self._here()
        assert moved is not None, "only moves that are known are compiled"
        first, column = address >> 16, address & 0xFFFF
        lanes, columns = slice(first, first + moved.lanes), slice(column, column + moved.columns)
        asked = int(here.asked[lanes, columns].max(initial=0))
        if asked and not self._knows(here, warp, asked):
            self._report("tensor_pending", place, asked, 32 * warp)
        if not moved.store:
            here.loads.setdefault(warp, set()).add(place)
            self._check_stores(here, place, lanes, columns, 32 * warp)
            return
        number = here.number(place)
        here.stores[number] = warp
        here.stored[lanes, columns] = number

    def _check_stores(self, here: _Block, place: int, lanes: slice, columns: slice, thread: int) -> None:
        for number in np.unique(here.stored[lanes, columns]).tolist():
            if number > here.waited.get(here.stores.get(number, 0), 0):
                self._report("tensor_stored", place, number, thread)
                return

    def _report(self, key: str, place: int, number: int, thread: int) -> None:
        self.monitor.report.tensor(key, place, self._here().places[number - 1], thread, self.monitor.block())

    def _read(self, place: int, thread: int, at: np.ndarray) -> None:
        """A request reads bytes of shared memory."""
        part = np.unique(at >> self.monitor["shift"])
        part = part[part < len(self.monitor.here.shadows["reads"])]
        self.monitor.copies.read(place, thread, part)
        self.monitor.products.mark(place, thread, part)

    def _multiply(self, place: int, instruction: Instruction, thread: int, words: list[int]) -> None:
        d, a, b, code = words
        v = umma.variant(instruction.modifiers, isinstance(instruction.operands[1], Mem))
        if v is None or umma.wrong_instruction(v, code):
            return  # a fault, which is told otherwise
        f, here = umma.fields(code, umma.INSTRUCTION), self._here()
        for role, descriptor, rows in (("a", a, f["m"]), ("b", b, f["n"])):
            if (role == "a" and v.in_tensor_memory) or descriptor >> 61 not in LINES:
                continue
            line, turned = LINES[descriptor >> 61], bool(f[f"turn_{role}"])
            pairs = descriptor >> 61 == umma.PAIRS
            each = laid_out(descriptor, line, np.arange(rows), np.arange(v.of.k), v.of.element_bits, turned, pairs)
            self._read(place, thread, each)
        layout = rows_of(v, f["m"], f["n"], d >> 16)
        low, high, column = layout[0].lane, layout[-1].lane + 1, d & 0xFFFF
        lanes, columns = slice(low, high), slice(column, column + f["n"])
        for start, count in [(column, f["n"])] + [(a & 0xFFFF, 8)] * v.in_tensor_memory:
            self._check_stores(here, place, lanes, slice(start, start + count), thread)
        here.asked[lanes, columns] = here.number(place)

    def _copy(self, place: int, instruction: Instruction, thread: int, words: list[int]) -> None:
        address, descriptor = words[:2]
        _, (_, shape, _) = tensor_memory.form(instruction.modifiers) or ("", (None,) * 3)
        rows, nbytes, _ = tensor_memory.COPIES[str(shape)]
        if descriptor >> 61 not in LINES:
            return
        line, here = LINES[descriptor >> 61], self._here()
        self._read(place, thread, laid_out(descriptor, line, np.arange(rows), np.arange(nbytes), 8, False))
        first, column = address >> 16, address & 0xFFFF
        lanes = slice(first, None, 32) if rows == 4 else slice(None)
        here.asked[lanes, column : column + nbytes // 4] = here.number(place)

    def _shift(self, place: int, instruction: Instruction, thread: int, words: list[int]) -> None:
        here, first, column = self._here(), words[0] >> 16, words[0] & 0xFFFF
        self._check_stores(here, place, slice(first, first + 32), slice(column, column + 8), thread)
        here.asked[first : first + 31, column : column + 8] = here.number(place)
