"""What may go wrong with a job: by what runs in it, or by the machine that runs it. The two are never mixed up."""

from __future__ import annotations


class JobFault(Exception):
    """A job ended without an answer, by what ran in it.

    `outcome` is "timeout", "crash" or "memory"; `says` tells it in a sentence.
    """

    def __init__(self, outcome: str, says: str):
        super().__init__(f"{outcome}: {says}")
        self.outcome, self.says = outcome, says


class InfrastructureFault(RuntimeError):
    """The sandbox itself failed: nothing is known about what was to run in it, which may be tried again."""


class SandboxUnavailable(InfrastructureFault):
    """This machine offers no sandbox; the message says what to install or to allow."""
