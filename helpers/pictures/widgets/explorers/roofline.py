"""Kernels under the roofs of any GPU, and a kernel or a GPU that is not there yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from numbers import Real

from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.roofline import LONGEST_IN_SENTENCE, MOST_PLACES
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.controls import gpus as all_gpus
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ladder import Ladder
from vgpu.hardware import gpus
from vgpu.tools.launch import Launch
from vgpu.tools.profile import Profile
from vgpu.tools.roofline import MEMORIES, PRECISIONS, PlacedLaunch, bytes_moved, place, scaled

_BANDWIDTHS = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4)
_ARITHMETICS = _BANDWIDTHS[2:7]
_OCTAVES = (-6, 9)
_EXAMPLE = "{'saxpy': Launch(kernel, grid, block, args)}"
_WITHIN_AN_OCTAVE = (1.19, 1.41, 1.68)
_REST_OF_CAPTION, _LETTERS_A_LINE = 264, 84


def roofline(
    kernels: Mapping[str, object] | Ladder,
    *,
    gpu: str | None = None,
    precision: str = "fp32",
    memory: str = "DRAM",
    what_if: float = 4,
    timings: Mapping[str, object] | None = None,
) -> Explorer:
    """A roofline with one point a kernel, for every GPU of the table, its units and its memories.

    `kernels` maps names to profiles or to `Launch`es, which are profiled once; a ladder brings its own. x is the
    counted intensity, y the modelled rate, or the measured one of the GPU at hand where `timings` (or the ladder) has
    one by the same name. `what_if`: FLOP/byte of a kernel not written yet, from 1/64 to 512. Two controls scale the
    GPU's bandwidth and its arithmetic: the kernels' times are modelled anew. The star of `what_if` and both roofs can
    be dragged in the picture. Raises ValueError for no kernels, or a `what_if` outside.
    """
    from vgpu.hardware.device import current, real_gpu

    if isinstance(kernels, Ladder):
        kernels, timings = kernels.profiles, timings or kernels.timings
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
        return plots.rates_shown(places, row, _ARITHMETICS[-1])

    def draw(gpu: str, precision: str, memory: str, what_if: float, bandwidth: float, arithmetic: float) -> Picture:
        row = gpus.find(gpu)
        now = scaled(row, arithmetic=arithmetic, memory=bandwidth)
        places = {name: seen(name, now, memory) for name in moving(row, memory)}
        still = tuple(name for name in profiles if name not in places)
        picture = plots.roofline_chart(
            places, now, precision, memory, what_if=what_if, rates=rates(gpu, memory), still=still
        )
        tracks = plots.roofline_tracks(
            picture.figure.axes[0], row, precision, memory, at=(bandwidth, arithmetic),
            bandwidths=_BANDWIDTHS, arithmetics=_ARITHMETICS, what_ifs=tuple(what_ifs),
        )  # fmt: skip
        return replace(picture, tracks=tracks)

    units = [(plots.UNITS[unit], unit) for unit in PRECISIONS]
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


def _profiled(name: str, given) -> Profile:
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
