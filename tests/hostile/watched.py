"""Run a command and say what it has left running: `python -m tests.hostile.watched COMMAND …`.

Processes that lose their parent come to this one, so that none can hide; at the end they are listed as JSON on the
last line, and ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from helpers.grading.sandbox import processes, syscalls

SETTLE_SECONDS = 60.0
"""A process that was killed may still be on its way out, which takes long where much else runs."""


def named(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode(errors="replace")[:200]
    return ""


def bury() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main(command: list[str]) -> int:
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    status = subprocess.run(command, check=False).returncode
    until = time.monotonic() + SETTLE_SECONDS
    bury()
    while (left := processes.descendants(os.getpid())) and time.monotonic() < until:
        time.sleep(0.05)
        bury()
    print(json.dumps({"left": [named(pid) for pid in left]}))
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
