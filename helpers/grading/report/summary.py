"""summary.html and summary.md: a class at a glance, for the instructor.

First what needs doing, then what the class can do and what it misunderstands, then who is who.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.grading.report import document, tally
from helpers.grading.report.document import Drawing, Heading, Link, Section, Share, Table, Text, Tiles
from helpers.grading.report.material import STATE_WORDS, Entry, Made, Material
from helpers.grading.report.verdicts import VERDICTS, what_for
from helpers.grading.report.words import amount, first_line, listed, one_line, plural
from helpers.grading.results import REJECTED, STATES, STUDENT_FAULT, UNGRADED

TILE_WORDS = {UNGRADED: "not graded", STUDENT_FAULT: "stopped on the way", REJECTED: "rejected", "graded": "graded"}
SAME_AS_ANOTHERS = "The same as another's but for names, comments and white space"
SAME_AS_OURS = "The same as the reference solution"
COMMON = 5
"""Misconceptions of one exercise that are shown."""


def summary(material: Material) -> Made:
    """Both files."""
    title, subtitle = f"{material.lab.title}: the class", material.lab.name
    sections = [section for make in SECTIONS for section in make(material)]
    return Made(
        {
            "summary.html": document.as_html(title, subtitle, sections),
            "summary.md": document.as_markdown(title, subtitle, sections),
        }
    )


def _ungraded(material: Material) -> Iterator[Section]:
    waiting = material.of(UNGRADED)
    if waiting:
        what = plural(len(waiting), "submission")
        yield Section(
            f"{what} not graded",
            (
                Text("The grader failed here. That is no zero: grade again before you publish anything.", loud=True),
                _grouped("why", [(first_line(entry.unsettled, 200), entry) for entry in waiting]),
            ),
            alarm=True,
        )


def _counts(material: Material) -> Iterator[Section]:
    counts = material.counts()
    tiles = [(f"{len(material.entries):,}", "handed in", False)]
    tiles += [(f"{n:,}", TILE_WORDS[state], state == UNGRADED and n > 0) for state, n in counts.items()]
    blocks: list = [Tiles(tuple(tiles))]
    if counts[REJECTED] and not material.zero_rejected:
        blocks.append(
            Text("Rejected submissions have no score in the gradebook: whether that is a zero is yours to say.")
        )
    yield Section("Submissions", tuple(blocks))


def _to_see_to(material: Material) -> Iterator[Section]:
    if material.told:
        yield Section("To see to", tuple(Text(told.text, loud=told.loud) for told in material.told))


def _points(material: Material) -> Iterator[Section]:
    spread, bars = tally.spread(material), tally.histogram(material)
    if spread is None:
        return
    of = amount(material.lab.out_of)
    text = (
        f"Half of {plural(spread.count, 'submission')} that ran earned {amount(spread.median)} or more of {of} points; "
        f"the mean is {spread.mean:.1f}, the least {amount(spread.least)}, the most {amount(spread.most)}."
    )
    drawings = (Drawing(_histogram(bars), _histogram_words(bars)),) if bars else ()
    yield Section("Points", (Text(text), *drawings))


def _parts(material: Material) -> Iterator[Section]:
    rows = []
    for found in tally.parts(material):
        others = ", ".join(f"{n} {VERDICTS[o][1]}" for o, n in found.outcomes if o != "right" and o in VERDICTS)
        share = Share(found.share, f"{found.right} of {found.of}")
        title = material.lab.title_of(found.part.exercise)
        rows.append((title, what_for(found.part), share, others or "–"))
    if rows and tally.ran(material):
        heads = ("exercise", "part", "right", "otherwise")
        yield Section("Exercises", (Table("Of the submissions that ran", heads, tuple(rows)),))


def _mistakes(material: Material) -> Iterator[Section]:
    tables = []
    found = tally.mistakes(material)
    for exercise in material.lab.exercises():
        rows = [row for row in found if row.exercise == exercise]
        if rows:
            more = f", the {COMMON} commonest of {len(rows)}" if len(rows) > COMMON else ""
            cells = tuple((row.mistake, f"{row.students:,}", row.words) for row in rows[:COMMON])
            heads = ("what was seen", "students", "what they are told first")
            tables.append(Heading(material.lab.title_of(exercise) + more))
            tables.append(Table("", heads, cells, numbers=(1,)))
    if tables:
        yield Section("Misconceptions, for the next lecture", tuple(tables))


def _stops(material: Material) -> Iterator[Section]:
    rows = []
    for part, counts, message in tally.stops(material):
        what = ", ".join(f"{n} {VERDICTS[kind][1]}" for kind, n in counts.items())
        rows.append((part.cell, what, message))
    if rows:
        table = Table("Cells in which something stopped", ("cell", "how often", "commonest message"), tuple(rows))
        yield Section("Errors, time-outs and crashes", (table,))


def _reasons(material: Material) -> Iterator[Section]:
    for state, title in ((REJECTED, "Rejected"), (STUDENT_FAULT, "Stopped on the way")):
        entries = material.of(state)
        if entries:
            rows = tuple((_named(e), one_line(e.result.file, 80), first_line(e.result.reason, 200)) for e in entries)
            yield Section(title, (Text(f"{STATES[state].capitalize()}."), Table("", ("student", "file", "why"), rows)))


def _same(material: Material) -> Iterator[Section]:
    if not material.fingerprints.students:
        return
    groups, reference, starter = tally.same(material)
    blocks: list = []
    for title, found in ((SAME_AS_ANOTHERS, groups), (SAME_AS_OURS, reference)):
        if found:
            rows = tuple(
                (_which(material, each), f"{len(each.students)}", listed(each.students, 1000)) for each in found
            )
            blocks.append(Table(title, ("exercises", "students", "who"), rows, numbers=(1,)))
    if starter:
        blocks.append(Text(f"As handed out, nothing changed: {listed(starter, 1000)}."))
    blocks = blocks or [Text("No two submissions have the same answers.")]
    if groups or reference:
        blocks.append(Text("Short exercises have few good answers: equal ones are a question to ask, and no proof."))
    yield Section("Equal answers", tuple(blocks))


def _which(material: Material, equal: tally.Equal) -> str:
    every = material.lab.exercises()
    if len(equal.exercises) == len(every):
        return f"all {len(every)}" if len(every) > 1 else material.lab.title_of(equal.exercises[0])
    return f"{len(equal.exercises)} of {len(every)}: " + "; ".join(map(material.lab.title_of, equal.exercises))


def _notes(material: Material) -> Iterator[Section]:
    noted = [(one_line(note), entry) for entry in material.entries for note in entry.result.notes]
    if noted:
        yield Section("Notes of the grader", (Text("Students do not see these."), _grouped("note", noted)))


def _grouped(head: str, found: list[tuple[str, Entry]]) -> Table:
    """What was said, of how many, and of whom; the commonest first."""
    by: dict[str, list[str]] = {}
    for said, entry in found:
        by.setdefault(said, []).append(_named(entry))
    rows = sorted(by.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    cells = tuple((said, f"{len(names):,}", listed(names)) for said, names in rows)
    return Table("", (head, "submissions", "of"), cells, numbers=(1,))


def _students(material: Material) -> Iterator[Section]:
    of = amount(material.lab.out_of)
    rows = tuple(
        (Link(_named(entry), f"feedback/{entry.stem}.html"), STATE_WORDS[entry.state], _of(entry, of))
        for entry in material.entries
    )
    if rows:
        heads = ("student", "state", "points")
        yield Section("Students", (Table("Each name leads to the feedback", heads, rows, numbers=(2,)),))


def _sandbox(material: Material) -> Iterator[Section]:
    blocks: list = []
    for tier, count in material.tiers():
        blocks.append(Text(f"{plural(count, 'submission')} ran in “{tier.name}”."))
        blocks += [Text(f"It protects from: {tier.protects}")] if tier.protects else []
        blocks += [Text(f"It does not protect from: {tier.leaves}")] if tier.leaves else []
    if material.lab.versions:
        blocks.append(Text("Versions: " + ", ".join(f"{name} {version}" for name, version in material.lab.versions)))
    blocks.append(Text("How long each cell took is in seconds.csv, the only report that depends on a clock."))
    yield Section("How it was graded", tuple(blocks))


SECTIONS = (
    _ungraded,
    _counts,
    _to_see_to,
    _points,
    _parts,
    _mistakes,
    _stops,
    _reasons,
    _same,
    _notes,
    _students,
    _sandbox,
)
"""The page from top to bottom."""


def _named(entry: Entry) -> str:
    return one_line(entry.result.student, 48)


def _of(entry: Entry, of: str) -> str:
    return "–" if entry.points is None else f"{amount(entry.points)} of {of}"


def _histogram_words(bars: tuple[tally.Bar, ...]) -> str:
    full, most = bars[-1], max(bars[:-1], key=lambda bar: bar.count)
    common = f"most others from {amount(most.low)} to below {amount(most.high)}" if most.count else "nobody less"
    return f"{plural(full.count, 'submission')} with all {amount(full.low)} points, {common}."


def _histogram(bars: tuple[tally.Bar, ...]) -> str:
    """One column a bar, its count above, its least points below."""
    wide, high, base = 420, 150, 128
    step = (wide - 20) / len(bars)
    tallest = max(bar.count for bar in bars)
    parts = []
    for index, bar in enumerate(bars):
        x, height = 10 + index * step, round((base - 20) * bar.count / tallest, 1)
        middle = f"{x + step / 2:.1f}"
        kind = "full" if index == len(bars) - 1 else "bar"
        parts.append(
            f'<rect class="{kind}" x="{x + 2:.1f}" y="{base - height:g}" width="{step - 4:.1f}" height="{height:g}"/>'
            f'<text class="{"" if bar.count else "faint"}" x="{middle}" y="{base - height - 4:g}" text-anchor="middle">'
            f"{bar.count}</text>"
            f'<text class="faint" x="{middle}" y="{base + 15}" text-anchor="middle">{amount(bar.low)}</text>'
        )
    label = "points, from … on; full marks by themselves"
    return (
        f'<svg viewBox="0 0 {wide} {high + 14}" class="histogram" role="img" aria-label="{_histogram_words(bars)}">'
        f'<path class="axis" d="M10 {base}H{wide - 10}"/>{"".join(parts)}'
        f'<text class="faint" x="{wide / 2:g}" y="{high + 8}" text-anchor="middle">{label}</text></svg>'
    )
