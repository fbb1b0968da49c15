"""Which bank serves which lane in which wavefront, as a stride, a padding or the kernel itself changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.pictures.widgets.explorers.sectors import OPS, WARP, request

WORDS = 1024


def banks(
    kernel,
    arguments: Sequence | None = None,
    *,
    grid=1,
    block=WARP,
    op: str | Sequence[str] = "load",
    line: int | None = None,
    shared_bytes: int = 0,
    **ranges: tuple[int, int],
) -> Explorer:
    """Bank × wavefront of one shared request of warp 0 of `kernel`, which is run again at every move.

    `kernel`, in either language, or a mapping from short names to kernels, which a slider chooses from. It is called
    with `arguments` (default: one array of 1,024 floats), then a 32-bit integer for each of `ranges`, a slider from low
    to high: `banks(pick, stride=(0, 33))` runs `pick(out, stride)`. `op`: "load" or "store", or both for a slider;
    `line` picks the request on that line instead of the first. grid, block, shared_bytes: as at a launch.
    """
    from vgpu.standins import cupy as cp

    versions = checked.versions(kernel)
    ops = (op,) if isinstance(op, str) else tuple(op)
    given = (cp.zeros(WORDS, np.float32),) if arguments is None else checked.arguments(arguments)
    for each in ops:
        checked.among("op", each, OPS)
    controls = {}
    if len(versions) > 1:
        controls["version"] = choice("version", next(iter(versions)), versions)
    if len(ops) > 1:
        controls["request"] = choice("request", ops[0], ops)
    ends = {name: checked.bounds(name, pair) for name, pair in ranges.items()}
    controls |= {name: slider(name.replace("_", " "), low, low, high) for name, (low, high) in ends.items()}

    def draw(**values) -> Picture:
        version, wanted = values.pop("version", next(iter(versions))), values.pop("request", ops[0])
        numbers = tuple(np.int32(value) for value in values.values())
        access = request(
            versions[version], (*given, *numbers), op=wanted, line=line, space="shared", grid=grid, block=block,
            shared_bytes=shared_bytes,
        )  # fmt: skip
        said = [version] if version else []
        said += [f"{name.replace('_', ' ')} {value}" for name, value in values.items()]
        return plots.bank_matrix(access, prefix=f"{', '.join(said)}: " if said else "")

    return Explorer("banks", draw, controls)
