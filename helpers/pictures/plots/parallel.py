"""What several GPUs keep, and how much faster they train: memory of a rank, and efficiency over ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.results.ranks.memory import STAGES, bytes_per_rank

GIB = 2**30
KINDS = {"parameters": ("blue", ""), "gradients": ("orange", "///"), "Adam": ("green", "...")}


@styled
def rank_memory_bars(
    parameters: float,
    ranks: int,
    *,
    capacity: float | None = None,
    gpu: str = "",
    mixed: bool = True,
    most: float = 0.0,
) -> Picture:
    """A bar for each stage of sharding: bytes of a rank for parameters, gradients and Adam's states.

    `capacity`: bytes of the GPU called `gpu`, a line across. `most`: bytes where the axis ends, at least.
    """
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.3, right=0.97, top=0.86, bottom=0.16)
    totals = []
    for row, stage in enumerate(STAGES):
        left = 0.0
        for kind, nbytes in bytes_per_rank(parameters, ranks, stage, mixed=mixed).items():
            name, hatch = KINDS[kind]
            axes.barh(row, nbytes / GIB, left=left, color=shade(PALETTE[name], 0.7), ec=PALETTE[name], hatch=hatch,
                      height=0.62, label=kind if row == 0 else None)  # fmt: skip
            left += nbytes / GIB
        totals.append(left)
        axes.text(left, row, f" {left:,.3g}", va="center", fontsize=9)
    end = 1.14 * max(*totals, (capacity or 0) / GIB, most / GIB)
    axes.set(xlim=(0, end), ylim=(len(STAGES) - 0.5, -0.5), yticks=range(len(STAGES)))
    axes.set_yticklabels([words.replace(" (", "\n(") for words in STAGES.values()], fontsize=9)
    axes.set_xlabel("GiB on each rank (calculated; activations come on top)")
    if capacity:
        axes.axvline(capacity / GIB, color=PALETTE["ink"], lw=1.2, ls="--", label=f"memory of {gpu}")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=4, fontsize=9, borderaxespad=0)  # wider than the axes
    fits = [stage for stage, total in zip(STAGES, totals, strict=True) if capacity and total * GIB <= capacity]
    room = ""
    if capacity:
        room = f" On {gpu} there is room from stage {fits[0]} on." if fits else f" On {gpu} there is room at no stage."
    told = ", ".join(f"{total:,.3g}" for total in totals)
    return Picture(
        figure,
        f"{parameters / 1e9:.3g} billion parameters on {ranks} ranks take {told} GiB each at stages 0 to 3.{room}",
    )


@styled
def scaling_curves(
    ranks: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    *,
    published: Mapping[str, tuple[int, float]] | None = None,
    title: str = "",
) -> Picture:
    """Efficiency over the number of ranks, a line each; `published`: points by name, (ranks, efficiency)."""
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.13, right=0.7, top=0.9, bottom=0.16)
    for number, (name, values) in enumerate(curves.items()):
        axes.plot(ranks, values, color=CYCLE[number % len(CYCLE)], ls=DASHES[number % len(DASHES)], lw=2, label=name)
    for number, (name, (count, value)) in enumerate((published or {}).items()):
        axes.plot([count], [value], marker=MARKERS[number % len(MARKERS)], ms=8, color=PALETTE["ink"], ls="none",
                  mfc="none", mew=1.6, label=name)  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(xlim=(ranks[0], ranks[-1]), ylim=(0, 1.05), xlabel="ranks", title=title)
    marks = [count for count in ranks if count in (1, 4, 16, 64, 256, 1024, 4096)]
    axes.set_xticks(marks, [f"{count:,}" for count in marks])
    axes.minorticks_off()
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("efficiency (modelled)")
    axes.grid(axis="y")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5, borderaxespad=0, handlelength=2.4)
    told = "; ".join(f"{name} {values[-1]:.0%}" for name, values in curves.items())
    seen = "; ".join(f"{name}: {value:.0%} at {count}" for name, (count, value) in (published or {}).items())
    return Picture(
        figure, f"Modelled efficiency at {ranks[-1]:,} ranks: {told}.{' Published: ' + seen + '.' if seen else ''}"
    )
