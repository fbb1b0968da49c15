"""A hundred honest people, graded by 1, 2, 4 and 8 workers: `python -m tests.hostile.honest [--write]`.

They do what must cost nobody a mark: warn, print, fail in cells of their own. Exit status 1 where one of them lacks a
point, or has another mark with another number of workers. `--write` renews HONEST.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from helpers.grading.grade import Options, grade
from helpers.grading.source import Lab, read
from tests.hostile.cases.honest import CASES
from tests.hostile.lab import KERNELS

PAGE = Path(__file__).with_name("HONEST.md")
WORKERS = (1, 2, 4, 8)
PEOPLE, SEED = 100, 100
HEAD = """# A hundred honest submissions

Right answers to two exercises of lab 05, beside {kinds} things that people do and that must cost nothing (the cases
called `honest` in [TABLE.md](TABLE.md)), graded on {cores} cores. Written by `python -m tests.hostile.honest --write`,
which fails where a point is missing.

| workers | with full marks | with the same marks as by one worker | seconds |
|---:|---:|---:|---:|
{rows}

The seconds are no measure of speed: other things may have run on the machine.
"""


@dataclass(frozen=True)
class Row:
    """What one number of workers gave; `missing` are those without full marks, and why."""

    workers: int
    full: int
    same: int
    seconds: float
    missing: tuple[str, ...]

    def __str__(self) -> str:
        return f"| {self.workers} | {self.full} of {PEOPLE} | {self.same} of {PEOPLE} | {self.seconds:.0f} |"


def handed_in(folder: Path) -> int:
    """Write the submissions; how many kinds of them there are."""
    kinds = [case for case in CASES if not case.loses]
    folder.mkdir()
    for number, case in enumerate(islice(cycle(kinds), PEOPLE)):
        (data,) = case.handed_in(KERNELS).values()
        (folder / f"{number:03}-{case.name}.ipynb").write_bytes(data)
    return len(kinds)


def graded(lab: Lab, submissions: Path, out: Path, workers: int, first: dict) -> Row:
    """Grade them all. `first` has the marks by student that the first call gave, which puts them there."""
    began = time.monotonic()
    results = grade(lab, submissions, out, Options(workers=workers, seed=SEED)).results
    seconds = time.monotonic() - began
    marks = {result.student: result.marks for result in results}
    if not first:
        first.update(marks)
    full = [result for result in results if result.points == result.out_of == lab.out_of]
    missing = [f"{r.student}: {r.points:g} of {r.out_of:g}, {r.state} {r.reason}" for r in results if r not in full]
    return Row(workers, len(full), sum(first[who] == marks[who] for who in marks), seconds, tuple(missing))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.honest", description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="honest-") as name:
        place = Path(name)
        lab = read(KERNELS.written(place / "source"))
        kinds = handed_in(place / "handed_in")
        marks: dict = {}
        for workers in WORKERS:
            rows.append(graded(lab, place / "handed_in", place / f"results-{workers}", workers, marks))
            print(rows[-1], *rows[-1].missing, sep="\n", flush=True)
    page = HEAD.format(kinds=kinds, cores=os.cpu_count(), rows="\n".join(map(str, rows)))
    if arguments.write:
        PAGE.write_text(page, encoding="utf-8")
    return int(any(row.full < PEOPLE or row.same < PEOPLE for row in rows))


if __name__ == "__main__":
    sys.exit(main())
