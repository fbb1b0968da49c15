"""Pictures of chapter 10: measured rates under the roof of a data sheet."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures.figures import CYCLE, MARKERS, Picture, new, styled
from vgpu.hardware.roofline_measurements import MEASURED_ROOFS, MeasuredRoof
from vgpu.tools.roofline import rate_text


@styled
def measured_roofs(measured: Sequence[MeasuredRoof] = MEASURED_ROOFS) -> Picture:
    """Measured FLOP/s against arithmetic intensity, and the roof of each GPU's data sheet as a line.

    Raises ValueError for no rows.
    """
    if not measured:
        raise ValueError("there is nothing to draw: `measured` is empty")
    figure, axes = new()
    ends = min(row.intensities[0] for row in measured) / 1.5, max(row.intensities[-1] for row in measured) * 1.5
    for number, row in enumerate(measured):
        colour = CYCLE[number]
        corners = [ends[0], row.peak / row.bandwidth, ends[1]]
        axes.loglog(corners, [row.roof(each) for each in corners], color=colour, lw=1.4, ls=("-", "--")[number % 2],
                    label=f"{row.name}: roof of the data sheet")  # fmt: skip
        axes.loglog(row.intensities, row.rates, color=colour, marker=MARKERS[number], ms=5, lw=0,
                    label=f"{row.name}: measured, published")  # fmt: skip
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: rate_text(value, ""))
    axes.set(xlabel="FLOP per byte", ylabel="FLOP/s in FP32", xlim=ends)
    axes.grid(True, lw=0.5)
    axes.legend(fontsize=8.5, loc="lower right")
    said = "; ".join(
        f"{row.name}: {row.rates[0] / row.roof(row.intensities[0]):.0%} of its roof at {row.intensities[0]:g} "
        f"FLOP/byte, {row.rates[-1] / row.roof(row.intensities[-1]):.0%} at {row.intensities[-1]:g}"
        for row in measured
    )
    return Picture(figure, f"Measured rates follow the slope and then the flat roof. {said}.")
