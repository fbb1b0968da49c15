"""Pictures of chapter 17: bytes of attention, the order of tiles, turns of two warpgroups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, Drawing, Picture, new, styled
from helpers.pictures.plots.common import check_count
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural
from vgpu.tools.steps.walks import Walked


@styled
def attention_bytes(counted: Mapping[str, Mapping[int, int]], formulas: Mapping[str, Mapping[int, int]]) -> Picture:
    """Bytes against sequence length, both on logarithmic axes: what was counted as marks, what formulas say as lines.

    Both by name and then by length; a formula of the same name as a count goes through its marks if it is right.
    """
    figure, axes = new()
    names = list(dict.fromkeys([*counted, *formulas]))
    for number, name in enumerate(names):
        colour = CYCLE[number]
        line, marks = formulas.get(name, {}), counted.get(name, {})
        axes.plot(list(line), list(line.values()), color=colour, ls=DASHES[number], lw=1.4)
        axes.plot(list(marks), list(marks.values()), color=colour, marker=MARKERS[number], ls="", ms=7)
        axes.plot([], [], color=colour, ls=DASHES[number], marker=MARKERS[number], label=name)
    lengths = sorted({length for row in (*counted.values(), *formulas.values()) for length in row})
    axes.set(xscale="log", yscale="log", xlabel="sequence length", ylabel="bytes for one head")
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.legend(fontsize=9)
    told = []
    for name, marks in counted.items():
        last = max(marks)
        told.append(f"{name} {marks[last]:,}")
    longest = max(length for marks in counted.values() for length in marks)
    off = [
        abs(marks[length] / formulas[name][length] - 1)
        for name, marks in counted.items()
        for length in marks
        if formulas.get(name, {}).get(length)
    ]
    apart = f" Counts and formulas differ by at most {max(off):.1%}." if off else ""
    return Picture(figure, f"Bytes at length {longest:,}, counted: {'; '.join(told)}.{apart}")


WIDTH, HEIGHT = 860, 410
LEFT, TOP, SIDE, BAR = 74, 78, 250, 15
MOST_WALKS = 2
STAYS, COMES, MET, STORED, BARE = "#8fc7ee", "#f7d38a", "#fdf0d0", "#9ed9c3", "#ffffff"
EDGES = {STAYS: "#0060a0", COMES: "#8a5a00", MET: "#8a5a00", STORED: "#00704f", BARE: "#bbbbbb"}
LEGEND = (
    (STAYS, "rows that stay with the block"),
    (COMES, "rows that come in tiles"),
    (MET, "tiles of scores, in order"),
    (STORED, "rows that the block stores"),
)


def held(found: Walked) -> str:
    """Whose rows stay while those of the other array come in tiles; "" where neither do."""
    for at, name in enumerate((found.down, found.across)):
        if len({tile[at] for tile in found.tiles}) == 1:
            return name
    return ""


def walked_tiles(found: Sequence[Walked]) -> Drawing:
    """The tiles of the score matrix that one block of each kernel visits, in order.

    found: what `walked` gives, for one kernel or two. ValueError for more, or for a block in which no rows stay.
    """
    found = tuple(found)
    check_count(found, MOST_WALKS, "kernels")
    for each in found:
        if not held(each):
            raise ValueError(f"in block {each.block} of {each.kernel} no rows of {each.down} or {each.across} stay")
    ink, x = Ink(), 8.0
    for colour, words in LEGEND:
        _box(ink, x, 8, 14, 12, colour)
        ink.text(x + 19, 18, words, size=10, ink=PALE, mono=False)
        x += 40 + 5.4 * len(words)
    for at, each in enumerate(found):
        _panel(ink, each, at * WIDTH / MOST_WALKS)
    return ink.drawing(" ".join(map(_said, found)), WIDTH, HEIGHT)


def _box(ink: Ink, x: float, y: float, width: float, height: float, colour: str) -> None:
    ink.box(x, y, width, height, colour, EDGES[colour], line=0.8)


def _panel(ink: Ink, found: Walked, offset: float) -> None:
    left, top, stays = LEFT + offset, TOP + BAR + 6, held(found)
    tall, wide = (SIDE / rows for rows in found.shape)
    ink.text(left - 50, 48, f"{fitted(found.kernel, 24)}, block {found.block}", size=12.5, bold=True, mono=False)
    ink.box(left, top, SIDE, SIDE, BARE, EDGES[BARE])
    _box(ink, left - BAR - 6, top, BAR, SIDE, BARE)
    _box(ink, left, top - BAR - 6, SIDE, BAR, BARE)
    ink.text(left - BAR - 12, top + SIDE / 2 + 4, found.down, size=11, bold=True, anchor="end")
    ink.text(left + SIDE / 2, top - BAR - 11, found.across, size=11, bold=True, anchor="middle")
    for rows in dict.fromkeys(tile[0] for tile in found.tiles):
        colour = STAYS if stays == found.down else COMES
        _box(ink, left - BAR - 6, top + tall * rows.start, BAR, tall * len(rows), colour)
    for rows in dict.fromkeys(tile[1] for tile in found.tiles):
        colour = STAYS if stays == found.across else COMES
        _box(ink, left + wide * rows.start, top - BAR - 6, wide * len(rows), BAR, colour)
    for number, (rows, columns) in enumerate(found.tiles, 1):
        x, y = left + wide * columns.start, top + tall * rows.start
        _box(ink, x, y, wide * len(columns), tall * len(rows), MET)
        middle = (x + wide * len(columns) / 2, y + tall * len(rows) / 2 + 4)
        if min(wide * len(columns), tall * len(rows)) >= 12:
            ink.text(*middle, number, size=10.5, anchor="middle")
    for place, (name, rows) in enumerate(found.stored.items()):
        beside = 8 + place * (BAR + 30 if stays == found.down else BAR + 6)
        if stays == found.down:
            _box(ink, left + SIDE + beside, top + tall * rows.start, BAR, tall * len(rows), STORED)
            y = top + tall * (rows.start + len(rows) / 2)
            ink.text(left + SIDE + beside + BAR + 5, y + 4, name, size=11, bold=True)
        else:
            _box(ink, left + wide * rows.start, top + SIDE + beside, wide * len(rows), BAR, STORED)
            ink.text(left + wide * rows.stop + 6, top + SIDE + beside + 12, name, size=11, bold=True)


def _said(found: Walked) -> str:
    stays = held(found)
    at = (found.down, found.across).index(stays)
    mine = found.tiles[0][at]
    coming = [tile[1 - at] for tile in found.tiles]
    comes = found.across if stays == found.down else found.down
    stored = " and ".join(found.stored)
    return (
        f"Block {found.block} of {found.kernel} holds rows {mine.start} to {mine.stop - 1} of {stays}, loads rows "
        f"{coming[0].start} to {coming[-1].stop - 1} of {comes} in {plural(len(coming), 'tile')}, and stores the same "
        f"rows of {stored}."
    )


PRODUCTS, SOFTMAX = 0, 1
UNITS = {PRODUCTS: ("products, on tensor cores", STAYS), SOFTMAX: ("softmax", COMES)}


def shared_units(order: Sequence[tuple[int, int]], clocks: Mapping[int, float]) -> list[tuple[int, int, float, float]]:
    """When each of two groups uses which unit: (group, unit, from, to).

    order: (group, unit) in the order in which a run began them; `clocks`: how long a unit needs for one tile. Uses of a
    unit that begin one after the other, by different groups, share it and take as much longer.
    """
    spans: list[tuple[int, int, float, float]] = []
    ready: dict[int, float] = {}
    free, at = dict.fromkeys(clocks, 0.0), 0
    while at < len(order):
        unit = order[at][1]
        together = [order[at][0]]
        while at + len(together) < len(order) and order[at + len(together)][1] == unit:
            together.append(order[at + len(together)][0])
        begin = max([free[unit], *(ready.get(group, 0.0) for group in together)])
        end = begin + len(together) * clocks[unit]
        spans += [(group, unit, begin, end) for group in together]
        free[unit] = end
        ready |= dict.fromkeys(together, end)
        at += len(together)
    return spans


@styled
def taking_turns(orders: Mapping[str, Sequence[tuple[int, int]]], clocks: Mapping[int, float]) -> Picture:
    """The products and softmaxes of two warpgroups over time, in a given order; the durations are modelled.

    orders: by name, (group, unit) as `shared_units` takes them, unit 0 being the products and 1 the softmax.
    """
    figure, axes = new(left=0.2, right=0.97, top=0.86, bottom=0.16)
    told: list[str] = []
    labels: dict[float, str] = {}
    bottom = 0.0
    for name, order in orders.items():
        spans = shared_units(order, clocks)
        until = max(end for *_, end in spans)
        busy = sum(clocks[PRODUCTS] for _, unit, *_ in spans if unit == PRODUCTS) / until
        told.append(f"{name}, {until:,.0f} clocks, tensor cores busy for {busy:.0%}")
        for group, unit, begin, end in spans:
            _, colour = UNITS[unit]
            axes.barh(bottom + group, end - begin, 0.8, begin, color=colour, edgecolor=EDGES[colour], linewidth=0.8)
        labels |= {bottom + group: f"{name}\ngroup {group}" if not group else f"group {group}" for group in (0, 1)}
        bottom += 2.5
    axes.set_yticks(list(labels), list(labels.values()), fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel("clocks of an SM (modelled)")
    for words, colour in UNITS.values():
        axes.barh([0], [0], color=colour, edgecolor=EDGES[colour], label=words)
    axes.legend(fontsize=8.5, ncols=2, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False)
    return Picture(figure, f"Two warpgroups: {'; '.join(told)} (modelled).")
