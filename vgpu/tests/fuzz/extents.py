"""What a launch may touch, gathered from the objects that own the memory, not from the tables that code looks it up in.

`Watcher` notes each allocation as it is made and each launch as it begins. `rows()` is the map for
`checker.set_map`: device memory, the heap of kernels, and each area of each worker by itself, so that an access that
runs from one area into the next is outside of both.
"""

from __future__ import annotations

import ctypes
import weakref

import numpy as np

from vgpu import lower
from vgpu.base.context import RESIDENT_SLOT
from vgpu.launch import grid
from vgpu.lower import sampling
from vgpu.reference import memory as interpreted
from vgpu.storage import heap, memory
from vgpu.tests.fuzz import checker
from vgpu.tests.fuzz.checker import BOOK_READ, BOOK_WRITE, DATA_READ, DATA_WRITE, OWN
from vgpu.tools.sanitize import monitor

ALL = BOOK_READ | BOOK_WRITE | DATA_READ | DATA_WRITE
BOOKS = BOOK_READ | BOOK_WRITE
WINDOW = 128  # bytes behind shared memory that whole vectors may be read from, see `worker.block_areas`


class Watcher:
    """The memory of this process that launches may touch; `report(text)` is called for an access outside of it."""

    def __init__(self, report):
        self.report = report
        self.allocations: dict[int, weakref.ref] = {}
        self.grids: list[grid.Grid] = []
        self.monitors: list[monitor.Monitor] = []
        self._hears = memory.ALLOCATED.hearing(self._allocated)  # until this process ends
        self._hears.__enter__()
        for block in memory._live:
            self.allocations[block.serial] = block.handle
        self.stacks: dict[int, tuple] = {}  # sites of a kernel (by id, and kept) -> where its hidden stack lies
        run, lay_out = lower.Lowering.run, lower.Lowering.lay_out_stacks

        def laid_out(lowering, *arguments):
            found = lay_out(lowering, *arguments)
            lowering.hidden = getattr(lowering, "stack_at", 0), lowering.state_bytes
            return found

        def lowered(lowering):
            made = run(lowering)
            self.stacks[id(made.sites)] = made.sites, lowering.hidden
            return made

        lower.Lowering.run, lower.Lowering.lay_out_stacks = lowered, laid_out
        self._follow(grid.Grid, "start_workers", self.grids)
        self._follow(monitor.Monitor, "attach", self.monitors)
        checker.missed = self.missed

    def _allocated(self, allocation) -> None:
        self.allocations[allocation.serial] = weakref.ref(allocation)

    def _follow(self, owner, method: str, found: list) -> None:
        """Have the object noted whenever this method of it begins, and the map made for it."""
        original = getattr(owner, method)

        def followed(this, *arguments):
            found[:] = [this]
            self.refresh()
            return original(this, *arguments)

        setattr(owner, method, followed)

    def live(self) -> list[tuple[int, int]]:
        """(start, end) of the allocations that somebody still holds and nobody freed."""
        found = []
        for serial, reference in list(self.allocations.items()):
            allocation = reference()
            if allocation is None or allocation.freed:
                del self.allocations[serial]
            else:
                found.append((allocation.address, allocation.address + allocation.nbytes))
        return found

    def rows(self) -> list[tuple[int, int, int]]:
        """(start, end, rights) of all that the launch under way may touch."""
        found = [(start, end, ALL) for start, end in self.live()]
        if area := heap.current():
            found += [(area.base, area.base + area.nbytes, ALL), _array(area.owners, BOOKS), _array(area.ends, BOOKS)]
        if not self.grids or not hasattr(self.grids[0], "kernel"):  # its memory is kept for other launches
            return found
        run = self.grids[0]
        found.append(_array(run.lane_ids, BOOK_READ | DATA_READ))  # as special registers
        read = [run.first_pcs, run.touch_offsets, *run.table, run.writable_ends, run.textures[0]]
        read += [run.kernel.module.variables.table]
        read += [run.order] if run.order is not None else []
        read += [bound.words(sampling.addresses) for bound in run.textures[1]]
        found += [_array(array, BOOK_READ) for array in read]
        written = [run.reads, run.writes, run.shared, run.by_warp, *([] if run.path is None else [run.path])]
        found += [_array(array, BOOKS) for array in written]
        if run.allocation is None:
            found.append(_array(run.params, BOOK_READ))
        for worker in run.workers:
            for name in ("slots", "sites", "basic_blocks", "table", "host_data", "texture_data"):
                found.append(_array(getattr(worker, name), BOOKS))
            for place in worker.table:
                stack = self.stacks[id(run.lowered.sites)][1]
                for name, size in worker.areas.items():
                    if name == "states" and stack[0]:
                        found += _states(int(place[RESIDENT_SLOT["states"]]), run, *stack)
                        continue
                    start = int(place[RESIDENT_SLOT[f"{name}_base" if name in ("shared", "local") else name]])
                    data = name in ("shared", "local")
                    size -= WINDOW if name == "shared" else 0
                    rights = ALL | OWN if data else ALL if name == "tensor_memory" else BOOKS
                    found.append((start, start + size, rights))
        if self.monitors and self.monitors[0].run is run:
            found += self._shadows(self.monitors[0])
        return found

    def _shadows(self, watch: monitor.Monitor) -> list[tuple[int, int, int]]:
        arrays = [watch.words, watch.pairs, watch.bounds, watch.offsets, watch.turns, *watch.kept]
        for resident in watch.resident.values():
            arrays += [*resident.shadows.values(), resident.local]
        arrays += [clocks.known for clocks in watch.order.resident.values()]
        return [_array(array, BOOKS) for array in arrays]

    def refresh(self) -> None:
        run = self.grids[0] if self.grids else None
        one = run is not None and len(run.workers) == 1
        checker.set_map(self.rows(), run.workers[0].pointer if one else 0)

    def missed(self, need: str, address: int, size: int, site: tuple[str, str, str]) -> bool:
        """The table lacks it: perhaps a place was added since, or it is one of the vectors read beyond the end."""
        self.refresh()
        bit = {"book read": BOOK_READ, "book write": BOOK_WRITE, "data read": DATA_READ, "data write": DATA_WRITE}[need]
        if self._covered(need, bit, address, size):
            return True
        for start, end, rights in self.rows():
            window = rights & OWN and size == 64 and "shared_load32" in site[0] and need == "data read"
            if window and start <= address and address + size <= end + WINDOW:
                return True
        self.report(f"{need} of {size} bytes at {address:#x} ({self.near(address)}) in @{site[0]}: {site[2]}")
        return False

    def _covered(self, need: str, bit: int, address: int, size: int) -> bool:
        """Whether pieces that touch one another, as those of a warp's state, hold all of it."""
        reached = address
        for start, end, rights in sorted(self.rows()):
            if rights & bit and start <= reached < end and self._own(rights, start, need):
                reached = end
        return reached >= address + size

    def _own(self, rights: int, start: int, need: str) -> bool:
        run = self.grids[0]
        if not rights & OWN or need.startswith("book") or len(run.workers) != 1:
            return True
        worker = run.workers[0]
        of_cluster = [int(place[RESIDENT_SLOT["shared_base"]]) for place in worker.table] if run.together > 1 else []
        return start in (worker["shared_base"], worker["local_base"], *of_cluster)

    def near(self, address: int) -> str:
        """Where an address lies that nobody may touch, in words."""
        below = [row for row in self.rows() if row[0] <= address]
        if not below:
            return "below everything"
        start, end, rights = max(below)
        if address < end:
            return f"byte {address - start} of a piece of {end - start} with rights {rights}"
        return f"{address - end} bytes behind a piece of {end - start} with rights {rights}"

    def holds(self, address: int, size: int) -> bool:
        """Whether kernels may know all of these bytes, for accesses that Python makes for them."""
        rows = [(start, end, ALL) for start, end in self.live()]  # which is quick, and mostly enough
        return any(
            rights & DATA_READ and start <= address and address + size <= end
            for found in (rows, self.rows)
            for start, end, rights in (found() if callable(found) else found)
        )


def _array(array: np.ndarray, rights: int) -> tuple[int, int, int]:
    return array.ctypes.data, array.ctypes.data + array.nbytes, rights


def _states(start: int, run, stack: int, end: int) -> list[tuple[int, int, int]]:
    """Each warp's state: where functions that stay functions keep what they have to, they move it as data is moved."""
    found = []
    for at in range(start, start + run.warps * run.lowered.state_bytes, run.lowered.state_bytes):
        found += [(at, at + stack, BOOKS), (at + stack, at + end, ALL)]
        found.append((at + end, at + run.lowered.state_bytes, BOOKS))
    return found


class Moves:
    """What Python moves for kernels, the interpreter above all, which is calls of ctypes: each is looked up.

    It may move what kernels may know, and what the interpreter made for the launch (`windows`).
    """

    def __init__(self, watcher: Watcher):
        self.watcher = watcher
        self.windows: list[weakref.ref] = []

    def __enter__(self):
        self.kept = ctypes.string_at, ctypes.memmove, interpreted.Window.__init__
        read, move, make = self.kept

        def string_at(address, size=-1):
            self.check("read", address, size)
            return read(address, size)

        def memmove(target, source, size):
            self.check("write", target, size)
            if isinstance(source, int):
                self.check("read", source, size)
            return move(target, source, size)

        def made(window, nbytes):
            make(window, nbytes)
            self.windows.append(weakref.ref(window))

        ctypes.string_at, ctypes.memmove, interpreted.Window.__init__ = string_at, memmove, made
        return self

    def __exit__(self, *_):
        ctypes.string_at, ctypes.memmove, interpreted.Window.__init__ = self.kept

    def check(self, what: str, address: int, size: int) -> None:
        address = int(address)
        windows = [window for reference in self.windows if (window := reference()) is not None]
        if any(w.base <= address and address + size <= w.base + w.nbytes for w in windows) or size == 0:
            return
        if not self.watcher.holds(address, size):
            self.watcher.report(f"{what} of {size} bytes at {address:#x} by Python, outside what kernels may know")
