"""How a fork of the server becomes one job: namespaces, folders, user and limits of its own, then the job.

All of it happens before the job is told what to run, so that no byte of a student's is read by a process that could
do more than the student may.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence

from helpers.grading.sandbox import syscalls as call
from helpers.grading.sandbox.limits import Limits, apply
from helpers.grading.sandbox.users import LEARNER, NOBODY
from helpers.grading.sandbox.view import HOME, SCRATCH
from helpers.grading.sandbox.wire import Channel, Ended

MOST_FILES = 20_000


def spawn(
    end: socket.socket, limits: Limits, root: bool, shown: Sequence[str], body: Callable[[Channel], None]
) -> None:
    """Fork a process in new namespaces that settles there and runs `body`; its parent here does not wait for it.

    `root`: the grader is root outside, so the job becomes another user. `shown`: places in /tmp that stay to be seen.
    """
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return
    try:
        call.unshare(call.ALL_BUT_USER)
        # The first child is the first process of the new namespace, and all in there die with it.
        if os.fork():
            os._exit(0)
        own_folders(limits, NOBODY if root else 0, shown)
        become(end, limits, root, os.getpid(), body)
    except BaseException as error:
        _complain(end, error)
    os._exit(1)


def own_folders(limits: Limits, user: int, shown: Sequence[str]) -> None:
    """Small folders of the job's own for all that can be written, and a /proc that shows its own processes."""
    call.mount("none", "/", flags=call.MS_REC | call.MS_PRIVATE)
    flags = call.MS_NOSUID | call.MS_NODEV
    opened = {place: os.open(place, os.O_PATH) for place in shown}
    options = f"mode=0700,uid={user},gid={user},size={limits.scratch},nr_inodes={MOST_FILES}"
    call.mount("tmpfs", SCRATCH, "tmpfs", flags, options)
    for place, file in opened.items():
        os.makedirs(place, exist_ok=True)
        call.mount(f"/proc/self/fd/{file}", place, flags=call.MS_BIND | call.MS_REC)
    # One file system for both, so that their sizes do not add up.
    os.mkdir(f"{SCRATCH}/shm")
    os.chown(f"{SCRATCH}/shm", user, user)
    call.mount(f"{SCRATCH}/shm", "/dev/shm", flags=call.MS_BIND)
    # Terminals of other jobs belong to the same user.
    call.mount("devpts", "/dev/pts", "devpts", call.MS_NOSUID | call.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    call.mount("proc", "/proc", "proc", flags | call.MS_NOEXEC)


def become(end: socket.socket, limits: Limits, root: bool, init: int, body: Callable[[Channel], None]) -> None:
    """Give up what the job must not have, say that it is ready, and run `body` in a child; never returns.

    `init` is the process with which the namespace ends: this one, or bubblewrap's.
    """
    close_files(end)
    with contextlib.suppress(OSError):
        call.new_session_keyring()
    if root:
        for folder in (SCRATCH, "/dev/shm"):
            with contextlib.suppress(OSError):  # folders that are its own already
                os.chmod(folder, 0o1777)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    # Numbers of processes are counted by user and user namespace. Further ones are of no use to a job, and the way
    # into most faults of the kernel.
    alone = False
    with contextlib.suppress(OSError):
        call.own_user_namespace(LEARNER, LEARNER)
        alone = True
        with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
            file.write("0")
    call.drop_capabilities()
    with contextlib.suppress(OSError):  # of a kernel without filters
        call.refuse()
    # What is done by processes of the job to this one would else be allowed, as they are of one user.
    call.prctl(call.PR_SET_DUMPABLE, 0)
    with contextlib.suppress(OSError):
        os.setsid()
    os.makedirs(HOME, exist_ok=True)
    os.chdir(HOME)
    channel = Channel(end, longest=64 << 20)
    handle = os.pidfd_open(init)
    channel.send({"settled": True, "alone": alone}, handle)
    os.close(handle)
    go = channel.receive()
    child = os.fork()
    if child == 0:
        call.prctl(call.PR_SET_DUMPABLE, 1)
        apply(limits, memory_here=not go["memory"], processes_here=alone and not go["processes"])
        run(body, channel)
    while True:
        ended, status = os.wait()
        if ended == child:
            break
    with contextlib.suppress(Ended):
        channel.send({"ended": os.waitstatus_to_exitcode(status)})
    os._exit(0)


def become_trusted(end: socket.socket, limits: Limits, body: Callable[[Channel], None]) -> None:
    """The same for a class that is trusted: no namespaces, only limits; what it starts stays below this process."""
    if os.fork():
        return
    try:
        close_files(end)
        os.setsid()
        call.prctl(call.PR_SET_CHILD_SUBREAPER, 1)
        call.prctl(call.PR_SET_NO_NEW_PRIVS, 1)
        os.makedirs(os.environ["HOME"], exist_ok=True)
        os.chdir(os.environ["HOME"])
        channel = Channel(end, longest=64 << 20)
        handle = os.pidfd_open(os.getpid())
        channel.send({"settled": True, "alone": False}, handle)
        os.close(handle)
        go = channel.receive()
        child = os.fork()
        if child == 0:
            apply(limits, memory_here=not go["memory"], processes_here=False)
            run(body, channel)
        # All that it starts comes to this process in the end; the grader ends them, and then this one.
        with contextlib.suppress(ChildProcessError):
            while True:
                ended, status = os.wait()
                if ended == child:
                    with contextlib.suppress(Ended):
                        channel.send({"ended": os.waitstatus_to_exitcode(status)})
        signal.pause()
    except BaseException as error:
        _complain(end, error)
    os._exit(1)


def run(body: Callable[[Channel], None], channel: Channel) -> None:
    """Run the job in this process, as a fresh interpreter would: its own random numbers, signals as usual."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    code = 1
    try:
        body(channel)
        code = 0
    except Ended:
        pass
    except BaseException as error:
        with contextlib.suppress(Ended):
            channel.send({"raised": f"{type(error).__name__}: {error}"[:2000], "where": traceback.format_exc()[-8000:]})
    os._exit(code)


def close_files(end: socket.socket) -> None:
    """Keep nothing open but the socket, and nothing of the server's to read or print to."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    keep = end.fileno()
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 20)


def _complain(end: socket.socket, error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        Channel(end).send({"fault": f"{type(error).__name__}: {error}"})
