"""The sandbox without bubblewrap: a program that makes namespaces and a root folder of its own, then runs another.

Started by its path, before anything else of helpers is imported, as `python outer.py SETTINGS PROGRAM …`.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
NEW = "/tmp"  # where the new root is made; any folder that is there on every machine


def command(entries: Sequence, scratch: int, forks: bool, program: Sequence[str]) -> list[str]:
    """The command line that runs `program` here."""
    settings = {
        "entries": [(entry.kind, entry.place, entry.source) for entry in entries],
        "scratch": scratch,
        "forks": forks,
    }
    return [sys.executable, "-s", "-P", "-B", __file__, json.dumps(settings), *program]


def main(settings: dict, program: Sequence[str]) -> int:
    from helpers.grading.sandbox import syscalls, users

    # Ends with the grader, even when that is killed.
    if not settings["forks"]:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if not users.root():
        syscalls.own_user_namespace(0, 0)
    syscalls.unshare(syscalls.ALL_BUT_USER)
    init = os.fork()
    if init == 0:
        try:
            if not settings["forks"]:
                syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
            build(settings["entries"], settings["scratch"])
            os.setsid()
        except OSError as error:
            print(error, file=sys.stderr)
            os._exit(1)
        os._exit(run(program))
    _, status = os.waitpid(init, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


def build(entries: Sequence, scratch: int) -> None:
    """Make the root folder of the entries, and let it take the place of this machine's."""
    from helpers.grading.sandbox import syscalls as call

    call.mount("none", "/", flags=call.MS_REC | call.MS_PRIVATE)
    # Sources are opened by their old names, also those that lie in the folder over which the new root is mounted.
    opened = {source: os.open(source, os.O_PATH) for kind, _, source in entries if kind == "show"}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES}
    flags = call.MS_NOSUID | call.MS_NODEV
    call.mount("tmpfs", NEW, "tmpfs", flags, "mode=0755,size=1m")
    for name in ("dev", "proc", "tmp"):
        os.mkdir(f"{NEW}/{name}")
    # First, as Python may lie in /tmp too.
    call.mount("tmpfs", f"{NEW}/tmp", "tmpfs", flags, f"mode=1777,size={scratch}")
    for kind, place, source in entries:
        target = NEW + place
        if kind == "link":
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(source, target)
        elif kind == "hide":
            call.mount("tmpfs", target, "tmpfs", flags, "mode=0755,size=64k")
        else:
            _bind(opened[source], target)
            call.read_only(target)
    call.mount("tmpfs", f"{NEW}/dev", "tmpfs", call.MS_NOSUID, "mode=0755,size=64k")
    for name, file in devices.items():
        _bind(file, f"{NEW}/dev/{name}")
    for name, target in {**LINKS, "ptmx": "pts/ptmx"}.items():
        os.symlink(target, f"{NEW}/dev/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"{NEW}/dev/{name}")
    terminals = "newinstance,ptmxmode=0666,mode=620"
    call.mount("devpts", f"{NEW}/dev/pts", "devpts", call.MS_NOSUID | call.MS_NOEXEC, terminals)
    call.mount("tmpfs", f"{NEW}/dev/shm", "tmpfs", flags, f"mode=1777,size={scratch}")
    call.mount("proc", f"{NEW}/proc", "proc", flags | call.MS_NOEXEC)
    for file in (*opened.values(), *devices.values()):
        os.close(file)
    os.chdir(NEW)
    call.pivot_root(".", ".")
    call.unmount(".")
    os.chdir("/tmp")
    # Only now: in a mount that is read-only no folder could be made to mount another on.
    for place in (*(place for kind, place, _ in entries if kind == "hide"), "/dev", "/"):
        device = call.MS_NODEV if place != "/dev" else 0
        call.mount("none", place, flags=call.MS_REMOUNT | call.MS_BIND | call.MS_RDONLY | call.MS_NOSUID | device)


def _bind(file: int, target: str) -> None:
    from helpers.grading.sandbox import syscalls as call

    # Not by its name, over which the new root may lie.
    if stat.S_ISDIR(os.fstat(file).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            Path(target).touch()
    call.mount(f"/proc/self/fd/{file}", target, flags=call.MS_BIND | call.MS_REC)


def run(program: Sequence[str]) -> int:
    """Be the first process of the sandbox: run the program, bury the dead, and end when it ends."""
    child = os.fork()
    if child == 0:
        try:
            os.execv(program[0], list(program))
        except OSError as error:
            print(f"{program[0]}: {error}", file=sys.stderr)
        os._exit(1)
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
