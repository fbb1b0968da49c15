"""The results of the last runs, kept as JSON: a line for each program, in the manifest's order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vgpu.bench.fidelity.manifest import Program, Published
from vgpu.bench.fidelity.outcome import Kernel, Outcome
from vgpu.bench.pages import made

RESULTS = Path(__file__).with_name("results.json")


@dataclass
class Results:
    """What became of programs, and our figures where others have published theirs (None: not found), by their keys.

    made: the machine, the versions and the day of the last run.
    """

    programs: dict[str, Outcome] = field(default_factory=dict)
    published: dict[str, dict[str, float | None]] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)


def read(path: Path, listed: Sequence[Program], figures: Sequence[Published]) -> Results:
    """What a file has of the manifest's programs and figures; nothing where there is no file."""
    if not path.is_file():
        return Results()
    kept = json.loads(path.read_text(encoding="utf-8"))
    programs = {
        program.key: _outcome(kept["programs"][program.key]) for program in listed if program.key in kept["programs"]
    }
    return Results(
        programs,
        {figure.key: kept["published"][figure.key] for figure in figures if figure.key in kept["published"]},
        kept["made"],
    )


def _outcome(data: dict[str, Any]) -> Outcome:
    kernels = [
        Kernel(**{**each, "grid": tuple(each["grid"]), "block": tuple(each["block"])}) for each in data["kernels"]
    ]
    return Outcome(**{**data, "kernels": tuple(kernels)})


def write(path: Path, results: Results, listed: Sequence[Program], figures: Sequence[Published]) -> None:
    """Write the file, with this machine and day."""
    results.made = made()
    programs = {each.key: asdict(results.programs[each.key]) for each in listed if each.key in results.programs}
    published = {each.key: results.published[each.key] for each in figures if each.key in results.published}
    parts = [
        f'"made": {json.dumps(results.made)}',
        f'"programs": {_by_line(programs)}',
        f'"published": {_by_line(published)}',
    ]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _by_line(table: dict[str, Any]) -> str:
    rows = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    return "{\n" + ",\n".join(rows) + "\n}"
