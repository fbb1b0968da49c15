"""How a launch shares its work out: what each warp does, and who asks for most of the memory.

Counters are sums, and a sum is the same whether all warps work or one does everything while the others have ended. This
is what tells the two apart. It comes with every counted launch. What it cannot tell in principle is useful work from
useless: where other warps ask for as much that nobody needs, nobody does most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEW = 4


@dataclass(frozen=True, eq=False)
class Shares:
    """How much of a launch each warp did: PTX instructions, and requests to global memory.

    Both are int64 of shape (blocks, warps of a block). Requests are those of any instruction: loads, stores, atomics,
    asynchronous copies, textures and surfaces, but for constant memory; a bulk copy is one for each 128 bytes, as a
    full warp would make with a word for every lane. `grid`: blocks in x, y, z, of which x changes first.
    """

    instructions: np.ndarray
    requests: np.ndarray
    grid: tuple[int, int, int]

    def who_does_most(self) -> str:
        """The block or warp that makes over half of the requests to global memory, in words; "" for none.

        Requests tell work from idling, which takes instructions too. One of less than four is nothing unusual, and is
        not told.
        """
        blocks, warps = self.requests.shape
        half = self.requests.sum() / 2
        if blocks * warps < FEW or not half:
            return ""
        block, warp = np.unravel_index(int(self.requests.argmax()), self.requests.shape)
        if self.requests[block, warp] > half:
            return f"warp {warp} of block {_index(int(block), self.grid)}"
        of_blocks = self.requests.sum(axis=1)
        block = int(of_blocks.argmax())
        return f"block {_index(block, self.grid)}" if blocks >= FEW and of_blocks[block] > half else ""


def _index(number: int, grid: tuple[int, int, int]) -> str:
    x, y, _ = grid
    place = number % x, number // x % y, number // (x * y)
    return str(place[0]) if not any(place[1:]) else str(place)
