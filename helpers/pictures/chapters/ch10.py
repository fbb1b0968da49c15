"""Pictures of chapter 10: a roofline and its parts, the times behind it, changes of kernels, and measured rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import CYCLE, MARKERS, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import check_count, shade, speed_text
from vgpu.hardware.roofline_measurements import MEASURED_ROOFS, MeasuredRoof
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile import Profile
from vgpu.tools.roofline import bandwidth, peak_flops, place, rate_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vgpu.hardware.gpus import GPU

MOST_KERNELS = 6


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


@styled
def roofline_parts(found: Mapping[str, Profile]) -> Picture:
    """The roofline of a GPU with its parts named, and kernels under it, by name.

    found: profiles on one GPU. ValueError for none, for more than six, and for profiles on different GPUs.
    """
    check_count(found, MOST_KERNELS, "kernels")
    gpu = _one_gpu(found.values())
    places = {name: place(each, memory="DRAM") for name, each in found.items()}
    figure, axes = new()
    ridge, peak = _roof(axes, gpu)
    low = axes.get_ylim()[0]
    left, right = axes.get_xlim()
    corners = [left, ridge, right]
    roof = [left * bandwidth(gpu), peak, peak]
    axes.fill_between(corners[:2], low, roof[:2], color=shade(PALETTE["blue"], 0.9), lw=0)
    axes.fill_between(corners[1:], low, roof[1:], color=shade(PALETTE["vermilion"], 0.9), lw=0)
    axes.plot([ridge, ridge], [low, peak], color=PALETTE["ink"], lw=1, ls=":")
    axes.text(ridge * 1.06, low * 1.25, f"ridge point: {ridge:.3g}", fontsize=9)
    axes.text(ridge * 0.8, low * 2.6, "memory-bound", fontsize=11, weight="bold", ha="right", color=PALETTE["blue"])
    axes.text(ridge * 1.3, low * 2.6, "compute-bound", fontsize=11, weight="bold", color=PALETTE["vermilion"])
    axes.text(right / 1.1, peak * 1.2, f"flat roof: {rate_text(peak)}", ha="right", fontsize=9)
    axes.text(0.15, 0.15 * 1.7 * bandwidth(gpu), f"slope: {speed_text(bandwidth(gpu))}", fontsize=9, ha="right")
    for name, each in places.items():
        _mark(axes, each.intensity, each.rate)
        off, side = ((-8, 4), "right") if each.intensity < ridge else ((6, -14), "left")
        axes.annotate(name, (each.intensity, each.rate), off, textcoords="offset points", fontsize=9, ha=side)
    said = "; ".join(
        f"{name} has {each.intensity:.3g} FLOP per byte, {each.state}-bound" for name, each in places.items()
    )
    return Picture(figure, f"{gpu.name}: the slope meets the flat roof at {ridge:.3g} FLOP per byte. {said}.")


@styled
def byte_and_flop_times(found: Mapping[str, Profile]) -> Picture:
    """How long a kernel's bytes take in DRAM and its FLOP in the FP32 units, one above the other, and the whole.

    found: profiles on one GPU, by name. ValueError for none, for more than six, and for profiles on different GPUs.
    """
    check_count(found, MOST_KERNELS, "kernels")
    gpu = _one_gpu(found.values())
    figure, axes = new()
    figure.set_size_inches(7.0, 0.9 + 0.62 * len(found))
    told = []
    for row, (name, each) in enumerate(found.items()):
        terms, whole = each.model.terms, 1e6 * each.model.seconds
        for at, (term, colour, words) in enumerate((("DRAM", "blue", "its bytes"), ("FP32", "vermilion", "its FLOP"))):
            axes.barh(row - 0.19 + 0.38 * at, 1e6 * terms[term], 0.34, color=shade(PALETTE[colour], 0.7),
                      edgecolor=PALETTE[colour], label=words if row == 0 else None)  # fmt: skip
        axes.plot([whole, whole], [row - 0.42, row + 0.42], color=PALETTE["ink"], lw=1.4, ls=":",
                  label="the kernel" if row == 0 else None)  # fmt: skip
        axes.annotate(seconds_text(each.model.seconds), (whole, row), (5, 0), textcoords="offset points", va="center",
                      fontsize=9)  # fmt: skip
        times = " and ".join(
            f"{seconds_text(terms[term])} for its {what}" for term, what in (("DRAM", "bytes"), ("FP32", "FLOP"))
        )
        told.append(f"{name} takes {seconds_text(each.model.seconds)}: {times}")
    axes.set_yticks(range(len(found)), found)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(f"µs (modelled on {gpu.name})")
    axes.legend(fontsize=9, loc="upper right")
    return Picture(figure, f"{'; '.join(told)} (modelled on {gpu.name}).")


@styled
def roofline_moves(changes: Mapping[str, tuple[Profile, Profile]]) -> Picture:
    """Where changes of kernels move them under the roof of a GPU: an arrow from before to after for each.

    changes: two profiles by the name of the change, all on one GPU. ValueError for none, for more than six, and for
    profiles on different GPUs.
    """
    check_count(changes, MOST_KERNELS, "changes")
    gpu = _one_gpu([each for both in changes.values() for each in both])
    figure, axes = new()
    _roof(axes, gpu)
    told = []
    for number, (name, both) in enumerate(changes.items()):
        before, after = (place(each, memory="DRAM") for each in both)
        start, end = ((each.intensity, each.rate) for each in (before, after))
        _mark(axes, *start, hollow=True)
        _mark(axes, *end)
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "lw": 1.8, "color": CYCLE[number], "shrinkA": 4,
                                                  "shrinkB": 4})  # fmt: skip
        axes.plot([], [], color=CYCLE[number], lw=1.8, label=name)
        moved = f"from {before.intensity:.3g} to {after.intensity:.3g} FLOP per byte"
        told.append(f"{name}: {moved}, from {rate_text(before.rate)} to {rate_text(after.rate)}")
    axes.legend(fontsize=9, loc="lower right", title="hollow: before, filled: after", title_fontsize=9)
    return Picture(figure, f"{'; '.join(told)} (modelled on {gpu.name}).")


def _one_gpu(found: Iterable[Profile]) -> GPU:
    gpus = {each.gpu.name: each.gpu for each in found}
    if len(gpus) > 1:
        raise ValueError(f"the profiles are of different GPUs: {', '.join(sorted(gpus))}")
    return next(iter(gpus.values()))


def _roof(axes: Axes, gpu: GPU) -> tuple[float, float]:
    """Draw the roofline of FP32 and DRAM on logarithmic axes; the ridge point and the peak."""
    peak, slope = peak_flops(gpu, "fp32"), bandwidth(gpu)
    ridge = peak / slope
    left, right = 1 / 64, 512.0
    axes.loglog([left, ridge, right], [left * slope, peak, peak], color=PALETTE["ink"], lw=1.8)
    axes.set(xlim=(left, right), ylim=(left * slope / 30, 3 * peak))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: rate_text(value, ""))
    axes.set_xlabel("FLOP per byte of DRAM (counted)")
    axes.set_ylabel("FLOP/s (modelled)")
    return ridge, peak


def _mark(axes: Axes, intensity: float, rate: float, *, hollow: bool = False) -> None:
    axes.plot(
        [intensity], [rate], "o", ms=7, mec=PALETTE["ink"], mew=1, color="white" if hollow else PALETTE["ink"], zorder=4
    )
