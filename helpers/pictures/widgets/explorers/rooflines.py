"""Explorers of limits: kernels and layers under the roofs of a GPU, and shares of a library's rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from numbers import Real

from helpers.models.growth import Growth, growth
from helpers.models.layers import Layers
from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.networks import layer_roofline as chart
from helpers.pictures.plots.products import Share
from helpers.pictures.plots.roofline import LONGEST_IN_SENTENCE, MOST_PLACES, rates_shown, roofline_tracks
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown
from helpers.pictures.widgets.controls import gpus as all_gpus
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ladder import Ladder
from helpers.results.timing import Timing
from vgpu.base.errors import CompileError
from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.gpus import find
from vgpu.tools.launch import Launch
from vgpu.tools.profile import Profile
from vgpu.tools.roofline import MEMORIES, PRECISIONS, PlacedLaunch, bytes_moved, place, rate_text, scaled

_BANDWIDTHS = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4)
_ARITHMETICS = _BANDWIDTHS[2:7]
_OCTAVES = (-6, 9)
_EXAMPLE = "{'saxpy': Launch(kernel, grid, block, args)}"
_WITHIN_AN_OCTAVE = (1.19, 1.41, 1.68)
_REST_OF_CAPTION, _LETTERS_A_LINE = 264, 84


def roofline(
    kernels: Mapping[str, Launch | Profile] | Ladder,
    *,
    gpu: str | None = None,
    precision: str = "fp32",
    memory: str = "DRAM",
    what_if: float = 4,
    timings: Mapping[str, Timing] | None = None,
) -> Explorer:
    """A roofline with one point per kernel, for every GPU of the table, its units and its memories.

    `kernels` maps names to profiles or to `Launch`es, which are profiled once; a ladder brings its own. x is the
    counted intensity, y the modelled rate, or the measured one of the GPU at hand where `timings` (or the ladder) has
    one by the same name. `what_if`: FLOP/byte of a kernel not written yet, from 1/64 to 512. Two controls scale the
    GPU's bandwidth and its arithmetic: the kernels' times are modelled anew. The star of `what_if` and both roofs can
    be dragged in the picture. Raises ValueError for no kernels, or a `what_if` outside.
    """
    from vgpu.hardware.device import current, real_gpu

    if isinstance(kernels, Ladder):
        timings, kernels = timings or kernels.timings, kernels.profiles
    if not isinstance(kernels, Mapping):
        raise TypeError(f"a roofline takes names and launches, {_EXAMPLE}; this is a {type(kernels).__name__}")
    if not kernels:
        raise ValueError(f"a roofline takes at least one kernel: {_EXAMPLE}")
    if len(kernels) > MOST_PLACES:
        raise ValueError(f"{len(kernels)} kernels are too many for one roofline: show at most {MOST_PLACES}")
    profiles = {name: _profiled(name, each) for name, each in kernels.items()}
    measured = {name: timing.median for name, timing in (timings or {}).items()} if real_gpu() else {}
    what_ifs = _what_ifs(what_if)

    def seen(name: str, row: gpus.GPU, memory: str) -> PlacedLaunch:
        at_hand = row.name == current().name
        return place(profiles[name], row, memory, measured.get(name) if at_hand else None)

    @cache
    def moving(row: gpus.GPU, memory: str) -> list[str]:
        """The kernels that move bytes there: the others have no intensity."""
        return [name for name, each in profiles.items() if bytes_moved(each.on(row.name).counters, memory)]

    @cache
    def rates(gpu: str, memory: str) -> tuple[float, float]:
        """The ends of the axis, the same however a GPU is scaled: a roof that is dragged stays under the pointer."""
        row = gpus.find(gpu)
        slowest = scaled(row, arithmetic=_ARITHMETICS[0], memory=_BANDWIDTHS[0])
        places = [seen(name, each, memory) for name in moving(row, memory) for each in (row, slowest)]
        return rates_shown(places, row, _ARITHMETICS[-1])

    def draw(gpu: str, precision: str, memory: str, what_if: float, bandwidth: float, arithmetic: float) -> Picture:
        row = gpus.find(gpu)
        now = scaled(row, arithmetic=arithmetic, memory=bandwidth)
        places = {name: seen(name, now, memory) for name in moving(row, memory)}
        still = tuple(name for name in profiles if name not in places)
        picture = plots.roofline_chart(
            places, now, precision, memory, what_if=what_if, rates=rates(gpu, memory), still=still
        )
        tracks = roofline_tracks(
            picture.figure.axes[0], row, precision, memory, at=(bandwidth, arithmetic),
            bandwidths=_BANDWIDTHS, arithmetics=_ARITHMETICS, what_ifs=tuple(what_ifs),
        )  # fmt: skip
        return replace(picture, tracks=tracks)

    units = [(words, unit) for unit, words in PRECISIONS.items()]
    bandwidths, arithmetics = ([(f"× {factor:g}", factor) for factor in each] for each in (_BANDWIDTHS, _ARITHMETICS))
    controls = {
        "gpu": all_gpus(gpu or current().name),
        "precision": choice("units", precision, units),
        "memory": choice("bytes counted at", memory, MEMORIES),
        "what_if": choice("what if: FLOP/byte", what_if, [(words, value) for value, words in what_ifs.items()]),
        "bandwidth": choice("bandwidth", 1, bandwidths),
        "arithmetic": choice("arithmetic", 1, arithmetics),
    }
    named = sum(min(len(name), LONGEST_IN_SENTENCE) + 2 for name in profiles)
    height = card_height(caption_lines=_lines(_REST_OF_CAPTION + named))
    return Explorer("roofline", draw, controls, height=height, draggable=True)


def _profiled(name: str, given: object) -> Profile:
    if isinstance(given, Launch):
        return given.profile()
    if isinstance(given, Profile):
        return given
    raise TypeError(f"{name!r} is a {type(given).__name__}: a roofline takes launches and profiles, such as {_EXAMPLE}")


def _what_ifs(chosen: float) -> dict[float, str]:
    """The intensities of the star and their names: four an octave, powers of two among them, and the chosen one."""
    low, high = (2.0**octave for octave in _OCTAVES)
    if not isinstance(chosen, Real) or not low <= chosen <= high:
        raise ValueError(f"what_if is FLOP/byte from 1/{1 / low:g} to {high:g}, not {chosen!r}")
    named = {2.0**octave: f"1/{2**-octave}" if octave < 0 else f"{2**octave}" for octave in range(*_OCTAVES)}
    between = (float(f"{power * part:.2g}") for power in named for part in _WITHIN_AN_OCTAVE)
    plain = {value: f"{value:.3g}" for value in (*between, high, float(chosen))}
    return dict(sorted((plain | named).items()))


def _lines(letters: int) -> int:
    """Lines that a caption of so many letters takes, at most."""
    return -(-letters // _LETTERS_A_LINE)


BATCHES = tuple(2**power for power in range(13))
ITEMSIZES = {"fp32": 4, "tf32_tensor": 4, "fp16_tensor": 2, "fp8_tensor": 1}
"""Units that convolutions run on, and the bytes of the numbers that they take."""


def layer_roofline(
    rows: Layers | Mapping[str, Layers], *, gpu: str | None = None, precision: str = "fp32", batch: int = 1
) -> Explorer:
    """Layers on a GPU's roof, and the least time that it allows each, for a GPU, a batch and units to choose.

    rows: what `layers(network, images)` found, or a mapping from short names to several. ValueError where no document
    gives the roof of those units; KeyError for a GPU that the table does not have.
    """
    networks = checked.versions(rows, "what `layers(network, images)` found", Layers)
    first = next(iter(networks))
    controls = {
        "batch": choice("batch", batch, BATCHES),
        "precision": dropdown("numbers", precision, [(PRECISIONS[unit], unit) for unit in ITEMSIZES]),
        "gpu": all_gpus(gpu or current().name),
    }
    if isinstance(rows, Mapping):
        controls = {"network": dropdown("network", first, networks), **controls}

    def draw(batch: int, precision: str, gpu: str, network: str = first) -> Picture:
        return chart(networks[network].at(batch, ITEMSIZES[precision]), find(gpu), precision)

    return Explorer("layer_roofline", draw, controls, height=card_height(caption_lines=4))


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
    """Each kernel's modelled share of a library's rate, on a GPU that a dropdown chooses.

    `kernels` maps short names to functions that give the `Launch` on square matrices of a side, or to what `growth`
    made of one; they are counted on the two sides of `counted` and extrapolated for `side`. `published`: by a source
    in a few words, shares (0 to 1) that were measured, by the kernels' names. `library`: by the name of a GPU, the
    rate of a library in FLOP/s by units ("fp32", "fp16_tensor"), which is 100 %; where there is none, the units' peak
    is.
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
            words[unit] = f"{what} for {PRECISIONS.get(unit, unit)}"
            rows.append(Share(name, share, model.bound, measured.get(name)))
        return plots.share_staircase(rows, gpu, words, side=side, published=beside if measured else "")

    controls = {"gpu": all_gpus(gpu)}
    if published:
        first = next(iter(published))
        controls["beside"] = dropdown("beside it, published", first, [*published, NOTHING])
    return Explorer("library_share", draw, controls, height=card_height(caption_lines=4))


def _grown(kernels: Mapping[str, Callable[[int], Launch] | Growth], counted: tuple[int, int]) -> dict[str, Growth]:
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
