"""Compute the fingerprints of all ways to be wrong, and keep them: `python -m helpers.checking.renew [BOOK …]`.

It needs the solutions, and so, for labs, the labs' source.
"""

from __future__ import annotations

import json
import sys

from helpers.checking import fingerprint
from helpers.checking.examine import examine
from helpers.checking.exercise import BOOKS, FOLDER, Exercise, exercises
from helpers.checking.solutions import NoWay, built, ways


def computed(task: Exercise) -> dict[str, list[dict]]:
    """name of a mistake -> the fingerprints of its ways, each once; raises NoWay if there are ways that leave none."""
    found: dict[str, list[dict]] = {}
    lost = []
    for name, text in ways(task):
        each = fingerprint.of(examine(built(task, text), task))
        prints = found.setdefault(name, [])
        if each is None:
            lost.append(f"--- {name}\n{text}")
        elif not any(fingerprint.same(known, each) for known in prints):
            prints.append(each)
    if lost:
        raise NoWay(f"{task.key}: nothing to know these by: they do not compile, do not end, or stop far away\n"
                    + "\n".join(lost))  # fmt: skip
    return found


def renew(book: str) -> None:
    """Write the fingerprints of a book's exercises."""
    table = {}
    for task in exercises().values():
        if task.key.startswith(f"{book}."):
            table[task.key.split(".")[1]] = computed(task)
    path = FOLDER / book / fingerprint.KEPT
    path.write_text(as_text(table), encoding="utf-8")


def as_text(table: dict) -> str:
    """JSON with a line for each fingerprint, so that a change shows where it is."""
    exercises_ = []
    for exercise, mistakes in table.items():
        rows = []
        for name, prints in mistakes.items():
            each = ",\n".join(json.dumps(found, separators=(",", ":")) for found in prints)
            rows.append(f"{json.dumps(name)}: [\n{each}]")
        exercises_.append(f"{json.dumps(exercise)}: {{\n" + ",\n".join(rows) + "}")
    return "{\n" + ",\n".join(exercises_) + "}\n"


def main(books: list[str]) -> None:
    for book in books or BOOKS:
        renew(book)


if __name__ == "__main__":
    main(sys.argv[1:])
