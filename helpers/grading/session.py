"""The cells of one submission in a kernel that may die: it is started anew, and what did not kill it is run again.

So a crash in one question costs that question. Cells that killed a kernel are left out from then on, and there is a
bound on how often that may happen and on the time that a whole submission may take.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from helpers.grading.policy import Policy
from helpers.grading.results import FAULTS
from helpers.grading.sandbox import Run


@dataclass(frozen=True)
class Death:
    """A cell that ended its kernel: its number in the notebook that is run, how, and in words."""

    cell: int
    outcome: str
    says: str


class Session:
    """Runs cells one after the other; `deaths` are those that ended a kernel.

    `open_kernel()` is a context manager of something with `execute(code, timeout) -> Run`; `clock` counts seconds.
    `patience`: number of a cell -> how many times as long as the policy says it may take.
    """

    def __init__(
        self,
        open_kernel: Callable[[], AbstractContextManager],
        policy: Policy,
        clock: Callable[[], float] = time.monotonic,
        patience: Mapping[int, float] | None = None,
    ):
        self.deaths: list[Death] = []
        self._open_kernel, self._policy, self._clock = open_kernel, policy, clock
        self._patience = patience or {}
        self._open = contextlib.ExitStack()
        self._kernel = None
        self._before: list[tuple[int, str]] = []
        self._until = clock() + policy.whole_seconds

    def run(self, number: int, code: str, again: bool = True) -> Run:
        """Run a cell, in a new kernel if the last one died.

        `again`: whether later cells may need what it leaves behind. Errors: what `open_kernel` raises.
        """
        if self._kernel is None:
            self._start()
        if refusal := self._refusal():
            return refusal
        run = self._execute(number, code)
        if again and run.outcome not in FAULTS:
            self._before.append((number, code))
        return run

    def left(self) -> float:
        """The seconds that the submission still has, for cells or for anything else that is done for it."""
        return max(0.0, self._until - self._clock())

    def close(self) -> None:
        """End the kernel."""
        self._kernel = None
        self._open.close()

    def _start(self) -> None:
        """A new kernel, and in it what was run before; what kills it now is left out next time."""
        while self._kernel is None and not self._refusal():
            self._kernel = self._open.enter_context(self._open_kernel())
            for number, code in list(self._before):
                if self._execute(number, code).outcome in FAULTS:
                    self._before.remove((number, code))
                    break

    def _execute(self, number: int, code: str) -> Run:
        seconds = self._policy.cell_seconds * self._patience.get(number, 1.0)
        run = self._kernel.execute(code, min(seconds, max(0.1, self.left())))
        if run.outcome in FAULTS:
            self.deaths.append(Death(number, run.outcome, run.says))
            self.close()
        return run

    def _refusal(self) -> Run | None:
        """Why no further cell is run, as what came of it."""
        if not self.left():
            says = f"a submission may take {self._policy.whole_seconds:g} s in all, which are used up"
            return Run([], None, "timeout", 0.0, says)
        if len(self.deaths) >= self._policy.deaths:
            says = f"not run: other cells ended the kernel {len(self.deaths)} times"
            return Run([], None, self.deaths[-1].outcome, 0.0, says)
        return None
