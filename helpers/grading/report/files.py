"""Files of a results folder: named for students, written whole or not at all, gone when no report has them any more."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from helpers.grading.report.words import one_line

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


def as_json(data: object) -> bytes:
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


# -- names: safe on every system, one a submission, and the same ones each time

LONGEST = 100
"""Bytes of a name in UTF-8; a file system takes 255, suffix included."""
_ALLOWED = " .,-_+=@()"
"""Besides letters and digits: no sign that a file system, a shell or a link takes for something else."""
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


def safe(name: str) -> str:
    """`name` without what a file name must not have; it may be another name's too."""
    text = unicodedata.normalize("NFC", one_line(name))
    text = "".join(sign if sign in _ALLOWED or unicodedata.category(sign)[0] in "LMN" else "\0" for sign in text)
    text = re.sub("\0+", "_", text)
    text = re.sub(r"^[.\-]", "_", text)
    if _DEVICES.match(text):
        text = "_" + text
    text = text.encode()[:LONGEST].decode(errors="ignore").rstrip(" .")
    return text or "_"


def stems(submissions: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A file name, without its suffix, for each (student, file).

    A name that had to be changed, and each of several that a system could take for one another, ends in a hash of
    student and file, so that it does not depend on who else is in the class.
    """
    keys = sorted(set(submissions))
    plain = {key: safe(key[0]) for key in keys}
    digits = 8
    while True:
        taken = Counter(folded(stem) for stem in plain.values())
        found = {
            key: stem if stem == key[0] and taken[folded(stem)] == 1 else f"{stem}-{_hash(key)[:digits]}"
            for key, stem in plain.items()
        }
        if len({folded(stem) for stem in found.values()}) == len(keys):
            return found
        digits += 8


def folded(stem: str) -> str:
    """What two names have in common that a file system may take for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", stem).casefold())


def _hash(key: tuple[str, str]) -> str:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()
