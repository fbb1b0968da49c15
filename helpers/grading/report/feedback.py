"""feedback/STUDENT.html and .md: what a student sees of the own submission.

Points, verdicts, the misconception and its words, what to try next. Notes for the instructor, the grader's own
troubles and whatever a mark does not hold, such as hidden inputs, are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from helpers.grading.report.lab import LabInfo, Part
from helpers.grading.report.material import Entry, Made, Material
from helpers.grading.report.page import meter, name, page, table
from helpers.grading.report.verdicts import next_steps, verdict, what_for
from helpers.grading.report.words import amount, block, escaped, fenced, markdown, one_line
from helpers.grading.results import REJECTED, STUDENT_FAULT, Mark

UNGRADED_WORDS = (
    "Not graded yet. The grader itself failed; that is not your doing and it is no zero. "
    "Your submission will be graded again, and nothing is needed from you."
)
HOW = (
    "Answers were run on inputs that are drawn anew for grading; what they cost was counted by the virtual GPU. "
    "No time on a clock counts."
)

ALL_RIGHT = "Every part is right. To go further, run check again: where an exercise has a stretch goal, it says which."
FRAME = re.compile(r"^ *\d+ \| ", re.MULTILINE)
"""A line of code with its number, as compilers show it: a caret in the next line points into it."""
HINT = "Stuck? check.hint("
CODE = ("error", "crash")
"""Outcomes whose explanation is mostly a traceback."""


def feedback(material: Material) -> Made:
    """Two files for each submission."""
    files: dict[str, bytes] = {}
    for entry in material.entries:
        files[f"feedback/{entry.stem}.html"] = as_html(entry, material.lab)
        files[f"feedback/{entry.stem}.md"] = as_markdown(entry, material.lab)
    return Made(files)


def state_words(entry: Entry) -> str:
    """What became of the submission, where that is more than its points; "" where it is not."""
    reason = one_line(entry.result.reason).rstrip(".")
    if entry.unsettled:
        return UNGRADED_WORDS
    if entry.state == REJECTED:
        return f"This could not be read as a submission to this lab: {reason}. Nothing was run; there are no points."
    if entry.state == STUDENT_FAULT:
        return f"Your notebook did not run to its end: {reason}. What was earned before and after that is kept."
    return ""


def all_right(entry: Entry) -> bool:
    return all(mark.outcome == "right" for mark in entry.result.marks)


def _exercises(entry: Entry, lab: LabInfo) -> list[tuple[str, str, list[tuple[Part, Mark]]]]:
    """(key, title, parts with marks) in the lab's order; nothing for a submission without a verdict."""
    if not entry.ran:
        return []
    marks = entry.marks
    return [
        (key, lab.title_of(key), _once([(part, marks[part.cell]) for part in parts]))
        for key, parts in lab.exercises().items()
    ]


def _once(pairs: list[tuple[Part, Mark]]) -> list[tuple[Part, Mark]]:
    """The same, with words that several parts of one answer share at the first of them only, and hints left out.

    Hints are told below each exercise.
    """
    said: set[str] = set()
    found = []
    for part, mark in pairs:
        why = "\n".join(line for line in mark.why.split("\n") if not line.strip().startswith(HINT))
        found.append((part, replace(mark, why="" if why in said else why)))
        said.add(why)
    return found


def _footer(entry: Entry, lab: LabInfo) -> list[str]:
    lines = [HOW] if entry.ran else []
    if entry.result.tier:
        lines.append(f"Run in the sandbox “{one_line(entry.result.tier)}”.")
    if lab.versions:
        lines.append(
            "Versions: " + ", ".join(f"{one_line(name)} {one_line(version)}" for name, version in lab.versions) + "."
        )
    return lines


# -- HTML


def as_html(entry: Entry, lab: LabInfo) -> bytes:
    """The page for one submission."""
    student = entry.result.student
    body = [
        f'<header><p class="quiet">{escaped(lab.title)}</p><h1>Feedback for {name(student)}</h1>',
        f'<p class="quiet small">{name(entry.result.file)}</p></header>',
    ]
    said = state_words(entry)
    if said:
        kind = "open" if entry.unsettled else "bad"
        body.append(f'<section class="card" aria-label="State"><p class="{kind}">{escaped(said)}</p></section>')
    exercises = _exercises(entry, lab)
    if exercises:
        body += [_score(entry, lab), _overview(exercises, lab)]
    body += [_exercise(key, title, pairs) for key, title, pairs in exercises]
    body.append("<footer>" + "".join(f"<p>{escaped(line)}</p>" for line in _footer(entry, lab)) + "</footer>")
    return page(f"{lab.title}: feedback for {one_line(student)}", "\n".join(body))


def _score(entry: Entry, lab: LabInfo) -> str:
    got, most = amount(entry.points), amount(lab.out_of)
    share = entry.points / lab.out_of if lab.out_of else 1.0
    more = f'<p class="good">{escaped(ALL_RIGHT)}</p>' if all_right(entry) else ""
    return f'<p class="score"><b>{got}</b> of {most} points</p>{meter(share, f"{got} of {most} points")}{more}'


def _overview(exercises: Sequence, lab: LabInfo) -> str:
    rows = []
    for key, title, pairs in exercises:
        got = sum(mark.points for _, mark in pairs)
        most = sum(part.points for part, _ in pairs)
        right = sum(mark.outcome == "right" for _, mark in pairs)
        rows.append([f'<a href="#{_anchor(key)}">{escaped(title)}</a>', f"{right} of {len(pairs)}", _of(got, most)])
    return table("The exercises", ["exercise", "parts right", "points"], rows, numbers=(2,))


def _exercise(key: str, title: str, pairs: Sequence[tuple[Part, Mark]]) -> str:
    parts = "".join(_part(part, mark) for part, mark in pairs)
    steps = next_steps(key, [mark for _, mark in pairs])
    todo = ""
    if steps:
        lines = "".join(
            f"<li>{escaped(text)}{' <code>' + escaped(code) + '</code>' if code else ''}</li>" for text, code in steps
        )
        todo = f'<h3>To try next</h3><ul class="steps">{lines}</ul>'
    head = f'{escaped(title)} <span class="quiet small">{escaped(key)}</span>'
    return f'<section id="{_anchor(key)}"><h2>{head}</h2>{parts}{todo}</section>'


def _part(part: Part, mark: Mark) -> str:
    sign, text = verdict(mark)
    kind = "good" if mark.outcome == "right" else "bad"
    head = (
        f'<h3><span class="sign {kind}" aria-hidden="true">{sign}</span>{escaped(what_for(part))}: '
        f'<span class="{kind}">{escaped(text)}</span> <span class="quiet">· {_of(mark.points, mark.out_of)}</span></h3>'
    )
    seen = f"<p>What was seen: <strong>{escaped(mark.mistake)}</strong></p>" if mark.mistake else ""
    css = "said code" if mark.outcome in CODE or FRAME.search(mark.why) else "said"
    said = f'<div class="{css}">{block(mark.why)}</div>' if mark.why.strip() else ""
    return f'<div class="card">{head}{seen}{said}</div>' if seen or said else head


def _anchor(key: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in key)


def _of(got: float, most: float) -> str:
    return f"{amount(got)} of {amount(most)}"


# -- Markdown


def as_markdown(entry: Entry, lab: LabInfo) -> bytes:
    """The same in Markdown."""
    lines = [
        f"# {markdown(lab.title)}: feedback for {markdown(entry.result.student)}",
        "",
        f"File: {markdown(entry.result.file)}",
        "",
    ]
    said = state_words(entry)
    lines += [f"**{markdown(said)}**", ""] if said else []
    exercises = _exercises(entry, lab)
    if exercises:
        lines += [f"**{_of(entry.points, lab.out_of)} points**", ""]
        lines += [markdown(ALL_RIGHT), ""] if all_right(entry) else []
        lines += ["| exercise | part | verdict | points |", "|---|---|---|---:|"]
        for _, title, pairs in exercises:
            for part, mark in pairs:
                cells = [
                    markdown(title),
                    markdown(what_for(part)),
                    " ".join(verdict(mark)),
                    _of(mark.points, mark.out_of),
                ]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    for key, title, pairs in exercises:
        told = [(part, mark) for part, mark in pairs if mark.mistake or mark.why.strip()]
        steps = next_steps(key, [mark for _, mark in pairs])
        if told or steps:
            lines += [f"## {markdown(title)}", ""]
        for part, mark in told:
            lines += [f"### {markdown(what_for(part))}: {verdict(mark)[1]}", ""]
            lines += [f"What was seen: **{markdown(mark.mistake)}**", ""] if mark.mistake else []
            lines += [fenced(mark.why), ""] if mark.why.strip() else []
        if steps:
            lines += ["To try next:", ""]
            lines += [f"- {markdown(text)}{f' `{code}`' if code else ''}" for text, code in steps]
            lines.append("")
    lines += ["---", ""] + [f"{markdown(line)}\n" for line in _footer(entry, lab)]
    return ("\n".join(lines).rstrip() + "\n").encode()
