"""The program `zygote` in a sandbox of some tier, started, spoken to and ended: the fork server, or one job's own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

from helpers.checking import books
from helpers.grading.sandbox import processes, users
from helpers.grading.sandbox.faults import InfrastructureFault
from helpers.grading.sandbox.limits import Limits, threads
from helpers.grading.sandbox.live import Live
from helpers.grading.sandbox.tiers import Tier
from helpers.grading.sandbox.view import HELPERS, HOME, OWN, OWN_PLACE, PLACE, SCRATCH, VGPU, in_scratch, view
from helpers.grading.sandbox.warm import ROLES

START = "import sys; sys.path[:0] = {places!r}; from helpers.grading.sandbox.zygote import main; main({number})"


def environment(home: str, scratch: str, exercises: str = "off") -> dict[str, str]:
    """The whole environment of a job: nothing of the grader's, so no secret, and nothing that differs by machine."""
    return {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "USER": "learner",
        "LOGNAME": "learner",
        **threads(),
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONSAFEPATH": "1",
        # The order in which a set of texts is gone through depends on it, and marks must not.
        "PYTHONHASHSEED": "0",
        "VGPU_BACKEND": "virtual",
        # Runner and judge never read what anybody kept, nor can a student keep anything for another one.
        "VGPU_CACHE": "off",
        books.VARIABLE: exercises,
    }


class Server:
    """The program `zygote` in a sandbox, started, and its control socket."""

    def __init__(self, tier: Tier, role: str, limits: Limits, forks: bool, imports: Sequence[str] = ()):
        try:
            self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.says = tempfile.TemporaryFile()  # noqa: SIM115
            self.folder = None if tier.isolates else tempfile.mkdtemp(prefix="warpbook-")
        except OSError as error:
            raise InfrastructureFault(f"this machine has no room for a sandbox: {error}") from None
        places = [PLACE] if tier.isolates else [str(HELPERS.parent), str(VGPU.parent)]
        start = START.format(places=places, number=inside.fileno())
        program = [sys.executable, "-s", "-P", "-B", "-c", start]
        scratch = self.folder or SCRATCH
        exercises = "off" if role != "judge" or OWN is None else OWN_PLACE if tier.isolates else str(OWN)
        entries = view(role)
        settings = {
            "forks": forks,
            "isolates": tier.isolates,
            "root": tier.isolates and users.root(),
            "shown": in_scratch(entries),
            "warm": (*imports, *ROLES[role]),
        }
        self.forks = forks
        self._turn = threading.Lock()
        self._closed = False
        try:
            with inside:
                self.process = subprocess.Popen(
                    tier.command(entries, limits.scratch, forks, program),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self.says,
                    env=environment(self.folder or HOME, scratch, exercises),
                    pass_fds=[inside.fileno()],
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self.control.close()
            self._clean()
            raise InfrastructureFault(f"a sandbox of the tier {tier.name} did not start: {error}") from None
        try:
            self.control.settimeout(limits.start_seconds)
            self.control.send(json.dumps(settings).encode())
            ready = json.loads(self.control.recv(1 << 20) or b"{}")
            self.control.settimeout(None)
        except OSError as error:
            ready = {"fault": str(error)}
        if not ready.get("ready"):
            self.close()
            raise InfrastructureFault(
                f"a sandbox of the tier {tier.name} did not start: {ready.get('fault') or self.complained}"
            )
        self.problem = ready.get("problem", "")

    def request(self, request: dict, end: socket.socket) -> None:
        with self._turn:
            socket.send_fds(self.control, [json.dumps(request).encode()], [end.fileno()])

    def lives(self) -> bool:
        """Whether the server still holds its end of the socket."""
        if self._closed or self.process.poll() is not None:
            return False
        try:
            return self.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def lost(self) -> bool:
        """Whether the sandbox has died by itself, and not by what ran in it.

        A fork server is out of its jobs' reach. A job without one is the first program of its sandbox, and can end it
        together with itself; what cannot be reached from inside is the program around both.
        """
        if self.forks:
            return not self.lives()
        return (self.process.poll() or 0) < 0

    def end_with(self, live: Live) -> None:
        """Close this server when its one job is closed."""
        live.afterwards = self.close

    def complaint(self) -> str:
        """What it last wrote to stderr, in one line."""
        self.says.seek(0)
        lines = self.says.read()[-20_000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"

    def close(self) -> None:
        with self._turn:
            if self._closed:
                return
            self._closed = True
        # Not only closed here: a process forked from this one may have it open too.
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            for pid in [*processes.descendants(self.process.pid), self.process.pid]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
        self.complained = self.complaint()
        self._clean()

    def _clean(self) -> None:
        self.says.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
