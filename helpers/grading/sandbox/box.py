"""A sandbox from outside: `open_sandbox` gives one, in which kernels are opened and jobs asked."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict

from helpers.grading.sandbox import cgroups, tiers
from helpers.grading.sandbox.faults import InfrastructureFault, JobFault
from helpers.grading.sandbox.jobs import job as job_row
from helpers.grading.sandbox.kernel import SandboxedKernel
from helpers.grading.sandbox.limits import Limits
from helpers.grading.sandbox.live import Died, Live, Unanswered
from helpers.grading.sandbox.meter import Allowance
from helpers.grading.sandbox.server import Server
from helpers.grading.sandbox.tiers import Tier
from helpers.grading.sandbox.view import ROLES
from helpers.grading.sandbox.wire import Channel, Ended, Late

LONGEST_ANSWER = 2 << 20


class Sandbox:
    """A sandbox of one tier, for one role: a context manager, made by `open_sandbox`.

    `tier` is its kind; `forks` whether jobs come from a fork server; `problem` what could not be made ready in it.
    Kernels and jobs may be open side by side, and asked for from several threads.
    """

    def __init__(self, tier: Tier, role: str, limits: Limits, forks: bool, imports: Sequence[str] = ()):
        self.tier, self.role, self.limits, self.forks, self._imports = tier, role, limits, forks, tuple(imports)
        self.problem = ""
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._server: Server | None = None
        self._open: set[Live] = set()

    # -- what callers use --------------------------------------------------------------------------------

    def kernel(self) -> SandboxedKernel:
        """A new kernel, ready for its first cell; raises InfrastructureFault when none can be had."""
        opened = SandboxedKernel(self.start("kernel"))
        opened.wait_until_ready()
        return opened

    def ask(
        self,
        job: str,
        request: dict,
        timeout: float | Allowance,
        serve: Callable[[dict], dict] | None = None,
        longest: int = 0,
    ) -> dict:
        """Send one request to a job, such as "judge", and return its answer, which may have `longest` bytes.

        `serve` answers what the job asks on its way. `timeout` is in seconds as `meter` counts them. Raises JobFault
        when what ran there failed or took longer, InfrastructureFault when the sandbox did or the machine is too busy,
        and what `serve` raises.
        """
        live = self.start(job)
        allowance = timeout if isinstance(timeout, Allowance) else Allowance(timeout)
        allowance.add(live.reading)
        try:
            live.channel.longest = longest or LONGEST_ANSWER
            try:
                live.channel.send(request)
                message = allowance.receive(live)
                while serve is not None and isinstance(message.get("ask"), dict):
                    live.channel.send({"served": serve(message["ask"])})
                    message = allowance.receive(live)
            except Ended:
                raise live.death(None) from None
        except Late:
            raise JobFault("timeout", f"{job} had not ended after {allowance.seconds:g} seconds") from None
        except Died as died:
            raise JobFault("crash" if died.outcome == "output" else died.outcome, died.says) from None
        finally:
            live.close()
        if isinstance(answer := message.get("answer"), dict):
            return answer
        says = message.get("raised", "no answer in what it said")
        if str(says).startswith("MemoryError"):
            raise JobFault("memory", live.memory_says)
        raise JobFault("crash", f"{job}: {says}")

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

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- how jobs start ----------------------------------------------------------------------------------

    def start(self, name: str) -> Live:
        """A job that is spoken with for longer; whoever starts it closes it."""
        job_row(name)
        if os.getpid() != self._owner:
            raise RuntimeError("a sandbox belongs to the process that opened it: open one in each")
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
            except Unanswered:
                server.close()
                raise
            except InfrastructureFault:
                # A fork server that has died meanwhile is replaced once; what else fails is told.
                if server.lives() or attempt:
                    raise
        raise AssertionError

    def _serve(self) -> Server:
        server = Server(self.tier, self.role, self.limits, self.forks, self._imports)
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
        with self._lock:
            self._open = {other for other in self._open if not other.closed} | {live}
        return live


def open_sandbox(
    tier: Tier | None = None,
    role: str = "student",
    limits: Limits | None = None,
    fork_server: bool = True,
    trusted: bool = False,
    imports: Sequence[str] = (),
) -> Sandbox:
    """A sandbox, tried out: of the best tier that this machine has, or of the one given.

    `role` is "student", "runner" or "judge"; `imports` are modules that its fork server imports beside what each role
    needs. Where jobs cannot be forked, each starts a sandbox of its own. Raises SandboxUnavailable or
    InfrastructureFault, saying what to do.
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
        sandbox = Sandbox(tier, role, limits, forks, imports)
        try:
            sandbox.ask("echo", {"here": True}, limits.start_seconds)
        except (InfrastructureFault, JobFault) as error:
            sandbox.close()
            why = str(error)
            continue
        if fork_server and not forks:
            sandbox.problem = f"no fork server: {why}"
        return sandbox
    raise InfrastructureFault(
        f"a sandbox of the tier {tier.name} opens, but no job runs in it: {why}. Packages must be "
        f"in this Python's own folder ({sys.prefix}), not in the home, and readable by all users."
    )
