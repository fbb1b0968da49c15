"""Pictures of chapter 12: the decision tree of a diagnosis."""

from __future__ import annotations

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.templates import from_template
from helpers.results.diagnose import SYMPTOMS, Diagnosis

FIRST = ("Is the GPU busy all the time?", "gaps between kernels: fuse, graphs, streams (11, 14)", "", "open")


def questions(diagnosis: Diagnosis | None = None) -> Drawing:
    """The tree of questions; of a diagnosis also its readings, the exits it found, and the one that gains most in red.

    The first question needs a time line, and is left open by a diagnosis, which knows one kernel only.
    """
    rows = [
        (symptom.question, f"{symptom.name} ({symptom.chapter})", *_state(diagnosis, place))
        for place, symptom in enumerate(SYMPTOMS)
    ]
    return from_template("questions", _finding(diagnosis), rows=[FIRST, *rows])


def _state(diagnosis: Diagnosis | None, place: int) -> tuple[str, str]:
    if diagnosis is None:
        return "", "open"
    answer = diagnosis.answers[place]
    if not answer.present:
        return answer.reading, "healthy"
    if answer is diagnosis.worst:
        return f"{answer.reading}: {answer.gain:.2g} times as fast without", "worst"
    return f"{answer.reading}: {'gains less' if answer.counts else 'gains next to nothing'}", "present"


def _finding(diagnosis: Diagnosis | None) -> str:
    if diagnosis is None:
        return (
            f"{len(SYMPTOMS) + 1} questions, from the whole GPU down to one warp: a yes leads to the next, a no "
            "to the symptom and the chapter with its remedy."
        )
    found = [answer.symptom.name for answer in diagnosis.answers if answer.present]
    return f"{diagnosis.kernel}, symptoms: {' and '.join(found) or 'none'}; diagnosis: {diagnosis.verdict}."
