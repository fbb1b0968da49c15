"""How the work of a launch is distributed over its warps.

Counters are sums, which are the same whether all warps work or one does everything while the others have ended. Shares
distinguish the two cases, in every counted launch. They can't tell useful work from useless: where other warps make as
many requests that no thread needs, no warp makes most of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEW = 4


@dataclass(frozen=True, eq=False)
class Shares:
    """Each warp's share of a launch: its PTX instructions, and its requests to global memory.

    Both are int64 of shape (blocks, warps of a block). Requests are those of all instructions (loads, stores, atomics,
    asynchronous copies, textures and surfaces) except to constant memory; a bulk copy counts as one for each 128 bytes,
    like a full warp with a word for every lane. `grid`: blocks in x, y, z; x varies fastest.
    """

    instructions: np.ndarray
    requests: np.ndarray
    grid: tuple[int, int, int]

    def who_does_most(self) -> str:
        """The block or warp that makes over half of the requests to global memory, in words; "" for none.

        Requests distinguish work from idling, which takes instructions too. With fewer than four warps or blocks a
        large share is normal, and not reported.
        """
        blocks, warps = self.requests.shape
        half = self.requests.sum() / 2
        if blocks * warps < FEW or not half:
            return ""
        block, warp = divmod(int(self.requests.argmax()), warps)
        if self.requests[block, warp] > half:
            return f"warp {warp} of block {_index(block, self.grid)}"
        of_blocks = self.requests.sum(axis=1)
        block = int(of_blocks.argmax())
        return f"block {_index(block, self.grid)}" if blocks >= FEW and of_blocks[block] > half else ""


def _index(number: int, grid: tuple[int, int, int]) -> str:
    x, y, _ = grid
    index = number % x, number // x % y, number // (x * y)
    return str(index[0]) if not any(index[1:]) else str(index)
