"""Ask the judge for a verdict, and run for it, where it is not, what it wants to be run: the worker's part in between.

The judge never meets a kernel, and what runs kernels never meets the judge. All that passes between them is JSON that
goes through here.
"""

from __future__ import annotations

import socket

from helpers.checking.trial import LONGEST
from helpers.grading.runner import LONGEST_MESSAGE
from helpers.grading.sandbox import JobFault, Sandbox
from helpers.grading.sandbox.live import Died, Live, death
from helpers.grading.sandbox.meter import Allowance
from helpers.grading.sandbox.wire import Channel, Ended, Late, Malformed

GRACE = 10.0
"""Seconds that a child may take beyond a launch and its repetition under the sanitizer: to be forked, and to speak."""


def judged(judge: Sandbox, runner: Sandbox, request: dict, allowance: Allowance) -> dict:
    """The judge's verdict on `request` (see `judge.answer`), in the time that it and the launches may take together.

    Raises JobFault when what was judged came to harm or was too slow, InfrastructureFault when a sandbox did or the
    machine is too busy.
    """
    with Launches(runner, allowance) as launches:
        return judge.ask("judge", request, allowance, launches.ask, LONGEST_MESSAGE)


class Launches:
    """One kernel's job, started with the first request; what it takes counts against `allowance`."""

    def __init__(self, sandbox: Sandbox, allowance: Allowance):
        self._sandbox, self._allowance = sandbox, allowance
        self._live: Live | None = None

    def ask(self, request: dict) -> dict:
        """The answer to {"kernel": …, "variants": …}, then to {"trial": …} or {"resources": …}: data of unknown origin.

        Raises JobFault where the process that ran it came to harm or was too slow.
        """
        if self._live is None:
            self._live = self._sandbox.start("runner")
            self._allowance.add(self._live.reading)
            self._live.channel.longest = LONGEST_MESSAGE
        if "kernel" in request:
            return self._told(self._send(self._live, request), self._allowance)
        near, far = socket.socketpair()
        channel = Channel(near, LONGEST_MESSAGE)
        with near:
            with far:
                self._send(self._live, {"next": True}, far.fileno())
            allowance = self._allowance.part(2 * LONGEST + GRACE)
            try:
                channel.send(request)
                answer = allowance.receive(channel)
            except Late:
                raise JobFault("timeout", "a launch had not ended in time") from None
            except Ended:
                answer = None
            except Malformed as error:
                raise JobFault("crash", str(error)) from None
        done = self._told(self._live, self._allowance).get("done")
        if answer is None:
            died = Died("memory", self._live.memory_says) if self._live.out_of_memory() else death(done)
            raise JobFault(died.outcome, died.says)
        return answer

    def _send(self, live: Live, message: dict, file: int | None = None) -> Live:
        try:
            live.channel.send(message, file)
        except Ended:
            raise self._fault(live) from None
        return live

    def _told(self, live: Live, allowance: Allowance) -> dict:
        try:
            return allowance.receive(live)
        except Late:
            raise JobFault("timeout", "the kernel was not ready in time") from None
        except Died as died:
            raise JobFault("crash" if died.outcome == "output" else died.outcome, died.says) from None

    def _fault(self, live: Live) -> Exception:
        died = live.death(None)
        return JobFault(died.outcome, died.says) if isinstance(died, Died) else died

    def close(self) -> None:
        """End the job, and all that its launches may have left."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def __enter__(self) -> Launches:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
