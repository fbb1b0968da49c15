"""How near kernels come to a library's rate on any GPU, modelled from counts, with published measurements beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.products import Share
from helpers.pictures.plots.roofline import UNITS
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown
from helpers.pictures.widgets.controls import gpus as all_gpus
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.growth import Growth, growth
from helpers.results.ladder import Launch
from helpers.results.roofline import rate_text
from helpers.vgpu.base.errors import CompileError

MOST_KERNELS = 12
NOTHING = "nothing"


def library_share(
    kernels: Mapping[str, Callable[[int], Launch] | Growth],
    *,
    published: Mapping[str, Mapping[str, float]] | None = None,
    library: Mapping[str, Mapping[str, float]] | None = None,
    gpu: str = "A100",
    side: int = 4096,
    counted: tuple[int, int] = (128, 256),
) -> Explorer:
    """A staircase of kernels: each one's modelled share of a library's rate on a GPU that a dropdown chooses.

    `kernels` maps short names to functions that give the `Launch` on square matrices of a side, or to what `growth`
    made of one; they are counted on the two sides of `counted` and foretold for `side`. `published`: by a source in a
    few words, shares (0 to 1) that were measured, by the kernels' names. `library`: by the name of a GPU, the rate of
    a library in FLOP/s by units ("fp32", "fp16_tensor"), which is 100 %; where there is none, the units' peak is.
    """
    found = _grown(kernels, counted)
    library = {checked.gpu_name(name): dict(rates) for name, rates in (library or {}).items()}
    published = {source: _shares(source, shares, found) for source, shares in (published or {}).items()}

    def draw(gpu: str, beside: str = NOTHING) -> Picture:
        rates = library.get(gpu, {})
        measured = published.get(beside, {})
        rows, words = [], {}
        for name, each in found.items():
            unit = each.unit()
            rate = rates.get(unit)
            try:
                _, model = each.on(gpu, side)
                share = each.share(gpu, side, rate)
            except (CompileError, ValueError) as error:
                why = "does not compile for it" if isinstance(error, CompileError) else str(error)
                rows.append(Share(name, None, published=measured.get(name), why=why))
                continue
            what = f"a library's {rate_text(rate)}" if rate else "the peak"
            words[unit] = f"{what} for {UNITS.get(unit, unit)}"
            rows.append(Share(name, share, model.bound, measured.get(name)))
        return plots.share_staircase(rows, gpu, words, side=side, published=beside if measured else "")

    controls = {"gpu": all_gpus(gpu)}
    if published:
        first = next(iter(published))
        controls["beside"] = dropdown("beside it, published", first, [*published, NOTHING])
    return Explorer("library_share", draw, controls, height=card_height(caption_lines=4))


def _grown(kernels, counted: tuple[int, int]) -> dict[str, Growth]:
    if not isinstance(kernels, Mapping) or not kernels:
        raise TypeError("kernels are a mapping from short names to functions of a side: {'naive': naive_launch}")
    if len(kernels) > MOST_KERNELS:
        raise ValueError(f"{len(kernels)} kernels are too many for one staircase: show at most {MOST_KERNELS}")
    found = {}
    for name, each in kernels.items():
        found[name] = each if isinstance(each, Growth) else growth(checked.called(name, each), counted)
    return found


def _shares(source: str, shares: Mapping[str, float], found: Mapping[str, Growth]) -> dict[str, float]:
    for name, share in shares.items():
        checked.among(f"a kernel of {source!r}", name, list(found))
        if not 0 < share <= 2:
            raise ValueError(f"a share is from 0 to 1, such as 0.85; {source!r} has {share!r} for {name!r}")
    return dict(shares)
