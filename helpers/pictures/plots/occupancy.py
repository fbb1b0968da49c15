"""An SM and its blocks: what they take of each resource, how they fill all SMs in waves, how warps hide latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from helpers.models.warp_scheduler import Issue, IssueSlots
from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from vgpu.base.words import plural
from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import Occupancy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KIB = 1024


def pale(colour: str, strength: float) -> tuple[float, ...]:
    """A colour of the palette on white paper, from 0 (white) to 1 (as it is)."""
    return tuple(1 - strength * (1 - int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))


def occupancy_finding(held: Occupancy, prefix: str = "") -> str:
    """One sentence: how many blocks and warps an SM holds, its occupancy, and what limits it."""
    threads = plural(held.threads_per_block, "thread")
    if not held.blocks_per_sm:
        return f"{prefix}not even one block of {threads} fits on an SM of {held.gpu}: {held.limiter}; a launch fails."
    return (
        f"{prefix}an SM of {held.gpu} holds {plural(held.blocks_per_sm, 'block')} of {threads}: {held.warps_per_sm} of "
        f"{held.max_warps_per_sm} warps, occupancy {held.fraction:.0%}, limited by {held.limiter}."
    )


@styled
def sm_slots(held: Occupancy, gpu: GPU, *, prefix: str = "") -> Picture:
    """The four resources of an SM as bars; each colour is a block, and the next block, which doesn't fit, is hatched.

    `held`: the occupancy of a kernel on that GPU. Registers and shared memory are as given out, in whole units.
    """
    figure, axes = new(place=(0.25, 0.04, 0.73, 0.80))
    warps = -(-held.threads_per_block // gpu.warp_size)
    bars = (
        ("warps", "warps", warps, gpu.warps_per_sm, 1, ""),
        ("registers", "registers", held.registers_per_block, gpu.registers_per_sm, 1, ""),
        ("shared memory", "shared memory", held.shared_bytes_per_block, gpu.shared_per_sm, KIB, " KiB"),
        ("blocks", "blocks", 1, gpu.blocks_per_sm, 1, ""),
    )
    for row, (label, key, each, capacity, unit, suffix) in enumerate(bars):
        limits = key in held.limiters
        share = each / capacity
        axes.broken_barh([(0, 1)], (row + 0.14, 0.56), fc="#f4f4f4", ec="#999999", lw=0.8)
        for block in range(held.blocks_per_sm if share else 0):
            colour = pale(CYCLE[block], 0.55)
            axes.broken_barh([(block * share, share)], (row + 0.14, 0.56), fc=colour, ec="white", lw=0.6)
            if share > 0.04:
                axes.text(
                    (block + 0.5) * share,
                    row + 0.43,
                    str(block),
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color="#222222",
                )
        if limits:
            start = held.blocks_per_sm * share
            wide = min(share, 1.16 - start)
            axes.broken_barh(
                [(start, wide)], (row + 0.14, 0.56), fc="none", ec=PALETTE["vermilion"], hatch="////", lw=1.0
            )
        axes.axvline(1, ymin=1 - (row + 0.78) / 4, ymax=1 - (row + 0.06) / 4, color="#444444", lw=1.2)
        used = held.blocks_per_sm * each / unit
        words, full = "", " ◀ full" if held.blocks_per_sm else " ◀"
        if limits and not held.blocks_per_sm:
            used, words = each / unit, "wanted: "
        axes.text(
            -0.015, row + 0.28, label + (full if limits else ""), ha="right", va="center",
            fontsize=9, fontweight="bold" if limits else "normal", color=PALETTE["vermilion"] if limits else "#222222",
        )  # fmt: skip
        text = f"{words}{_number(used)} of {_number(capacity / unit)}{suffix}"
        axes.text(-0.015, row + 0.62, text, ha="right", va="center", fontsize=8.5, color="#444444")
    axes.set(xlim=(0, 1.17), ylim=(4, 0))
    axes.axis("off")
    figure.text(0.01, 0.93, "one SM · a colour: one block · hatched: the next block, for which there is no room",
                fontsize=8.5)  # fmt: skip
    return Picture(figure, occupancy_finding(held, prefix))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _share(part: float) -> str:
    """Per cent, where neither a little is nothing nor almost all is all."""
    return "under 1%" if 0 < part < 0.005 else "over 99%" if 0.995 <= part < 1 else f"{part:.0%}"


def waves_finding(blocks: int, held: Occupancy, gpu: GPU) -> str:
    """One sentence: the waves that a grid runs in, and how full the last one is."""
    at_once = held.blocks_per_sm * gpu.sms
    waves = -(-blocks // at_once)
    last = blocks - (waves - 1) * at_once
    return (
        f"{plural(blocks, 'block')} on {gpu.name}, {plural(at_once, 'block')} at once, run in {plural(waves, 'wave')}; "
        f"the last has {last:,} of {at_once:,} slots taken, and {_share(blocks / (waves * at_once))} of all slots "
        "are used (modelled: equal blocks)."
    )


@styled
def waves(blocks: int, held: Occupancy, gpu: GPU) -> Picture:
    """How many blocks each SM runs in each wave, if all blocks take equally long.

    A wave is handed out evenly, one block an SM before any gets its second. Raises ValueError when no block fits.
    """
    if not held.blocks_per_sm:
        raise ValueError(occupancy_finding(held))
    at_once = held.blocks_per_sm * gpu.sms
    count = -(-blocks // at_once)
    figure, axes = new(place=(0.10, 0.16, 0.88, 0.68))
    shown = min(count, 12)
    columns = np.arange(gpu.sms)
    for row in range(shown):
        wave = count - shown + row
        here = min(at_once, blocks - wave * at_once)
        each = here // gpu.sms + (columns < here % gpu.sms)
        for amount in np.unique(each[each > 0]):
            at = columns[each == amount]
            tall = 0.84 * amount / held.blocks_per_sm
            axes.broken_barh([(at[0], len(at))], (row + 0.92 - tall, tall), fc=pale(CYCLE[wave % 2], 0.7), ec="none")
        axes.broken_barh([(0, gpu.sms)], (row + 0.08, 0.84), fc="none", ec="#999999", lw=0.7)
    axes.set(xlim=(0, gpu.sms), ylim=(max(4, shown), 0), xlabel="SM", yticks=[row + 0.5 for row in range(shown)])
    axes.set_yticklabels([f"wave {count - shown + row + 1:,}" for row in range(shown)], fontsize=8)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    figure.text(
        0.01, 0.92, f"filled to the height of an SM's {plural(held.blocks_per_sm, 'slot')} for blocks · empty: idle",
        fontsize=8.5,
    )  # fmt: skip
    return Picture(figure, waves_finding(blocks, held, gpu))


_COLOURS: dict[str, str | tuple[float, ...]] = {
    "issue": PALETTE["blue"], "queue": PALETTE["yellow"], "wait result": "#d5d5d5",
    "wait memory": pale(PALETTE["orange"], 0.3),
}  # fmt: skip
SHOWN_CLOCKS = 1200


def scheduler_finding(found: IssueSlots, prefix: str = "") -> str:
    """One sentence: the warps of one scheduler, and which share of the time memory and the scheduler are busy."""
    return (
        f"{prefix}with {plural(found.warps, 'warp')} a scheduler of {found.gpu} keeps memory busy "
        f"{found.memory_busy:.0%} of the time and issues in {found.issue_busy:.0%} of the clocks (modelled)."
    )


@styled
def scheduler_rows(found: IssueSlots, *, prefix: str = "") -> Picture:
    """The warps of one scheduler by clock: which one issues, what the others wait for, and when memory is busy.

    Only the first clocks are drawn; the shares in the finding are of all of them.
    """
    figure, axes = new(place=(0.10, 0.15, 0.87, 0.70))
    end = min(SHOWN_CLOCKS, found.clocks)

    def boxes(
        spans: Sequence[tuple[float, float]], bottom: float, colour: str | tuple[float, ...], tall: float = 0.84
    ) -> None:
        """All boxes of one colour in one row as one path, which keeps the picture small."""
        corners = [
            [(start, bottom + 0.08), (stop, bottom + 0.08), (stop, bottom + 0.08 + tall), (start, bottom + 0.08 + tall)]
            for start, stop in spans
        ]
        if corners:
            path = Path.make_compound_path(*(Path([*each, each[0]], closed=True) for each in corners))
            axes.add_patch(PathPatch(path, fc=colour, ec="none"))

    issues = []
    for number, row in enumerate(found.rows):
        for what in ("queue", "wait result", "wait memory"):
            boxes(_bands(row, what, end), number, _COLOURS[what])
        # As lines and on top: a box a clock wide would be too thin to be seen, and take three times the bytes.
        for span in (span for span in row if span.what == "issue"):
            issues += [
                Path([(clock + 0.5, number + 0.08), (clock + 0.5, number + 0.92)])
                for clock in range(int(span.start), int(min(span.end, end)))
            ]
    axes.add_patch(PathPatch(Path.make_compound_path(*issues), fc="none", ec=_COLOURS["issue"], lw=0.9))
    tall = max(0.84, len(found.rows) / 9)
    top = len(found.rows) + 0.35
    axes.broken_barh([(0, end)], (top, tall), fc="white", ec="#999999", lw=0.7)
    boxes(_joined([(start, min(stop, end)) for start, stop in found.memory if start < end]), top - 0.08,
          PALETTE["green"], tall)  # fmt: skip
    few = found.warps <= 8
    ticks = list(range(found.warps)) if few else list(range(0, found.warps, 4))
    axes.set(xlim=(0, end), ylim=(top + tall, 0), yticks=[*(tick + 0.5 for tick in ticks), top + tall / 2])
    axes.set_yticklabels([*(f"warp {tick}" for tick in ticks), "memory"], fontsize=8)
    axes.set_xlabel(f"clock (modelled on {found.gpu})", fontsize=9)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0, labelsize=8)
    _key(figure)
    return Picture(figure, scheduler_finding(found, prefix))


def _key(figure: Figure) -> None:
    said = {
        "issue": "issues", "queue": "ready, not chosen", "wait result": "waits for a result",
        "wait memory": "waits for memory", "": "memory works",
    }  # fmt: skip
    left = 0.02
    for what, words in said.items():
        colour = _COLOURS.get(what, PALETTE["green"])
        figure.add_artist(Rectangle((left, 0.905), 0.018, 0.04, fc=colour, ec="#999999", lw=0.5))
        figure.text(left + 0.025, 0.908, words, fontsize=8.5)
        left += 0.04 + 0.0098 * len(words)


def _bands(row: Sequence[Issue], what: str, end: float) -> list[tuple[float, float]]:
    """The spans of one kind up to clock `end`; an issue counts as being ready, and is drawn over it."""
    kinds = ("queue", "issue") if what == "queue" else (what,)
    return _joined([(span.start, min(span.end, end)) for span in row if span.what in kinds and span.start < end])


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans with hardly a gap between them, as one."""
    found: list[tuple[float, float]] = []
    for start, stop in sorted(spans):
        if found and start - found[-1][1] < 0.5:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return found
