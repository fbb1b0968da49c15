"""The fork server: a process in the sandbox that has everything imported, and forks for each job.

Starting Python with IPython, NumPy and Numba takes one to three seconds of a CPU; a fork of a process that has them
takes some milliseconds. The server reads requests from the grader only, never anything of a job, and a job has
namespaces, folders and a user of its own before it is told what to run.

What sharing one parent weakens: all jobs of a server have the same layout of addresses and the same seed of hashes, so
a fault of memory in a library, found in one job, is easier to use in the next. What a job leaves behind is gone either
way: its files and processes lie in namespaces that end with it, and the server's memory is copied, not shared. A key
in the kernel's keyrings would be seen by other jobs, which are the same user of the machine: none can be made.

Without the fork server, this program is started anew for each job and becomes the job itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys

from helpers.grading.sandbox import inside, warm
from helpers.grading.sandbox.jobs import job
from helpers.grading.sandbox.limits import Limits
from helpers.grading.sandbox.wire import Channel

LONGEST_REQUEST = 1 << 20


def main(number: int) -> None:
    """Serve the socket that is open here under `number`, until it is closed."""
    control = socket.socket(fileno=number)
    settings = json.loads(control.recv(LONGEST_REQUEST))
    problem = ""
    if settings["forks"]:
        problem = warm.warm_up(settings["warm"])
        if (count := warm.threads()) > 1:
            control.send(json.dumps({"fault": f"{count - 1} threads run in the fork server"}).encode())
            return
    control.send(json.dumps({"ready": True, "problem": problem}).encode())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is the grader's to handle
    while True:
        data, files, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 1)
        if not data or not files:
            return
        with socket.socket(fileno=files[0]) as end:
            start(end, json.loads(data), settings)
        # Forks that have done their part, where their parent is this process.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def start(end: socket.socket, request: dict, settings: dict) -> None:
    """Start the job of a request; what goes wrong is said on its own socket."""
    limits = Limits(**request["limits"])

    def body(channel: Channel) -> None:
        job(request["job"]).run(request, channel)

    try:
        if not settings["isolates"]:
            inside.become_trusted(end, limits, body)
        elif settings["forks"]:
            inside.spawn(end, limits, settings["root"], settings["shown"], body)
        else:
            inside.become(end, limits, settings["root"], 1, body)
    except Exception as error:
        Channel(end).send({"fault": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main(int(sys.argv[1]))
