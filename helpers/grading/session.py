"""The cells of one submission in a kernel that may die: it is started anew, and what did not kill it is run again.

So a crash in one question costs that question. Cells that killed a kernel are left out from then on, and there is a
bound on how often that may happen and on the time that a whole submission may take.

A cell that ends its kernel is the student's fault only if the student's code can be the reason:

1. Before any of it has run in that kernel, it cannot: that is an infrastructure fault. So is an exception in a cell of
   the lab's own before any code of the student's has run at all.
2. After that, a cell of the student's, or one that is graded, counts against the student.
3. So does a cell of the lab's own, if it comes to its end in a new kernel in which nothing but the lab's own cells have
   run. If one of them ends that kernel too, it is an infrastructure fault.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from helpers.grading.policy import Policy
from helpers.grading.results import FAULTS
from helpers.grading.sandbox import InfrastructureFault, Run

NOT_THEIRS = "no code of the student's had run before it"


@dataclass(frozen=True)
class Death:
    """A cell that ended its kernel: its number in the notebook that is run, how, and in words."""

    cell: int
    outcome: str
    says: str


class Executes(Protocol):
    """A kernel, as a session needs it."""

    def execute(self, code: str, timeout: float) -> Run: ...


class Session:
    """Runs cells one after the other; `deaths` are those that ended a kernel.

    `open_kernel()` is a context manager of a kernel. `patience`: number of a cell
    -> how many times as long as the policy says it may take. `theirs` are the numbers of the cells that hold the
    student's code (default: all), `own` those of the lab's own cells. Graded cells are neither: they call the student's
    code. Time is what is `counted` in each run, and what `spend` adds.
    """

    def __init__(
        self,
        open_kernel: Callable[[], AbstractContextManager[Executes]],
        policy: Policy,
        patience: Mapping[int, float] | None = None,
        own: Collection[int] = (),
        theirs: Collection[int] | None = None,
    ):
        self.deaths: list[Death] = []
        self._open_kernel, self._policy = open_kernel, policy
        self._patience, self._own = patience or {}, frozenset(own)
        self._theirs = theirs
        self._open = contextlib.ExitStack()
        self._kernel: Executes | None = None
        self._before: list[tuple[int, str]] = []
        self._spent = 0.0
        self._pure = True  # whether no code of the student's has run in this kernel

    def run(self, number: int, code: str, again: bool = True) -> Run:
        """Run a cell, in a new kernel if the last one died.

        `again`: whether later cells may need what it leaves behind. Raises InfrastructureFault where a cell ended its
        kernel and the student's code cannot be the reason, and what `open_kernel` raises.
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
        return max(0.0, self._policy.whole_seconds - self._spent)

    def spend(self, seconds: float) -> None:
        """Take seconds off those that are left."""
        self._spent += seconds

    def close(self) -> None:
        """End the kernel."""
        self._kernel = None
        self._open.close()

    def _start(self) -> None:
        """A new kernel, and in it what was run before; what kills it now is left out next time."""
        while self._kernel is None and not self._refusal():
            self._kernel, self._pure = self._open.enter_context(self._open_kernel()), True
            for number, code in list(self._before):
                if self._execute(number, code).outcome in FAULTS:
                    self._before.remove((number, code))
                    break

    def _execute(self, number: int, code: str) -> Run:
        self._pure = self._pure and not self._has_their_code(number)
        # What the student's cells have used up is nothing to the lab's own, before them in a new kernel.
        seconds = self._seconds(number)
        assert self._kernel is not None  # `run` has started it
        run = self._kernel.execute(code, seconds if self._pure else min(seconds, max(0.1, self.left())))
        self.spend(run.counted)
        if run.outcome == "error" and self._pure and number in self._own and not self.deaths:
            error = run.error or {}
            raised = ": ".join(filter(None, (str(error.get(name, "")) for name in ("ename", "evalue"))))
            raise InfrastructureFault(f"a cell of the lab's own raised {raised}; {NOT_THEIRS}")
        if run.outcome in FAULTS:
            self.close()
            self.deaths.append(Death(number, run.outcome, run.says + self._blame(number, code, run)))
        return run

    def _has_their_code(self, number: int) -> bool:
        return self._theirs is None or number in self._theirs

    def _seconds(self, number: int) -> float:
        return self._policy.cell_seconds * self._patience.get(number, 1.0)

    def _blame(self, number: int, code: str, run: Run) -> str:
        """Words to add where it is the student's fault that a cell ended its kernel; raises InfrastructureFault."""
        said = f"{run.outcome} in a cell of the lab's own: {run.says}"
        if self._pure:
            raise InfrastructureFault(f"{said}; {NOT_THEIRS}")
        if number not in self._own:
            return ""
        with self._open_kernel() as kernel:
            for own, source in [*((n, text) for n, text in self._before if n in self._own), (number, code)]:
                # Not what is left: the student's cells may have used that up.
                if (alone := kernel.execute(source, self._seconds(own))).outcome in FAULTS:
                    raise InfrastructureFault(f"{said}; without the student's cells, {alone.outcome}: {alone.says}")
        return "; it comes to its end where the student's cells have not run"

    def _refusal(self) -> Run | None:
        """Why no further cell is run, as what came of it."""
        if not self.left():
            says = f"a submission may take {self._policy.whole_seconds:g} s in all, which are used up"
            return Run([], None, "timeout", 0.0, says)
        if len(self.deaths) >= self._policy.deaths:
            says = f"not run: other cells ended the kernel {len(self.deaths)} times"
            return Run([], None, self.deaths[-1].outcome, 0.0, says)
        return None
