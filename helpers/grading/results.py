"""What grading gives: a mark for each graded cell, and one result for each submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

GRADED, REJECTED, STUDENT_FAULT, UNGRADED = "graded", "rejected", "student_fault", "ungraded"
STATES = {
    GRADED: "ran to its end; every mark stands",
    STUDENT_FAULT: "ran out of time, memory or output, or crashed; the points of other cells are kept",
    REJECTED: "could not be read as a submission to this lab; nothing was run",
    UNGRADED: "the grader failed repeatedly: this isn't a zero, grade it again",
}
"""The states of a submission and what they mean."""

OUTCOMES = {
    "right": "the part is right",
    "wrong": "the evidence was judged, and is not right",
    "error": "the student's code raised an exception",
    "missing": "the submission has no answer in this place",
    "timeout": "the cell took too long and was stopped",
    "crash": "the kernel died in the cell",
    "memory": "the cell used more memory than it may",
    "output": "the cell wrote more than it may",
    "unjudged": "the grader itself failed here",
    "overridden": "an instructor set the points by hand",
}
"""What became of one graded cell."""
OVERRIDDEN = "overridden"
FAULTS = ("timeout", "crash", "memory", "output")


@dataclass(frozen=True)
class Mark:
    """One graded cell of one submission.

    `cell` is its grade_id; `exercise` the key of its row, such as "lab05.total"; `part` "results" or a budget's label;
    `points` earned of `out_of`; `outcome` one of `OUTCOMES`; `mistake` the name of the misconception, where one was
    recognised; `why` words for the student, without hidden inputs; `seconds` the cell and its judging took.
    """

    cell: str
    exercise: str
    part: str
    points: float
    out_of: float
    outcome: str
    mistake: str | None = None
    why: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Result:
    """One submission, graded or not.

    `student` is the name under which it was handed in, `file` where it lies relative to the folder of submissions,
    `key` the hash of all that the marks depend on, `tier` the sandbox that it ran in ("" where nothing was run),
    `reason` why it was rejected, at fault or not graded, `notes` what the instructor should know (a cell that was not
    the lab's, a file handed in twice), `late` the ids of cells that ran out of time.
    """

    student: str
    file: str
    lab: str
    state: str
    marks: tuple[Mark, ...] = ()
    reason: str = ""
    key: str = ""
    tier: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    late: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(mark.points for mark in self.marks)

    @property
    def out_of(self) -> float:
        return sum(mark.out_of for mark in self.marks)

    def as_json(self) -> dict:
        """Plain dictionaries, lists, texts and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping) -> Result:
        """The inverse of `as_json`; raises KeyError or TypeError for anything else."""
        marks = tuple(Mark(**mark) for mark in data["marks"])
        return cls(**{**data, "marks": marks, "notes": tuple(data["notes"]), "late": tuple(data.get("late", ()))})
