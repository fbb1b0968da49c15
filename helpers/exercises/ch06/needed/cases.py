from __future__ import annotations

from helpers.checking.exercise import Case

NOTHING, WARP, BLOCK, LAUNCH = "nothing", "__syncwarp", "__syncthreads", "new launch"
PAIRS = {
    "the same thread": ((1, 40), (1, 40), NOTHING),
    "two lanes of a warp": ((1, 33), (1, 62), WARP),
    "the first and the last lane of a warp": ((0, 63), (0, 32), WARP),
    "two neighbours of two warps": ((0, 31), (0, 32), BLOCK),
    "two neighbours of two later warps": ((2, 96), (2, 95), BLOCK),
    "two warps far apart": ((2, 0), (2, 255), BLOCK),
    "the same place in two blocks": ((0, 5), (1, 5), LAUNCH),
    "neighbours across the border of two blocks": ((0, 127), (1, 0), LAUNCH),
    "two blocks, the reader in the first": ((3, 64), (0, 1), LAUNCH),
}


def cases() -> list[Case]:
    return [Case(name, (writer, reader), expected=least) for name, (writer, reader, least) in PAIRS.items()]
