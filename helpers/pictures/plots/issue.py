"""Issue slots of one warp: which lanes took part in each instruction, and how many of the slots did work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.common import WARP, lanes_on_end, stretches
from helpers.pictures.plots.ink import GREY, PALE, RULE, Ink
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural

if TYPE_CHECKING:
    from vgpu.tools.steps.recording import Recording, Step

WIDTH, HEIGHT = 760, 384
LEFT, TOP, LANE = 34, 46, 5.5  # the strip; a lane is so many pixels high
ACROSS = WIDTH - LEFT - 8
MOST_STEPS = 700
MOST_LINES = 7
LONGEST_NAME = 40
_ORDER = ("blue", "vermilion", "sky", "grey", "orange", "green", "yellow", "purple")


@dataclass(frozen=True)
class Slots:
    """What instructions of one warp took: each is issued for all 32 lanes, and `useful` counts the active ones."""

    instructions: int
    useful: int

    @property
    def issued(self) -> int:
        """Lane slots: 32 an instruction."""
        return WARP * self.instructions

    @property
    def share(self) -> float:
        """Useful over issued slots."""
        return self.useful / self.issued if self.instructions else 0.0


def slots(steps: Sequence) -> Slots:
    """The slots of some steps of a recording; lanes that a guard holds back count as active, as in a profiler."""
    return Slots(len(steps), sum(sum(step.mask) for step in steps))


def issue_strip(recording: Recording, warp: int = 0, *, prefix: str = "") -> Drawing:
    """One warp of a recording: one column per instruction, one row per lane, coloured by source line.

    recording: what `record` gives. White is a lane that stood elsewhere: issued for nothing. At most `MOST_STEPS`
    columns are drawn; the numbers are of all. Raises ValueError for a warp without steps.
    """
    steps = recording.of(warp)
    if not steps:
        raise ValueError(f"the recording has no steps of warp {warp}; it has {plural(recording.warps, 'warp')}")
    taken = slots(steps)
    by_line: dict[int | None, list[Step]] = {}
    for step in steps:
        by_line.setdefault(step.line, []).append(step)
    numbers = sorted(by_line, key=lambda line: -1 if line is None else line)
    colours = {line: _colour(at) for at, line in enumerate(numbers)}
    ink = Ink()
    _strip(ink, steps[:MOST_STEPS], colours)
    cut = f", the first {MOST_STEPS} drawn" if len(steps) > MOST_STEPS else ""
    ink.text(8, 16, f"warp {warp}: {plural(len(steps), 'instruction')} (PTX){cut}", size=12, bold=True, mono=False)
    ink.text(WIDTH - 8, 16, "colour and number: source line · empty: lane issued for nothing", size=10.5, ink=PALE,
             mono=False, anchor="end")  # fmt: skip
    _meter(ink, taken)
    _table(ink, recording, by_line, colours)
    return ink.drawing(_finding(recording, warp, taken, prefix), WIDTH, HEIGHT)


def _finding(recording: Recording, warp: int, taken: Slots, prefix: str) -> str:
    per = taken.useful / taken.instructions
    name = fitted(recording.kernel, LONGEST_NAME)
    return (
        f"{prefix}Warp {warp} of {name} issues {plural(taken.instructions, 'instruction')}, "
        f"{taken.issued:,} lane slots; {taken.useful:,} of them ({100 * taken.share:.3g} %) are useful: "
        f"{per:.3g} of {WARP} lanes per instruction."
    )


def _colour(at: int) -> str:
    """Of the n-th line: the palette's colours in an order that keeps neighbours apart, then paler ones."""
    text, pale = PALETTE[_ORDER[at % len(_ORDER)]], 0.45 * (at >= len(_ORDER))
    parts = [int(text[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * pale):02x}" for part in parts)


def _strip(ink: Ink, steps: Sequence[Step], colours: Mapping[int | None, str]) -> None:
    wide = ACROSS / len(steps)
    ink.box(LEFT, TOP, ACROSS, WARP * LANE, "#ffffff", RULE)
    paths: dict[str, list[str]] = {}
    for first, last, step in stretches(steps, lambda step: (step.line, step.mask)):
        for low, high in lanes_on_end(step.mask):
            x, y = LEFT + first * wide, TOP + low * LANE
            paths.setdefault(colours[step.line], []).append(
                f"M{x:.1f} {y:g}h{(last - first) * wide:.1f}v{(high - low) * LANE:g}H{x:.1f}z"
            )
    for colour, places in paths.items():
        ink.parts.append(f'<path d="{"".join(places)}" fill="{colour}"/>')
    lanes = "".join(f"M{LEFT} {TOP + lane * LANE:g}h{ACROSS}" for lane in range(1, WARP))
    columns = "".join(f"M{LEFT + at * wide:.1f} {TOP}v{WARP * LANE:g}" for at in range(1, len(steps)) if wide >= 4)
    ink.parts.append(f'<path d="{lanes}{columns}" stroke="#ffffff" stroke-width="0.6"/>')
    for lane in (0, 8, 16, 24, 31):
        ink.text(LEFT - 5, TOP + lane * LANE + 5.5, lane, size=10, ink=PALE, anchor="end")
    ink.text(8, TOP - 8, "lane", size=10, ink=PALE, mono=False)
    for first, last, step in stretches(steps, lambda step: step.line):
        if step.line is not None and (last - first) * wide >= 6 * len(str(step.line)):
            ink.text(LEFT + (first + last) / 2 * wide, TOP - 4, step.line, size=10, ink=PALE, anchor="middle")


def _meter(ink: Ink, taken: Slots) -> None:
    y = TOP + WARP * LANE + 14
    ink.text(8, y + 11, "slots", size=10, ink=PALE, mono=False)
    ink.box(LEFT + 6, y, ACROSS - 6, 16, "#ffffff", GREY, "3 2")
    useful = (ACROSS - 6) * taken.share
    ink.box(LEFT + 6, y, useful, 16, PALETTE["blue"])
    said = f"useful {taken.useful:,} of {taken.issued:,} issued = {100 * taken.share:.3g} %"
    inside = useful > 260
    x = LEFT + 12 if inside else LEFT + useful + 14
    ink.text(x, y + 12, said, size=10.5, ink="#ffffff" if inside else PALE, bold=True, mono=False)


def _table(
    ink: Ink, recording: Recording, by_line: Mapping[int | None, Sequence[Step]], colours: Mapping[int | None, str]
) -> None:
    """The lines that took most slots, in their order in the source."""
    top = TOP + WARP * LANE + 54
    heads = ((LEFT + 16, "start", "line"), (560, "end", "instructions"), (650, "end", "lanes active"),
             (WIDTH - 12, "end", "slots lost"))  # fmt: skip
    for x, anchor, words in heads:
        ink.text(x, top - 8, words, size=10, ink=PALE, mono=False, anchor=anchor)
    most = sorted(by_line, key=lambda line: -len(by_line[line]))[:MOST_LINES]
    for row, line in enumerate(line for line in colours if line in most):
        y, taken = top + 8 + row * 14.5, slots(by_line[line])
        ink.box(LEFT + 4, y - 8, 9, 9, colours[line])
        source = recording.source.get(line, "made by the compiler") if line is not None else "made by the compiler"
        ink.text(LEFT + 16, y, f"{line or '':>3}  {fitted(source, 58)}".replace(" ", "\u00a0"), size=10)
        ink.text(560, y, taken.instructions, size=10, anchor="end")
        ink.text(650, y, f"{taken.useful / taken.instructions:.3g}", size=10, anchor="end")
        ink.text(WIDTH - 12, y, f"{taken.issued - taken.useful:,}", size=10, anchor="end")
