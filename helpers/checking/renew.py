"""Compute the fingerprints of all ways to be wrong, and keep them: `python -m helpers.checking.renew [KEY …]`.

A key is a book or an exercise, such as ch07 or ch07.dot; without any, all are computed. The solution, and the right
answers by other routes, have to pass.

It needs the solutions, and so, for labs, the labs' source.
"""

from __future__ import annotations

import json
import sys

from helpers.checking import fingerprint
from helpers.checking.examine import Evidence, examine
from helpers.checking.exercise import BOOKS, Exercise, book_folder, exercise, exercises
from helpers.checking.exercise_files import BadExercise, NoWay
from helpers.checking.solutions import built, patched, solution_of, ways


def computed(task: Exercise) -> dict[str, list[dict]]:
    """name of a mistake -> the fingerprints of its ways, each once; raises NoWay if there are ways that leave none."""
    found: dict[str, list[dict]] = {}
    lost = []
    for name, text in ways(task):
        seen = examine(built(task, text), task)
        each = fingerprint.of(seen)
        prints = found.setdefault(name, [])
        if each is None:
            lost.append(f"--- {name}: {_why_not(seen)}\n{text}")
        elif not any(fingerprint.same(known, each) for known in prints):
            prints.append(each)
    if lost:
        raise NoWay(f"{task.key}: these can't be recognised as mistakes\n" + "\n".join(lost))
    return found


def _why_not(seen: Evidence) -> str:
    """Why an answer leaves no fingerprint."""
    if not seen.passed:
        return "it doesn't compile, doesn't end, or stops far outside its array"
    return "it passes" + ", as a race does without `sanitize = true`" * (not seen.exercise.sanitize)


def pass_all(task: Exercise) -> None:
    """Check the solution and the right answers by other routes; raises NoWay for one that doesn't pass."""
    for name, text in (("the solution", solution_of(task)), *((name, patched(task, way)) for name, way in task.right)):
        if not (seen := examine(built(task, text), task)).passed:
            wrong = [f"{each.case.name}: {each.error or 'wrong'}" for each in seen.outcomes if not each.ok]
            over = [str(each) for each in seen.budgets if not each.ok]
            why = ", ".join(wrong + over) or "the sanitizer finds something"
            raise NoWay(f"{task.key}: {name} doesn't pass: {why}")


def renew(key: str) -> None:
    """Write the fingerprints of a book's exercises, or of one exercise."""
    book, table = key.partition(".")[0], {}
    for each in exercises():
        if each.startswith(f"{book}."):
            task = exercise(each)
            if key in (book, each):
                pass_all(task)
            table[each.partition(".")[2]] = computed(task) if key in (book, each) else fingerprint.kept(task)
    path = book_folder(book) / fingerprint.KEPT
    path.write_text(as_text(table), encoding="utf-8")
    fingerprint.forget()  # what is renewed next keeps these
    print(f"{key}: {path}")


def as_text(table: dict) -> str:
    """JSON with a line for each fingerprint, so that a change shows where it is."""
    tasks = []
    for task, mistakes in table.items():
        rows = []
        for name, prints in mistakes.items():
            each = ",\n".join(json.dumps(found, separators=(",", ":")) for found in prints)
            rows.append(f"{json.dumps(name)}: [\n{each}]")
        tasks.append(f"{json.dumps(task)}: {{\n" + ",\n".join(rows) + "}")
    return "{\n" + ",\n".join(tasks) + "}\n"


def main(keys: list[str]) -> None:
    for key in keys or BOOKS:
        if key not in (*BOOKS, *exercises()):
            sys.exit(f"{key} is neither a book nor an exercise: ch07 and ch07.dot are")
        try:
            renew(key)
        except (BadExercise, NoWay) as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
