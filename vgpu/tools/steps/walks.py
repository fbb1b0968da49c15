"""Which tiles of the score matrix a block of an attention kernel computes, in order.

The kernel never holds that matrix. It holds rows of the queries and rows of the keys on the chip, and these make a tile
of it. So a tile is what the block has loaded of both arrays when it reads them from shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vgpu.tools.launch import Launch
from vgpu.tools.prepare import prepare
from vgpu.tools.steps.trace import Access, trace

if TYPE_CHECKING:
    from vgpu.storage.memory import ArrayInfo


@dataclass(frozen=True)
class Walked:
    """The tiles of one block, in order: `tiles` as (rows of the one array, rows of the other).

    `down` and `across` are the names of the two arrays, `shape` how many rows each has; `stored`: by array name, the
    rows that the block stores.
    """

    kernel: str
    block: int
    down: str
    across: str
    shape: tuple[int, int]
    tiles: tuple[tuple[range, range], ...]
    stored: Mapping[str, range]


def walked(launch: Launch, *, down: str = "q", across: str = "k", block_index: int = 0) -> Walked:
    """Run one block of `launch` in the interpreter, on a copy of memory: which tiles of `down` × `across` it computes.

    Both are names of 2-D arguments, of which the block loads whole rows. A tile ends where the block reads the loaded
    rows from shared memory. TypeError for anything but a `Launch`; KeyError for a name that no 2-D argument has;
    ValueError where the block never has rows of both; else the errors of `trace`.
    """
    if not isinstance(launch, Launch):
        raise TypeError(f"this takes a Launch(kernel, grid, block, args), not a {type(launch).__name__}")
    _, prepared, _ = prepare("walked", launch.kernel, launch.grid, launch.block, launch.args, dict(launch.meta))
    matrices = {array.name: array for array in prepared.arrays if len(array.shape) == 2}
    for name in (down, across):
        if name not in matrices:
            raise KeyError(f"no 2-D argument is called {name!r}; there are: {', '.join(matrices)}")
    found = trace(
        launch.kernel, launch.grid, launch.block, launch.args, block_index=block_index,
        shared_bytes=launch.shared_bytes, **launch.meta,
    )  # fmt: skip
    tiles: list[tuple[range, range]] = []
    on_chip: dict[str, range] = {}
    loading: dict[str, set[int]] = {}
    stored: dict[str, set[int]] = {}
    for access in found.accesses:
        loads = access.op == "load"
        if access.space == "shared" and loads and loading:
            on_chip |= {name: _span(rows) for name, rows in loading.items()}
            loading = {}
            if len(on_chip) == 2:
                tiles.append((on_chip[down], on_chip[across]))
        if access.space == "global" and access.array is not None and access.array in matrices:
            rows = _rows(access, matrices[access.array])
            if not loads:
                stored.setdefault(access.array, set()).update(rows)
            elif access.array in (down, across):
                loading.setdefault(access.array, set()).update(rows)
    if not tiles:
        raise ValueError(f"block {block_index} of {found.kernel} never has rows of both {down} and {across}")
    return Walked(
        found.kernel, block_index, down, across, (matrices[down].shape[0], matrices[across].shape[0]), tuple(tiles),
        {name: _span(rows) for name, rows in stored.items()},
    )  # fmt: skip


def _rows(access: Access, array: ArrayInfo) -> set[int]:
    addresses = np.array(access.addresses)[np.array(access.lanes)]
    return set((addresses // array.strides[0]).tolist())


def _span(rows: set[int]) -> range:
    return range(min(rows), max(rows) + 1)
