"""What a PyTorch program's tensors hold, and what the allocator keeps for them, from allocation to allocation."""

from __future__ import annotations

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.results.torch.memory import MIB, NO_PHASE, MemoryLine

_BANDS = (CYCLE[4], PALETTE["yellow"], CYCLE[2], CYCLE[1], CYCLE[5], CYCLE[3])
_HATCHES = ("", "//", "..", "\\\\", "xx", "--")


@styled
def memory_steps(line: MemoryLine, *, name: str = "") -> Picture:
    """Bytes held and bytes reserved after each allocation or free, over bands that are the program's phases."""
    from matplotlib.patches import Patch

    figure, axes = new()
    numbers = range(1, len(line.changes) + 1)
    names = list(dict.fromkeys(phase.name for phase in line.phases if phase.name != NO_PHASE))
    look = {each: (_BANDS[n % len(_BANDS)], _HATCHES[n % len(_HATCHES)]) for n, each in enumerate(names)}
    for phase in line.phases:
        colour, hatch = look.get(phase.name, ("none", ""))
        axes.axvspan(phase.first + 0.5, phase.last + 1.5, facecolor=colour, hatch=hatch, edgecolor="#ffffff", alpha=0.4,
                     lw=0)  # fmt: skip
    held = axes.plot(numbers, [each / MIB for each in line.allocated], drawstyle="steps-mid", color=PALETTE["blue"],
                     lw=2)[0]  # fmt: skip
    kept = axes.plot(numbers, [each / MIB for each in line.reserved], drawstyle="steps-mid", color=PALETTE["ink"],
                     ls="--", lw=1.5)[0]  # fmt: skip
    at = line.allocated.index(line.peak) + 1
    peak = axes.plot([at], [line.peak / MIB], ls="", marker="v", ms=9, color=PALETTE["vermilion"])[0]
    axes.set_xlim(0.5, len(numbers) + 0.5)
    axes.set_ylim(0, 1.12 * max(line.reserved) / MIB)
    axes.set_xlabel("allocations and frees, in order")
    axes.set_ylabel("MiB")
    bands = [Patch(facecolor=look[each][0], hatch=look[each][1], edgecolor="#ffffff", alpha=0.4) for each in names]
    figure.legend(
        [held, kept, peak, *bands], ["held by tensors", f"reserved, {line.kind}", "peak", *names],
        loc="outside upper left", ncols=4, fontsize=9, columnspacing=1.2, handlelength=1.8,
    )  # fmt: skip
    return Picture(figure, memory_finding(line, name))


def memory_finding(line: MemoryLine, name: str = "") -> str:
    """What the picture shows, in a sentence."""
    where = "between the marked phases" if line.peak_phase == NO_PHASE else f"in {line.peak_phase}"
    return (
        f"{f'{name}: tensors' if name else 'Tensors'} hold {line.peak / MIB:.2f} MiB at most, {where}, and "
        f"{line.allocated[-1] / MIB:.2f} MiB in the end; the allocator reserves {line.reserved[-1] / MIB:.4g} MiB for "
        f"them by then ({line.kind})."
    )
