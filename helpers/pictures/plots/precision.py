"""Number formats drawn: where their bits are, which values they have, and which gradients they lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch, Rectangle

from helpers.models.number_formats import Format, shares
from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 140
"""Values of a row that are drawn one by one; more of them are a band."""
FATES = {"zero": "vermilion", "subnormal": "yellow", "normal": "blue", "overflow": "purple"}
_HATCHES = {"zero": "//", "subnormal": "..", "normal": "", "overflow": "\\\\"}
_WORDS = {"zero": "becomes zero", "subnormal": "subnormal", "normal": "normal", "overflow": "overflows"}


def power_text(x: float) -> str:
    """A number as a power of two where it is one, else in four digits."""
    exponent = math.log2(x) if x > 0 else 0.5
    whole = abs(exponent) >= 12 and exponent == round(exponent)
    return f"2^{round(exponent)}" if whole else f"{x:.6g}"


@styled
def number_lines(formats: Sequence[Format], low: float, high: float, *, at: float, chosen: str) -> Picture:
    """The values from `low` to `high` of each format, a row each; `at` is marked, `chosen` described."""
    figure, axes = new(left=0.11, right=0.98, top=0.97, bottom=0.15)
    for row, form in enumerate(formats):
        _row_of_values(axes, row, form, low, high, bold=form.name == chosen)
    axes.axvline(at, color=PALETTE["grey"], lw=0.8, ls=":", zorder=0)
    axes.set(xlim=(low, high), ylim=(len(formats) - 0.4, -0.6))
    axes.set_yticks(range(len(formats)), [form.name for form in formats])
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == chosen else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    places = np.linspace(low, high, 5)
    axes.set_xticks(places, [f"{place:.7g}" for place in places])
    form = next(form for form in formats if form.name == chosen)
    return Picture(figure, _values_finding(form, low, high, at))


def _row_of_values(axes: Axes, row: int, form: Format, low: float, high: float, *, bold: bool) -> None:
    end = min(high, form.largest)
    count = form.count(low, end) if low <= end else 0
    colour = PALETTE["blue" if bold else "ink"]
    if 0 < count <= MOST_TICKS:
        values = form.between(low, end)
        axes.vlines(values, row - 0.3, row + 0.3, color=colour, lw=1.6 if bold else 1)
    elif count:
        axes.add_patch(Rectangle((low, row - 0.3), end - low, 0.6, fc=colour, alpha=0.35, lw=0))
        axes.text((low + end) / 2, row, f"{count:,} values", ha="center", va="center", fontsize=9)
    if end < high:
        start = max(low, form.largest)
        axes.add_patch(
            Rectangle((start, row - 0.3), high - start, 0.6, fc="none", ec=PALETTE["purple"], hatch="\\\\\\", lw=0)
        )
        if not count:
            axes.text((low + high) / 2, row, "beyond the largest value", ha="center", va="center", fontsize=9,
                      bbox={"fc": "#ffffff", "ec": "none", "pad": 1})  # fmt: skip


def _values_finding(form: Format, low: float, high: float, at: float) -> str:
    where = f"From {low:.6g} to {high:.6g}"
    if low > form.largest:
        return f"{where} {form.name} has no value: it ends at {power_text(form.largest)}."
    count = form.count(low, min(high, form.largest))
    below, above = float(form.spacing(at * (1 - 2**-30))), float(form.spacing(at))
    if above > high - low:
        apart = f"its values around {power_text(at)} are {power_text(above)} apart, more than this window is wide"
    elif at > form.largest:
        apart = f"it ends at {power_text(form.largest)}"
    elif below < above:
        apart = f"{power_text(below)} apart below {power_text(at)} and {power_text(above)} from there on"
    else:
        apart = f"{power_text(above)} apart on both sides of {power_text(at)}, as they are subnormal"
    return f"{where} {form.name} has {count:,} value{'s' * (count != 1)}: {apart}."


@styled
def gradient_histogram(
    exponents: np.ndarray, counts: np.ndarray, zeros: int, form: Format, scale: float, *, name: str = ""
) -> Picture:
    """A histogram of gradients by power of two, coloured by whether they underflow or overflow after scaling.

    `exponents`: powers of two e, of the gradients whose size is from 2^e to below 2^(e+1), without the scale; `counts`:
    how many; `zeros`: how many were zero before they were rounded.
    """
    figure, axes = new(left=0.11, right=0.98, top=0.86, bottom=0.16)
    total, shift = max(1, int(counts.sum())), math.log2(scale)
    # A bar is a power of two: all of it lies in one zone, but for the one below the smallest value.
    for exponent, count in zip(exponents, counts, strict=True):
        fate = _fate(form, exponent + shift)
        axes.bar(exponent + shift + 0.5, 100 * count / total, width=0.9, color=PALETTE[FATES[fate]], lw=0.5,
                 hatch=_HATCHES[fate], edgecolor="#ffffff")  # fmt: skip
    low, high = -60, 24
    ends = math.log2(form.smallest), math.log2(form.largest)
    sides = ("right", "left") if ends[1] - ends[0] < 16 else ("center", "center")  # words must not overlap
    for place, words, side in zip(ends, ("smallest", "largest"), sides, strict=True):
        if low < place < high:
            axes.axvline(place, color=PALETTE["ink"], lw=1.2)
            axes.text(place, 1.02, f"{words} {form.name}", transform=axes.get_xaxis_transform(), ha=side, fontsize=9)
    top = 1.15 * 100 * counts.max() / total
    axes.set(xlim=(low, high), ylim=(0, top), ylabel="% of those not zero")
    ticks = range(low, high + 1, 12)
    axes.set_xticks(ticks, [f"$2^{{{tick}}}$" for tick in ticks])
    axes.set_xlabel("size of a gradient, times the loss scale")
    keys = [Patch(fc=PALETTE[colour], hatch=_HATCHES[fate], ec="#ffffff") for fate, colour in FATES.items()]
    axes.legend(keys, _WORDS.values(), loc="lower left", bbox_to_anchor=(0, 1.06), ncols=4, fontsize=9, borderaxespad=0)
    return Picture(figure, _gradients_finding(exponents, counts, zeros, form, scale, name))


def _fate(form: Format, exponent: float) -> str:
    """What becomes of a number in the middle of this power of two."""
    parts = shares([1.5 * 2.0**exponent], form)
    return max(parts, key=parts.__getitem__)


def _gradients_finding(
    exponents: np.ndarray, counts: np.ndarray, zeros: int, form: Format, scale: float, name: str
) -> str:
    shift, total = math.log2(scale), max(1, int(counts.sum()))
    found = dict.fromkeys(FATES, 0)
    for exponent, count in zip(exponents, counts, strict=True):
        found[_fate(form, exponent + shift)] += int(count)
    said = [f"{100 * found[fate] / total:.3g} % {_WORDS[fate].replace('becomes', 'become')}" for fate in ("zero",)]
    said.append(f"{100 * found['subnormal'] / total:.3g} % are subnormal")
    said.append(f"{100 * found['overflow'] / total:.3g} % overflow")
    before = f" ({100 * zeros / (zeros + total):.3g} % of all were zero before)" if zeros else ""
    return (
        f"{name + ': o' if name else 'O'}f {total:,} gradients that are not zero{before}, in {form.name} with a loss "
        f"scale of {power_text(scale) if scale > 1 else '1'}: {', '.join(said)}."
    )


@styled
def error_growth(
    sizes: Sequence[int],
    errors: Mapping[str, Sequence[float]],
    *,
    what: str = "relative error of a sum",
    floor: float = 1e-9,
) -> Picture:
    """An error against the number of terms, both axes logarithmic, a line for each way."""
    figure, axes = new()
    for number, (name, values) in enumerate(errors.items()):
        shown = np.maximum(np.asarray(values, float), floor)
        axes.loglog(sizes, shown, color=CYCLE[number], ls=DASHES[number], marker=MARKERS[number], ms=5,
                    label=name)  # fmt: skip
    axes.set(xlabel="terms", ylabel=what)
    axes.grid(axis="y")
    axes.legend(fontsize=9)
    said = "; ".join(f"{name}: {values[-1]:.2g}" for name, values in errors.items())
    return Picture(figure, f"{what[0].upper()}{what[1:]} of {sizes[-1]:,} terms — {said}.")
