"""Explorers of memory accesses: sectors, bank conflicts, traffic, and the working set of a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers.models.cache_model import KIB, requests
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.plots.accesses import cache_requests, load_traffic
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools.launch import Launch
from vgpu.tools.steps.trace import trace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from vgpu.tools.prepare import Dimensions, Grid
    from vgpu.tools.steps.trace import Access, Trace

WARP = 32
OPS = ("load", "store", "atomic")
MOST_NAMED = 6


def request(
    kernel: Any,
    arguments: Sequence,
    *,
    op: str = "load",
    line: int | None = None,
    space: str = "global",
    grid: Grid = 1,
    block: Dimensions | None = WARP,
    **options: Any,
) -> Access:
    """The first request of warp 0 of block 0 in `space` that is a `op` (and stands on `line`, when given).

    Runs that block of `kernel` with `arguments`; `options` go to `trace`. Raises LookupError when the warp makes no
    such request.
    """
    from vgpu.tools.steps.trace import trace

    wanted = f"{space} {op}"
    accesses = trace(kernel, grid, block, arguments, warp=0, **options).accesses
    for access in accesses:
        if access.space == space and access.op == op and line in (None, access.line):
            return access
    made = sorted({(each.line or 0, each.space, each.op) for each in accesses})
    there = ", ".join(f"{place} {what} on line {at}" for at, place, what in made[:MOST_NAMED])
    there += f", … ({len(made)} in all)" if len(made) > MOST_NAMED else ""
    raise LookupError(
        f"the warp makes no {wanted}{f' on line {line}' if line else ''}; "
        f"it makes {there or 'no requests to memory at all'}"
    )


def sectors(
    kernel: Any,
    *,
    stride: tuple[int, int] = (1, 32),
    offset: tuple[int, int] = (0, 31),
    op: str = "load",
    dtype: DTypeLike = np.float32,
) -> Explorer:
    """The sectors that a warp of `kernel(source, target, stride, offset)` moves, with sliders for stride and offset.

    The kernel, in either language, is run again on the virtual GPU at every move; `source` is long enough for
    the last lane at the largest stride and offset. `op`: which of the warp's requests is drawn, "load" or
    "store".
    """
    from vgpu.standins import cupy as cp

    checked.among("op", op, OPS)
    stride, offset = checked.bounds("stride", stride), checked.bounds("offset", offset)
    if min(stride[0], offset[0]) < 0:
        raise ValueError("stride and offset start at 0 or above: `source` has no element before its first")
    size = (WARP - 1) * stride[1] + offset[1] + 1
    source, target = cp.zeros(size, dtype), cp.zeros(size, dtype)

    def draw(stride: int, offset: int) -> Picture:
        access = request(kernel, (source, target, np.int32(stride), np.int32(offset)), op=op)
        return plots.sector_map(access, prefix=f"stride {stride}, offset {offset}: ")

    return Explorer(
        "sectors",
        draw,
        {"stride": slider("stride", stride[0], *stride), "offset": slider("offset", offset[0], *offset)},
    )


WORDS = 1024


def banks(
    kernel: Any,
    arguments: Sequence | None = None,
    *,
    grid: Grid = 1,
    block: Dimensions | None = WARP,
    op: str | Sequence[str] = "load",
    line: int | None = None,
    shared_bytes: int = 0,
    **ranges: tuple[int, int],
) -> Explorer:
    """Banks against wavefronts for one shared-memory request of warp 0 of `kernel`, run again for each setting.

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

    def draw(**values: Any) -> Picture:
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


def traffic(launch: Callable[..., Launch], **choices: Sequence[int]) -> Explorer:
    """The bytes that a launch requests, that its sectors move, and that a perfect cache would fetch.

    `launch(**values)` gives the `Launch` for the values of the controls; each of `choices` is a slider over those
    values: `traffic(lambda tile: Launch(...), tile=(2, 4, 8, 16, 32))`. All of them are profiled beforehand, so that
    the axis can hold the largest.
    """
    checked.called("launch", launch)
    choices = {name: checked.options(name, values) for name, values in choices.items()}
    if not choices:
        raise ValueError("traffic takes at least one control, such as tile=(4, 8, 16): its values are tried in turn")
    combinations = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    profiles = {tuple(each.values()): _launched(launch(**each)).profile() for each in combinations}
    scale = max(max(load_traffic(each).values()) for each in profiles.values())
    if not scale:
        raise ValueError("this kernel loads nothing from global memory: there is no traffic to compare")

    def draw(**values: int) -> Picture:
        said = ", ".join(f"{name} {value}" for name, value in values.items())
        return plots.traffic(profiles[tuple(values.values())], prefix=f"{said}: ", scale=scale)

    return Explorer("traffic", draw, {name: choice(name, values[0], values) for name, values in choices.items()})


def _launched(made: object) -> Launch:
    if not isinstance(made, Launch):
        raise TypeError(f"launch gives a Launch(kernel, grid, block, args) for its values, not a {type(made).__name__}")
    return made


def working_set(
    kernel: Any,
    args: Callable[[int], tuple],
    *,
    array: Iterable[int],
    cache: Iterable[int],
    start: tuple[int, int] | None = None,
    grid: Grid = 1,
    block: Dimensions | None = 32,
) -> Explorer:
    """Each load of a kernel's first block over time: a hit or a miss in a modelled cache.

    kernel: one kernel, or a mapping from short names to several, which a slider chooses from; `args(kib)` gives the
    arguments of its launch for an array of so many KiB; `array` and `cache`: the sizes, in KiB, that two sliders
    offer; start: the sizes to begin with (the first ones otherwise). ValueError for a kernel that loads nothing from
    global memory.
    """
    versions = checked.versions(kernel)
    make, sizes, caches = checked.called("args", args), checked.options("array", array), checked.options("cache", cache)
    first, kept = start or (sizes[0], caches[0])
    controls = {"array": choice("array, KiB", first, sizes), "cache": choice("cache, KiB", kept, caches)}
    name = next(iter(versions))
    if len(versions) > 1:
        controls = {"version": choice("version", name, versions), **controls}

    @lru_cache(maxsize=64)
    def traced(version: str, array: int) -> Trace:
        return trace(versions[version], grid, block, checked.arguments(make(array)))

    def draw(array: int, cache: int, version: str = name) -> Picture:
        asked = requests(traced(version, array), cache * KIB)
        words = f"{version}, {array} KiB" if version else f"{array} KiB"
        return cache_requests({words: asked}, cache * KIB)

    return Explorer("working_set", draw, controls)
