"""Install what the project needs into this environment, and repair what is damaged in it.

`make lab` calls `python -m helpers.workbook.install` each time, `warpbook repair` calls the same. pip does the work;
its output goes to a log, and here it becomes one line that moves, so that a first installation of several minutes
is visibly alive. When pip fails, its own messages are shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from helpers.workbook import packages
from helpers.workbook.packages import OURS, PINS, PROJECTS, ROOT, Fault

WHOLE = ["install", "--constraint", str(PINS), *map(packages.editable, OURS)]
STAMP, LOG = Path(sys.prefix) / ".installed", Path(sys.prefix) / "install.log"
SCRIPT = packages.script()
SHOWN_LINES = 40


def install() -> int:
    """Bring the environment to what pyproject.toml and constraints.txt say; returns an exit status."""
    if not _up_to_date():
        print(
            "Installing Warpbook's packages: some minutes, and 3 GB of downloads where PyTorch brings CUDA.", flush=True
        )
        if status := pip(WHOLE):
            return status
        STAMP.touch()
    return repair()


def _up_to_date() -> bool:
    """Whether the whole was installed since a dependency or a pin last changed, and here."""
    if not STAMP.is_file() or _moved():
        return False
    return STAMP.stat().st_mtime >= max(file.stat().st_mtime for file in (*PROJECTS, PINS))


def _moved(script: Path = SCRIPT) -> bool:
    """Whether `warpbook` starts the Python of another folder, as in a copy of the workbook, or isn't there."""
    if sys.platform == "win32":
        return not script.is_file()
    try:
        python = re.search(r"(/[^\"\n]+)/bin/python", script.read_text(encoding="utf-8"))
        return not python or not os.path.samefile(python[1], sys.prefix)
    except OSError:
        return True


def repair() -> int:
    """Reinstall what is damaged and install what is missing; returns an exit status."""
    found = [fault for fault in _faults() if fault.serious]
    if not found:
        return 0
    for fault in found:
        print(f"{fault.name}: {fault.found}. Reinstalling {fault.wanted}.", flush=True)
    for arguments in calls(found):
        if status := pip(arguments):
            return status
    left = [fault.name for fault in _faults() if fault.serious]
    print(f"Still not right: {', '.join(left)}." if left else "Repaired.", flush=True)
    return int(bool(left))


def _faults() -> list[Fault]:
    return packages.all_faults()


def calls(found: Sequence[Fault]) -> Iterable[list[str]]:
    """The calls of pip for these faults: one for the damaged packages, one for all others."""
    if damaged := [fault for fault in found if fault.damaged]:
        indexes = [word for fault in damaged for word in fault.index]
        yield ["install", "--force-reinstall", "--no-deps", *indexes, *(fault.wanted for fault in damaged)]
    if others := [fault.wanted for fault in found if not fault.damaged]:
        yield ["install", "--constraint", str(PINS), *others]


# -- pip, and what is seen of it ------------------------------------------------------------------------


def pip(arguments: Sequence[str], show: Line | None = None) -> int:
    """Run pip to its end with its output in LOG; on failure print the end of it. Returns pip's exit status."""
    if not packages.has_pip():
        subprocess.run([sys.executable, "-m", "ensurepip"], stdout=subprocess.DEVNULL)
    line = Line(sys.stdout) if show is None else show
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert running.stdout is not None
    said = []
    try:
        with open(LOG, "w", encoding="utf-8") as log:
            for each in running.stdout:
                log.write(each)
                said.append(each.rstrip())
                line(each)
    finally:
        status = running.wait()
        line.close()
    if status:
        print("\n".join(essence(said)))
        print(f"pip could not install the packages. All that it said: {LOG}", flush=True)
    return status


def essence(said: Sequence[str]) -> list[str]:
    """What of pip's output tells why it failed: from the first error on, or from the conflict explained before it."""
    reason = ("ERROR", "The conflict is caused by", "error:", "  error:")
    first = next((number for number, line in enumerate(said) if line.startswith(reason)), len(said))
    return list(said[max(0, first - 2) :][:SHOWN_LINES]) if first < len(said) else list(said[-SHOWN_LINES:])


UNPACKING, DONE = MILESTONES = ("unpacking everything, which takes minutes", "done")
STEPS = (
    (r"Collecting ([^\s<>=!~;\[(]+)", "finding {}"),
    (r"\s+(?:Downloading|Using cached) (\S+?)-\d\S* ?(\([^)]*\))?", "downloading {} {}"),
    (r"Obtaining |\s+(?:Installing build|Getting requirements|Preparing|Building)", "preparing Warpbook itself"),
    (r"Installing collected packages", UNPACKING),
    (r"Successfully installed", DONE),
)


def step(line: str) -> str | None:
    """What pip does, in a few words; None for a line that says nothing new."""
    for pattern, words in STEPS:
        if found := re.match(pattern, line):
            return words.format(*(group or "" for group in found.groups())).strip()
    return None


class Line:
    """On a terminal one line, rewritten at each step and each second; elsewhere a line for every twentieth step."""

    def __init__(self, stream: TextIO, every: int = 20, seconds: float = 1):
        self.stream, self.moves, self.steps = stream, stream.isatty(), 0
        self.every, self.seconds = every, seconds
        self.words, self.start, self.over = "starting pip", time.monotonic(), threading.Event()
        if self.moves:
            threading.Thread(target=self._tick, daemon=True).start()

    def __call__(self, line: str) -> None:
        if (words := step(line)) is None:
            return
        self.words = words
        if not self.moves and (self.steps % self.every == 0 or words in MILESTONES):
            print(f"  {words}", file=self.stream, flush=True)
        self.steps += 1

    def _tick(self) -> None:
        while not self.over.wait(self.seconds):
            seconds = time.monotonic() - self.start
            print(f"\r\x1b[K  {seconds:4.0f} s  {self.words}"[:100], end="", file=self.stream, flush=True)

    def close(self) -> None:
        self.over.set()
        if self.moves:
            print("\r\x1b[K", end="", file=self.stream, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(install())
    except KeyboardInterrupt:
        sys.exit("Stopped before everything was installed. Call it again to go on.")
