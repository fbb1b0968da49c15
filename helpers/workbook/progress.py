"""How far the learner has come: of each chapter and lab what is predicted, what is passed, and what is next."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path

from helpers.checking import learner_state
from helpers.workbook.chapters import Chapter, chapters, folder, labs, read

WHOLE, LABS = "whole", "labs"
"""The tracks that leave out no section: all chapters and labs, or the labs alone."""
HEADS = ("chapter or lab", "predicted", "right", "exercises", "next step")
_CELL = "padding:3px 12px 3px 0;text-align:left;vertical-align:top"
_TRACK = "display:inline-block;width:64px;height:8px;margin-right:8px;border-radius:4px;background:rgba(127,127,127,.3)"
_FILL = "display:block;height:8px;border-radius:4px;background:#009e73;width:{share:.0f}%"


@dataclass(frozen=True)
class Row:
    """One chapter or lab: predictions answered and right, exercises passed with their days, and what is left."""

    chapter: Chapter
    answered: int
    right: int
    passed: tuple[tuple[str, str], ...]
    open_predictions: int
    open_exercises: tuple[str, ...]

    @property
    def started(self) -> bool:
        return bool(self.answered or self.passed)

    @property
    def done(self) -> bool:
        return not self.open_predictions and not self.open_exercises

    @property
    def next(self) -> str:
        """What to do in it."""
        if self.done:
            last = max((day for _, day in self.passed), default="")
            return f"done, {last}" if last else "done"
        if not self.started:
            return "start"
        if self.open_predictions:
            return f"{self.open_predictions} predictions to go" if self.open_predictions > 1 else "1 prediction to go"
        return f"exercise {self.open_exercises[0]}"


@dataclass(frozen=True)
class Progress:
    """All chapters and labs, and the one to go on with.

    `where` is the folder that keeps the answers, `beside` the one that links start from.
    """

    rows: tuple[Row, ...]
    where: Path | None
    beside: Path

    @property
    def next(self) -> Row | None:
        """Where to go on: the chapter begun last, a lab begun, the next chapter, then whatever was left out."""
        chapters = [row for row in self.rows if row.chapter.number[0].isdigit()]
        labs = [row for row in self.rows if row.started and row not in chapters]
        begun = max((number for number, row in enumerate(chapters) if row.started), default=-1)
        order = (*chapters[begun : begun + 1], *labs, *chapters[begun + 1 :], *self.rows)
        return next((row for row in order if not row.done), None)

    @property
    def step(self) -> str:
        """The next step, in words."""
        return "All done." if self.next is None else f"Next, in {self.next.chapter.place}: {self.next.next}."

    def _cells(self, row: Row) -> tuple[str, ...]:
        asked, given = len(row.chapter.predictions), len(row.chapter.exercises)
        return (
            f"{row.answered} of {asked}" if asked else "–",
            str(row.right) if asked else "–",
            f"{len(row.passed)} of {given}",
            row.next,
        )

    @property
    def _where(self) -> str:
        if self.where is None:
            return "WARPBOOK_STATE is off: nothing is kept."
        return f"Kept in {self.where}; delete that folder to start again.{_older(self.where)}"

    def __repr__(self) -> str:
        table = [HEADS, *((r.chapter.name, *self._cells(r)) for r in self.rows)]
        widths = [max(len(row[column]) for row in table) for column in range(len(HEADS))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:], "", self.step, self._where])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in HEADS)
        body = ""
        for row in self.rows:
            predicted, right, passed, following = self._cells(row)
            name = html.escape(row.chapter.name)
            link = Path(os.path.relpath(row.chapter.path, self.beside)).as_posix()
            asked = len(row.chapter.predictions)
            cells = (
                _bar(row.answered, asked) + predicted if asked else predicted,
                right,
                _bar(len(row.passed), len(row.chapter.exercises)) + passed,
                html.escape(following),
            )
            body += (
                f'<tr><th scope="row" style="{_CELL};font-weight:normal">'
                f'<a href="{html.escape(link)}">{name}</a></th>'
                + "".join(f'<td style="{_CELL};white-space:nowrap">{cell}</td>' for cell in cells)
                + "</tr>"
            )
        return (
            '<div style="max-width:900px;overflow-x:auto"><table style="margin:0;font-size:13px">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p><b>{html.escape(self.step)}</b><br>{html.escape(self._where)}</p></div>"
        )


def _older(where: Path) -> str:
    """How to take over what an older version kept for all workbooks, until this one has answers of its own."""
    shared = learner_state.shared_folder()
    kinds = [kind for kind in (learner_state.PREDICTIONS, learner_state.EXERCISES) if (shared / kind).is_dir()]
    if not kinds or where.exists() or where.parent != shared:
        return ""
    return f" An older version kept answers in {' and '.join(kinds)} of {shared}: move both here to go on with them."


def _bar(part: int, whole: int) -> str:
    """A bar that says nothing the number beside it does not."""
    share = 100 * part / whole if whole else 0
    return f'<span aria-hidden="true" style="{_TRACK}"><span style="{_FILL.format(share=share)}"></span></span>'


def progress(where: Path | None = None, track: str = WHOLE) -> Progress:
    """What the learner has answered and passed, chapter by chapter, then the labs; `where` is the chapters' folder.

    `track`: "whole", "labs", or one of the folder's tracks.toml, of which only its sections count. The questions are
    read from the notebooks, the answers from the learner's folder (`learner_state`). Raises ValueError for an unknown
    track.
    """
    where = (where or folder()).resolve()
    return Progress(tuple(map(_row, _pages(where, track))), learner_state.state_folder(), where)


def _pages(where: Path, track: str) -> tuple[Chapter, ...]:
    if track == WHOLE:
        return *chapters(where), *labs(where)
    if track == LABS:
        return labs(where)
    from helpers.workbook import style, tracks

    known = tracks.tracks(where)
    if track not in known:
        raise ValueError(f"There is no track {track!r}, only {', '.join((WHOLE, *known, LABS))}.")
    found = []
    for number in known[track].chapters:
        (path,) = where.glob(f"{number}_*.ipynb")
        found.append(read(path, known[track].skipped(number, style.open_page(path).cells)))
    return tuple(found)


def _row(chapter: Chapter) -> Row:
    said = {key: learner_state.entry(learner_state.PREDICTIONS, key) for key in chapter.predictions}
    answered = [entry for entry in said.values() if entry.get("said") is not None]
    days = {key: learner_state.entry(learner_state.EXERCISES, key).get("passed") for key in chapter.exercises}
    return Row(
        chapter,
        answered=len(answered),
        right=sum(entry.get("right") is True for entry in answered),
        passed=tuple((key, str(day)) for key, day in days.items() if day),
        open_predictions=len(said) - len(answered),
        open_exercises=tuple(key for key, day in days.items() if not day),
    )
