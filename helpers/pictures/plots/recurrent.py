"""Recurrent networks: gradients over time steps, the gaps between launches, forecasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.hardware.time_model import seconds_text
from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.vgpu.base.words import plural

LEAST, MOST = 1e-16, 1e10
"""Ends of the axis of gradient norms; what lies beyond is drawn at the edge."""


@styled
def gradient_curves(
    curves: Mapping[str, Sequence[float]], *, others: Mapping[str, Sequence[Sequence[float]]] | None = None
) -> Picture:
    """Norms of gradients against the number of steps back, on a logarithmic axis, a line each.

    curves: by name, the norm at 0, 1, 2, … steps back, as a share of that at 0. others: by the same names, further
    curves that are drawn thin behind, in the same colour. The line at 1 is a gradient that is kept whole.
    """
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.11, right=0.98, top=0.86, bottom=0.15)
    for number, (name, norms) in enumerate(curves.items()):
        colour, dash = CYCLE[number % len(CYCLE)], DASHES[number % len(DASHES)]
        for thin in (others or {}).get(name, ()):
            axes.plot(np.clip(thin, LEAST, MOST), color=colour, ls=dash, lw=0.7, alpha=0.45)
        axes.plot(np.clip(norms, LEAST, MOST), color=colour, ls=dash, lw=2.4, label=name)
    longest = max(len(norms) for norms in curves.values())
    axes.axhline(1, color=PALETTE["grey"], lw=0.8)
    axes.set(yscale="log", xlim=(0, longest - 1), ylim=(LEAST / 2, MOST * 2), xlabel="steps back")
    powers = range(-16, 11, 4)
    axes.set_yticks([10.0**power for power in powers], [f"$10^{{{power}}}$" if power else "1" for power in powers])
    axes.minorticks_off()
    axes.set_ylabel("gradient norm, as a share")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=8.5, borderaxespad=0, handlelength=2.5)
    told = "; ".join(f"{name} {told_norm(norms[-1])}" for name, norms in curves.items())
    return Picture(figure, f"{plural(longest - 1, 'step')} back the gradient has of its norm: {told} (calculated).")


def told_norm(norm: float) -> str:
    """A share in words that suit its size."""
    if 0.01 <= norm < 1000:
        return f"{norm:.2g}"
    digits, power = f"{norm:.0e}".split("e")
    return f"{digits}e{int(power)}"


@styled
def launch_lanes(schedules: Mapping[str, object], *, launches: Mapping[str, int], until: float) -> Picture:
    """Several programs on one axis of time: when the host asks, when the GPU works, and the gaps in between.

    schedules: by the program's name, what `schedule()` of a recording gives. launches: kernels of each. `until`: where
    the axis ends, in seconds; a program that takes longer goes on beyond it.
    """
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.21, right=0.98, top=0.9, bottom=0.15)
    ticks = []
    for row, (name, schedule) in enumerate(schedules.items()):
        asks = [(span.start, span.end) for span in schedule.host if span.label != "waits"]
        works = [(span.start, span.end) for span in schedule.spans if span.engine == "SMs"]
        _boxes(axes, asks, row, 0.34, PALETTE["blue"], until)
        _boxes(axes, works, row + 0.38, 0.34, PALETTE["orange"], until)
        axes.plot([min(schedule.seconds, until)] * 2, [row - 0.04, row + 0.76], color=PALETTE["ink"], lw=1, ls=":")
        ticks += [(row + 0.17, "host"), (row + 0.55, "GPU")]
        axes.text(
            -0.085 * until, row + 0.36, _cut(name), ha="right", va="center", fontsize=9, clip_on=False, wrap=False
        )
    axes.set(xlim=(0, until), ylim=(len(schedules), -0.15), yticks=[at for at, _ in ticks])
    axes.set_yticklabels([word for _, word in ticks], fontsize=8)
    axes.tick_params(axis="y", length=0)
    unit, scale = ("ms", 1e-3) if until >= 1e-3 else ("µs", 1e-6)
    marks = [tick for tick in axes.get_xticks() if 0 <= tick <= until]
    axes.set_xticks(marks, [f"{tick / scale:g}" for tick in marks])
    gpu = next(iter(schedules.values())).gpu
    axes.set_xlabel(f"{unit} (modelled on {gpu})")
    axes.set_title("blue: the host asks · orange: the GPU works · dotted: the end", fontsize=9, fontweight="normal")
    told = "; ".join(
        f"{name}: {plural(launches[name], 'launch')}, {seconds_text(each.seconds)}, "
        f"GPU at work {each.busy('SMs') / each.seconds:.0%}"
        for name, each in schedules.items()
    )
    return Picture(figure, f"{told[0].upper()}{told[1:]} (launches counted, times modelled on {gpu}).")


def _cut(name: str) -> str:
    """A name in lines that have room beside the axis."""
    import textwrap

    return "\n".join(textwrap.wrap(name, 11)[:3])


def _boxes(axes, spans, bottom: float, tall: float, colour: str, until: float) -> None:
    """Spans of one row as one mark, which takes a fraction of the bytes of many."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    thinnest = until / 900
    corners = ((0, 0), (0, tall), (1, tall), (1, 0), (0, 0))
    boxes = [
        Path([(start + across * max(end - start, thinnest), bottom + up) for across, up in corners], closed=True)
        for start, end in spans
        if start < until
    ]
    if boxes:
        look = {"fc": shade(colour, 0.6), "ec": colour, "lw": 0.6}
        axes.add_patch(PathPatch(Path.make_compound_path(*boxes), **look))
