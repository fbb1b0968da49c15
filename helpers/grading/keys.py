"""Hashes of all that marks depend on: as long as they are the same, nothing is graded anew."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

from helpers.checking.exercise import BOOKS, OWN
from helpers.grading.merged import GRADED, Planned
from helpers.grading.policy import Policy
from helpers.grading.sandbox.view import HELPERS, VGPU
from helpers.grading.source import Lab

EXERCISES = HELPERS / "exercises"
NO_PART_OF_A_VERDICT = (
    *(HELPERS / name for name in ("exercises", "pictures", "grading/report", "workbook")),
    *(VGPU / name for name in ("tests", "bench", "build")),
)
"""Folders on which no mark depends, or that are hashed by exercise."""
DISTRIBUTIONS = (
    "numpy", "msgspec", "numba", "numba-cuda", "llvmlite", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-nvjitlink",
    "ipykernel", "nbformat", "nbval", "pytest",
)  # fmt: skip
"""Packages by whose version a verdict might differ."""


def digest(data: object) -> str:
    """A hash of what JSON can hold."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, allow_nan=False).encode()).hexdigest()


def versions() -> tuple[tuple[str, str], ...]:
    """What runs here, as pairs of name and version."""
    found = [("Python", platform.python_version())]
    for name in DISTRIBUTIONS:
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, "none"))
    return tuple(found)


@cache
def of_environment() -> str:
    """Of this machine's kind, the versions of packages, and the code that runs and judges."""
    files = [path for folder in (HELPERS, VGPU) for path in sorted(folder.rglob("*.*"))]
    code = [path for path in files if path.suffix in (".py", ".h", ".cuh", ".cu", ".json")]
    kept = [path for path in code if not any(folder in path.parents for folder in NO_PART_OF_A_VERDICT)]
    return digest([platform.machine(), versions(), _contents(kept)])


def of_exercises(keys: Iterable[str]) -> str:
    """Of the rows of the exercises `keys`, and of what all rows are made with."""
    books = {key.split(".")[0] for key in keys}
    others, found = set(BOOKS) - books, []
    for folder in (EXERCISES, *([OWN] if OWN else [])):
        paths = [path for path in sorted(folder.rglob("*.*")) if path.suffix in (".py", ".json", ".toml", ".cu")]
        found += [path for path in paths if path.relative_to(folder).parts[0] not in others]
    return digest(_contents(found))


def of_reference(lab: Lab) -> str:
    """Of the author's notebook, but not of its stored outputs."""
    return digest([[cell.cell_type, cell.source, cell.metadata] for cell in lab.cells])


def of_submission(planned: Planned) -> str:
    """Of the student's answers and own cells, with the reference's cells between which they run."""
    cells = zip(planned.cells, planned.notebook["cells"], strict=True)
    return digest([[asdict(known), "" if known.kind == GRADED else cell["source"]] for known, cell in cells])


class Keys:
    """Keys of the submissions of one run."""

    def __init__(self, lab: Lab, policy: Policy, seed: int):
        self._of_all = [of_reference(lab), of_exercises(lab.exercises), of_environment(), asdict(policy), seed]

    def of(self, planned: Planned) -> str:
        return digest([of_submission(planned), *self._of_all])


def _contents(paths: Iterable[Path]) -> list[list[str]]:
    tops = (HELPERS, VGPU, *([OWN] if OWN else []))
    place = lambda path: next(path.relative_to(top.parent).as_posix() for top in tops if path.is_relative_to(top))
    return [[place(path), hashlib.sha256(path.read_bytes()).hexdigest()] for path in paths]
