"""A list of operations, cut into kernels: launches, bytes and time of any grouping."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.hardware.device import current
from helpers.hardware.gpus import find
from helpers.pictures import plots
from helpers.pictures.figures import CAPTION_LINE, Drawing
from helpers.pictures.plots.fusion import Moved, Summary, fusion_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, gpus, toggle
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.fused_rows import ROWS_RUN, Operations, operations

ROWS = (1, 16, 256, 4096, 65536)
COLUMNS = (256, 1024, 4096)
MOST_OPERATIONS = 12


def fusion(
    statements: Sequence[str],
    *,
    vectors: Sequence[str] = (),
    keep: Sequence[str] = (),
    cuts: Sequence[str] = (),
    rows: Sequence[int] = ROWS,
    columns: Sequence[int] = COLUMNS,
) -> Explorer:
    """A box to tick behind each operation, for a cut between two kernels, and choices of the sizes and of the GPU.

    statements: up to 12 operations such as "z = x + bias" or "m = max(z)", in their order: see
    `results.fused_rows.operations`, whose `vectors` and `keep` these are. cuts: the names of the results behind which
    to cut at first. rows, columns: sizes to choose from; columns are multiples of 8, so that rows fill their sectors.
    """
    found = operations(statements, vectors=vectors, keep=keep)
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


def _moved(found: Operations, group, rows: int, columns: int) -> Moved:
    run = found.counted(group.first, group.stop, columns)
    size = lambda names: tuple((name, 4 * found.elements(name, rows, columns)) for name in names)
    texts = tuple(step.text for step in found.steps[group.first : group.stop])
    return Moved(texts, size(group.reads), size(group.writes), run["flops"] * rows // ROWS_RUN, run.registers)


def _summary(name: str, found: Operations, cuts, rows: int, columns: int, gpu) -> Summary:
    groups = found.groups(cuts)
    nbytes = sum(sum(found.moved(group, rows, columns)) for group in groups)
    flops = sum(found.counted(group.first, group.stop, columns)["flops"] for group in groups) * rows // ROWS_RUN
    seconds = sum(found.on(group, rows, columns, gpu)[1].seconds for group in groups)
    return Summary(name, len(groups), nbytes, flops, seconds)


def _agrees(found: Operations, group, columns: int) -> bool:
    """Whether the sectors that the kernel touched on a few rows are the bytes that the shapes give."""
    footprint = found.counted(group.first, group.stop, columns).counters.footprint
    return (footprint.read_bytes, footprint.written_bytes) == found.moved(group, ROWS_RUN, columns)
