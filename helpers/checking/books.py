"""Where the books of exercises are: the course's, and those of another project, beside its notebooks.

A folder `warpbook_exercises/` in the working folder, or in a folder around it, holds books as `helpers/exercises/`
does. `WARPBOOK_EXERCISES` names another folder; `WARPBOOK_EXERCISES=off` looks for none.
"""

from __future__ import annotations

import os
import pkgutil
import re
from pathlib import Path

VARIABLE, FOLDER = "WARPBOOK_EXERCISES", "warpbook_exercises"
COURSE = Path(__file__).resolve().parents[1] / "exercises"


class BadFolder(ValueError):
    """The folder of own exercises can't be used; the message says why."""


def own(start: Path | None = None) -> Path | None:
    """The folder of another project's books, seen from a folder (default: the working folder); None without one.

    Raises BadFolder where the variable names no folder, or where a book is called like one of the course.
    """
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() == "off":
        return None
    found = Path(chosen).expanduser().resolve() if chosen else _around(start)
    if found is None:
        return None
    if not found.is_dir():
        raise BadFolder(f"{VARIABLE} names {found}, which is no folder: name the one that has your books, or `off`")
    if taken := sorted({*names(found)} & {*course()}):
        raise BadFolder(f"{found / taken[0]}: the course has a book {taken[0]}; give yours another name")
    return found


def _around(start: Path | None) -> Path | None:
    try:
        place = (start or Path.cwd()).resolve()
    except OSError:  # a folder that was removed meanwhile
        return None
    return next((each / FOLDER for each in (place, *place.parents) if (each / FOLDER).is_dir()), None)


def course() -> tuple[str, ...]:
    """The names of the course's books: one a chapter, one a lab."""
    return tuple(name for name in names(COURSE) if re.fullmatch(r"(ch|lab)\d\d", name))


def names(folder: Path) -> tuple[str, ...]:
    """The names of the books in a folder: packages, sorted."""
    return tuple(sorted(each.name for each in pkgutil.iter_modules([str(folder)]) if each.ispkg))
