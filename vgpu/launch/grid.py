"""One launch: what it needs before it runs, and what it has counted afterwards."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import threading
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base import schedule
from vgpu.base.context import (
    ASYNCHRONOUS,
    BY_STATE_ONLY,
    BY_WARP,
    LAUNCH_SLOT,
    PC_DONE,
    SITE_BYTES,
)
from vgpu.base.errors import OutOfMemory
from vgpu.base.precision import fp8_kind
from vgpu.launch import counters as counting
from vgpu.launch import path
from vgpu.launch.configuration import check_cluster
from vgpu.launch.counters import Counters, Footprint
from vgpu.launch.running import MOST_AT_ONCE, PORTIONS, Running
from vgpu.launch.shares import Shares
from vgpu.launch.worker import LANES, Worker, aligned
from vgpu.lower import Lowered, sampling
from vgpu.lower.tallies import BASIC_BLOCK_SLOTS
from vgpu.lower.texture import SITE_KINDS as TEXTURE_KINDS
from vgpu.storage import heap, layout, memory, textures

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

# Backward jumps of a warp per time slice: some milliseconds' work.
FUEL = 1 << 16
REUSED_BYTES = 1 << 22  # of a launch's workers and maps at most, for a later launch to use them again
NO_COUNTS = np.zeros(0, np.int64)
NO_TEXTURES: tuple[np.ndarray, list[textures.Bound]] = np.zeros(1, np.int64), []
PATIENCE = 4  # rounds without progress for each of a block's warps; see `runtime.driver`


class Grid(Running):
    """One launch: what its workers share."""

    shape: tuple[object, ...] | None = None  # of launches that can use this one's memory again, if any can

    def __init__(
        self,
        kernel: Kernel,
        lowered: Lowered,
        address: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        params: bytes,
        shared_bytes: int,
        dynamic: int,
        observe: bool,
        timeout: float,
        cooperative: bool = False,
        seed: int | None = None,
        watched: tuple[int, int] | None = None,
    ):
        check_cluster(kernel, grid)
        cluster = kernel.cluster
        self.kernel, self.lowered, self.address = kernel, lowered, address
        self.grid, self.block, self.together = grid, block, math.prod(cluster)
        self.observe, self.cooperative, self.seed = observe, cooperative, seed
        self.shared_bytes, self.dynamic_shared = shared_bytes, dynamic
        kinds = {site.kind for site in lowered.sites}
        # A kernel may take the address of a parameter and read through it: then it must be known memory.
        self.allocation = (
            memory.allocate(len(params) or 1, label="parameters") if lowered.parameters_addressed else None
        )
        self.params = aligned(max(16, len(params)), 256)
        if self.allocation is not None:
            self.params = memory.view(self.allocation, max(1, len(params)), np.uint8)
        self.workspace = None
        if cooperative:  # where the grid's barrier counts
            self.workspace = memory.allocate(256, label="barrier of the grid")
            ctypes.memset(self.workspace.address, 0, 256)
        self.heap = heap.ensure() if "heap" in kinds else heap.current()
        uses_textures = not kinds.isdisjoint(TEXTURE_KINDS)
        self.textures = textures.table(sampling.addresses) if uses_textures else NO_TEXTURES
        self.asynchronous = not kinds.isdisjoint(ASYNCHRONOUS)
        self.has_tensor_memory = "tensor_memory" in kinds
        described = not kinds.isdisjoint({"warpgroup", "tensor_memory"})
        self.shared_alignment = layout.DESCRIBED_ALIGNMENT if described else layout.SHARED_ALIGNMENT
        self.independent = seed is None and not (  # blocks never wait
            cooperative or lowered.spins or self.asynchronous or self.together > 1
        )
        self.lane_ids, self.first_pcs = _lanes(block)
        self.warps = len(self.first_pcs)
        self.shared = np.zeros(len(LAUNCH_SLOT), np.int64)
        self.blocks = math.prod(grid)
        self.path = None if watched is None else path.log()
        self.order = None if seed is None and self.together == 1 else _order(grid, cluster, seed)
        self.lock = threading.Lock()
        self.workers = []
        self.slots = {
            "params": self.params.ctypes.data, "variables": kernel.module.variables.table.ctypes.data,
            "shared_bytes": shared_bytes, "local_bytes": lowered.local_bytes,
            **{f"ntid_{axis}": size for axis, size in zip("xyz", block, strict=True)},
            **{f"nctaid_{axis}": size for axis, size in zip("xyz", grid, strict=True)},
            **{f"cluster_{axis}": size for axis, size in zip("xyz", cluster, strict=True)}, "cluster": self.together,
            "narrow_sums": fp8_kind() == "hopper",
            "resume": BY_STATE_ONLY, "own_block": 0, "own_end": 0, "fuel_slice": FUEL, "warps": self.warps,
            "lane_ids": self.lane_ids.ctypes.data, "first_pcs": self.first_pcs.ctypes.data,
            "state_bytes": lowered.state_bytes, "launch": self.shared.ctypes.data, "run_warp": address, "slices": 1,
            "dynamic_shared": dynamic, "zeroed_shared": lowered.zeroed_shared, "zeroed_state": lowered.zeroed_state,
            "loose_barriers": lowered.loose_barriers,
            "textures": self.textures[0].ctypes.data, "texture_count": len(self.textures[0]),
            "workspace": 0 if self.workspace is None else self.workspace.address, "patience": PATIENCE * self.warps,
            "random": 0 if seed is None else schedule.state(seed), "lanes": (1 << LANES) - 1,
            "order": 0 if self.order is None else self.order.ctypes.data,
            "path": 0 if self.path is None else self.path.ctypes.data,
            "followed": -1 if watched is None else watched[0] * self.warps + watched[1],
        } | self._allocations() | self._counted_warps()  # fmt: skip
        if (area := self.heap) is not None:
            self.slots |= {"heap": area.base, "heap_bytes": area.nbytes, "heap_owners": area.owners.ctypes.data,
                           "heap_ends": area.ends.ctypes.data}  # fmt: skip
        self.plain = not (
            cooperative or self.asynchronous or uses_textures or "host" in kinds or self.heap is not None
            or self.allocation is not None or seed is not None or watched is not None or self.together > 1
        )  # fmt: skip
        self._begin(params, timeout)

    def _begin(self, params: bytes, timeout: float) -> None:
        """Set what is different from launch to launch."""
        self.timeout = timeout
        self.params[: len(params)] = np.frombuffer(params, np.uint8)
        self.shared[LAUNCH_SLOT["next_block"]] = 0
        self.shared[LAUNCH_SLOT["blocks"]] = self.shared[LAUNCH_SLOT["stop_block"]] = self.blocks
        self.printed: list[tuple[int, int, str]] = []
        self.fault = None
        self.assertion, self.host_error = (), None
        self.cancelled = False
        self.missing = self.idle_rounds = self.epoch = 0
        self._share = None

    def again(self, kernel: Kernel, params: bytes, timeout: float) -> None:
        """Make a grid that is `reusable` ready for another launch of its kernel, with other parameters."""
        self.kernel = kernel
        if memory.tables() is self.tables:
            changed = {}
            for touched in (self.reads, self.writes):
                touched.fill(0)
        else:
            changed = self._allocations()
        if self.observe:
            changed |= self._counted_warps()
        self._begin(params, timeout)
        for worker in self.workers:
            worker.begin_again(changed)

    @property
    def reusable(self) -> bool:
        """Whether the launch has ended well, and left nothing but memory of moderate size."""
        return (
            self.plain
            and self.fault is None
            and not (self.cancelled or self.missing)
            and sum([worker.nbytes for worker in self.workers], 2 * len(self.reads)) <= REUSED_BYTES
            and all(len(worker.table) == 1 for worker in self.workers)
        )

    def rest(self) -> None:
        """Let go of what isn't to live as long as the memory for later launches."""
        del self.kernel
        self.by_warp = NO_COUNTS

    def _counted_warps(self) -> dict[str, int]:
        """Make the counts of each warp, which belong to the `Counters` of this launch; the slot for them."""
        # One worker has a block and runs one warp at a time: no other thread writes there.
        self.by_warp = np.zeros((self.blocks, self.warps, len(BY_WARP)), np.int64) if self.observe else NO_COUNTS
        return {"by_warp": self.by_warp.ctypes.data}

    def _allocations(self) -> dict[str, int]:
        """Note which allocations there are, with maps of what the launch touches if it counts; the slots for them."""
        self.tables = starts, ends, writable_ends = memory.tables()
        self.table, self.writable_ends = (starts, ends), writable_ends
        self.touch_offsets, total = np.zeros(max(1, len(starts)), np.int64), 1
        if self.observe and len(starts):
            ends_of_maps = np.cumsum((ends - starts + np.uint64(31)) // np.uint64(32) + np.uint64(1))
            self.touch_offsets[1:], total = ends_of_maps[:-1], int(ends_of_maps[-1])
        heap_touch = total
        if self.observe and self.heap is not None:
            total += self.heap.nbytes // 32
        self.reads, self.writes = np.zeros(total, np.uint8), np.zeros(total, np.uint8)
        return {
            "starts": starts.ctypes.data, "ends": ends.ctypes.data, "writable_ends": writable_ends.ctypes.data,
            "allocations": len(starts), "touch_offsets": self.touch_offsets.ctypes.data, "heap_touch": heap_touch,
            "reads": self.reads.ctypes.data if self.observe else 0,
            "writes": self.writes.ctypes.data if self.observe else 0,
        }  # fmt: skip

    def make_workers(self, threads: int) -> None:
        """Make so many workers, unless there are some from an earlier launch."""
        portion = self.blocks if self.small else self.blocks // (PORTIONS * threads)
        portion = self.shared[LAUNCH_SLOT["portion"]] = max(1, min(MOST_AT_ONCE, portion))
        if self.independent:
            self.slots["slices"] = 2 + self.blocks // portion  # so that a launch of short blocks ends in one
        try:
            self.workers = self.workers or [Worker(self) for _ in range(threads)]
            for worker in self.workers:
                worker.grow(self.together)
        except MemoryError:
            raise OutOfMemory(
                f"out of memory on the virtual GPU: blocks of {math.prod(self.block)} threads, with "
                f"{self.lowered.local_bytes} bytes of local memory each, have no room on this machine. Use smaller "
                "blocks or local arrays, or delete arrays that are no longer needed (del name)."
            ) from None

    def counters(self) -> Counters:
        """The counts of all workers, summed."""
        lowered = self.lowered
        sites = _sum([w.sites.view(np.int64).reshape(-1, SITE_BYTES // 8) for w in self.workers])[: len(lowered.sites)]
        basic_blocks = _sum([w.basic_blocks.view(np.int64).reshape(-1, BASIC_BLOCK_SLOTS) for w in self.workers])
        files = self.kernel.module.module.files
        lines, total = counting.gather(lowered, files, self.kernel.filename, sites, basic_blocks)
        footprint = Footprint(32 * int(np.count_nonzero(self.reads)), 32 * int(np.count_nonzero(self.writes)))
        instructions, requests = (self.by_warp[:, :, index] for index in range(len(BY_WARP)))
        shares = Shares(instructions, requests, self.grid)
        followed = None if self.path is None else path.read(self.kernel, lowered, self.path)
        return Counters(
            lines, total, footprint, self.grid, self.block, self.warps * self.blocks, self.shared_bytes, shares,
            followed,
        )  # fmt: skip


def _order(grid: tuple[int, int, int], cluster: tuple[int, int, int], seed: int | None) -> np.ndarray:
    """The numbers of the blocks in the order in which they begin: cluster by cluster, each by rank."""
    (nx, ny, nz), (cx, cy, cz) = grid, cluster
    numbers = np.arange(nx * ny * nz).reshape(nz // cz, cz, ny // cy, cy, nx // cx, cx)
    clusters = numbers.transpose(0, 2, 4, 1, 3, 5).reshape(-1, cx * cy * cz)
    if seed is not None:
        clusters = clusters[schedule.block_order(len(clusters), seed)]
    return np.ascontiguousarray(clusters.ravel(), np.int64)


def _sum(arrays: list[np.ndarray]) -> np.ndarray:
    return functools.reduce(operator.add, arrays)


@functools.lru_cache(maxsize=64)
def _lanes(block: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Thread indices (warps, 3, 32) and first program counters (warps, 32) of a block's warps."""
    threads = math.prod(block)
    warps = -(-threads // LANES)
    linear = np.arange(warps * LANES)
    ids = np.stack([linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])])
    lane_ids = aligned(warps * 3 * LANES * 4).view(np.int32).reshape(warps, 3, LANES)
    lane_ids[:] = ids.reshape(3, warps, LANES).transpose(1, 0, 2)
    first = aligned(warps * LANES * 4).view(np.int32).reshape(warps, LANES)
    first[:] = np.where(linear < threads, 0, PC_DONE).reshape(warps, LANES)
    return lane_ids, first
