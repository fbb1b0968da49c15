"""Pictures of chapter 4: sectors per request against a stride, an offset or a size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, Picture, new, styled


@styled
def sectors_against(x: Sequence[float], series: Mapping[str, Sequence[float]], *, xlabel: str = "stride") -> Picture:
    """Sectors per request against a stride, an offset, a size: one line a kernel, marker and dash beside
    colour."""
    figure, axes = new()
    for i, (name, values) in enumerate(series.items()):
        axes.plot(x, values, label=name, marker=MARKERS[i], ls=DASHES[i], color=CYCLE[i], ms=5)
    axes.set(xlabel=xlabel, ylabel="sectors per request (counted)", xticks=list(x)[:: max(1, len(x) // 12)])
    axes.set_ylim(0, None)
    axes.grid(axis="y")
    if len(series) > 1:
        axes.legend()
    said = "; ".join(
        f"{name} from {values[0]:g} to {values[-1]:g}" if min(values) < max(values) else f"{name} always {values[0]:g}"
        for name, values in series.items()
    )
    return Picture(figure, f"Sectors per request as the {xlabel} goes from {x[0]} to {x[-1]}: {said}.")
