"""From results to what people read: gradebooks, feedback for students, a summary for the instructor.

`write` puts the files of all `FORMATS` into a folder; each format is one module with one function from `Material` to
files, and a row here. Nothing in them depends on a clock or on order: the same results give the same bytes. (Seconds
are in `seconds.csv` alone.) `read` and `merge` take results folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from helpers.grading.report.canvas import canvas
from helpers.grading.report.classroom import Classroom
from helpers.grading.report.classroom import keep as keep_class
from helpers.grading.report.feedback import feedback
from helpers.grading.report.files import as_json, put_all
from helpers.grading.report.fingerprint import fingerprint
from helpers.grading.report.folders import LAB, Folder, keep, merge, read
from helpers.grading.report.gradebook import gradebook, seconds
from helpers.grading.report.lab import LabInfo, Part, Tier
from helpers.grading.report.machines import gradescope, junit
from helpers.grading.report.material import Fingerprints, Made, Material, Told, gather, why_unsettled
from helpers.grading.report.moodle import moodle
from helpers.grading.report.summary import summary
from helpers.grading.report.transcript import as_text as _as_text
from helpers.grading.report.transcript import transcript
from helpers.grading.results import Result

__all__ = [
    "FORMATS",
    "Classroom",
    "Fingerprints",
    "Folder",
    "LabInfo",
    "Part",
    "Tier",
    "Told",
    "as_text",
    "exit_status",
    "fingerprint",
    "keep",
    "make",
    "merge",
    "read",
    "write",
]


FORMATS: dict[str, Callable[[Material], Made]] = {
    make.__name__: make
    for make in (gradebook, canvas, moodle, gradescope, junit, feedback, seconds, summary, transcript)
}
"""What can be written, in the order of `formats.SUMMARIES`. The last sees what the others had to tell."""
TEMPLATES = ("canvas", "moodle")
"""Formats that fill in a file of the learning platform's own."""


def make(
    results: Iterable[Result],
    lab: LabInfo,
    formats: Sequence[str] | None = None,
    *,
    canvas: bytes | None = None,
    moodle: bytes | None = None,
    column: str = "",
    fingerprints: Fingerprints | None = None,
    zero_rejected: bool = False,
    classroom: Classroom | None = None,
    told: Iterable[Told] = (),
) -> tuple[Material, dict[str, dict[str, bytes]]]:
    """The files of each format by their path in the results folder, and the material with all that is told.

    Raises ValueError for a format that there is not, and for a Canvas template that cannot be filled.
    """
    unknown = [name for name in formats or () if name not in FORMATS]
    if unknown:
        raise ValueError(f"there is no format {unknown[0]!r}; there are {', '.join(FORMATS)}")
    templates = {name: data for name, data in (("canvas", canvas), ("moodle", moodle)) if data is not None}
    for name in TEMPLATES:
        if name in (formats or ()) and name not in templates:
            raise ValueError(f"the format {name} fills a template: export it in {name.capitalize()} and give it")
    material = gather(
        results,
        lab,
        told=told,
        templates=templates,
        column=column,
        fingerprints=fingerprints or Fingerprints(),
        zero_rejected=zero_rejected,
        classroom=classroom,
    )
    files: dict[str, dict[str, bytes]] = {}
    for name, maker in FORMATS.items():
        if formats is None or name in formats:
            made = maker(material)
            files[name] = dict(made.files)
            material = replace(material, told=(*material.told, *made.told))
    return material, files


def write(
    folder: Path,
    results: Iterable[Result],
    lab: LabInfo,
    formats: Sequence[str] | None = None,
    *,
    shard: tuple[int, int] | None = None,
    lacks: Sequence[str] = (),
    **options: Any,
) -> list[Path]:
    """Write reports into `folder` and return the paths; `formats` are names of `FORMATS`, default all.

    `canvas`: the bytes of Canvas's exported gradebook, to be filled, and `column` the heading to fill where it is not
    the lab's title; `moodle`: those of Moodle's grading worksheet; `classroom`: roster, late rule and overrides, which
    are kept for the next report; `fingerprints`: for the summary's list of equal answers; `zero_rejected`: give
    rejected submissions 0 points instead of none; `told`: more for the instructor; `shard`: (which, of how many), for
    `merge`; `lacks`: what is missing of the class. `lab.json` and `files.json` are always written: what was reported
    on, and which file is whose.
    """
    material, files = make(results, lab, formats, **options)
    told = [[each.text, each.loud] for each in options.get("told", ()) if each.text not in lacks]
    known = {"lab": lab.as_json(), "shard": shard, "lacks": list(lacks), "told": told}
    files["lab"] = {LAB: as_json({**known, "fingerprints": asdict(material.fingerprints)})}
    students = [
        {"student": entry.result.student, "file": entry.result.file, "name": entry.stem} for entry in material.entries
    ]
    if options.get("classroom"):
        keep_class(Path(folder), options["classroom"])
    return put_all(Path(folder), files, students)


def as_text(results: Iterable[Result], lab: LabInfo, formats: Sequence[str] | None = None, **options: Any) -> str:
    """The class as a table for the terminal; its last line is loud when anything is not graded.

    Options are those of `write`.
    """
    material, _ = make(results, lab, formats, **options)
    return _as_text(material)


def exit_status(results: Iterable[Result], lab: LabInfo | None = None) -> int:
    """0 when every submission is graded, rejected or at fault; 1 when any still has to be graded."""
    return int(any(why_unsettled(result, lab) for result in results))
