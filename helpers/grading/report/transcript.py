"""The class in a terminal: one line a submission, the states counted, the last line loud when any is not graded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from helpers.grading.report.lab import Part
from helpers.grading.report.material import STATE_WORDS, Entry, Made, Material
from helpers.grading.report.words import amount, first_line, one_line, padded
from helpers.grading.results import FAULTS, REJECTED, UNGRADED
from vgpu.base.words import plural

NAME_COLUMNS = 28
SIGNS = {"right": "✓", "wrong": "✗", "error": "E", "missing": "·", "unjudged": "?", "overridden": "o"}
SIGNS |= dict.fromkeys(FAULTS, "!")
LEGEND = "✓ right  ✗ wrong  E error  · no answer  ! stopped: time, crash, memory or output  ? not judged  o set by hand"


def transcript(material: Material) -> Made:
    """transcript.txt."""
    return Made({"transcript.txt": as_text(material).encode()})


def as_text(material: Material) -> str:
    """The table, what the instructor must be told, the counts, and a last line that says whether all is done."""
    lab = material.lab
    exercises = lab.exercises()
    heads = [(key.rsplit(".", 1)[-1], len(parts)) for key, parts in exercises.items()]
    columns = [max(len(head), count) for head, count in heads]
    title = [padded("student", NAME_COLUMNS), padded("state", 9), padded("points", 9)]
    title += [padded(head, column) for (head, _), column in zip(heads, columns, strict=True)]
    lines = [f"{one_line(lab.title)} ({one_line(lab.name)}), {plural(len(lab.parts), 'graded cell')}", LEGEND, ""]
    lines += ["  ".join(title).rstrip()]
    for entry in material.entries:
        signs = [
            padded(_signs(entry, parts), column) for parts, column in zip(exercises.values(), columns, strict=True)
        ]
        row = [padded(one_line(entry.result.student, 80), NAME_COLUMNS), padded(STATE_WORDS[entry.state], 9)]
        row += [padded(_points(entry, lab.out_of), 9), *signs, _why(entry)]
        lines.append("  ".join(row).rstrip())
    lines += (
        ["", *(f"{'!!!' if told.loud else 'note:'} {told.text}" for told in material.told)] if material.told else []
    )
    return "\n".join([*lines, "", *_sandboxes(material), *_end(material)]) + "\n"


def _sandboxes(material: Material) -> Iterator[str]:
    for tier, count in material.tiers():
        open_to = f"; it does not protect from {one_line(tier.leaves)}" if tier.leaves else ""
        yield f"sandbox {one_line(tier.name)}, {plural(count, 'submission')}{open_to}"


def _signs(entry: Entry, parts: Sequence[Part]) -> str:
    marks = entry.marks if entry.result.marks else {}
    if entry.state == REJECTED:
        return ""
    return "".join(SIGNS.get(marks[part.cell].outcome, "?") if part.cell in marks else "?" for part in parts)


def _points(entry: Entry, out_of: float) -> str:
    return "–" if entry.points is None else f"{amount(entry.points)}/{amount(out_of)}"


def _why(entry: Entry) -> str:
    return first_line(entry.unsettled or entry.result.reason, 80)


def _end(material: Material) -> list[str]:
    counts = material.counts()
    told = ", ".join(f"{count:,} {STATE_WORDS[state]}" for state, count in counts.items() if count)
    lines = [f"{plural(len(material.entries), 'submission')}: {told or 'none'}"]
    without = [each for each in material.standings() if each.score is None and each.reason.startswith(REJECTED)]
    if without:
        lines.append(f"{plural(len(without), 'student')} rejected: no score is written, and the reason is above")
    if counts[UNGRADED]:
        waiting = plural(counts[UNGRADED], "submission")
        lines.append(f"!!! {waiting} NOT GRADED. This isn't a zero: the grader failed. Grade again before you publish.")
    elif any(told.loud for told in material.told):
        lines.append(
            "!!! Every submission is graded, stopped or rejected, but the lines with !!! above need your attention."
        )
    else:
        lines.append("every submission is graded, stopped or rejected")
    return lines
