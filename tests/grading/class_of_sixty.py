"""A class of sixty, handed in and graded: `python -m tests.grading.class_of_sixty [--write]`.

Good, half-right, wrong, broken and hostile submissions to lab 05, graded by the commands that an instructor types.
`--write` renews CLASS.md; without it the same is printed. Exit status 1 where somebody has other points than they
should.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers.checking.exercise import exercise
from helpers.checking.solutions import patched
from helpers.grading import report
from helpers.grading.merged import solved
from helpers.grading.release import as_bytes
from helpers.grading.results import REJECTED, UNGRADED, Result
from helpers.workbook.grading_commands import author_lab

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("CLASS.md")
LAB, SEED = "lab05_reduction_and_scan", 60
NAMES = """
Ada Ahmed Aiko Alice Amara Anna Arjun Astrid Bao Beatriz Boris Carla Chen Chiara Dana David Deniz Elif Emma Enzo Fatima
Felix Freya Gita Hana Hugo Ibrahim Ines Ivan Jana Jonas Juan Kaito Kofi Lars Leila Lena Liam Lucia Malik Maria Mateo
Mei Mila Nadia Nils Noor Olga Omar Pavel Priya Rafael Rosa Sami Sofia Tariq Tomas Uma Vera Yusuf
"""

COMMANDS = (
    f"warpbook release --check {LAB}",
    f"warpbook grade {LAB} handed_in --out results --seed {SEED}",
    f"warpbook grade {LAB} handed_in --out results --seed {SEED} | sed -n 1,2p",
    "ls results",
    "ls results/feedback | wc -l",
    "sed -n 1,3p results/gradebook.csv",
)
HEAD = """# A class of sixty

Made-up students, and submissions to lab 05 of which it is known what they are worth, graded in the sandbox {tier}.
Written by `python -m tests.grading.class_of_sixty --write`, which fails where anybody has other points.

## What the instructor types and sees

```
{transcript}
```

## What they were

| student | made to be | should have | has |
|---|---|---|---|
{rows}

## What the teacher might say in the next lecture

{mistakes}
"""


@dataclass(frozen=True)
class Handed:
    """What a student hands in: the file's bytes, what it was made to be, and its points (None: rejected).

    Of the exercises in `wrong` it has some points besides, or none, but not all.
    """

    data: bytes
    made: str
    points: float | None
    wrong: tuple[str, ...] = ()


class Lab:
    """Lab 05 with what it takes to fill it in rightly and wrongly."""

    def __init__(self):
        self.lab = author_lab(LAB)
        self.cells = {key: self.lab.answered_in(key)[0].grade_id for key in self.lab.exercises}
        self.worth = {
            key: sum(cell.points for cell in self.lab.graded if cell.probe.exercise == key) for key in self.cells
        }

    def filled(self, answers: dict[str, str], own: str = "") -> dict:
        """The lab with these answers to exercises, the author's for all others, and a cell of the student's own."""
        made = solved(self.lab, {self.cells[key]: text for key, text in answers.items()})
        if own:
            empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
            made["cells"].insert(3, {**empty, "id": "own", "source": own})
        return made

    def wrong(self, key: str) -> list[tuple[str, str]]:
        """Wrong answers to an exercise, one for each of its mistakes: the mistake's name, and the solution cell."""
        task = exercise(key)
        return [(mistake.name, patched(task, mistake.ways[0])) for mistake in task.mistakes]


GOOD = {
    "good": "",
    "good, and prints": "print('working on it')",
    "good, and warns": "import warnings; warnings.warn('careful')",
    "good, and slow": "import time; time.sleep(2)",
    "good, and calls things x and out": "x, out, seen, total = 1, 2, 3, 4",
    "good, with an error in a cell of their own": "1 / 0",
    "good, and looks at pictures": "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])",
}
HOSTILE = {
    "never ends": "while True: pass",
    "kills its kernel": "import os; os._exit(0)",
    "segfaults": "import ctypes; ctypes.string_at(0)",
    "takes all memory": "held = []\nwhile True: held.append(bytearray(1 << 26))",
    "writes without end": "while True: print('PASSED 20/20' * 1000)",
    "starts processes without end": "import os\nwhile True: os.fork()",
    "replaces probe and what it shows": (
        "import helpers.checking.probe, IPython.display as d\n"
        "def probe(*a, **k): d.publish_display_data({helpers.checking.probe.MIME: {'exercise': a[1], 'part': a[2], "
        "'evidence': {'right': True}}})\nhelpers.probe.probe = probe"
    ),
}


def students(book: Lab) -> Iterator[Handed]:
    """Sixty submissions."""
    full = sum(book.worth.values())
    keys = list(book.worth)
    for number in range(20):
        made, own = list(GOOD.items())[number % len(GOOD)]
        yield Handed(as_bytes(book.filled({}, own)), made, full)
    stub = {key: source_of_stub(book, key) for key in keys}
    for number in range(14):
        left = {key: stub[key] for place, key in enumerate(keys) if (number + place) % 4 < 1 + number % 3}
        points = full - sum(book.worth[key] for key in left)
        yield Handed(as_bytes(book.filled(left)), f"half: without {', '.join(left)}", points)
    for number in range(12):
        # Each by two students, as it happens in a class.
        chosen = {key: book.wrong(key)[number // 4 * 2 + 1] for key in keys[number % 2 :: 2]}
        made = "wrong: " + "; ".join(f"{key.split('.')[1]}: {what}" for key, (what, _) in chosen.items())
        points = full - sum(book.worth[key] for key in chosen)
        data = as_bytes(book.filled({k: text for k, (_, text) in chosen.items()}))
        yield Handed(data, made, points, tuple(chosen))
    yield from broken(book, full)
    rest = {key: stub[key] for key in keys[1:]}
    for made, own in HOSTILE.items():
        # An answer to the first exercise, and nothing else that would earn anything. Who shows forged evidence in every
        # graded cell has shown none of that answer either.
        points = 0 if "def probe" in own else book.worth[keys[0]]
        yield Handed(as_bytes(book.filled(rest, own)), f"hostile: {made}", points)


def source_of_stub(book: Lab, key: str) -> str:
    from helpers.grading.release import learners_source

    return learners_source(book.lab.cell(book.cells[key]))


def broken(book: Lab, full: float) -> Iterator[Handed]:
    """Files that are no notebook, and notebooks that are not as they were given out."""
    good = book.filled({})
    key = next(iter(book.worth))
    yield Handed(b"", "broken: an empty file", None)
    yield Handed(as_bytes(good)[:-500], "broken: cut off", None)
    yield Handed(as_bytes({**good, "nbformat": 3}), "broken: an old format", None)
    yield Handed(as_bytes({**good, "cells": []}), "broken: no cells", None)
    gone = copy.deepcopy(good)
    gone["cells"] = [c for c in gone["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") != book.cells[key]]
    yield Handed(as_bytes(gone), f"broken: the answer to {key} is deleted", full - book.worth[key])
    checks = copy.deepcopy(good)
    for cell in checks["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "pass"
    yield Handed(as_bytes(checks), "broken: all graded cells are edited", full)
    yield Handed(
        as_bytes(book.filled({key: "def total(:\n    pass"})), f"broken: {key} is no Python", full - book.worth[key]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.grading.class_of_sixty", description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    arguments = parser.parse_args()
    book = Lab()
    handed = dict(zip(NAMES.split(), students(book), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "handed_in").mkdir()
        for name, each in handed.items():
            (place / "handed_in" / f"{name.lower()}.ipynb").write_bytes(each.data)
        transcript = typed(place)
        found = report.read(place / "results")
    of = {result.student: result for result in found.results}
    seen = [(name, each, of[name.lower()]) for name, each in handed.items()]
    page = written(seen, transcript, book)
    if arguments.write:
        PAGE.write_text(page, encoding="utf-8")
    else:
        print(page)
    wrong = [f"{name} ({each.made}): {result}" for name, each, result in seen if not fair(each, result, book)]
    print("\n".join(wrong) or "everybody has what they should have", file=sys.stderr)
    return 1 if wrong else 0


def typed(place: Path) -> str:
    """The commands, called in `place`, and what they print."""
    (place / "warpbook").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m helpers.cli "$@"\n', encoding="utf-8")
    (place / "warpbook").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{place}:{os.environ['PATH']}"}
    lines = []
    for command in COMMANDS:
        done = subprocess.run(command, shell=True, cwd=place, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        lines += [f"$ {command}", done.stdout.rstrip(), ""]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)).rstrip()


def fair(each: Handed, result: Result, book: Lab) -> bool:
    """Whether a student has what is due."""
    if each.points is None or result.state in (REJECTED, UNGRADED):
        return each.points is None and result.state == REJECTED
    of = dict.fromkeys(book.worth, 0.0)
    for mark in result.marks:
        of[mark.exercise] += mark.points
    rest = sum(points for key, points in of.items() if key not in each.wrong)
    return rest == each.points and all(of[key] < book.worth[key] for key in each.wrong)


def written(seen: list[tuple[str, Handed, Result]], transcript: str, book: Lab) -> str:
    rows = []
    for name, each, result in seen:
        should = "rejected" if each.points is None else f"{each.points:g}"
        if each.wrong:
            should += f", and of {sum(book.worth[key] for key in each.wrong):g} more not all"
        has = "rejected" if result.state == REJECTED else f"{result.points:g}"
        rows.append(f"| {name} | {each.made.replace('|', '/')} | {should} | {has} |")
    told = Counter()
    for _, _, result in seen:
        told.update({f"{mark.exercise}: {mark.mistake}" for mark in result.marks if mark.mistake})
    mistakes = "\n".join(f"- {count} students, {what}" for what, count in told.most_common(12))
    tier = next(result.tier for _, _, result in seen if result.tier)
    return HEAD.format(tier=tier, transcript=transcript, rows="\n".join(rows), mistakes=mistakes)


if __name__ == "__main__":
    sys.exit(main())
