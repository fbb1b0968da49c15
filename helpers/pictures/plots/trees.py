"""Reductions and scans as they ran: which thread makes one value of which two, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.patches import PathPatch
from matplotlib.path import Path

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, shade
from vgpu.base.words import plural
from vgpu.tools.steps.dataflow import DataFlow, FlowValue, Round

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERED = 32  # columns in which a number still has room
MOST_CELLS = 1_500
_FRAME = (0.055, 0.03, 0.935, 0.86)
_ADDS = shade(PALETTE["blue"], 0.78)
_WASTE = shade(PALETTE["orange"], 0.75)
_MOVED = shade(PALETTE["green"], 0.85)


@styled
def reduction_tree(flow: DataFlow, step: int, *, prefix: str = "") -> Picture:
    """The reduction tree of a block up to `step`: one column per thread, one row per step, from the loaded elements.

    flow: what `dataflow` gives; step: 0 to the number of its rounds. A thread that makes a value is filled, hatched
    where no thread uses that value; an idle thread is a dot where others of its warp work, and empty where none of them
    does. (A warp whose threads are all idle still waits at every barrier.)
    """
    rows, threads = len(flow.rounds) + 1, flow.threads
    figure, axes = _page(threads, rows)
    first = _first_elements(flow)
    _cells(axes, [(thread, 0) for thread in first], PALETTE["mist"])
    for each in flow.rounds:
        made = [(thread, value) for thread, value in each.made.items()]
        if each.number < step:
            _cells(axes, [(t, each.number + 1) for t, value in made if value.used], _ADDS)
            _cells(axes, [(t, each.number + 1) for t, value in made if not value.used], _WASTE, hatch="////")
            _links(axes, _edges(each), now=each.number == step - 1)
        if rows * threads <= MOST_CELLS:
            idle = [(t, each.number + 1) for t in each.idle] if each.number < step else []
            axes.plot([x + 0.5 for x, _ in idle], [y + 0.5 for _, y in idle], ".", color=PALETTE["grey"], ms=3)
    if threads <= MOST_NUMBERED:
        _numbers(axes, {(thread, 0): value for thread, value in first.items()}, threads, rows)
        for each in flow.rounds[:step]:
            _numbers(axes, {(t, each.number + 1): value for t, value in each.made.items()}, threads, rows)
    for border in range(WARP, threads, WARP):
        axes.axvline(border, color=PALETTE["grey"], lw=0.8, ls=":")
    _labels(axes, rows, step)
    legend = "filled: makes a value · dot: idle · empty: its whole warp is idle"
    if any(not value.used for value in flow.results):
        legend = "filled: makes a value (hatched: nobody uses it) · dot: idle · empty: warp idle"
    figure.text(0.01, 0.945, f"row: step · column: thread · {legend}", fontsize=8)
    return Picture(figure, prefix + _tree_finding(flow, step))


@styled
def scan_steps(flow: DataFlow, step: int, *, prefix: str = "") -> Picture:
    """The elements of a scan after each step up to `step`: one column per element, one row per step.

    flow: what `dataflow` gives; step: 0 to the number of its rounds. Columns are places in shared memory, or threads
    where sums stay in registers.
    """
    states = list(_states(flow))
    columns, rows = max(len(states[0]), 1), len(states)
    figure, axes = _page(columns, rows)
    for row, state in enumerate(states[: step + 1]):
        made = set() if row == 0 else _made_in(flow, row)
        sums = [(column, row) for column, value in state.items() if value in made]
        before = states[row - 1] if row else state
        moved = [(column, row) for column, value in state.items() if before.get(column) is not value]
        _cells(axes, [(column, row) for column in state], "white" if row else PALETTE["mist"], edge=PALETTE["mist"])
        _cells(axes, [place for place in moved if place not in sums], _MOVED, edge=PALETTE["green"], dashed=True)
        _cells(axes, sums, _ADDS)
        where = {value: column for column, value in before.items()}
        edges = [
            (where[source], row - 1, column, row)
            for column, _ in sums for source in state[column].sources if where.get(source, column) != column
        ]  # fmt: skip
        _links(axes, edges, now=row == step)
        _links(
            axes,
            [(where[state[c]], row - 1, c, row) for c, _ in moved if (c, row) not in sums and state[c] in where],
            now=row == step,
            dashed=True,
        )
        if columns <= MOST_NUMBERED:
            _numbers(axes, {(column, row): value for column, value in state.items()}, columns, rows)
    _labels(axes, rows, step)
    legend = "column: element · row: after each step · filled: a new sum · dashed: copied or set"
    figure.text(0.01, 0.945, legend, fontsize=9)
    return Picture(figure, prefix + _scan_finding(flow, step))


# -- what is where


def _first_elements(flow: DataFlow) -> dict[int, FlowValue]:
    found: dict[int, FlowValue] = {}
    for value in flow.elements:
        found.setdefault(value.thread, value)
    return found


def _edges(each: Round) -> Iterator[tuple[int, int, int, int]]:
    """From each source of a round's values to the value, as (column, row, column, row)."""
    for thread, value in each.made.items():
        for source in value.sources:
            if source.operation not in ("memory", "constant"):
                yield source.thread, min(source.round + 1, each.number), thread, each.number + 1


def _made_in(flow: DataFlow, row: int) -> set[FlowValue]:
    return set(flow.rounds[row - 1].made.values())


def in_shared(flow: DataFlow) -> bool:
    """Whether the sums of a scan go to shared memory; else they stay in their threads' registers."""
    results = list(flow.results)
    return 2 * sum(value.home is not None and value.home[0] == "shared" for value in results) > len(results)


def _states(flow: DataFlow) -> Iterator[dict[int, FlowValue]]:
    """What each column holds at the start and after each round: column → value."""
    rounds = [each for each in flow.rounds if not each.atomic]
    if not in_shared(flow):
        state = dict(sorted(_first_elements(flow).items()))
        yield dict(state)
        for each in rounds:
            state |= {thread: value for thread, value in each.made.items() if value.used}
            yield dict(state)
        return
    width = len(flow.elements)
    column = lambda address: address // flow.nbytes % width
    yield {column(address): value for address, value in rounds[0].before.items()}
    for each in rounds:
        state = {column(address): value for address, value in each.after.items()}
        made = {column(value.home[1]): value for value in each.made.values() if value.home is not None}
        yield state | made


# -- marks


def _page(columns: int, rows: int) -> tuple[Figure, Axes]:
    figure, axes = new(place=_FRAME)
    axes.set(xlim=(0, columns), ylim=(rows, 0), xticks=[])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure, axes


def _labels(axes: Axes, rows: int, step: int) -> None:
    every = max(1, -(-rows // 12))
    shown = [row for row in range(rows) if row == rows - 1 or (row % every == 0 and rows - 1 - row > every / 2)]
    axes.set(yticks=[row + 0.5 for row in shown], yticklabels=[str(row) for row in shown])
    axes.axhspan(step, step + 1, color=PALETTE["yellow"], alpha=0.25, zorder=0, lw=0)


def _cells(
    axes: Axes, places: Iterable[tuple[int, int]], colour: str | tuple[float, ...], *, hatch: str | None = None,
    edge: str | None = None, dashed: bool = False,
) -> None:  # fmt: skip
    """Boxes at (column, row), as one path: a thousand marks of their own would be too much for a page."""
    boxes = [
        ((x + 0.08, y + 0.22), (x + 0.92, y + 0.22), (x + 0.92, y + 0.78), (x + 0.08, y + 0.78)) for x, y in places
    ]
    axes.add_patch(
        _patch(
            boxes, closed=True, facecolor=colour, edgecolor=edge or PALETTE["grey"], lw=0.6, hatch=hatch, zorder=2,
            linestyle="--" if dashed else "-",
        )
    )  # fmt: skip


def _links(axes: Axes, edges: Iterable[tuple[int, int, int, int]], *, now: bool, dashed: bool = False) -> None:
    """Lines from (column, row) to (column, row)."""
    lines = [((x + 0.5, y + 0.78), (to + 0.5, row + 0.22)) for x, y, to, row in edges]
    axes.add_patch(
        _patch(
            lines, closed=False, fill=False, edgecolor=PALETTE["vermilion"] if now else "#9a9a9a",
            lw=1.1 if now else 0.6, linestyle="--" if dashed else "-", zorder=1,
        )
    )  # fmt: skip


def _patch(outlines: Iterable[Sequence[tuple[float, float]]], *, closed: bool, **look: Any) -> PathPatch:
    """Many outlines in one patch."""
    points: list[tuple[float, float]] = [(0, 0)]
    codes = [Path.MOVETO]
    for outline in outlines:
        points += [*outline, outline[0]] if closed else outline
        codes += [Path.MOVETO] + [Path.LINETO] * (len(outline) - 1) + ([Path.CLOSEPOLY] if closed else [])
    return PathPatch(Path(points, codes), **look)


def _numbers(axes: Axes, values: Mapping[tuple[int, int], FlowValue], columns: int, rows: int) -> None:
    texts = {place: _number(value.value) for place, value in values.items() if value.value is not None}
    longest = max(map(len, texts.values()), default=1)
    width, height = 7 * 72 * _FRAME[2] / columns * 0.84, 3.5 * 72 * _FRAME[3] / rows * 0.56
    size = min(9.0, width / longest / 0.66, height * 0.85)
    if size < 4.5:
        return
    for (x, y), text in texts.items():
        axes.text(x + 0.5, y + 0.5, text, ha="center", va="center_baseline", fontsize=size, zorder=3)


def _number(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- words


def _tree_finding(flow: DataFlow, step: int) -> str:
    if step == 0:
        return (
            f"{plural(len(flow.elements), 'element')}, loaded by {plural(flow.threads, 'thread')}; "
            f"{_steps_and_work(flow)}."
        )
    each = flow.rounds[step - 1]
    head = f"step {step} of {len(flow.rounds)}: "
    if each.atomic:
        before = f", after {_steps_and_work(flow)}" if flow.operations else f"; {_one_by_one(flow)}"
        return f"{head}an atomic takes the value of thread {min(each.made)}{before}."
    used = sum(value.used for value in each.made.values())
    made = f"{len(each.made)} of {plural(flow.threads, 'thread')} work"
    waste = f", {len(each.made) - used} of them for nothing" if used < len(each.made) else ""
    idle = f"; {plural(len(each.idle), 'thread')} of {'their' if each.warps > 1 else 'the same'} " if each.idle else ""
    idle += f"{'warps' if each.warps > 1 else 'warp'} idle along" if each.idle else ""
    conflict = f"; a shared load takes {plural(each.wavefronts, 'wavefront')}" if each.wavefronts > 1 else ""
    done = sum(v.operations for r in flow.rounds[:step] for v in r.made.values() if not v.atomic)
    return (
        f"{head}{made}{waste}, in {plural(each.warps, 'warp')}{idle}{conflict}. "
        f"{done} of {plural(flow.operations, 'operation')} done."
    )


def _one_by_one(flow: DataFlow) -> str:
    atomics = sum(each.atomic for each in flow.rounds)
    return f"{plural(atomics, 'atomic')}, one after another"


def _steps_and_work(flow: DataFlow) -> str:
    steps = sum(not each.atomic for each in flow.rounds)
    return f"{plural(flow.operations, 'operation')} in {plural(steps, 'step')}"


def _scan_finding(flow: DataFlow, step: int) -> str:
    total = f"{plural(flow.operations, 'addition')} in {plural(len(flow.rounds), 'step')} in all"
    if step == 0:
        return f"{plural(len(flow.elements), 'element')} before the scan; {total}."
    each = flow.rounds[step - 1]
    done = sum(value.operations for r in flow.rounds[:step] for value in r.made.values())
    new_sums = sum(value.operations for value in each.made.values())
    return f"step {step} of {len(flow.rounds)} adds {plural(new_sums, 'time')}, {done} so far; {total}."
