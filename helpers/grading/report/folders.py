"""Results folders: reading one, and merging those of several machines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from helpers.grading.report.files import put
from helpers.grading.report.lab import LabInfo
from helpers.grading.report.material import Told, why_unsettled
from helpers.grading.report.words import amount, listed, one_line, plural
from helpers.grading.results import UNGRADED, Result

LINES, LAB = "results.jsonl", "lab.json"


@dataclass(frozen=True)
class Folder:
    """What a results folder holds: results, the lab, which shard of how many it is, what was odd in it.

    `complete` is False where results may be missing: a torn line, a shard that is not there.
    """

    results: tuple[Result, ...]
    lab: LabInfo
    shard: tuple[int, int] | None = None
    told: tuple[Told, ...] = ()
    complete: bool = True


def read_lines(path: Path) -> tuple[list[Result], list[Told]]:
    """The results of a JSONL file and what was odd in it; of several for one student and file the last counts.

    The last line of a run that was killed may be torn: it is told and left out, and so is any other that is no
    result.
    """
    last: dict[tuple[str, str], Result] = {}
    told = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            result = Result.from_json(json.loads(line))
            last[result.student, result.file] = result
        except (ValueError, KeyError, TypeError, RecursionError):
            told.append(Told(f"{path.name}: line {number} is torn or no result, and is LEFT OUT", loud=True))
    return list(last.values()), told


def read(folder: Path) -> Folder:
    """What `warpbook grade` left in a folder; raises FileNotFoundError or ValueError that say what is missing."""
    folder = Path(folder)
    for name in (LAB, LINES):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} has no {name}: give the folder that `warpbook grade … --out` wrote")
    try:
        data = json.loads((folder / LAB).read_bytes())
        lab = LabInfo.from_json(data["lab"])
        shard = tuple(data["shard"]) if data.get("shard") else None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{folder / LAB} is not what `warpbook grade` writes ({problem}): grade again") from None
    results, told = read_lines(folder / LINES)
    return Folder(tuple(results), lab, shard, tuple(told), complete=not told)


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
    told, complete = [], True
    for path, folder in found:
        if replace(folder.lab, versions=(), tiers=()) != replace(lab, versions=(), tiers=()):
            raise ValueError(
                f"{path} and {first_path} are not of one lab: {folder.lab.name}, {lab.name}, or other points"
            )
        if folder.lab.versions != lab.versions:
            told.append(Told(f"{path.name} and {first_path.name} were graded with different versions"))
        told += [replace(line, text=f"{path.name}: {line.text}") for line in folder.told]
        complete &= folder.complete
    tiers = {tier.name: tier for _, folder in reversed(found) for tier in folder.lab.tiers}
    lab = replace(lab, tiers=tuple(tiers[name] for name in sorted(tiers)))
    missing = _shards([(path.name, folder.shard) for path, folder in found])
    results, disagree = _results(found, lab)
    return Folder(tuple(results), lab, None, (*told, *missing, *disagree), complete and not missing)


def keep(folder: Path, results: Sequence[Result]) -> None:
    """Write results as `read` reads them, sorted."""
    ordered = sorted(results, key=lambda result: (result.student, result.file))
    put(folder / LINES, b"".join(json.dumps(result.as_json()).encode() + b"\n" for result in ordered))


def _shards(shards: list[tuple[str, tuple[int, int] | None]]) -> list[Told]:
    told = []
    known = [shard for _, shard in shards if shard]
    for count in sorted({count for _, count in known}):
        there = [which for which, of in known if of == count]
        missing = [str(which) for which in range(1, count + 1) if which not in there]
        if missing:
            text = f"SHARDS MISSING of {count}: {listed(missing)}. Their submissions are not in this report"
            told.append(Told(text, loud=True))
    if len({count for _, count in known}) > 1:
        said = ", ".join(f"{name}: {shard[0]} of {shard[1]}" for name, shard in shards if shard)
        told.append(Told(f"the folders are shards of different divisions of the class: {said}", loud=True))
    return told


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
        if any((result.state, result.marks) != (chosen.state, chosen.marks) for _, result in settled):
            said = "; ".join(f"{where}: {result.state}, {amount(result.points)} points" for where, result in settled)
            chosen = replace(chosen, state=UNGRADED, marks=(), reason=f"results folders disagree ({said})")
            text = f"{one_line(student, 80)} has different results in several folders, so is NOT graded: {said}"
            told.append(Told(text, loud=True))
        results.append(chosen)
    if overlap:
        told.insert(0, Told(f"{plural(len(overlap), 'submission')} in several folders: {listed(overlap)}"))
    return results, told
