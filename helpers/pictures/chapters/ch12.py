"""Pictures of chapter 12: the decision tree of a diagnosis."""

from __future__ import annotations

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.ink import GREY, PALE, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.results.diagnose import SYMPTOMS, Diagnosis

WIDTH = 760
ROW, TALL, LEFT, MIDDLE = 54, 34, 10, 372  # pixels from row to row, of a box, and where the two columns begin
_LONGEST = 68  # characters that fit into a box on the right
FIRST = ("Is the GPU at work all the time?", "gaps between kernels: fuse, graphs, streams (11, 14)")
LAST = "Healthy: the roofline says which unit limits it (10)"
RED, PINK, PALE_ORANGE = PALETTE["vermilion"], "#fde3d3", "#fdf3dd"


def questions(diagnosis: Diagnosis | None = None) -> Drawing:
    """The tree of questions; of a diagnosis also its readings, the exits it found, and the one that gains most in red.

    The first question needs a time line, and is left open by a diagnosis, which knows one kernel only.
    """
    ink = Ink()
    ink.text(LEFT, 16, "yes: go on down", size=11, ink=PALE, mono=False)
    ink.text(MIDDLE, 16, "no: this is a symptom (chapter)", size=11, ink=PALE, mono=False)
    rows = [(FIRST[0], FIRST[1], "", "open")]
    for place, symptom in enumerate(SYMPTOMS):
        exit_ = f"{symptom.name} ({symptom.chapter})"
        rows.append((symptom.question, exit_, *_state(diagnosis, place)))
    for number, (question, exit_, reading, state) in enumerate(rows):
        _row(ink, 26 + number * ROW, question, exit_, reading, state)
    bottom = 26 + len(rows) * ROW
    ink.box(LEFT, bottom, 330, TALL, "#e2f3ec", PALETTE["green"])
    ink.text(LEFT + 10, bottom + 21, LAST, size=12, mono=False)
    return ink.drawing(_finding(diagnosis), WIDTH, bottom + TALL + 8)


def _state(diagnosis: Diagnosis | None, place: int) -> tuple[str, str]:
    if diagnosis is None:
        return "", "open"
    answer = diagnosis.answers[place]
    if not answer.present:
        return answer.reading, "healthy"
    if answer is diagnosis.worst:
        return f"{answer.reading}: {answer.gain:.2g} times as fast without", "worst"
    return f"{answer.reading}: {'gains less' if answer.counts else 'gains next to nothing'}", "present"


def _row(ink: Ink, top: float, question: str, exit_: str, reading: str, state: str) -> None:
    fill, edge = {"worst": (PINK, RED), "present": (PALE_ORANGE, PALETTE["orange"])}.get(state, ("#f4f6f8", GREY))
    ink.box(LEFT, top, 330, TALL, "#e8f1f8", PALETTE["blue"])
    ink.text(LEFT + 10, top + 21, question, size=12, mono=False)
    ink.rule(LEFT + 60, top + TALL, LEFT + 60, top + ROW - 1)
    ink.text(LEFT + 66, top + TALL + 14, "yes", size=10, ink=PALE, mono=False)
    if state == "healthy":
        ink.text(MIDDLE, top + 21, fitted(reading, _LONGEST), size=11, ink=PALE, mono=False)
        return
    ink.rule(LEFT + 330, top + TALL / 2, MIDDLE, top + TALL / 2)
    ink.text(LEFT + 336, top + TALL / 2 - 4, "no", size=10, ink=PALE, mono=False)
    ink.box(MIDDLE, top, WIDTH - MIDDLE - 6, TALL, fill, edge, line=2 if state == "worst" else 1)
    if not reading:
        ink.text(MIDDLE + 10, top + 21, exit_, size=12, mono=False)
        return
    ink.text(MIDDLE + 10, top + 14, exit_, size=12, bold=state == "worst", mono=False)
    ink.text(MIDDLE + 10, top + 28, fitted(reading, _LONGEST), size=10.5, mono=False)


def _finding(diagnosis: Diagnosis | None) -> str:
    if diagnosis is None:
        return (
            f"{len(SYMPTOMS) + 1} questions, from the whole GPU down to one warp: a yes goes on to the next, a no "
            "names the symptom and the chapter with its cure."
        )
    found = [answer.symptom.name for answer in diagnosis.answers if answer.present]
    noes = f"no to {' and '.join(found)}" if found else "yes to every question that counters answer"
    return f"{diagnosis.kernel}: {noes}; {diagnosis.verdict}."
