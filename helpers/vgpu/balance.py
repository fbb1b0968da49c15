"""How a launch shares its work out: how many instructions each warp executes, and who asks for most of the memory.

Counters are sums, and a sum is the same whether all warps work or one does everything while the others have ended. This
is what tells the two apart. It comes from the reference interpreter, on a copy of the arrays.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from dataclasses import dataclass

from helpers.vgpu import reference
from helpers.vgpu.errors import KernelTimeout
from helpers.vgpu.prepare import prepare
from helpers.vgpu.trace import check_place, run_block

WARP = 32
MOST = 30_000
FEW = 4


@dataclass(frozen=True)
class Shares:
    """How much of a launch each warp did: PTX instructions, and requests to global memory, block after block."""

    instructions: tuple[int, ...]
    requests: tuple[int, ...]
    grid: tuple[int, int, int]

    def who_does_most(self, requests: int) -> str:
        """As `who_does_most`; requests: those of the whole launch."""
        warps = len(self.requests) // math.prod(self.grid)
        asked = _Asked(self.grid, warps, requests)
        for number, count in enumerate(self.requests):
            asked.add(_place(number // warps, self.grid), number % warps, count)
        return asked.most


def shares(kernel, grid, block, args, *, shared_bytes: int = 0, most: int = MOST, **meta) -> Shares:
    """What each warp of a launch does.

    kernel, grid, block, args, shared_bytes, meta: as at the launch, whose arrays stay as they are. Errors: as a launch;
    KernelTimeout beyond `most` instructions of all warps together.
    """
    steps: Counter = Counter()
    asked: Counter = Counter()

    def step(seen: reference.Step) -> None:
        steps[seen.block, seen.warp] += 1

    def access(seen: reference.Access) -> None:
        if seen.space == "global":
            asked[seen.block, seen.warp] += 1

    grid, block = _walk(kernel, grid, block, args, shared_bytes, most, meta, on_step=step, on_access=access)
    warps = range(-(-math.prod(block) // WARP))
    every = [(_place(number, grid), warp) for number in range(math.prod(grid)) for warp in warps]
    return Shares(tuple(steps[each] for each in every), tuple(asked[each] for each in every), grid)


class _Asked:
    """Requests as they come, and who has made over half of those there will be."""

    def __init__(self, grid: tuple[int, int, int], warps: int, requests: int):
        """`warps`: of a block; `requests`: of the whole launch."""
        self.blocks = math.prod(grid)
        self.few = self.blocks * warps < FEW
        self.requests, self.done, self.greatest, self.most = requests, 0, 0, ""
        self.of_blocks: Counter = Counter()
        self.of_warps: Counter = Counter()

    def add(self, block: tuple[int, int, int], warp: int, count: int = 1) -> None:
        self.of_blocks[block] += count
        self.of_warps[block, warp] += count
        if self.few or self.most:
            return
        if 2 * self.of_warps[block, warp] > self.requests:
            self.most = f"warp {warp} of block {_index(block)}"
        elif self.blocks >= FEW and 2 * self.of_blocks[block] > self.requests:
            self.most = f"block {_index(block)}"
        mine = self.of_blocks[block] if self.blocks >= FEW else self.of_warps[block, warp]
        self.done, self.greatest = self.done + count, max(self.greatest, mine)

    @property
    def known(self) -> bool:
        """Whether nothing that comes can change the answer: half was asked for by others than the greatest."""
        return bool(self.few or self.most or 2 * (self.done - self.greatest) >= self.requests)


class _Known(Exception):
    """Enough has been seen."""


def who_does_most(kernel, grid, block, args, requests: int, *, shared_bytes: int = 0, **meta) -> str:
    """The block or warp that makes over half of a launch's `requests` to global memory, in words; "" for none.

    Requests tell work from idling, which takes instructions too. One of less than four is nothing unusual, and is not
    told; nor is one of a launch of over twice `MOST` instructions, which takes too long. The other arguments: as at
    the launch, whose arrays stay as they are. Errors: as a launch.
    """
    grid, block, _ = check_place(grid, block, 0)
    asked = _Asked(grid, -(-math.prod(block) // WARP), requests)
    if asked.known:
        return ""

    def note(access: reference.Access) -> None:
        if access.space == "global":
            asked.add(access.block, access.warp)
            if asked.known:
                raise _Known

    with contextlib.suppress(_Known, KernelTimeout):
        _walk(kernel, grid, block, args, shared_bytes, 2 * MOST, meta, on_access=note)
    return asked.most


def _walk(kernel, grid, block, args, shared_bytes: int, most: int, meta: dict, **observers) -> tuple:
    """Interpret a launch under observation, on memory that is then as before; its grid and block."""
    _, prepared, _ = prepare("balance", kernel, grid, block, args, meta)
    grid, block, _ = check_place(prepared.grid or grid, prepared.block or block, 0)
    run_block(prepared, grid, block, None, shared_bytes, max_steps=most, **observers)
    return grid, block


def _place(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = grid
    return number % x, number // x % y, number // (x * y)


def _index(block: tuple[int, int, int]) -> str:
    return str(block[0]) if not any(block[1:]) else str(block)
