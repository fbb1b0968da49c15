"""Run one program on the virtual GPU, in a process of its own, and say what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vgpu.base import errors
from vgpu.bench.fidelity.manifest import Program
from vgpu.programs.command import STOPPED

SCHEDULES = 2
RESULTS = {
    "right": "the program's own check passed",
    "same": f"no check of its own: each launch gave the same in {SCHEDULES} random schedules as in order, and the "
    "sanitizer found no error",
    "in part": "a check of it passed, and then it was stopped at the limit of CPU time",
    "ran": "no check of its own",
    "wrong": "its check failed, or it ended with an error",
    "failed": "a Python program that ended with an exception before there was a report of its kernels",
    "refused": "it uses what the engine doesn't have, or launches no kernel here",
    "doesn't compile": "this machine's C++ compiler rejects its host part, or NVRTC its kernels",
    "too long": "stopped at the limit of CPU time",
}
"""What can become of a program, best first, and what that means."""


def _names(error: type[Exception]) -> list[str]:
    return [error.__name__, *(name for kind in error.__subclasses__() for name in _names(kind))]


RAN = ("right", "same", "in part", "ran", "wrong")
SIGNS = (
    (r"^\S+: .*? (?P<reason>calls .+), which vgpu doesn't have", "refused"),
    (r"doesn't compile with .*\n(?:.*\n)*?\S+?: (?:fatal )?error: (?P<reason>.+)", "doesn't compile"),
    (r"^(?:\S*\.)?Unsupported\w*: (?P<reason>.+)", "refused"),
    (r"isn't understood: (?P<reason>.+)", "refused"),
    (r"(?P<reason>\S+ is not on the virtual GPU)", "refused"),
    (r"^\S+\.cu: (?P<reason>.+)", "refused"),
    (r"^(?:\S*\.)?(?P<reason>KernelTimeout\b.*)", "too long"),
    (rf"^(?:\S*\.)?(?P<reason>(?:{'|'.join(_names(errors.VirtualGPUError))}): .+)", "wrong"),
)
"""What stands on stderr -> what became of the program; the first that fits."""
TRACEBACK = "Traceback (most recent call last):"
"""What Python writes to stderr where a program ends with an exception."""
REPORT = re.compile(r"Kernels on |No kernel was launched\.")
"""How the report of `vgpu profile` begins."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that a program launched. `variants`: of its template. `modelled`: seconds of all launches, modelled.

    The registers, grid and block are those of the variant that takes longest.
    """

    name: str
    launches: int
    variants: int
    registers: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    modelled: float


@dataclass(frozen=True)
class Outcome:
    """What became of a program: a key of `RESULTS`, why, its kernels, and the CPU seconds it took."""

    result: str
    reason: str = ""
    kernels: tuple[Kernel, ...] = ()
    seconds: float = 0.0


@dataclass
class Ran:
    """A run of `vgpu`: its exit status (None for one that was stopped at its limit), its output, its report."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float
    report: list[dict[str, Any]] = field(default_factory=list)


def outcome(program: Program, folder: Path) -> Outcome:
    """Run a program, whose repository lies in `folder`. One without a check also runs under the sanitizer."""
    ran = run("profile", program, folder)
    result, reason = judged(program, ran)
    if result == "ran":
        result, reason = _under_schedules(program, folder)
    return Outcome(result, reason, kernels_of(ran.report), round(ran.seconds, 1))


def _under_schedules(program: Program, folder: Path) -> tuple[str, str]:
    """Whether a program without a check stays "ran" or is "same", and why."""
    ran = run("sanitize", program, folder, ["--schedules", str(SCHEDULES)])
    found = [
        f"{row['kernel']}: {each['title']}"
        for row in ran.report
        for each in row["findings"]
        if each["level"] == "error"
    ]
    if found:
        return "ran", f"the sanitizer found: {', '.join(dict.fromkeys(found))}"
    if ran.status == 0 and ran.report:
        return "same", ""
    return "ran", "it takes too long under the sanitizer"


def judged(program: Program, ran: Ran) -> tuple[str, str]:
    """What became of a program, as a key of `RESULTS`, and why."""
    if ran.status is None:
        return "too long", f"more than {program.seconds:g} s of CPU time"
    said = ran.stdout + ran.stderr
    on_purpose = program.fault and re.search(program.fault, ran.stderr)
    for pattern, result in () if on_purpose else SIGNS:
        if match := re.search(pattern, ran.stderr, re.MULTILINE):
            return result, match["reason"].strip()
    if program.failed and (match := re.search(program.failed, said)):
        return "wrong", f"it says {_line(said, match)!r}"
    checked = program.passed and re.search(program.passed, said)
    if ran.status == STOPPED:
        return "in part" if checked else "too long", f"more than {program.seconds:g} s of CPU time"
    if ran.status < 0:
        return "wrong", f"ended by {signal.Signals(-ran.status).name}"
    if ran.status > 0:
        last = (said.strip().splitlines() or [""])[-1]
        without = "failed" if TRACEBACK in ran.stderr else "refused"
        return "wrong" if ran.report else without, f"exit status {ran.status}: {last}"
    if not ran.report and not on_purpose:
        return "refused", "it launches no kernel here"
    return ("right" if checked or program.exit_is_check else "ran"), ""


def _line(text: str, match: re.Match[str]) -> str:
    """The line of a text in which a match begins."""
    return text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0].strip()


def run(
    verb: str, program: Program, folder: Path, options: Sequence[str] = (), start: Sequence[str] = ("-m", "vgpu")
) -> Ran:
    """Run `vgpu VERB` on a program, until it ends or has used its CPU time. start: how Python is to start vgpu."""
    path = folder / program.file
    with tempfile.TemporaryDirectory() as kept:
        report = Path(kept) / "report.json"
        files = [path.name, *program.beside, "--"] if program.beside else [path.name]
        command = [
            sys.executable, *start, verb, "--seconds", str(program.seconds), "--json", str(report), *options,
            *program.flags, *files, *program.arguments,
        ]  # fmt: skip
        status, stdout, stderr, seconds = _limited(command, path.parent, program.seconds)
        found = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else []
    return Ran(status, REPORT.split(stdout)[0], stderr, seconds, found)


def _limited(command: Sequence[str], folder: Path, seconds: float) -> tuple[int | None, str, str, float]:
    """Run a command that may use so many CPU seconds: its status, stdout and stderr, and how many it used."""
    environment = os.environ | {"VGPU_TIMEOUT": str(10 * seconds), "PYTHONUNBUFFERED": "1"}
    before = _children()
    with subprocess.Popen(
        command, cwd=folder, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=60 + 10 * seconds)  # it should have ended by itself
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            status = None
    return status, stdout, stderr, _children() - before


def _children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def kernels_of(report: Iterable[dict[str, Any]]) -> tuple[Kernel, ...]:
    """The kernels of a profile's JSON by name; instances of a template are one kernel."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in report:
        groups.setdefault(row["kernel"].partition("<")[0], []).append(row)
    found = []
    for name, rows in groups.items():
        longest = max(rows, key=lambda row: row["modelled_seconds"])
        found.append(
            Kernel(
                name, sum(row["launches"] for row in rows), len({row["kernel"] for row in rows}), longest["registers"],
                tuple(longest["grid"]), tuple(longest["block"]),
                sum(row["launches"] * row["modelled_seconds"] for row in rows),
            )
        )  # fmt: skip
    return tuple(found)
