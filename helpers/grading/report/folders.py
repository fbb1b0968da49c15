"""Results folders: reading one, and merging those of several machines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers.grading import ledger, secret
from helpers.grading.report.files import put
from helpers.grading.report.lab import LabInfo
from helpers.grading.report.material import Fingerprints, Told, why_unsettled
from helpers.grading.report.words import amount, listed, one_line
from helpers.grading.results import UNGRADED, Result
from vgpu.base.words import plural

LINES, LAB = "results.jsonl", "lab.json"
OTHER_SEEDS = (
    "the folders were graded with different seeds: not all students had the same hidden cases. "
    "Grade all shards again with one --seed"
)


@dataclass(frozen=True)
class Folder:
    """What a results folder holds: results, the lab, which shard of how many it is.

    `told` is for the reports; `lacks` says which results may be missing, and is kept with merged ones; `remarks` are
    for whoever calls, and in no report.
    """

    results: tuple[Result, ...]
    lab: LabInfo
    shard: tuple[int, int] | None = None
    told: tuple[Told, ...] = ()
    lacks: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    fingerprints: Fingerprints = field(default_factory=Fingerprints, repr=False)

    def all_told(self) -> tuple[Told, ...]:
        """What the reports say of it, what it lacks first."""
        return (*(Told(text, loud=True) for text in self.lacks), *self.told)


def read_lines(path: Path) -> tuple[list[Result], str, list[str]]:
    """The results of a JSONL file, what it lacks, and remarks; of several for one student and file the last counts.

    The last line of a run that was killed may be torn: its result is missing. A torn line before others is what is
    left of a run that was taken up again.
    """
    last: dict[tuple[str, str], Result] = {}
    lines = [(number, line) for number, line in enumerate(path.read_bytes().split(b"\n"), 1) if line.strip()]
    lacks, remarks = "", []
    for number, line in lines:
        try:
            result = Result.from_json(json.loads(line))
            last[result.student, result.file] = result
        except (ValueError, KeyError, TypeError, RecursionError):
            text = f"{path.name}: line {number} is torn or no result, and is left out"
            if number == lines[-1][0]:
                lacks = f"{text}; grade again to complete it"
            else:
                remarks.append(text)
    return list(last.values()), lacks, remarks


def read(folder: Path) -> Folder:
    """What `warpbook grade` left in a folder; raises FileNotFoundError or ValueError that say what is missing."""
    folder = Path(folder)
    for name in (LAB, LINES):
        if not (folder / name).is_file() and (folder / ledger.NAME).is_file():
            raise FileNotFoundError(f"The run in {folder} was stopped: call `warpbook grade` again, and it goes on")
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} has no {name}: give the folder that `warpbook grade … --out` wrote")
    try:
        data = json.loads((folder / LAB).read_bytes())
        lab = LabInfo.from_json(data["lab"])
        shard = tuple(data["shard"]) if data.get("shard") else None
        before = tuple(map(str, data.get("lacks", ())))
        told = tuple(Told(str(text), bool(loud)) for text, loud in data.get("told", ()))
        prints = Fingerprints(**data.get("fingerprints", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{folder / LAB} is not what `warpbook grade` writes ({problem}): grade again") from None
    results, lacks, remarks = read_lines(folder / LINES)
    return Folder(tuple(results), lab, shard, told, (*before, *filter(None, [lacks])), tuple(remarks), prints)


def merge(folders: Sequence[Path]) -> Folder:
    """The results of several folders as one, with what overlaps, disagrees or is missing told.

    A verdict counts before none. Two verdicts that differ are none: the submission has to be graded again. Raises
    ValueError when the folders are of different labs.
    """
    found = [(Path(folder), read(folder)) for folder in folders]
    if not found:
        raise ValueError("there is no results folder to merge")
    first_path, first = found[0]
    lab = first.lab
    told: list[Told] = list(dict.fromkeys(each for _, folder in found for each in folder.told))
    lacks: list[str] = []
    prints = Fingerprints()
    for path, folder in found:
        if replace(folder.lab, versions=(), tiers=()) != replace(lab, versions=(), tiers=()):
            labs = f"{folder.lab.name}, {lab.name}"
            raise ValueError(f"{path} and {first_path} are of different labs, or of other points: {labs}")
        if folder.lab.versions != lab.versions:
            told.append(Told(f"{path.name} and {first_path.name} were graded with different versions"))
        lacks += [f"{path.name}: {text}" for text in folder.lacks]
        prints = prints.joined(folder.fingerprints)
    tiers = {tier.name: tier for _, folder in reversed(found) for tier in folder.lab.tiers}
    lab = replace(lab, tiers=tuple(tiers[name] for name in sorted(tiers)))
    if len({(path / secret.NAME).read_bytes() for path, _ in found if (path / secret.NAME).is_file()}) > 1:
        told.append(Told(OTHER_SEEDS, loud=True))
    lacks += _shards([(path.name, folder.shard) for path, folder in found])
    results, more = _results(found, lab)
    remarks = [f"{path.name}: {text}" for path, folder in found for text in folder.remarks]
    return Folder(tuple(results), lab, None, (*told, *more), tuple(lacks), tuple(remarks), prints)


def keep(folder: Path, results: Sequence[Result]) -> None:
    """Write results as `read` reads them, sorted."""
    ordered = sorted(results, key=lambda result: (result.student, result.file))
    put(folder / LINES, b"".join(json.dumps(result.as_json()).encode() + b"\n" for result in ordered))


def _shards(shards: list[tuple[str, tuple[int, int] | None]]) -> list[str]:
    """What is missing of the class, as far as the folders say which shards they are."""
    lacks = []
    known = [shard for _, shard in shards if shard]
    for count in sorted({count for _, count in known}):
        there = [which for which, of in known if of == count]
        missing = [str(which) for which in range(1, count + 1) if which not in there]
        if missing:
            lacks.append(f"SHARDS MISSING of {count}: {listed(missing)}. Their submissions are not in this report")
    if len({count for _, count in known}) > 1:
        said = ", ".join(f"{name}: {shard[0]} of {shard[1]}" for name, shard in shards if shard)
        lacks.append(f"the folders are shards of different divisions of the class: {said}")
    return lacks


def _verdict(result: Result) -> tuple:
    """What has to be the same in two folders: not the words, which tell of cases that each drew for itself."""
    return result.state, tuple((mark.cell, mark.outcome, mark.points) for mark in result.marks)


def _results(found: list[tuple[Path, Folder]], lab: LabInfo) -> tuple[list[Result], list[Told]]:
    by: dict[tuple[str, str], list[tuple[str, Result]]] = defaultdict(list)
    for path, folder in found:
        for result in folder.results:
            by[result.student, result.file].append((path.name, result))
    results, told, overlap = [], [], []
    for (student, _), places in sorted(by.items()):
        settled = [(where, result) for where, result in places if not why_unsettled(result, lab)]
        _, chosen = (settled or places)[0]
        if len(places) > 1:
            overlap.append(student)
        if any(_verdict(result) != _verdict(chosen) for _, result in settled):
            said = "; ".join(f"{where}: {result.state}, {amount(result.points)} points" for where, result in settled)
            chosen = replace(chosen, state=UNGRADED, marks=(), reason=f"results folders disagree ({said})")
            text = f"{one_line(student, 80)} has different results in several folders, so is NOT graded: {said}"
            told.append(Told(text, loud=True))
        results.append(chosen)
    if overlap:
        told.insert(0, Told(f"{plural(len(overlap), 'submission')} in several folders: {listed(overlap)}"))
    return results, told
