"""One request of a warp on shared memory: which bank serves which lane, in which wavefront."""

from __future__ import annotations

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, shade
from vgpu.base.words import plural
from vgpu.storage.banks import BANKS, parts, wavefronts

FEWEST_ROWS = 8
MOST_LABELLED = 16


def bank_finding(access, prefix: str = "") -> str:
    """One sentence: the wavefronts of this shared request, how many it needs at least, and what is broadcast."""
    fronts = wavefronts(access)
    count = plural(len(fronts), "wavefront")
    least = len({front.part for front in fronts})
    shared = sum(len(word.lanes) > 1 for front in fronts for word in front.words.values())
    conflicts = "no bank conflict" if len(fronts) == least else plural(len(fronts) - least, "bank conflict")
    widths = f", {access.nbytes} bytes a lane," if parts(access.nbytes) > 1 else ""
    broadcast = f"; {plural(shared, 'word')} broadcast to several lanes" if shared else ""
    return f"{prefix}{count} for 1 shared {access.op} request{widths} with {conflicts}{broadcast}."


@styled
def bank_matrix(access, *, prefix: str = "") -> Picture:
    """Bank × wavefront of one shared request: a row is served at once, the number is the lane that a bank serves.

    `access`: a shared `trace.Access`. A bank that serves several lanes with one word says how many of them.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    fronts = wavefronts(access)
    figure, axes = new("wide", layout=None)
    axes.set_position([0.055, 0.03, 0.94, 0.79])
    height = max(FEWEST_ROWS, len(fronts))
    label = height <= MOST_LABELLED
    single, shared, colours = [], [], []
    for row, front in enumerate(fronts):
        for bank in range(BANKS):
            word = front.words.get(bank)
            if word is None:
                continue
            place = Rectangle((bank + 0.04, row + 0.06), 0.92, 0.88)
            if len(word.lanes) == 1:
                single.append(place)
                colours.append(shade(PALETTE["blue"], 0.22 + 0.2 * word.lanes[0] / (WARP - 1)))
            else:
                shared.append(place)
            if label:
                text = str(word.lanes[0]) if len(word.lanes) == 1 else f"×{len(word.lanes)}"
                size = 7 if len(text) < 3 else 6
                axes.text(bank + 0.5, row + 0.53, text, ha="center", va="center", fontsize=size, color="w")
    # Idle cells are lines and not squares of their own: a request may take 32 wavefronts.
    axes.vlines(range(BANKS + 1), 0, len(fronts), colors="#cccccc", lw=0.6, zorder=0)
    axes.hlines(range(len(fronts) + 1), 0, BANKS, colors="#cccccc", lw=0.6, zorder=0)
    axes.add_collection(PatchCollection(single, facecolors=colours, edgecolors="none"))
    axes.add_collection(PatchCollection(shared, facecolors="#00664a", edgecolors="none"))
    last = None
    for row, front in enumerate(fronts):
        if label or row % 4 == 0 or row == len(fronts) - 1:
            axes.text(-0.3, row + 0.53, row + 1, ha="right", va="center", fontsize=7, color="#444444")
        if last is not None and front.part != last:
            axes.axhline(row, color=PALETTE["ink"], lw=1)
        last = front.part
    for bank in (*range(0, BANKS, 4), BANKS - 1):
        axes.text(bank + 0.5, -0.03 * height, bank, ha="center", fontsize=7, color="#444444")
    axes.set(xlim=(0, BANKS), ylim=(height, 0))
    axes.axis("off")
    legend = (
        "a row: one wavefront · a column: one bank · blue: serves one lane (its number) · green ×n: one word to n lanes"
    )
    figure.text(0.01, 0.94, legend, fontsize=8.5)
    figure.text(0.01, 0.875, "bank", fontsize=8, color="#444444")
    return Picture(figure, bank_finding(access, prefix))
