"""summary.html and summary.md: a class at a glance, for the instructor.

First what needs doing, then what the class can do and what it misunderstands, then who is who.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby

from helpers.grading.report import tally
from helpers.grading.report.material import STATE_WORDS, Entry, Made, Material
from helpers.grading.report.pages import pages
from helpers.grading.report.verdicts import VERDICTS
from helpers.grading.report.words import amount, first_line, listed, one_line
from helpers.grading.results import REJECTED, STATES, STUDENT_FAULT, UNGRADED
from vgpu.base.words import plural

TILE_WORDS = {UNGRADED: "not graded", STUDENT_FAULT: "stopped", REJECTED: "rejected", "graded": "graded"}


def summary(material: Material) -> Made:
    """Both files."""
    counts = material.counts()
    tiles = [(f"{len(material.entries):,}", "handed in", False)]
    tiles += [(f"{n:,}", TILE_WORDS[state], state == UNGRADED and n > 0) for state, n in counts.items()]
    bars = tally.histogram(material)
    mistakes = groupby(tally.mistakes(material), lambda row: row.exercise)
    made = pages(
        "summary.j2",
        "summary",
        material=material,
        counts=counts,
        tiles=tiles,
        waiting=_grouped((first_line(entry.unsettled, 200), entry) for entry in material.of(UNGRADED)),
        notes=_grouped((one_line(note), entry) for entry in material.entries for note in entry.result.notes),
        spread=tally.spread(material),
        bars=bars,
        histogram_words=_histogram_words(bars) if bars else "",
        parts=[(key, list(found)) for key, found in groupby(tally.parts(material), lambda each: each.part.exercise)],
        mistakes=[(key, [(row.mistake, f"{row.students:,}", row.words) for row in rows]) for key, rows in mistakes],
        stops=tally.stops(material),
        same=tally.same(material),
        which=lambda equal: _which(material, equal),
        VERDICTS=VERDICTS,
        STATES=STATES,
        STATE_WORDS=STATE_WORDS,
    )
    return Made(made)


def _which(material: Material, equal: tally.Equal) -> str:
    every = material.lab.exercises()
    if len(equal.exercises) == len(every):
        return f"all {len(every)}" if len(every) > 1 else material.lab.title_of(equal.exercises[0])
    return f"{len(equal.exercises)} of {len(every)}: " + "; ".join(map(material.lab.title_of, equal.exercises))


def _grouped(found: Iterable[tuple[str, Entry]]) -> list[tuple[str, str, str]]:
    """What was said, of how many, and of whom; the commonest first."""
    by: dict[str, list[str]] = defaultdict(list)
    for said, entry in found:
        by[said].append(one_line(entry.result.student, 48))
    rows = sorted(by.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [(said, f"{len(names):,}", listed(names)) for said, names in rows]


def _histogram_words(bars: tuple[tally.Bar, ...]) -> str:
    full, most = bars[-1], max(bars[:-1], key=lambda bar: bar.count)
    common = f"most others from {amount(most.low)} to below {amount(most.high)}" if most.count else "no one with less"
    return f"{plural(full.count, 'submission')} with all {amount(full.low)} points, {common}."
