"""The kinds of sandbox there are, what each protects from and what not, and which this machine has.

A tier is tried, not guessed: `best` runs `true` in each in turn and returns the first in which that works.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from helpers.grading.sandbox import users
from helpers.grading.sandbox.faults import SandboxUnavailable
from helpers.grading.sandbox.view import SCRATCH, Entry, folders_for, view

# What the fork server needs to give each job namespaces of its own, to become an ordinary user before a student's
# byte is read (as whom Linux lets it be called so in a namespace only with SETFCAP), and to limit what it has become. A
# job keeps none of them.
KEPT = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "SETFCAP", "KILL", "CHOWN", "SYS_RESOURCE")
TRIAL_SECONDS = 30


@dataclass(frozen=True)
class Tier:
    """A kind of sandbox.

    `needs` says what a machine must have, `protects` what students' code cannot do there, `leaves` what it still can;
    `command(entries, scratch, forks, program)` is the command line that runs `program` in it; `scratch` in bytes;
    `isolates` whether files, processes and network are hidden at all.
    """

    name: str
    needs: str
    protects: str
    leaves: str
    command: Callable[[Sequence[Entry], int, bool, Sequence[str]], list[str]] = field(repr=False)
    isolates: bool = True
    trusted_only: bool = False


def bubblewrap(entries: Sequence[Entry], scratch: int, forks: bool, program: Sequence[str]) -> list[str]:
    """Bubblewrap's command line: the entries, a small /tmp, its own /proc and /dev, and no network."""
    line = [shutil.which("bwrap") or "bwrap", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    line += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox", "--cap-drop", "ALL"]
    kept: Sequence[str] = ()
    if forks:
        kept = KEPT
    else:
        # The fork server ends when its socket is closed. A single job may be too busy, or stopped by what runs in it.
        line += ["--die-with-parent"]
        if users.root():
            kept = ("SETUID", "SETGID", "SETPCAP")
    for capability in kept:
        line += ["--cap-add", f"CAP_{capability}"]
    if not users.root():
        # Called 0, the fork server may mount terminals for each job; outside it is who it was.
        user = "0" if forks else "1000"
        line += ["--unshare-user", "--uid", user, "--gid", user]
    # First, as Python may lie in /tmp too.
    line += ["--size", str(scratch), "--tmpfs", SCRATCH]
    for entry in entries:
        # Bubblewrap makes the folders that are missing, but for its own user only, and a job may be of another.
        for folder in folders_for(entry, entries):
            line += ["--dir", folder]
        match entry.kind:
            case "show":
                line += ["--ro-bind", entry.source, entry.place]
            case "link":
                line += ["--symlink", entry.source, entry.place]
            case "hide":
                line += ["--tmpfs", entry.place]
    line += ["--proc", "/proc", "--dev", "/dev", "--size", str(scratch), "--tmpfs", "/dev/shm"]
    for place in [*(entry.place for entry in entries if entry.kind == "hide"), "/dev", "/"]:
        line += ["--remount-ro", place]
    line += ["--chdir", SCRATCH, "--", *program]
    return line


def namespaces(entries: Sequence[Entry], scratch: int, forks: bool, program: Sequence[str]) -> list[str]:
    """The same by our own system calls, in a small program that runs before `program`."""
    from helpers.grading.sandbox import outer

    return outer.command(entries, scratch, forks, program)


def limits(entries: Sequence[Entry], scratch: int, forks: bool, program: Sequence[str]) -> list[str]:
    """Nothing around the program: its limits are set where jobs start."""
    return list(program)


TIERS = (
    Tier(
        "bubblewrap",
        needs="Linux, bwrap 0.7 or newer (Debian's package bubblewrap), and namespaces that it may make",
        protects="access to files other than Python, helpers/ and vgpu/, to other processes and jobs, and to the "
        "network; too much memory, too many processes and files, too much output",
        leaves="bugs in the Linux kernel; a job may use the CPU until its time is up",
        command=bubblewrap,
    ),
    Tier(
        "namespaces",
        needs="Linux 5.12 or newer, and root or user namespaces that ordinary users may make",
        protects="the same as bubblewrap, by this project's own system calls, which fewer people have reviewed",
        leaves="bugs in the Linux kernel; a job may use the CPU until its time is up",
        command=namespaces,
    ),
    Tier(
        "limits",
        needs="Linux, and the instructor's word that the class is trusted",
        protects="accidents: endless loops, too much memory, too many processes, too much output",
        leaves="everything else: malicious code can read and write whatever the grader can, the marks included",
        command=limits,
        isolates=False,
        trusted_only=True,
    ),
)

HELP = """No sandbox can be had on this machine, so no student's code is run. One of these fixes it:
- Install bubblewrap: on Debian and Ubuntu `apt-get install bubblewrap`.
- Let ordinary users make user namespaces: `sysctl user.max_user_namespaces` must not be 0, and on Ubuntu 23.10
  and newer `sysctl kernel.apparmor_restrict_unprivileged_userns` must be 0, or bwrap have an AppArmor profile.
- In a container, allow nested namespaces: labs/TEACHING.md has the options for Docker and Podman.
- Only if you trust the class: `--trust-the-class` runs the code with limits alone, which only stop accidents."""


def tier(name: str) -> Tier:
    """The tier called `name`; a KeyError names all."""
    for row in TIERS:
        if row.name == name:
            return row
    raise KeyError(f"no tier {name!r}: there are {', '.join(row.name for row in TIERS)}")


def require_linux(platform: str = sys.platform) -> None:
    """Raise SandboxUnavailable anywhere else, and where jobs could not but be root."""
    if not platform.startswith("linux"):
        raise SandboxUnavailable(
            "Students' code is run in a sandbox of Linux's namespaces, and this is not Linux. Grade on Linux: "
            "in a virtual machine, in WSL, or on a server."
        )
    if users.stuck_as_root():
        raise SandboxUnavailable("This is root in a user namespace without other users. Grade as an ordinary user.")


def try_out(row: Tier) -> str:
    """Run `true` in a tier: "" when that works, else what stood in the way."""
    try:
        line = row.command(view("student"), 1 << 20, False, ["/bin/true"])
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TRIAL_SECONDS
        )
    except FileNotFoundError as error:
        return f"{error.filename} is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


def best(trusted: bool = False) -> Tier:
    """The safest tier that works here; raises SandboxUnavailable, saying what to install or allow.

    `trusted`: the class is trusted, so that mere limits will do where there is nothing better.
    """
    require_linux()
    why = []
    for row in TIERS:
        if row.trusted_only and not trusted:
            continue
        if not (problem := try_out(row)):
            return row
        why.append(f"{row.name}: {problem}")
    raise SandboxUnavailable(HELP + "\nTried: " + "; ".join(why) + ".")
