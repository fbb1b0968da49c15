"""Files of a results folder: written whole or not at all, and gone when no report has them any more."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

INDEX = "files.json"
"""Says which file is whose, and which files the reports are."""


def put(path: Path, data: bytes) -> None:
    """Write `data` to `path`; whoever reads meanwhile sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def put_all(folder: Path, formats: Mapping[str, Mapping[str, bytes]], students: list[dict]) -> list[Path]:
    """Write the files of each format and an index of them; remove what a format had last time and has not now.

    So a student who is not graded any more keeps no old feedback.
    """
    reports = _index(folder / INDEX)
    before = {name for format in formats for name in reports.get(format, ())}
    files = {name: data for made in formats.values() for name, data in made.items()}
    reports |= {format: sorted(made) for format, made in formats.items()}
    files[INDEX] = as_json({"reports": dict(sorted(reports.items())), "students": students})
    for name in sorted(before - set(files)):
        (folder / name).unlink(missing_ok=True)
    for name in sorted(files):
        put(folder / name, files[name])
    return [folder / name for name in sorted(files)]


def as_json(data) -> bytes:
    """JSON that is the same each time and ends in a line end; halves of surrogate pairs stay escapes."""
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = json.dumps(data, indent=1, allow_nan=False)
    return text.encode() + b"\n"


def _index(path: Path) -> dict[str, list[str]]:
    """The files of each format that an index names, but none outside its folder."""
    try:
        reports = json.loads(path.read_bytes())["reports"]
        return {format: [name for name in names if _inside(name)] for format, names in reports.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name
