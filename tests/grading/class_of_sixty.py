"""A class of sixty, handed in and graded: `python -m tests.grading.class_of_sixty [--write]`.

Good, half-right, wrong, broken and hostile submissions to lab 05. `--write` renews CLASS.md; without it the same is
printed. Exit status 1 where somebody has other points than they should.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers.grading import report
from helpers.grading.commands import author_lab
from helpers.grading.grade import Options, grade
from helpers.grading.release import as_bytes
from helpers.grading.results import REJECTED
from helpers.grading.transplant import solved

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("CLASS.md")
LAB, SEED = "lab05_reduction_and_scan", 60
NAMES = """
Ada Ahmed Aiko Alice Amara Anna Arjun Astrid Bao Beatriz Boris Carla Chen Chiara Dana David Deniz Elif Emma Enzo Fatima
Felix Freya Gita Hana Hugo Ibrahim Ines Ivan Jana Jonas Juan Kaito Kofi Lars Leila Lena Liam Lucia Malik Maria Mateo
Mei Mila Nadia Nils Noor Olga Omar Pavel Priya Rafael Rosa Sami Sofia Tariq Tomas Uma Vera Yusuf
"""

HEAD = """# A class of sixty

Made-up students, and submissions to lab 05 of which it is known what they are worth, graded by `warpbook grade` in the
sandbox {tier}. Written by `python -m tests.grading.class_of_sixty --write`, which fails where anybody has other points.
Below is what the instructor sees in the terminal; `-` at the right is what the submission was made to be.

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
    """What a student hands in: the file's bytes, what it was made to be, and its points (None: rejected)."""

    data: bytes
    made: str
    points: float | None


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
        """Wrong answers to an exercise: what is wrong, and the solution cell."""
        path = ROOT / "tests" / "labs" / "wrong" / LAB / f"{key.split('.')[1]}.py"
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return [(what, text) for what, text, _ in module.ROWS]


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
        "import helpers.probe, IPython.display as d\n"
        "def probe(*a, **k): d.publish_display_data({helpers.probe.MIME: {'exercise': a[1], 'part': a[2], "
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
        chosen = {key: book.wrong(key)[number % len(book.wrong(key))] for key in keys[number % 2 :: 2]}
        made = "wrong: " + "; ".join(f"{key.split('.')[1]}: {what}" for key, (what, _) in chosen.items())
        yield Handed(as_bytes(book.filled({k: text for k, (_, text) in chosen.items()})), made, float("nan"))
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
        (place / "handed").mkdir()
        for name, each in handed.items():
            (place / "handed" / f"{name.lower()}.ipynb").write_bytes(each.data)
        done = grade(book.lab, place / "handed", place / "results", Options(seed=SEED))
        transcript = report.as_text(done.results, done.lab)
    page, wrong = written(handed, done.results, transcript)
    if arguments.write:
        PAGE.write_text(page, encoding="utf-8")
    print(page)
    print("\n".join(wrong) or "everybody has what they should have", file=sys.stderr)
    return 1 if wrong else 0


def written(handed: dict[str, Handed], results, transcript: str) -> tuple[str, list[str]]:
    """The page, and what is not as it should be."""
    of = {result.student: result for result in results}
    rows, wrong = [], []
    for name, each in handed.items():
        result = of[name.lower()]
        has = None if result.state == REJECTED else result.points
        should = (
            "less than full"
            if each.points != each.points
            else "rejected"
            if each.points is None
            else f"{each.points:g}"
        )
        fine = (
            has is not None and has < result.out_of
            if each.points != each.points
            else has == each.points and result.state != "ungraded"
        )
        if not fine:
            wrong.append(f"{name} ({each.made}) has {has}, should have {should}: {result.state}, {result.reason}")
        rows.append(
            f"| {name} | {each.made.replace('|', '/')} | {should} | {'rejected' if has is None else f'{has:g}'} |"
        )
    told: dict[str, int] = {}
    for result in results:
        for mark in result.marks:
            if mark.mistake:
                told[f"{mark.exercise}: {mark.mistake}"] = told.get(f"{mark.exercise}: {mark.mistake}", 0) + 1
    most = sorted(told.items(), key=lambda item: (-item[1], item[0]))[:12]
    mistakes = "\n".join(f"- {count} × {what}" for what, count in most)
    tier = next(result.tier for result in results if result.tier)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", transcript).rstrip()
    return HEAD.format(tier=tier, transcript=plain, rows="\n".join(rows), mistakes=mistakes), wrong


if __name__ == "__main__":
    sys.exit(main())
