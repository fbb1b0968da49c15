"""A process beside the notebook's kernel that runs torchrun, and lets nothing of it live longer than it may.

    python -m helpers.results.ranks.warden fork       (or: spawn)

It reads orders, a line of JSON each, and answers each with a line. `{"arguments": […], "folder": …, "log": …,
"environment": {…}}` runs torchrun with these arguments; `{"stop": true}` ends what runs. Where its input ends, as it
does however the kernel ends, all that it started is killed, and so is it: it stands in a session of its own, which the
interrupt of a kernel does not reach.

With `fork`, on Linux, it imports PyTorch once and forks each torchrun, which forks its workers: `--start-method=fork`
and `--run-path` are options of torchrun itself. A start then takes tenths of a second instead of an import for each
rank. With `spawn` each torchrun is a process of its own, as from a shell.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import io
import json
import os
import queue
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.results.ranks.records import FOLDER

PRELOADED = (
    "torch.distributed.run",
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.pipelining",
    "torch.distributed.checkpoint.state_dict",
    "torch.nn.parallel",
    "torch.utils.data.distributed",
    "torch._dynamo",  # which the first optimiser imports
)
DIE_WITH_PARENT, ADOPT_ORPHANS = 1, 36  # of prctl: PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER
WHERE: int = getattr(signal, "SIGUSR1", 0)
"""At this signal torchrun and its ranks write down where they stand, each into its own log."""
TO_WRITE = 0.3
"""Seconds that they get for it."""
LONGEST_SWEEP = 10.0
"""Seconds after which a process that cannot be killed, such as one in the middle of a driver's call, is left behind."""


def command(arguments: list[str]) -> list[str]:
    """The command line that runs torchrun in a process of its own."""
    return [sys.executable, "-m", "torch.distributed.run", *arguments]


def _tell_the_system(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _forked(order: dict) -> Callable[[], int | None]:
    """A fork of this process that becomes torchrun; what is given back asks for its exit status, None while it runs."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = _become_torchrun(order)
        finally:
            os._exit(status)

    def ended() -> int | None:
        found, status = os.waitpid(pid, os.WNOHANG)
        return None if found == 0 else os.waitstatus_to_exitcode(status)

    return ended


def _become_torchrun(order: dict) -> int:
    nothing, log = os.open(os.devnull, os.O_RDONLY), os.open(order["log"], os.O_WRONLY | os.O_CREAT)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.path.insert(0, order["folder"])
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)  # what a rank prints is read while it runs
    faulthandler.register(WHERE, file=2)  # of a rank that is its own log, as each has another file there
    _run_scripts_as_forks_can()
    try:
        importlib.import_module("torch.distributed.run").main(
            ["--start-method=fork", "--run-path", *order["arguments"]]
        )
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        sys.stdout.flush()
    return 0


def _run_scripts_as_forks_can() -> None:
    """Let a rank begin its script once all ranks are forked, and end without taking down the script's objects.

    Who connects to torchrun's store makes a thread there look up the name of an address, under a lock of the C library.
    A rank that is forked meanwhile finds that lock closed for ever.

    The last of a script's objects may be DDP's reducer, and with it the group. That waits for gloo's threads while it
    holds Python's lock, and one of these may want the lock to give back what it has done (PyTorch 2.13).
    """
    run_path, kept = runpy.run_path, []

    def begin_together(*arguments: Any, **named: Any) -> dict[str, Any]:
        folder, ranks = Path(os.environ[FOLDER]), int(os.environ["LOCAL_WORLD_SIZE"])
        attempt = f"forked-{os.environ['TORCHELASTIC_RESTART_COUNT']}"
        (folder / f"{attempt}-{os.environ['LOCAL_RANK']}").touch()
        while len(list(folder.glob(f"{attempt}-*"))) < ranks:
            time.sleep(0.002)
        kept.append(run_path(*arguments, **named))
        return kept[-1]

    runpy.run_path = begin_together


def _spawned(order: dict) -> Callable[[], int | None]:
    """torchrun as a process of its own, which starts an interpreter for each rank."""
    with open(order["log"], "wb") as log:
        process = subprocess.Popen(
            command(order["arguments"]), cwd=order["folder"], env={**os.environ, **order["environment"]},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    return process.poll


def sweep(seconds: float = LONGEST_SWEEP) -> None:
    """Kill all that descends from this process, orphans too, and wait until none of it is left."""
    import psutil

    own, end = psutil.Process(), time.monotonic() + seconds
    while (alive := own.children(recursive=True)) and time.monotonic() < end:
        for process in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(alive, timeout=0.2)


def ask_where() -> None:
    """Let all that descends from this process write down where it stands."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(WHERE)
    time.sleep(TO_WRITE)


def _lines(orders: queue.Queue) -> None:
    """Put every line of standard input into the queue, and None at its end."""
    rest = b""
    while piece := os.read(0, 65536):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            orders.put(json.loads(line))
    orders.put(None)


def _say(**words: object) -> None:
    os.write(1, json.dumps(words).encode() + b"\n")


def main() -> None:
    """Serve the orders of the process that started this one, until it is gone."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the ranks is the kernel, by an order
    start = _spawned
    if sys.platform == "linux":
        _tell_the_system(ADOPT_ORPHANS, 1)
    if sys.argv[1:] == ["fork"]:
        for name in PRELOADED:
            importlib.import_module(name)
        os.register_at_fork(after_in_child=lambda: _tell_the_system(DIE_WITH_PARENT, signal.SIGKILL))
        start = _forked
    _say(ready=True)
    orders: queue.Queue = queue.Queue()
    threading.Thread(target=_lines, args=(orders,), daemon=True).start()
    ended: Callable[[], int | None] | None = None
    while os.getppid() == parent:  # a process that another fork of the kernel holds open would hide the end of input
        try:
            order = orders.get(timeout=0.02 if ended else 0.5)
        except queue.Empty:
            order = {}
        if order is None:
            break
        status = None
        if "arguments" in order:
            ended = start(order)
        elif ended:
            if "stop" in order and start is _forked:
                ask_where()
            status = -signal.SIGTERM if "stop" in order else ended()
        if status is not None:
            sweep()
            ended = None
            _say(status=status)
    sweep()


if __name__ == "__main__":
    main()
