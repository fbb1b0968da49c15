"""Explorers of how kernels are built: fusion, software pipelines, and tiles of attention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING

from helpers.models.attention import Walk, checked_head, walk
from helpers.models.fused_rows import ROWS_RUN, Group, Operations, operations
from helpers.models.pipeline import pipeline as modelled
from helpers.pictures import plots
from helpers.pictures.figures import CAPTION_LINE, Drawing, Picture, card_height
from helpers.pictures.plots.fusion import Moved, Summary, fusion_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, gpus, slider, steps, toggle
from helpers.pictures.widgets.explorer import Explorer
from vgpu.base.words import plural
from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPU, find
from vgpu.hardware.occupancy import occupancy
from vgpu.tools.profile import Profile
from vgpu.tools.roofline import flops_by_unit

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

ROWS = (1, 16, 256, 4096, 65536)
COLUMNS = (256, 1024, 4096)
MOST_OPERATIONS = 12


def fusion(
    statements: Sequence[str],
    *,
    vectors: Sequence[str] = (),
    cuts: Sequence[str] = (),
    rows: Sequence[int] = ROWS,
    columns: Sequence[int] = COLUMNS,
) -> Explorer:
    """The arrays that kernels move, with a check box after each operation that splits it from the next one.

    statements: up to 12 operations such as "z = x + bias" or "m = max(z)", in their order: see
    `models.fused_rows.operations`, whose `vectors` these are. cuts: the names of the results behind which
    to cut at first. rows, columns: sizes to choose from; columns are multiples of 8, so that rows fill their sectors.
    """
    found = operations(statements, vectors=vectors)
    if len(found) > MOST_OPERATIONS:
        raise ValueError(f"{len(found)} operations: more than {MOST_OPERATIONS} have no room on a page")
    names = [step.name for step in found.steps]
    for name in cuts:
        checked.among("a cut", name, names[:-1])
    rows, columns = checked.options("rows", rows), checked.options("columns", columns)
    if wrong := [each for each in columns if each < 8 or each % 8]:
        raise ValueError(f"columns are multiples of 8, so that rows begin with a sector; got {wrong[0]}")
    if wrong := [each for each in rows if each < 1]:
        raise ValueError(f"rows are 1 or more; got {wrong[0]}")

    def draw(rows: int, columns: int, gpu: str, **cut: bool) -> Drawing:
        row = find(gpu)
        chosen = [number for number in range(len(found) - 1) if cut[f"cut_{number}"]]
        ways = {"this grouping": chosen, "one kernel each": range(len(found) - 1), "all in one kernel": ()}
        groups = found.groups(chosen)
        return plots.fusion_map(
            [_moved(found, group, rows, columns) for group in groups],
            [_summary(name, found, each, rows, columns, row) for name, each in ways.items()],
            gpu=row.name,
            agree=all(_agrees(found, group, columns) for group in groups),
            rows_run=ROWS_RUN,
        )

    controls = {
        **{f"cut_{n}": toggle(f"cut after {name}", name in cuts) for n, name in enumerate(names[:-1])},
        "rows": choice("rows", rows[len(rows) // 2 + 1] if len(rows) > 3 else rows[-1], rows),
        "columns": choice("columns", columns[len(columns) // 2], columns),
        "gpu": gpus(current().name),
    }
    height = round(fusion_height(len(found)) + 5 * CAPTION_LINE + 40)
    return Explorer("fusion", draw, controls, height=height)


def _moved(found: Operations, group: Group, rows: int, columns: int) -> Moved:
    run = found.counted(group.first, group.stop, columns)
    size = lambda names: tuple((name, 4 * found.elements(name, rows, columns)) for name in names)
    texts = tuple(step.text for step in found.steps[group.first : group.stop])
    return Moved(texts, size(group.reads), size(group.writes), _flops(run) * rows // ROWS_RUN, run.registers)


def _summary(name: str, found: Operations, cuts: Sequence[int], rows: int, columns: int, gpu: GPU) -> Summary:
    groups = found.groups(cuts)
    nbytes = sum(sum(found.moved(group, rows, columns)) for group in groups)
    flops = sum(_flops(found.counted(group.first, group.stop, columns)) for group in groups) * rows // ROWS_RUN
    seconds = sum(found.on(group, rows, columns, gpu)[1].seconds for group in groups)
    return Summary(name, len(groups), nbytes, flops, seconds)


def _flops(run: Profile) -> int:
    return sum(flops_by_unit(run.total).values())


def _agrees(found: Operations, group: Group, columns: int) -> bool:
    """Whether the sectors that the kernel touched on a few rows are the bytes that the shapes give."""
    footprint = found.counted(group.first, group.stop, columns).counters.footprint
    return (footprint.read_bytes, footprint.written_bytes) == found.moved(group, ROWS_RUN, columns)


KIB = 1024
CLOCKS = (0, 50, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200)
MOST_STAGES = 8


def pipeline(
    *,
    stage_bytes: int,
    threads: int,
    registers: int,
    fixed_bytes: int = 0,
    stages: int = 2,
    latency: int = 600,
    transfer: int = 100,
    compute: int = 200,
    tiles: int = 10,
    clocks: Sequence[int] = CLOCKS,
) -> Explorer:
    """A software pipeline with sliders for stages, latency, transfer and computation of a tile, in clocks.

    The kernel comes in by what it costs: `stage_bytes` of shared memory for each stage and `fixed_bytes` besides,
    `threads` a block and `registers` a thread, as `profile` tells them. `stages`, `latency`, `transfer` and `compute`
    are where the sliders start, `clocks` the values of the last three. Times are modelled by the rules of
    `helpers.models.pipeline`, blocks by `occupancy`. ValueError for what no block can have.
    """
    for name, value in (("stage_bytes", stage_bytes), ("threads", threads), ("registers", registers), ("tiles", tiles)):
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name} is a whole number, 1 or more, not {value!r}")
    values = sorted({int(each) for each in (*checked.options("clocks", clocks), latency, transfer, compute)})
    if values[0] < 0 or compute <= 0:
        raise ValueError("clocks are 0 or more, and those of compute more than 0")
    computed = [each for each in values if each > 0]

    def draw(stages: int, latency: int, transfer: int, compute: int, every: bool, gpu: str) -> Picture:
        row = find(gpu)
        shared = fixed_bytes + stages * stage_bytes
        fits = occupancy(registers, shared, threads, row)
        size = f"{stages} × {stage_bytes / KIB:g} KiB of shared memory a block"
        if not fits.blocks_per_sm:
            raise ValueError(f"{size}: not one block fits on {row.name}. Take fewer stages.")
        price = (
            f"{size}: {plural(fits.blocks_per_sm, 'block')} on an SM of {row.name}, "
            f"{fits.fraction:.0%} occupancy, limited by {fits.limiter}."
        )
        found = modelled(stages, latency, transfer, compute, tiles=tiles, blocks=fits.blocks_per_sm if every else 1)
        return plots.pipeline_gantt(found, price=price)

    controls = {
        "stages": slider("stages", stages, 1, MOST_STAGES),
        "latency": choice("latency", latency, values),
        "transfer": choice("transfer", transfer, values),
        "compute": choice("compute", compute, computed),
        "every": toggle("all blocks that fit"),
        "gpu": gpus(current().name),
    }
    return Explorer("pipeline", draw, controls)


SIDES = (1, 2, 4, 8, 16, 32, 64)
LONGEST = 64
"""Queries whose rows can still be told apart in the matrix."""


def attention_tiles(
    q: np.ndarray | Tensor, k: np.ndarray | Tensor, v: np.ndarray | Tensor, *, rows: int = 8, keys: int = 8,
    causal: bool = False, step: int = 1,
) -> Explorer:  # fmt: skip
    """One head of attention, tile by tile, with sliders for step, tile size and query, and a causal mask.

    q, k, v: arrays or tensors of shape (length, width), at most 64 long. rows, keys: the tile to begin with, a power of
    two that is not longer than the sequence; step: the tile to begin at, from 1. ValueError for shapes that do not go
    together.
    """
    q, k, v = checked_head(*(each.detach().cpu() if hasattr(each, "detach") else each for each in (q, k, v)))
    if len(q) > LONGEST:
        raise ValueError(
            f"the matrix is drawn for at most {LONGEST} queries; this head has {len(q)}: give q[:{LONGEST}]"
        )
    sides = [side for side in SIDES if side <= len(q)]

    @lru_cache(maxsize=32)
    def walked(rows: int, keys: int, causal: bool) -> Walk:
        return walk(q, k, v, rows, keys, causal)

    def draw(step: int, rows: int, keys: int, causal: bool, query: int) -> Picture:
        return plots.attention_tiles(walked(rows, keys, causal), step, query)

    controls = {
        "step": steps("step", 1, len(walked(rows, keys, causal).visits)),
        "rows": choice("queries a tile", rows, sides),
        "keys": choice("keys a tile", keys, sides),
        "causal": toggle("causal mask", causal),
        "query": slider("query of the tile", rows - 1, 0, rows - 1),
    }
    controls["step"].value = min(step, controls["step"].max)

    def fit() -> None:
        """As many steps as there are tiles to go through, and as many queries as a tile has."""
        now = {name: control.value for name, control in controls.items()}
        controls["step"].max = len(walked(now["rows"], now["keys"], now["causal"]).visits)
        controls["query"].max = now["rows"] - 1

    return Explorer("attention_tiles", draw, controls, fit=fit, height=card_height(caption_lines=3))
