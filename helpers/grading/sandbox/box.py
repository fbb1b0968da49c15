"""A sandbox from outside: `open_sandbox` gives one, in which kernels are opened and jobs asked."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict

from helpers.grading.sandbox import cgroups, tiers
from helpers.grading.sandbox.faults import InfrastructureFault, JobFault
from helpers.grading.sandbox.jobs import job as job_row
from helpers.grading.sandbox.kernel import SandboxedKernel
from helpers.grading.sandbox.limits import Limits
from helpers.grading.sandbox.live import Died, Live
from helpers.grading.sandbox.tiers import Tier
from helpers.grading.sandbox.view import HELPERS, HOME, PLACE, ROLES, SCRATCH, in_scratch, view
from helpers.grading.sandbox.wire import Channel, Ended, Late

LONGEST_ANSWER = 2 << 20
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "BLIS")
START = "import sys; sys.path.insert(0, {place!r}); from helpers.grading.sandbox.zygote import main; main({number})"


def environment(home: str, scratch: str) -> dict[str, str]:
    """The whole environment of a job: nothing of the grader's, so no secret, and nothing that differs by machine."""
    return {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "USER": "learner",
        "LOGNAME": "learner",
        **{f"{name}_NUM_THREADS": "1" for name in THREADS},
        "MPLBACKEND": "Agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONSAFEPATH": "1",
        # The order in which a set of texts is gone through depends on it, and marks must not.
        "PYTHONHASHSEED": "0",
        "WARPBOOK_BACKEND": "virtual",
    }


class Sandbox:
    """A sandbox of one tier, for one role: a context manager, made by `open_sandbox`.

    `tier` is its kind; `forks` whether jobs come from a fork server; `problem` what could not be made ready in it.
    Kernels and jobs may be open side by side, and asked for from several threads.
    """

    def __init__(self, tier: Tier, role: str, limits: Limits, forks: bool, warm: Sequence[str]):
        self.tier, self.role, self.limits, self.forks, self.warm = tier, role, limits, forks, tuple(warm)
        self.problem = ""
        self._lock = threading.RLock()
        self._server: Server | None = None
        self._open: set[Live] = set()

    # -- what callers use --------------------------------------------------------------------------------

    def kernel(self) -> SandboxedKernel:
        """A new kernel, ready for its first cell; raises InfrastructureFault when none can be had."""
        opened = SandboxedKernel(self._start("kernel"))
        opened.wait_until_ready()
        return opened

    def ask(self, job: str, request: dict, timeout: float) -> dict:
        """Send one request to a job, such as "judge", and return its answer.

        Raises JobFault when what ran there failed or took more than `timeout` seconds, InfrastructureFault when the
        sandbox did.
        """
        live = self._start(job)
        try:
            live.channel.longest = LONGEST_ANSWER
            try:
                live.channel.send(request)
            except Ended:
                raise live.death(None) from None
            message = live.receive(timeout)
        except Late:
            raise JobFault("timeout", f"{job} had not ended after {timeout:g} seconds") from None
        except Died as died:
            raise JobFault("crash" if died.outcome == "output" else died.outcome, died.says) from None
        finally:
            live.close()
        if isinstance(answer := message.get("answer"), dict):
            return answer
        says = message.get("raised", "no answer in what it said")
        raise JobFault("memory" if str(says).startswith("MemoryError") else "crash", f"{job}: {says}")

    def close(self) -> None:
        """End all jobs and the fork server."""
        for live in list(self._open):
            with contextlib.suppress(InfrastructureFault):
                live.close()
        with self._lock:
            if self._server is not None:
                self._server.close()
            self._server = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    # -- how jobs start ----------------------------------------------------------------------------------

    def _start(self, name: str) -> Live:
        job_row(name)
        if not self.forks:
            server = self._serve()
            try:
                live = self._launch(server, name)
            except BaseException:
                server.close()
                raise
            server.end_with(live)
            return live
        for attempt in range(2):
            with self._lock:
                if self._server is None or not self._server.lives():
                    if self._server is not None:
                        self._server.close()
                    self._server = self._serve()
                server = self._server
            try:
                return self._launch(server, name)
            except InfrastructureFault:
                # A fork server that has died meanwhile is replaced once; what else fails is told.
                if server.lives() or attempt:
                    raise
        raise AssertionError

    def _serve(self) -> Server:
        server = Server(self.tier, self.role, self.limits, self.forks, self.warm)
        self.problem = server.problem
        return server

    def _launch(self, server: Server, name: str) -> Live:
        near, far = socket.socketpair()
        group = None
        if (place := cgroups.place()) is not None:
            with contextlib.suppress(OSError):
                group = cgroups.Group(place, self.limits.memory, self.limits.processes)
        longest = self.limits.message + (1 << 16)
        live = Live(Channel(near, longest), self.limits, self.tier.isolates, group, server.lost)
        with far:
            try:
                server.request({"job": name, "limits": asdict(self.limits)}, far)
            except OSError as error:
                live.close()
                raise InfrastructureFault(f"the sandbox's server has gone: {error}") from None
        try:
            live.settle(self.limits.start_seconds)
        except BaseException:
            with contextlib.suppress(InfrastructureFault):
                live.close()
            raise
        self._open = {other for other in self._open if not other.closed} | {live}
        return live


class Server:
    """The program `zygote` in a sandbox, started, and its control socket."""

    def __init__(self, tier: Tier, role: str, limits: Limits, forks: bool, warm: Sequence[str]):
        self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.says = tempfile.TemporaryFile()  # noqa: SIM115
        self.folder = None if tier.isolates else tempfile.mkdtemp(prefix="warpbook-")
        place = PLACE if tier.isolates else str(HELPERS.parent)
        start = START.format(place=place, number=inside.fileno())
        program = [sys.executable, "-s", "-P", "-B", "-c", start]
        scratch = self.folder or SCRATCH
        entries = view(role)
        settings = {
            "forks": forks,
            "isolates": tier.isolates,
            "root": tier.isolates and os.geteuid() == 0,
            "shown": in_scratch(entries),
            "warm": list(warm),
        }
        self.forks = forks
        self._turn = threading.Lock()
        try:
            with inside:
                self.process = subprocess.Popen(
                    tier.command(entries, limits.scratch, forks, program),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self.says,
                    env=environment(self.folder or HOME, scratch),
                    pass_fds=[inside.fileno()],
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self.control.close()
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
        if self.process.poll() is not None:
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
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.complained = self.complaint()
        self.says.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def open_sandbox(
    tier: Tier | None = None,
    role: str = "student",
    limits: Limits | None = None,
    fork_server: bool = True,
    trusted: bool = False,
    warm: Sequence[str] = (),
) -> Sandbox:
    """A sandbox, tried out: of the best tier that this machine has, or of the one given.

    `role` is "student" or "judge"; `warm` names further modules that the fork server imports. Where jobs cannot be
    forked, each starts a sandbox of its own. Raises SandboxUnavailable or InfrastructureFault, saying what to do.
    """
    tiers.require_linux()
    if role not in ROLES:
        raise ValueError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    tier = tiers.best(trusted) if tier is None else tier
    if tier.trusted_only and not trusted:
        raise ValueError(f"the tier {tier.name} is only for a class that is trusted: say so with trusted=True")
    limits = Limits() if limits is None else limits
    why = ""
    for forks in (True, False) if fork_server else (False,):
        sandbox = Sandbox(tier, role, limits, forks, warm)
        try:
            sandbox.ask("echo", {"here": True}, limits.start_seconds)
        except (InfrastructureFault, JobFault) as error:
            sandbox.close()
            why = str(error)
            continue
        return sandbox
    raise InfrastructureFault(
        f"a sandbox of the tier {tier.name} opens, but no job runs in it: {why}. Packages must be "
        f"in this Python's own folder ({sys.prefix}), not in the home, and readable by all users."
    )
