"""Cases run in forked children: whatever ends a child, or keeps it from ending, is told with the seed of the case."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable

from vgpu.launch import running

told: Callable[[str], object] = print  # hears of an access outside; in a child, which it ends


def batch(
    first: int, count: int, patience: float, case: Callable[[int], dict | list[dict]], step: int = 1
) -> tuple[list[dict], int]:
    """The outcomes of `count` cases from seed `first`, run in a forked child, and how many were done before it ended.

    `case(seed)` does `step` cases at once and gives what came of them.
    """
    running.rest()
    sys.stdout.flush()
    read, write = os.pipe()
    with tempfile.TemporaryFile("w+") as complaints:
        child = os.fork()
        if not child:
            os.close(read)
            _child(range(first, first + count, step), write, complaints.fileno(), case)
        os.close(write)
        outcomes, seed, ended = _listen(read, first, patience)
        if not ended:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status and not (outcomes and outcomes[-1]["outcome"] == "escaped"):
            complaints.seek(0)
            what = "died" if ended else "hung"
            outcomes.append({"seed": seed, "outcome": what, "detail": f"exit {status}: {complaints.read()[:3000]}"})
    return outcomes, seed - first + step


def _listen(read: int, first: int, patience: float) -> tuple[list[dict], int, bool]:
    """What a child says until it ends, or says nothing for `patience` seconds: the outcomes, the last seed, the end."""
    outcomes, seed, text = [], first, b""
    while select.select([read], [], [], patience)[0]:
        data = os.read(read, 1 << 16)
        if not data:
            os.close(read)
            return outcomes, seed, True
        *lines, text = (text + data).split(b"\n")
        for row in map(json.loads, lines):
            if "outcome" in row:
                outcomes.append({"seed": seed, **row})
            else:
                seed = row["seed"]
    os.close(read)
    return outcomes, seed, False


def _child(seeds: range, write: int, complaints: int, case: Callable[[int], dict | list[dict]]) -> None:
    """Run the cases and end this process."""
    global told

    def say(row: dict) -> None:
        os.write(write, json.dumps(row).encode() + b"\n")

    def escaped(text: str) -> None:
        say({"outcome": "escaped", "detail": text[:600]})
        os._exit(1)

    told = escaped
    os.dup2(complaints, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    try:
        for seed in seeds:
            say({"seed": seed})
            found = case(seed)
            for row in found if isinstance(found, list) else [found]:
                say(row)
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
        code = 3
    sys.stderr.flush()
    os._exit(code)
