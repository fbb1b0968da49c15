"""The three tiers of the tests, and what says which test is in which: `check` within `test` within `all`.

A test marked `exhaustive` is in `all` only. One marked `rotating(file, …)` is one of very many about these files: it
is in `test` where one of them has changed, or where its share has its turn: there are SHARES, and each commit has one.
All others are in `test`. Of those, `check` has what is quick: what is marked so, of each test that is not `slow` the
first of its parameters, and what the rows of CHECK say. Where a test itself goes through very many, the fixture `some`
gives `all` every one, and other tiers a few that each commit draws anew.

The engine's own tests are half of all. Once they have passed, `test` has only the share of their files whose turn it
is, until the engine or a pin changes. `pytest vgpu/tests --record` runs them all and keeps the hash of what they depend
on in RECORD, which is committed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

TIERS = ("check", "test", "all")
DEFAULT = "test"
ROOT = Path(__file__).resolve().parents[2]
SHARES = 32
SLOW = ("slow", "browser", "alone", "gpu")
"""Marks of what is not in `check`, unless CHECK says so."""

NONE, FIRST, EVERY = range(3)
CHECK: dict[str, int] = {
    # To compile a kernel takes a second, and nearly every test there has its own.
    "vgpu/tests": NONE,
    "vgpu/tests/test_counters.py": FIRST,
    "vgpu/tests/test_numba_kernels.py": FIRST,
    "vgpu/tests/test_triton.py": FIRST,
    "vgpu/tests/test_cupy_arrays.py": FIRST,
    "vgpu/tests/test_memory.py": FIRST,
    "vgpu/tests/test_ptx.py": FIRST,
    "vgpu/tests/test_tiers.py": FIRST,
    "vgpu/tests/test_imports.py": EVERY,
}
"""A folder, a file, or a test in it -> how many of its parameters `check` has, whatever its marks; the longest name
that fits a test decides. Whoever uses the tiers for more tests adds rows."""


ENGINE_TESTS = "vgpu/tests"
ENGINE = ("vgpu", "constraints.txt")
"""What decides whether the engine's tests pass, beside the machine."""
RECORD = ROOT / ENGINE_TESTS / "passed.json"
CACHES = {"__pycache__", "build", "vgpu.egg-info"}


def engine_hash() -> str:
    """One hash of all that the engine's tests depend on."""
    files = [Path(ROOT, name) for name in ENGINE]
    files += [file for folder in files if folder.is_dir() for file in folder.rglob("*")]
    digest = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file() and not CACHES & set(file.parts) and file != RECORD):
        digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def engine_passed() -> bool:
    """Whether all of the engine's tests have passed on what they depend on now."""
    return RECORD.exists() and json.loads(RECORD.read_text(encoding="utf-8"))["sha256"] == engine_hash()


def record_engine() -> None:
    RECORD.write_text(json.dumps({"sha256": engine_hash()}) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Turn:
    """What is tried now of what rotates: the share of a commit, what was changed in and since it, and whether the
    engine is one whose tests have all passed."""

    commit: str
    changed: frozenset[str]
    engine_passed: bool = False

    @classmethod
    def now(cls) -> Turn:
        """As git says; without it nothing counts as changed, and the share is always the same."""
        commit = git("rev-parse", "HEAD")
        names = git("diff", "--name-only", "HEAD~1") + git("ls-files", "--others", "--exclude-standard")
        return cls("".join(commit), frozenset(names), engine_passed())

    @property
    def share(self) -> int:
        return zlib.crc32(self.commit.encode()) % SHARES

    def has(self, name: str, files: Iterable[str | Path]) -> bool:
        """Whether the test of that name, which is about these files, is tried."""
        about = {Path(ROOT, file).relative_to(ROOT).as_posix() for file in files}
        return bool(about & self.changed) or self.is_on(name)

    def is_on(self, name: str) -> bool:
        """Whether a name belongs to the share whose turn it is."""
        return zlib.crc32(name.encode()) % SHARES == self.share

    def leaves_out(self, file: Path, tier: str) -> bool:
        """Whether a tier, tried as a whole, has none of a file's tests, so that it need not be read."""
        name = file.relative_to(ROOT).as_posix()
        if tier == "all":
            return False
        if self.engine_passed and name.startswith(f"{ENGINE_TESTS}/") and not self.is_on(name):
            return True
        return tier == "check" and _rows(name)[:1] == [NONE] and not _named_more_closely(name) and not _marked(file)

    def some(self, things: Iterable, most: int) -> list:
        """At most so many of them, others with each commit; things are told apart by their `str`."""
        return sorted(things, key=lambda thing: zlib.crc32(f"{self.commit} {thing}".encode()))[:most]

    def __str__(self) -> str:
        engine = ", and of the engine's tests" * self.engine_passed
        return f"share {self.share + 1} of {SHARES} of what rotates{engine}, and {len(self.changed)} changed files"


def _rows(name: str) -> list[int]:
    """The rows of CHECK that fit a file, or a test of it, the longest first."""
    file = PurePosixPath(name.partition("::")[0])
    return [CHECK[each] for each in dict.fromkeys((name, str(file), *map(str, file.parents))) if each in CHECK]


def _named_more_closely(name: str) -> bool:
    return any(row.startswith(f"{name}::") for row in CHECK)


def _marked(file: Path) -> bool:
    return "mark.check" in file.read_text(encoding="utf-8")


def git(*arguments: str) -> list[str]:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def chosen(items: Iterable[pytest.Item], tier: str, turn: Turn) -> Iterator[bool]:
    """Of each item, whether the tier has it."""
    seen: set[str] = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        first = function not in seen
        seen.add(function)
        yield tier == "all" or (in_test(item, turn) and (tier == "test" or in_check(item, function, first)))


def in_test(item: pytest.Item, turn: Turn) -> bool:
    rotating = item.get_closest_marker("rotating")
    return not item.get_closest_marker("exhaustive") and (rotating is None or turn.has(item.nodeid, rotating.args))


def in_check(item: pytest.Item, function: str, first: bool) -> bool:
    if item.get_closest_marker("check"):
        return True
    rows = _rows(function)
    most = rows[0] if rows else NONE if any(map(item.get_closest_marker, SLOW)) else FIRST
    return most == EVERY or (most == FIRST and first)
