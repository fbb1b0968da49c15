"""Whose a file is, read from the names of the folders and files that it lies in, and how such names are compared."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

from helpers.grading import archives

# Canvas: name, number of the student, number of the file; Moodle: name, number. One number alone may be part of a name.
PLATFORM = re.compile(r"(?P<student>.+?)(?:_LATE)?_(?P<number>\d+)_(?:\d+_|assignsubmission_)")
CLASS_FOLDERS = ("submitted", "submissions")  # as nbgrader calls the folder of all students, and as others do


def natural(text: str) -> tuple:
    """A key that sorts numbers in names as numbers."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((int(part[:18]), part) if number % 2 else (-1, part) for number, part in enumerate(parts))


def last(file: str) -> tuple:
    """A key by which the one that counts comes last: by name without its ending, so that lab-1 follows lab."""
    return natural(file.removesuffix(archives.NOTEBOOK)), file


def student_of(parts: Sequence[str], lab: str) -> str:
    """The student's name from where a file lies: the parts of its path in the folder."""
    first, alone = telling(parts)
    on_platform = PLATFORM.match(first)
    if on_platform:
        name = on_platform["student"]
    elif alone:
        ending = archives.ending(first) or PurePosixPath(first).suffix
        name = first.removesuffix(ending) or first
        called = rf"(?:{re.escape(lab)}|{re.escape(lab.split('_')[0])})"
        name = re.sub(rf"[-_. ]+{called}(?:[-_. ]*\(?\d+\)?)?$", "", name) or name
    else:
        name = first
    return unicodedata.normalize("NFC", name)  # macOS writes é as two characters, others as one


def platform_number(file: str) -> str:
    """The number that a learning platform gave to the student who handed in `file`; "" where there is none."""
    found = next(filter(None, map(PLATFORM.match, file.split("/"))), None)
    return found["number"] if found else ""


def telling(parts: Sequence[str]) -> tuple[str, bool]:
    """The part of a path that tells whose it is, and whether it is the file itself."""
    parts = parts[1:] if len(parts) > 1 and parts[0] in CLASS_FOLDERS else parts
    return parts[0], len(parts) == 1


def printable(name: str) -> str:
    """A file's name as text that can be written: bytes that are no UTF-8 as \\x.."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
