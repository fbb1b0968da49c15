"""How far data-parallel training scales on a link, by the alpha-beta model, beside what papers published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ranks.weak import Workload, efficiency
from vgpu.hardware.interconnects import LINKS

RANKS = tuple(2**power for power in range(13))
OVERLAPS = (0.0, 0.25, 0.5, 0.66)


def scaling(
    work: Workload | Mapping[str, Workload], *, ranks: Sequence[int] = RANKS, link: str = "Ethernet 50 Gb/s",
    published: Mapping[str, tuple[int, float]] | None = None,
) -> Explorer:  # fmt: skip
    """Choices of workload, link and overlap; curves of weak and strong scaling, for a ring and for trees.

    work: what a step computes and reduces, or a mapping from names to several. ranks: where the curves are calculated.
    link: one of `vgpu.hardware.interconnects.LINKS` to begin with. published: points by name, (ranks, efficiency).
    """
    several = checked.versions(work, "a Workload")
    if wrong := [each for each in several.values() if not isinstance(each, Workload)]:
        raise TypeError(f"a workload is Workload(name, seconds, nbytes); this is of type {type(wrong[0]).__name__}")
    counts = checked.options("ranks", ranks)
    first = next(iter(several))
    controls = {
        "link": dropdown("link", checked.among("link", link, LINKS), LINKS),
        "overlap": choice("overlap", 0.0, [(f"{each:.0%}", each) for each in OVERLAPS]),
    }
    if len(several) > 1:
        controls = {"workload": dropdown("workload", first, several), **controls}

    def draw(link: str, overlap: float, workload: str = first) -> Picture:
        step = replace(several[workload], overlap=overlap)
        curves = {
            f"{kind}, {how}": [efficiency(step, n, LINKS[link], algorithm=how, strong=kind == "strong") for n in counts]
            for kind in ("weak", "strong")
            for how in ("ring", "tree")
        }
        return plots.scaling_curves(counts, curves, published=published, title=f"{step.name}, {link}")

    return Explorer("scaling", draw, controls)
