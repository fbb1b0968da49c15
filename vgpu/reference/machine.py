"""The reference interpreter's GPU: which blocks are resident, which one runs, and when there is a deadlock.

Blocks run one after the other as long as none waits for another. A warp that reads shared state again, with all
registers, program counters and memory unchanged, spins until other threads make progress: other lanes run, then other
warps. A block that has only such warps is set aside, and the next block starts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from vgpu.base.errors import Deadlock, LaunchError
from vgpu.base.schedule import WINDOW, block_order
from vgpu.storage import memory

if TYPE_CHECKING:
    from vgpu.reference import Block
    from vgpu.reference.warp import Warp

T = TypeVar("T")
Index: TypeAlias = tuple[int, int, int]

SPIN_ROUNDS = 4  # in which a block spins on memory and makes progress, before other blocks become resident
MOST_IDLE_ROUNDS = 512  # of all blocks without progress, before waits for an mbarrier are a deadlock too
MOST_OF_OTHERS = 1_000_000  # steps that all blocks may take for which a single block waits
RESIDENT = 4096  # blocks that may be resident together, about as many as the greatest GPU holds


class Machine:
    """One launch: its resident blocks, how often memory changed, and the random generator of its schedule."""

    def __init__(self, cooperative: bool, seed: int | None):
        self.spins = 0  # how often any warp was about to read what other threads may change
        self.writes = 0  # how often any thread wrote to memory or a block started or ended
        self.seed = seed
        self.dice = None if seed is None else np.random.default_rng((seed & (1 << 63) - 1, 2))
        self.workspace: memory.Allocation | None = None
        if cooperative:
            self.workspace = memory.allocate(256, label="barrier of the grid")
            ctypes.memset(self.workspace.address, 0, 256)

    # -- the schedule

    def mixed(self, items: list[T]) -> list[T]:
        """The items in the order in which they run."""
        if self.dice is None or len(items) < 2:
            return items
        return [items[i] for i in self.dice.permutation(len(items))]

    def slice_steps(self, usual: int) -> int:
        """Steps in one time slice of a warp."""
        return usual if self.dice is None else 1 + int(self.dice.integers(4 ** self.dice.integers(1, 5)))

    def some_lanes(self, mask: np.ndarray) -> np.ndarray:
        """The lanes of a group that take the next step: all of them in order, often some of them at random."""
        if self.dice is None or self.dice.integers(4):
            return mask
        chosen = mask & (self.dice.integers(2, size=mask.size) == 1)
        return chosen if chosen.any() else mask

    # -- the blocks

    def run(self, indices: Sequence[Index], start: Callable[[Index], Block], max_steps: int, cluster: int) -> int:
        """Run all blocks to their end, `cluster` of them side by side in a cluster; returns the steps they took."""
        if self.seed is not None:
            order = block_order(-(-len(indices) // cluster), self.seed)
            indices = [index for i in order for index in indices[i * cluster : (i + 1) * cluster]]
        waiting, steps, fruitless = list(reversed(indices)), 0, 0
        resident: list[Block] = []
        together = RESIDENT if self.seed is None else WINDOW
        while waiting or resident:
            moved = yields = False
            # In order, a block starts when all resident ones wait; at random, as many start as there is room for.
            for block in self.mixed(list(resident)):
                before = block.steps
                moved |= self._run(block, max_steps - steps + before)
                yields |= block.yields
                steps += block.steps - before
                if block.over:
                    resident.remove(block)
            if waiting and len(resident) < together and (self.seed is not None or yields or not moved):
                resident.append(start(waiting.pop()))
                self.writes += 1
            elif resident and not moved:
                fruitless += 1
                if fruitless > (MOST_IDLE_ROUNDS if any(block.stalls for block in resident) else 0):
                    self._all_wait(resident)
            if moved:
                fruitless = 0
        return steps

    def run_for(self, index: Index, others: Sequence[Index], start: Callable[[Index], Block], max_steps: int) -> int:
        """Run one block to its end, and others only as far as it waits for them; returns the steps they all took.

        More and more of the others start while it waits; in a cooperative launch all start at once.
        """
        wanted, waiting = start(index), list(others)[::-1]
        resident: list[Block] = []
        together, ended, fruitless = len(waiting) if self.workspace is not None else 1, 0, 0
        while True:
            try:
                moved = self._run(wanted, max_steps)
            finally:
                if wanted.on_pause is not None:
                    wanted.on_pause()
            if wanted.over:
                return wanted.steps + ended + sum(block.steps for block in resident)
            yields = wanted.yields or (self.dice is not None and self.spins > 0)  # random time slices are short
            while self._round(resident, MOST_OF_OTHERS):
                moved = True
                yields |= any(block.yields for block in resident)
                ended += sum(block.steps for block in resident if block.over)
                resident = [block for block in resident if not block.over]
                if ended + sum(block.steps for block in resident) > MOST_OF_OTHERS:
                    raise LaunchError(
                        f"block {index} waits for other blocks, and these took more than {MOST_OF_OTHERS:,} steps, "
                        "which is too many for looking at single steps. Use a smaller grid or smaller blocks; "
                        "profile counts launches of any size."
                    )
                if yields:
                    break
            fruitless = 0 if moved else fruitless + 1
            if waiting and (yields or not moved):
                resident += [start(waiting.pop()) for _ in range(min(together, len(waiting)))]
                together *= 2
                self.writes += 1
                fruitless = 0
            elif fruitless > (MOST_IDLE_ROUNDS if any(block.stalls for block in (wanted, *resident)) else 0):
                self._all_wait([wanted, *resident])

    def _round(self, blocks: list[Block], max_steps: int) -> bool:
        """Let each block run; whether any moved."""
        moved = [self._run(block, max_steps) for block in self.mixed(list(blocks))]
        return any(moved)

    def _run(self, block: Block, max_steps: int) -> bool:
        """Let a block run: to its end or until it waits for others (in order), or one round (at random).

        A loop with barriers may spin on memory although no warp only waits: after some such rounds other blocks run.
        """
        moved, spinning, block.yields = False, 0, False
        while not block.over and not block.yields:
            before = self.spins
            if not block.round(max_steps):
                break
            moved = True
            spinning += self.spins != before
            block.yields = spinning >= SPIN_ROUNDS
            if self.dice is not None:
                break
        if block.over:
            self.writes += 1
            block.end()
        return moved

    def _all_wait(self, resident: list[Block]) -> NoReturn:
        first: dict[str, Any] = {}
        found: set[int | None] = set()
        for block in resident:
            for warp in block.warps:
                for lane in np.flatnonzero(warp.ready()):
                    where = warp.where(None, int(lane))
                    first = first or where
                    found.add(where["line"])
        lines = " and ".join(f"line {line}" for line in sorted(line for line in found if line is not None))
        raise Deadlock(f"All blocks wait for memory to change, and no thread is left to change it: {lines}", **first)

    # -- warps that spin on memory

    def note_spin(self, warp: Warp) -> None:
        """Note that a warp reads shared state; end its time slice if nothing changed since the last time."""
        self.spins += 1
        warp.tries += 1
        frames = [frame for _, frame in sorted(warp.frames.items(), key=lambda item: item[0])]
        lanes = (warp.pc, warp.depth, warp.code, warp.live, *(frame.carry for frame in frames))
        registers = [value for frame in frames for _, value in sorted(frame.registers.items())]
        state = (self.writes, tuple(sorted(warp.waiting)), *(value.tobytes() for value in (*lanes, *registers)))
        position, found = warp.pc.tobytes(), hash(state)
        again = warp.spun.get(position) == found
        warp.spun[position] = found
        if warp.spun_at != self.writes:
            warp.spun_at, warp.fruitless = self.writes, 0
        # Other lanes of the warp run first; after two rounds of all groups, none can make progress.
        warp.fruitless += again
        warp.sleeps = again and warp.fruitless >= 2 * len(warp.groups())
