"""A class of hostile and honest students, graded by `warpbook grade`, and what is there before and afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from helpers.grading import keys
from helpers.grading.merged import solved
from helpers.grading.release import as_bytes, released
from helpers.grading.report import read
from helpers.grading.results import REJECTED, Result
from tests.hostile.case import TOKEN, Case
from tests.hostile.lab import Book

ROOT = Path(__file__).parents[2]
SEED = 20_261_121
SLACK_SECONDS = 8
"""What a cell that is stopped may take beyond its time: to be interrupted, ended, and replaced."""
EVERY = 12
"""After so many hostile submissions comes an honest one."""
SIGN = "~bystander"
KEY_OF_SYSTEM_V = 0x57415250


@dataclass(frozen=True)
class Means:
    """How many grade at once, and the seconds that they give a cell."""

    workers: int
    cell_seconds: int

    @property
    def most_seconds(self) -> int:
        """Of a graded cell, which is first run and then judged."""
        return self.cell_seconds + 3 * self.cell_seconds + SLACK_SECONDS


FOR_MANY = Means(workers=4, cell_seconds=4)
"""More workers than there are cores, as many cases wait."""
FOR_FEW = Means(workers=2, cell_seconds=12)
"""Each worker takes seconds to start; and other tests may run meanwhile."""


@dataclass(frozen=True)
class Remains:
    """What can be left behind on a machine, as sets of names."""

    files: frozenset[str]
    sockets: frozenset[str]
    memory: frozenset[str]
    submissions: str
    grader: str

    def since(self, before: Remains) -> list[str]:
        """What is there now and was not before, or is not what it was."""
        new = [*(self.files - before.files), *(self.sockets - before.sockets), *(self.memory - before.memory)]
        changed = [name for name in ("submissions", "grader") if getattr(self, name) != getattr(before, name)]
        return sorted(new) + [f"{name} changed" for name in changed]


class Attack:
    """The cases of one lab among bystanders: `results` by student, `alone` what bystanders have without the others."""

    def __init__(self, book: Book, cases: Sequence[Case], folder: Path, means: Means = FOR_MANY):
        self.book, self.cases, self.folder, self.means = book, tuple(cases), folder, means
        folder.mkdir(exist_ok=True)
        self.source = book.written(folder / "source")
        self.bystanders = _bystanders(book)
        self.submissions = folder / "handed_in"
        for case in self.cases:
            _write(self.submissions, case.handed_in(book))
        for number, case in enumerate(sorted(self.cases, key=lambda case: case.name)[::EVERY]):
            kind = list(self.bystanders)[number % len(self.bystanders)]
            # Sorted by names, it comes just after the case.
            _write(self.submissions, {f"{case.name[:80]}{SIGN}-{kind}.ipynb": self.bystanders[kind]})

    @cached_property
    def graded(self) -> Graded:
        return self._grade("results", self.submissions)

    @cached_property
    def alone(self) -> Mapping[str, Result]:
        """Bystanders by their kind, graded with nobody hostile beside them."""
        folder = self.folder / "alone"
        _write(folder, {f"{kind}.ipynb": data for kind, data in self.bystanders.items()})
        return self._grade("results-alone", folder).results

    def _grade(self, name: str, submissions: Path) -> Graded:
        out = self.folder / name
        # Sockets have short names, and so the folder for temporary files must.
        with tempfile.TemporaryDirectory(prefix="wb-") as scratch:
            before = self.remains(submissions, scratch)
            line = [sys.executable, "-m", "tests.hostile.watched"]
            line += [sys.executable, "-m", "helpers.cli", "grade", str(self.source), str(submissions)]
            line += ["--out", str(out), "--seed", str(SEED), "--timeout", str(self.means.cell_seconds)]
            line += ["--workers", str(self.means.workers)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": scratch, "SECRET": "x"}
            done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace")
            printed, _, last = done.stdout.rstrip().rpartition("\n")
            left = [] if not last.startswith("{") else json.loads(last)["left"]
            after = self.remains(submissions, scratch)
        found = read(out).results if done.returncode in (0, 1) else ()
        # Of several files of a student one counts, and the others are rejected.
        results = {result.student: result for result in sorted(found, key=lambda one: one.state != REJECTED)}
        return Graded(done.returncode, printed, done.stderr, results, out, tuple(left), tuple(after.since(before)))

    def complaints(self, case: Case) -> list[str]:
        """What came of a case that should not have."""
        result = self.graded.results.get(case.name)
        if result is None:
            return ["it is in no report"]
        found = [f"it is {result.state}: {result.reason}"] if case.state and result.state != case.state else []
        if result.state == REJECTED:
            return found + ["it has marks"] * bool(result.marks)
        told = "\n".join([result.reason, *(f"{mark.mistake} {mark.why}" for mark in result.marks)])
        if case.untold and (said := re.search(case.untold, told)):
            found.append(f"its feedback tells {said[0]!r}: {told[:500]}")
        for exercise in self.book.exercises:
            marks = [mark for mark in result.marks if mark.exercise == exercise]
            points, most = sum(mark.points for mark in marks), self.book.points(exercise)
            said = "; ".join(f"{mark.part}: {mark.outcome} {mark.why}"[:300] for mark in marks)
            if exercise not in case.loses:
                if points != most and not case.ruins:
                    found.append(f"{exercise} has {points:g} points of {most:g}: {said}")
            elif points > case.most:
                found.append(f"{exercise} has {points:g} points that it has not earned: {said}")
            elif case.outcome and {mark.outcome for mark in marks} != {case.outcome}:
                found.append(f"{exercise} is not {case.outcome}: {said}")
        return found

    def remains(self, submissions: Path, scratch: str) -> Remains:
        return Remains(
            frozenset([*_files(), *os.listdir(scratch)]),
            frozenset(line for line in _lines("/proc/net/unix") if TOKEN in line),
            frozenset([*_system_v(), *(line for line in _lines("/proc/keys") if TOKEN in line)]),
            _digest(submissions),
            keys.of_environment.__wrapped__(),
        )


@dataclass(frozen=True)
class Graded:
    """What a run gave: `left` are processes, `remains` anything else that was not there before."""

    status: int
    printed: str
    complained: str
    results: Mapping[str, Result]
    folder: Path
    left: tuple[str, ...]
    remains: tuple[str, ...]


def _bystanders(book: Book) -> dict[str, bytes]:
    """Honest work of several kinds, by their names."""
    lab = book.lab()
    first = lab.solutions[0].grade_id
    return {
        "right": as_bytes(solved(lab)),
        "half": as_bytes(solved(lab, {first: "raise ValueError('not yet')"})),
        "untouched": as_bytes(released(lab)),
    }


def _write(folder: Path, files: Mapping[str, bytes | None]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            path.symlink_to("/")
        else:
            path.write_bytes(data)


def _files() -> Iterable[str]:
    """Files with the token in their names, in every place that cases write to."""
    homes = (os.path.expanduser("~"), os.getcwd(), sys.prefix, str(ROOT), str(ROOT / "helpers"))
    for folder in ("/", "/tmp", "/dev/shm", "/var/tmp", "/etc", "/opt", "/home", "/usr/lib", "/dev", *homes):
        if os.path.isdir(folder):
            yield from (f"{folder}/{name}" for name in os.listdir(folder) if TOKEN in name)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _system_v() -> Iterable[str]:
    for kind in ("shm", "sem", "msg"):
        for line in _lines(f"/proc/sysvipc/{kind}"):
            if line.split()[:1] == [str(KEY_OF_SYSTEM_V)]:
                yield f"System V {kind}: {line}"


def _digest(folder: Path) -> str:
    """Of all files below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(os.fsencode(path))
        found.update(path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    return found.hexdigest()
