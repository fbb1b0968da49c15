"""What was graded, line by line, in the results folder: a grader that was killed goes on where it was.

Lines are only ever added, each whole and on the disk before the next submission counts as graded. A result stands as
long as its key does: the hash of all that its marks depend on.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from helpers.grading.results import UNGRADED, Result

NAME, LOCK = "ledger.jsonl", ".lock"


class Taken(RuntimeError):
    """Another grader is at work in this results folder."""


class Ledger:
    """The lines of `folder`; `told` says which of them could not be read.

    Use it as a context manager: only one grader at a time has it. Raises Taken.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.told: list[str] = []
        self._last: dict[tuple[str, str], Result] = {}
        self._open = contextlib.ExitStack()
        self._file = -1

    def __enter__(self) -> Ledger:
        with contextlib.ExitStack() as opened:
            opened.enter_context(_alone(self.folder))
            path = self.folder / NAME
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            opened.callback(os.close, self._file)
            self._read(path.read_bytes())
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, result: Result) -> None:
        """Put a result on the disk, after all others."""
        line = json.dumps(result.as_json(), allow_nan=False).encode() + b"\n"
        while line:  # one write as a rule; a full disk may take a part and then say no
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)
        self._last[result.student, result.file] = result

    def settled(self, student: str, file: str, key: str) -> Result | None:
        """The result that stands for a submission whose marks depend on `key`; what is ungraded never stands."""
        result = self._last.get((student, file))
        return result if result is not None and result.key == key and result.state != UNGRADED else None

    def _read(self, data: bytes) -> None:
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                result = Result.from_json(json.loads(line))
                self._last[result.student, result.file] = result
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                self.told.append(f"{NAME}: line {number} is torn or no result; its submission is graded anew")
        if lines[-1]:
            os.write(self._file, b"\n")  # so that the next line is not glued to the torn one


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """The only grader in `folder`, until it is left or the process ends in whatever way; raises Taken."""
    import fcntl

    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Taken(
                f"Another `warpbook grade` is at work in {folder}. Wait for it, or give another folder with --out."
            ) from None
        yield
    finally:
        os.close(file)
