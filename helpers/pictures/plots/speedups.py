"""How much faster, and from where on: time over size, and what Amdahl's law leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled
from vgpu.hardware.time_model import seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rounded(value: float) -> str:
    """A number for a sentence: two digits below 100, whole ones above."""
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def faster(cpu: float, gpu: float, names: tuple[str, str] = ("CPU", "GPU")) -> str:
    """`the GPU is 3 times as fast`, or the CPU is, from the seconds that each takes."""
    first, ratio = (names[1], cpu / gpu) if gpu < cpu else (names[0], gpu / cpu)
    return "the two are equally fast" if ratio < 1.05 else f"the {first} is {rounded(ratio)} times as fast"


@styled
def crossover_curves(
    sizes: Sequence[float],
    cpu: Sequence[float],
    gpu: Sequence[float],
    *,
    at: float,
    at_seconds: tuple[float, float],
    border: float | None,
    names: tuple[str, str],
    kinds: tuple[str, str] = ("modelled", "modelled"),
    limits: tuple[float, float] | None = None,
) -> Picture:
    """The time of a CPU and of a GPU against the number of elements, with one size marked.

    `at_seconds`: what CPU and GPU take at the size `at`. `border`: the size from which on the GPU wins, None where it
    never does. `names` and `kinds` are the CPU's and the GPU's; `limits` of the time axis keep it still.
    """
    figure, axes = new(left=0.11, right=0.97, top=0.9, bottom=0.16)
    low, high = limits or (min(*cpu, *gpu) / 2, max(*cpu, *gpu) * 2)
    for number, (times, name, kind) in enumerate(zip((cpu, gpu), names, kinds, strict=True)):
        axes.loglog(sizes, times, color=CYCLE[number], ls=DASHES[number], label=f"{name} ({kind})", lw=1.8)
        inside = low <= at_seconds[number] <= high  # a mark on the frame is drawn whole, one beyond it not at all
        axes.plot(
            [at], [at_seconds[number]], marker=MARKERS[number], ms=8, color=CYCLE[number], clip_on=not inside, zorder=3
        )
    axes.axvline(at, color=PALETTE["grey"], lw=0.8, ls=":")
    axes.set(xlim=(sizes[0], sizes[-1]), ylim=(low, high))
    if border is not None and border > sizes[0]:
        axes.axvspan(border, sizes[-1], color=PALETTE["orange"], alpha=0.12, lw=0)
        axes.axvline(border, color=PALETTE["ink"], lw=1)
    powers_of_two(axes, sizes)
    axis_of_seconds(axes, low, high)
    axes.set_xlabel("elements")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.99), ncols=2, fontsize=9, borderaxespad=0, handlelength=2.5)
    kind = kinds[1] if kinds[0] == kinds[1] else f"CPU {kinds[0]}, GPU {kinds[1]}"
    wins = f"no size up to {power(sizes[-1])} lets the GPU win"
    if border is not None:
        wins = f"the GPU wins from {power(border)} on" if border > sizes[0] else "the GPU wins at every size shown"
    return Picture(
        figure,
        f"{power(at)} elements: {names[0]} {seconds_text(at_seconds[0])}, {names[1]} {seconds_text(at_seconds[1])}: "
        f"{faster(*at_seconds)}; {wins} ({kind}).",
    )


def power(size: float) -> str:
    """A size as a power of two where it is one, else as a number."""
    exponent = math.log2(size)
    return f"2^{round(exponent)}" if abs(exponent - round(exponent)) < 1e-9 else f"{float(f'{size:.2g}'):,.0f} elements"


def powers_of_two(axes: Axes, sizes: Sequence[float]) -> None:
    low, high = math.ceil(math.log2(sizes[0])), math.floor(math.log2(sizes[-1]))
    exponents = range(low, high + 1, max(1, (high - low) // 6))
    axes.set_xticks([2**exponent for exponent in exponents], [f"$2^{{{exponent}}}$" for exponent in exponents])
    axes.minorticks_off()


def axis_of_seconds(axes: Axes, low: float, high: float) -> None:
    steps = (1, 2, 5) if high / low < 200 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]
    axes.set_yticks(ticks, [seconds_text(tick * 1.0000001) for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y")


@styled
def amdahl_curves(shares: Sequence[float], *, at: float, up_to: int = 1 << 12) -> Picture:
    """Amdahl's law: what the whole gains when a share of it becomes `s` times as fast, one curve per share.

    Shares of equally many per cent have one curve. `at`: the factor at which the sentence reads the curves; the axis
    goes up to `up_to`.
    """
    factors = np.geomspace(1, up_to, 97)
    shares = list({f"{share:.0%}": share for share in shares}.values())
    figure, axes = new()
    for number, share in enumerate(shares):
        whole = 1 / (1 - share + share / factors)
        axes.loglog(factors, whole, color=CYCLE[number], ls=DASHES[number])
        axes.text(up_to * 1.1, whole[-1], f"{share:.0%}", va="center", fontsize=9)
        axes.plot([at], [1 / (1 - share + share / at)], marker=MARKERS[number], color=CYCLE[number])
    axes.axvline(at, color=PALETTE["grey"], lw=0.8, ls=":")
    axes.set(xlabel="speed-up of that share", ylabel="speed-up of the whole", xlim=(1, up_to))
    ticks = [factor for factor in (1, 4, 16, 64, 256, 1024, 4096) if factor <= up_to]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    gains = [gain for gain in (1, 2, 5, 10, 20, 50, 100, 200, 500) if gain <= 1.2 / (1 - max(shares))]
    axes.set_yticks(gains, [f"{gain}" for gain in gains])
    axes.minorticks_off()
    axes.grid(axis="y")
    said = ", ".join(f"{share:.0%}: {1 / (1 - share + share / at):.3g}" for share in shares)
    most = ", ".join(f"{1 / (1 - share):.3g}" for share in shares)
    return Picture(
        figure,
        f"Speed-up of the whole, if a share of it becomes {at:g} times as fast: {said}; never more than {most}.",
    )
