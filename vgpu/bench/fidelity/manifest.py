"""Which programs are run: repositories at a commit, and the programs in them, from `manifest.toml`."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MANIFEST = Path(__file__).with_name("manifest.toml")
SECONDS = 60.0
"""CPU seconds that a program may take where the manifest doesn't say."""
COMMON = ("flags", "passed", "failed", "exit_is_check", "seconds")
"""What a source may say for all its programs."""


@dataclass(frozen=True)
class Source:
    """A repository at a commit."""

    repository: str
    commit: str


@dataclass(frozen=True)
class Program:
    """A program of a source. `file` is relative to the repository; the program runs in its folder.

    arguments: the program's own. beside: its other files, relative to the folder. flags: those of `vgpu run`, such as
    -I. passed, failed: what its output says where its check passed or failed, as regular expressions; without `passed`,
    it has no check. exit_is_check: it says so by its exit status. fault: one that it provokes on purpose, as a regular
    expression. seconds: of CPU time. note: why it's wrong.
    """

    source: Source
    file: str
    arguments: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    passed: str | None = None
    failed: str | None = None
    exit_is_check: bool = False
    fault: str | None = None
    seconds: float = SECONDS
    note: str = ""

    @property
    def path(self) -> str:
        """The repository and the file."""
        return f"{self.source.repository}/{self.file}"

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return " ".join([*self.flags, self.path, *self.arguments])


@dataclass(frozen=True)
class Published:
    """What others have measured of a kernel, and how to get ours. `address`: where it's published.

    program: a file of a source with its arguments, run as modelled on `gpu`. kernel: its name in the profile, as a
    regular expression; if several launches fit, the first counts. figures: by Nsight Compute's names, or "seconds",
    which are modelled, or "registers". scale: ours are multiplied by it, where the published run is larger; `note`
    says why that is right. changes: what is different about the GPU from the one in the table, by the names of its
    fields. measured_on: what the GPU is called, if it isn't that one. left_out: what the time depends on and the model
    leaves out.
    """

    program: Program
    kernel: str
    gpu: str
    figures: Mapping[str, float]
    address: str
    scale: float = 1.0
    changes: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = ""
    left_out: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return f"{self.program.key} | {self.kernel}"


def programs(path: Path = MANIFEST) -> list[Program]:
    """The programs of a manifest, in its order. What a source says holds for each program that says nothing else.

    A program is written as its arguments, or as a table of the fields of `Program`; a list has several runs of it.
    """
    found = []
    for listed in _read(path).get("source", []):
        source = Source(listed["repository"], listed["commit"])
        common = {name: listed[name] for name in COMMON if name in listed}
        for name, own in listed["programs"].items():
            for run in own if isinstance(own, list) else [own]:
                given = {**common, **({"arguments": run} if isinstance(run, str) else run)}
                found.append(_program(source, listed.get("file", "{}").format(name), given))
    return found


def published(path: Path = MANIFEST) -> list[Published]:
    """The published figures of a manifest."""
    tables = _read(path)
    commits = {each["repository"]: each["commit"] for each in tables.get("source", [])}
    found = []
    for table in tables.get("published", []):
        own = dict(table)
        source = Source(own["repository"], commits[own.pop("repository")])
        given = {name: own.pop(name) for name in ("arguments", "flags", "seconds") if name in own}
        found.append(Published(_program(source, own.pop("file"), given), **own))
    return found


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _program(source: Source, file: str, given: dict[str, Any]) -> Program:
    lists = {name: tuple(given.get(name, ())) for name in ("beside", "flags")}
    return Program(source, file, **{**given, **lists, "arguments": tuple(shlex.split(given.get("arguments", "")))})
