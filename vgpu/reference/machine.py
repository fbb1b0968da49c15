"""The reference interpreter's GPU: which blocks are resident, whose turn it is, and when nothing can move any more.

Blocks run one after the other as long as none waits for another. A warp that asks memory for the second time, with
every register and every lane's place as they were and memory unchanged, will ask the same for ever unless others move:
other lanes have their turn, then other warps. A block that has only such warps is set aside, and the next block starts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from vgpu.base.errors import Deadlock, LaunchError
from vgpu.base.schedule import WINDOW, block_order
from vgpu.storage import memory

ASKING_ROUNDS = 4  # in which a block asks memory and goes on, before other blocks are let in
IN_VAIN = 512  # rounds of all blocks without any change before warps that ask mbarriers, too, are past hope
MOST_OF_OTHERS = 1_000_000  # steps that all blocks may take for which a single block waits
RESIDENT = 4096  # blocks that may be resident together, about as many as the greatest GPU holds


class Machine:
    """One launch: the blocks that are resident, how often memory changed, and the schedule's dice."""

    def __init__(self, cooperative: bool, seed: int | None):
        self.asked = 0  # how often any warp was about to read what others may change
        self.writes = 0  # how often any thread wrote to memory or a block started or ended
        self.seed = seed
        self.dice = None if seed is None else np.random.default_rng((seed & (1 << 63) - 1, 2))
        self.workspace = None
        if cooperative:
            self.workspace = memory.allocate(256, label="barrier of the grid")
            ctypes.memset(self.workspace.address, 0, 256)

    # -- the schedule's dice

    def mixed(self, items: list) -> list:
        """The items in the order of their turns."""
        if self.dice is None or len(items) < 2:
            return items
        return [items[i] for i in self.dice.permutation(len(items))]

    def turn(self, usual: int) -> int:
        """Steps in one turn of a warp."""
        return usual if self.dice is None else 1 + int(self.dice.integers(4 ** self.dice.integers(1, 5)))

    def some_lanes(self, mask: np.ndarray) -> np.ndarray:
        """The lanes of a group that take the next step: all of them in order, often some of them at random."""
        if self.dice is None or self.dice.integers(4):
            return mask
        chosen = mask & (self.dice.integers(2, size=mask.size) == 1)
        return chosen if chosen.any() else mask

    # -- the blocks

    def run(self, indices: Sequence, start: Callable, max_steps: int) -> int:
        """Run all blocks to their end; the steps they took."""
        if self.seed is not None:
            indices = [indices[i] for i in block_order(len(indices), self.seed)]
        waiting, resident, steps, in_vain = list(reversed(indices)), [], 0, 0
        together = RESIDENT if self.seed is None else WINDOW
        while waiting or resident:
            moved = let_in = False
            # In order, a block starts when all that are resident wait; at random, as many as there is room for.
            for block in self.mixed(list(resident)):
                before = block.steps
                moved |= self._run(block, max_steps - steps + before)
                let_in |= block.lets_in
                steps += block.steps - before
                if block.over:
                    resident.remove(block)
            if waiting and len(resident) < together and (self.seed is not None or let_in or not moved):
                resident.append(start(waiting.pop()))
                self.writes += 1
            elif resident and not moved:
                in_vain += 1
                if in_vain > (IN_VAIN if any(block.stalls for block in resident) else 0):
                    self._all_wait(resident)
            if moved:
                in_vain = 0
        return steps

    def run_for(self, index, others: Sequence, start: Callable, max_steps: int) -> int:
        """Run one block to its end, and others only as far as it waits for them; the steps they all took.

        More and more of the others start while it waits, in a cooperative launch all at once.
        """
        wanted, waiting, resident = start(index), list(others)[::-1], []
        together, ended, in_vain = len(waiting) if self.workspace is not None else 1, 0, 0
        while True:
            try:
                moved = self._run(wanted, max_steps)
            finally:
                if wanted.on_pause is not None:
                    wanted.on_pause()
            if wanted.over:
                return wanted.steps + ended + sum(block.steps for block in resident)
            let_in = wanted.lets_in or (self.dice is not None and self.asked > 0)  # at random each turn is short
            while self._round(resident, MOST_OF_OTHERS):
                moved = True
                let_in |= any(block.lets_in for block in resident)
                ended += sum(block.steps for block in resident if block.over)
                resident = [block for block in resident if not block.over]
                if ended + sum(block.steps for block in resident) > MOST_OF_OTHERS:
                    raise LaunchError(
                        f"block {index} waits for other blocks, and these took more than {MOST_OF_OTHERS:,} steps, "
                        "which is too many for looking at single steps. Use a smaller grid or smaller blocks; "
                        "profile counts launches of any size."
                    )
                if let_in:
                    break
            in_vain = 0 if moved else in_vain + 1
            if waiting and (let_in or not moved):
                resident += [start(waiting.pop()) for _ in range(min(together, len(waiting)))]
                together *= 2
                self.writes += 1
                in_vain = 0
            elif in_vain > (IN_VAIN if any(block.stalls for block in (wanted, *resident)) else 0):
                self._all_wait([wanted, *resident])

    def _round(self, blocks: list, max_steps: int) -> bool:
        """Let each block run; whether any moved."""
        moved = [self._run(block, max_steps) for block in self.mixed(list(blocks))]
        return any(moved)

    def _run(self, block, max_steps: int) -> bool:
        """Let a block run: to its end or until it waits for others (in order), one round (at random).

        A loop with barriers may ask memory again and again, and no warp of it ever does nothing but wait: after some
        such rounds others are let in.
        """
        moved, asking, block.lets_in = False, 0, False
        while not block.over and not block.lets_in:
            before = self.asked
            if not block.round(max_steps):
                break
            moved = True
            asking += self.asked != before
            block.lets_in = asking >= ASKING_ROUNDS
            if self.dice is not None:
                break
        if block.over:
            self.writes += 1
        return moved

    def _all_wait(self, resident) -> None:
        first, told = None, set()
        for block in resident:
            for warp in block.warps:
                for lane in np.flatnonzero(warp.ready()):
                    where = warp.where(None, int(lane))
                    first = first or where
                    told.add(where["line"])
        lines = " and ".join(f"line {line}" for line in sorted(n for n in told if n is not None))
        raise Deadlock(f"All blocks wait for memory to change, and no thread is left to change it: {lines}", **first)

    # -- who asks memory in vain

    def asks(self, warp) -> None:
        """A warp is about to read what others may change: end its turn if it has asked exactly so before."""
        self.asked += 1
        warp.tries += 1
        frames = [frame for _, frame in sorted(warp.frames.items(), key=lambda item: item[0])]
        lanes = (warp.pc, warp.depth, warp.code, warp.live, *(frame.carry for frame in frames))
        registers = [value for frame in frames for _, value in sorted(frame.registers.items())]
        state = (self.writes, tuple(sorted(warp.waiting)), *(value.tobytes() for value in (*lanes, *registers)))
        place, found = warp.pc.tobytes(), hash(state)
        again = warp.asked.get(place) == found
        warp.asked[place] = found
        if warp.asked_at != self.writes:
            warp.asked_at, warp.in_vain = self.writes, 0
        # Other lanes of the warp get a turn first; twice round all of them, and nobody can go on.
        warp.in_vain += again
        warp.sleeps = again and warp.in_vain >= 2 * len(warp.groups())
