"""Where a student's compiled kernel runs: a process for each launch, which holds that launch's inputs and nothing else.

Stream work is replayed here too: a process for each case executes the student's program on that case's inputs.

    judge  --trial-->  worker  --a socket of its own-->  a child of `serve`, which runs the launch and ends

`serve` is a job in a sandbox. It compiles an answer's kernels once and forks for every launch; the launch's inputs go
to the child on a socket that `serve` itself never reads. So no child finds anything of another launch in its memory,
and what is expected, the seed and the verdict are in none of these processes. `judging` is the worker's side.
"""

from __future__ import annotations

import os
import socket

from helpers.checking.evidence import replayed_as_json
from helpers.checking.kernel_as_json import NotPortable, Portable
from helpers.checking.trial import Here
from helpers.checking.trial_as_json import error_as_json, resources_as_json, seen_as_json, trial_of
from helpers.grading.sandbox import inside
from helpers.grading.sandbox import syscalls as call
from helpers.grading.sandbox.wire import Channel
from vgpu.hardware import gpus

LONGEST_MESSAGE = 96 << 20  # bytes: a few of the largest arrays that `plain` lets through


def serve(settings: dict, channel: Channel) -> None:
    """Be the job: take an answer's kernels, then run one launch after the other, each in a child."""
    call.prctl(call.PR_SET_DUMPABLE, 0)  # else a child, which is the same user, might look into this process
    given = channel.receive()
    try:
        kernels = [Portable.from_json(each) for each in given["kernel"]]
        for portable in kernels:
            for variant in given["variants"]:
                portable.kernel.compiled(**variant)
    except NotPortable as error:
        channel.send({"no_evidence": str(error)})
        return
    except Exception as error:  # whatever is wrong with it, a launch will say so; there is nothing to compile before
        channel.send({"ready": False, "why": type(error).__name__})
    else:
        channel.send({"ready": True})
    while True:
        _, file = channel.receive_file(None)
        assert file is not None  # `Launches` sends each launch's own connection
        child = os.fork()
        if child == 0:
            with socket.socket(fileno=file) as end:
                _one(kernels, end)
            os._exit(0)
        os.close(file)
        _, status = os.waitpid(child, 0)
        channel.send({"done": os.waitstatus_to_exitcode(status)})


def _one(kernels: list[Portable], end: socket.socket) -> None:
    """Be the child: one request, one answer."""
    inside.close_files(end)
    channel = Channel(end, LONGEST_MESSAGE)
    request = channel.receive()
    if "replay" in request:
        channel.send(_replayed(request["replay"]))
        return
    runs = Here(kernels[request["which"]])
    if "trial" in request:
        channel.send({"seen": seen_as_json(runs.run(trial_of(request["trial"])))})
        return
    try:
        channel.send({"resources": resources_as_json(runs.resources(gpus.find(request["resources"])))})
    except Exception as error:
        channel.send({"error": error_as_json(error)})


def _replayed(request: dict) -> dict:
    try:
        return {"replayed": replayed_as_json(request)}
    except Exception as error:  # a program may fail in any way
        return {"error": error_as_json(error)}
