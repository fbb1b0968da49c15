"""Clocks and schedules: what a timer measures, what runs when, and one operation of a timeline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import one_patch, shade
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.spans import WAITS, Schedule, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def queued(kernels: Sequence[float], launch: float, waits: Collection[int] = ()) -> tuple[list, list]:
    """When the host launches each kernel and when the GPU runs it, as (start, length); `waits`: for which it waits."""
    asks, works, host, gpu = [], [], 0.0, 0.0
    for number, kernel in enumerate(kernels):
        asks.append((host, launch))
        host += launch
        start = max(gpu, host)
        works.append((start, kernel))
        gpu = start + kernel
        host = gpu if number in waits else host
    return asks, works


@styled
def timer_bars(launch_us: float, kernel_us: float, *, launches: int = 1, source: str = "modelled") -> Picture:
    """What a host clock reads after `launches` launches, with and without waiting for the GPU.

    `launch_us`: microseconds one launch call keeps the host busy. `kernel_us`: microseconds one kernel runs.
    `source` says where the times come from ("modelled", "measured") and is written on the figure.
    """
    figure, axes = new(left=0.09, right=0.97, top=0.88, bottom=0.15)
    asks, works = queued([kernel_us] * launches, launch_us)
    without, with_sync = sum(asks[-1]), sum(works[-1])
    axes.broken_barh(asks, (2.6, 0.8), fc=PALETTE["blue"], ec="white")
    axes.broken_barh([(without, with_sync - without)], (2.6, 0.8), fc="white", ec=PALETTE["blue"], hatch="///")
    axes.broken_barh(works, (1.4, 0.8), fc=PALETTE["orange"], ec="white")
    for row, end, name in ((0.75, without, "not synchronised"), (0.2, with_sync, "synchronised")):
        axes.annotate("", (end, row), (0, row), arrowprops={"arrowstyle": "|-|,widthA=0.3,widthB=0.3"})
        inside = end > 0.55 * with_sync
        axes.text(
            end * 0.98 if inside else end + 0.015 * with_sync,
            row + 0.06,
            f"clock, {name}: {end:,.1f} µs",
            ha="right" if inside else "left",
            va="bottom",
            fontsize=9,
            bbox={"fc": "white", "ec": "none", "pad": 0.6},  # no dashed line through the words
        )
        axes.axvline(end, ymin=0, ymax=0.95, color=PALETTE["grey"], lw=0.8, ls="--", zorder=0)
    axes.set(xlim=(-0.01 * with_sync, with_sync * 1.04), ylim=(0, 3.6), yticks=[3.0, 1.8], yticklabels=["host", "GPU"])
    axes.set_xlabel(f"µs ({source})")
    axes.set_title("solid blue: launch call · hatched: waiting · orange: kernel", fontsize=9, fontweight="normal")
    share = without / with_sync
    return Picture(
        figure,
        f"{plural(launches, 'launch')}: a clock that does not synchronise reads {without:,.1f} µs, one that "
        f"does "
        f"reads {with_sync:,.1f} µs, so the first shows {share:.0%} of the time ({source}).",
    )


MOST_BARS = 150  # drawn as marks of their own
LANES = ("host", "H2D", "SMs", "D2H")
LANE_NAMES = {"host": "host", "H2D": "to the GPU", "SMs": "SMs", "D2H": "to the host"}
UNITS_OF_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@styled
def schedule_lanes(schedule: Schedule, *, title: str = "", until: float | None = None, mark: str = "") -> Picture:
    """A schedule of streams as swim lanes: the host, the two copy engines and the SMs, one colour per stream.

    schedule: what `schedule()` of a recording gives. Spans of one lane that overlap, as kernels side by side do, get
    a row each; a label stands where its span has room for it, else its stream's number. The axis says whether times
    are modelled or measured; it reaches at least `until`, in seconds, where a line stands that `mark` names.
    """
    figure, axes = new(left=0.17, right=0.98, top=0.84, bottom=0.15)
    scale, unit = next(((s, u) for s, u in UNITS_OF_TIME if schedule.seconds >= s), UNITS_OF_TIME[-1])
    width = max(schedule.seconds / scale, (until or 0) / scale, 1e-9)
    per_letter = width / (7.0 * 0.81 * 72) * 5.2  # of the axis, at 8 points
    streams = list(dict.fromkeys(span.stream for span in schedule.spans))
    lanes = [lane for lane in LANES if lane == "host" or any(span.engine == lane for span in schedule.spans)]
    draw_lanes(axes, schedule, lanes, scale, width, per_letter)
    if until:
        axes.axvline(until / scale, color=PALETTE["ink"], ls="--", lw=1)
        axes.text(until / scale - width / 150, -0.17, mark, ha="right", va="bottom", fontsize=8)
    axes.set_xlabel(f"{unit} ({schedule.kind} on {schedule.gpu})")
    shown = streams[: len(CYCLE)] if len(streams) < 4 else ()  # more have no room: their numbers stand in the spans
    key = "".join(f"{_colour_name(number)}: {name} · " for number, name in enumerate(shown))
    key = key or "a colour, and a number, for each stream · "
    figure.suptitle(title or f"{key}hatched: the host waits", x=0.01, y=0.96, ha="left", fontsize=9)
    busy = ", ".join(
        f"{LANE_NAMES[lane]} {_short(schedule.busy(lane) / scale)}" for lane in LANES[1:] if schedule.busy(lane)
    )
    beside = schedule.overlap / scale
    overlapping = f"{beside:.3g} {unit} of that overlap other work" if beside >= 0.005 * width else "nothing overlaps"
    if any(len(_rows([span for span in schedule.spans if span.engine == engine])) > 1 for engine in schedule.engines):
        overlapping = (
            f"{overlapping}, and kernels run side by side"
            if "other work" in overlapping
            else "kernels run side by side"
        )
    return Picture(
        figure,
        f"{plural(len(schedule.spans), 'operation')} in {plural(len(streams), 'stream')} take "
        f"{schedule.seconds / scale:.3g} {unit} ({unit} busy: {busy or 'none'}); {overlapping} "
        f"({schedule.kind} on {schedule.gpu}).",
    )


def draw_lanes(
    axes: Axes, schedule: Schedule, lanes: Sequence[str], scale: float, width: float, per_letter: float
) -> None:
    """The lanes of one schedule, from the top down; lengths of the axis in `scale` seconds, `width` of them in all."""
    streams = list(dict.fromkeys(span.stream for span in schedule.spans))
    ticks = []
    # One mark for all bars that look alike takes a fraction of the bytes; they lie behind the labels.
    many = len(schedule.spans) + len(schedule.host) > MOST_BARS
    together: dict[tuple, list[tuple[float, float]]] = {}
    for top, lane in enumerate(lanes):
        rows = _rows(schedule.host if lane == "host" else [span for span in schedule.spans if span.engine == lane])
        tall = 0.8 / max(1, len(rows))
        for row, group in enumerate(rows):
            for span in group:
                start, long = span.start / scale, (span.end - span.start) / scale
                waits = lane == "host" and span.label == WAITS
                colour = PALETTE["grey"] if span.stream not in streams else CYCLE[streams.index(span.stream)]
                bar, look = (start, max(long, width / 700)), (top + row * tall, tall * 0.94, colour, waits)
                if many:
                    together.setdefault(look, []).append(bar)
                else:
                    _bars(axes, [bar], *look)
                room = int(long / per_letter)
                texts = (span.label, span.label.split(" (")[0], span.stream.removeprefix("stream "))
                text = next((text for text in texts if len(text) <= room), None)
                if text and tall > 0.2 and lane != "host":
                    axes.text(start + long / 2, top + (row + 0.47) * tall, text, ha="center", va="center", fontsize=8)
        ticks.append((top + 0.4, LANE_NAMES[lane]))
    for look, bars in together.items():
        _outline(axes, bars, *look)
    axes.set(xlim=(0, width * 1.01), ylim=(len(lanes), -0.15), yticks=[at for at, _ in ticks])
    axes.set_yticklabels([name for _, name in ticks])


def _short(amount: float) -> str:
    return f"{amount:.3g}" if amount >= 0.01 else "under 0.01"


def _bars(
    axes: Axes, bars: Sequence[tuple[float, float]], bottom: float, tall: float, colour: str, waits: bool
) -> None:
    """Bars of one row that look alike, each a start and a length."""
    axes.broken_barh(
        bars, (bottom, tall), fc="white" if waits else shade(colour, 0.72), ec=colour, lw=0.8,
        hatch="////" if waits else None,
    )  # fmt: skip


def _outline(
    axes: Axes, bars: Sequence[tuple[float, float]], bottom: float, tall: float, colour: str, waits: bool
) -> None:
    """The same bars as one mark."""
    boxes = [(start, bottom, start + long, bottom + tall) for start, long in bars]
    fill, hatch = ("white", "////") if waits else (shade(colour, 0.72), None)
    axes.add_patch(one_patch(boxes, fc=fill, ec=colour, lw=0.8, hatch=hatch))


def swim_finding(schedule: Schedule, name: str, alone: float) -> str:
    """What a schedule of `name` says beside the one in one piece that takes `alone` seconds, as one sentence."""
    busy = ", ".join(
        f"{LANE_NAMES[lane]} {schedule.busy(lane) / schedule.seconds:.0%}" for lane in LANES[1:] if schedule.busy(lane)
    )
    work = sum(map(schedule.busy, schedule.engines))
    return (
        f"{name}: {seconds_text(schedule.seconds)}, {_against(schedule.seconds / alone)} one piece "
        f"({seconds_text(alone)}). Busy: {busy or 'nothing'}; {abs(schedule.overlap) / max(work, 1e-12):.0%} of the "
        f"work overlaps other work ({schedule.kind} on {schedule.gpu})."
    )


def _against(ratio: float) -> str:
    if 0.995 < ratio < 1.005:
        return "as long as"
    return f"{ratio:.2f} times the time of" if ratio > 1 else f"{1 / ratio:.2f} times as fast as"


def _rows(spans: Iterable[Span]) -> list[list[Span]]:
    """Spans in as few rows as keep those that overlap apart."""
    rows: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        free = next((row for row in rows if row[-1].end <= span.start * (1 + 1e-9)), None)
        if free is None:
            rows.append([span])
        else:
            free.append(span)
    return rows


def _colour_name(number: int) -> str:
    colour = CYCLE[number]
    return next(name for name, value in PALETTE.items() if value == colour)


def window(schedule: Schedule, start: float, end: float) -> Schedule:
    """What of `schedule` lies between two times in seconds, counted from `start`.

    Spans outside stay as empty ones past the end, so that every window has the same lanes and the same colours.
    """
    return replace(
        schedule,
        spans=tuple(_cut(span, start, end) for span in schedule.spans),
        host=tuple(_cut(span, start, end) for span in schedule.host),
        seconds=end - start,
    )


def _cut(span: Span, start: float, end: float) -> Span:
    if span.end <= start or span.start >= end:
        return replace(span, start=2 * (end - start), end=2 * (end - start))
    return replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)


def around(span: Span, seconds: float, zoom: float) -> tuple[float, float]:
    """The window of a schedule of so many seconds that shows 1/`zoom` of it, with `span` as near its middle as fits."""
    length = seconds / zoom
    start = min(max(0.0, (span.start + span.end - length) / 2), seconds - length)
    return start, start + length


def timeline_window(schedule: Schedule, number: int, zoom: float = 1, *, name: str = "") -> Picture:
    """The window around operation `number`, from 1 in the order they start, drawn as swim lanes with a band over it."""
    chosen = schedule.spans[number - 1]
    start, end = around(chosen, schedule.seconds, zoom)
    picture = schedule_lanes(window(schedule, start, end))
    axes = picture.figure.axes[0]
    left, right = axes.get_xlim()
    scale = (end - start) * 1.01 / (right - left)  # seconds of a unit of the axis, whichever it chose
    axes.axvspan(
        (max(chosen.start, start) - start) / scale, (min(chosen.end, end) - start) / scale,
        color=PALETTE["yellow"], alpha=0.35, lw=0, zorder=0,
    )  # fmt: skip
    every = MaxNLocator(8).tick_values(start / scale, end / scale)
    ticks = [tick for tick in every if start / scale <= tick <= end / scale * 1.001]
    axes.set_xticks([tick - start / scale for tick in ticks], [f"{tick:,.6g}" for tick in ticks])
    return Picture(picture.figure, _finding(schedule, number, start, end, name))


def _finding(schedule: Schedule, number: int, start: float, end: float, name: str) -> str:
    chosen = schedule.spans[number - 1]
    said = f"{name}: operation" if name else "Operation"
    shown = window(schedule, start, end)
    share = shown.busy("SMs") / shown.seconds
    seen = "the whole program" if end - start >= schedule.seconds * 0.999 else f"these {seconds_text(end - start)}"
    return (
        f"{said} {number} of {len(schedule.spans)}, on {_WHERE.get(chosen.engine, chosen.engine)}: {chosen.label}"
        f"{_details(chosen)} starts at {seconds_text(chosen.start)} and takes "
        f"{seconds_text(chosen.end - chosen.start)} ({schedule.kind} on {schedule.gpu}). A kernel is running for "
        f"{share:.0%} of {seen}, which is what nvidia-smi calls utilisation."
    )


_WHERE = {"H2D": "the engine that copies to the GPU", "D2H": "the engine that copies to the host", "SMs": "the SMs"}


def _details(span: Span) -> str:
    if span.nbytes and span.engine != "SMs" and span.end > span.start:
        memory = {True: ", pinned", False: ", pageable", None: ""}[span.pinned]
        return f"{memory}, at {span.nbytes / (span.end - span.start) / 1e9:.3g} GB/s,"
    return ""
