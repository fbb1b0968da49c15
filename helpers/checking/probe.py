"""What a graded cell of a lab calls: `probe(answer, key, part)` shows what an answer does, and decides nothing.

In a learner's notebook it tries the answer on the exercise's public cases, or on those that a `seed` draws, and shows
numbers. Whoever grades hands in `inputs` instead, and it shows evidence, to be judged outside the answer's process.
"""

from __future__ import annotations

import contextlib
import io
import math
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from helpers.checking import evidence
from helpers.checking.examine import Evidence, examine, figure
from helpers.checking.exercise import Exercise, exercise, plural
from vgpu.base.errors import VirtualGPUError

MIME = "application/vnd.warpbook.probe+json"
RESULTS = "results"
_kept: dict[tuple, Evidence] = {}  # the graded cells of one exercise look at one kernel
_MOST_KEPT = 16
_one = threading.RLock()  # what an answer prints is kept from the process's outputs meanwhile


@dataclass(frozen=True)
class Probe:
    """What one part of an answer came to.

    `wrong` of `cases` are wrong, `findings` is how many mistakes the sanitizer found, `value` what the counter of the
    part says (None for the part "results", and where a result is wrong: then its cost says nothing), `unit` what it
    counts, `says` a phrase on what is wrong.
    """

    exercise: str
    part: str
    cases: int
    wrong: int
    findings: int
    value: float | None = None
    says: str = ""

    def __repr__(self) -> str:
        tail = f" ({self.says})" if self.says else ""
        if self.value is not None:
            return f"{self.exercise}, {self.part}: {_number(self.value)}"
        right = f"right in {self.cases - self.wrong} of {plural(self.cases, 'case')}"
        found = f", {plural(self.findings, 'finding')} of the sanitizer" if self.findings else ""
        return f"{self.exercise}, {self.part}: {right}{found}{tail}"

    def as_json(self) -> dict:
        return {
            "exercise": self.exercise, "part": self.part, "cases": self.cases, "wrong": self.wrong,
            "findings": self.findings,
            "value": self.value if self.value is not None and math.isfinite(self.value) else None,
        }  # fmt: skip


def probe(
    answer: Any, key: str, part: str = RESULTS, *, seed: int | None = None, inputs: dict | None = None
) -> Probe | None:
    """Show what `answer` does in one `part` of the exercise `key`: "results", or the label of a budget.

    Returns a `Probe` with plain numbers, for a cell's asserts. seed: cases drawn by it take the place of the public
    ones. inputs: for the grader, see `evidence.inputs_of`; then nothing is returned. Raises KeyError for an unknown
    exercise or part, and what the answer itself raises only where there is nothing to show.
    """
    if inputs is not None:
        with _one, _quiet():
            shown = {"exercise": key, "part": part, "evidence": evidence.taken(answer, inputs)}
        _display(shown, f"{key}, {part}: evidence taken")
        return None
    task = exercise(key)
    _check_part(task, part)
    with _one, _quiet():
        seen = _examined(answer, task if seed is None else task.with_cases_of(seed))
    budget = next((spent for spent in seen.budgets if spent.label == part), None)
    result = Probe(
        key,
        part,
        len(seen.outcomes),
        sum(not outcome.ok for outcome in seen.outcomes),
        len(seen.findings),
        None if budget is None else math.inf if budget.alone else budget.value,
        _phrase(seen),
    )
    _display(result.as_json(), repr(result))
    return result


def parts(task: Exercise) -> tuple[str, ...]:
    """What marks can be given for: the results, and each budget."""
    return (RESULTS, *(budget.label for budget in task.budgets))


def _check_part(task: Exercise, part: str) -> None:
    if part not in parts(task):
        raise KeyError(f"{task.key} has no part {part!r}; it has: {', '.join(parts(task))}")


def _examined(answer: Any, task: Exercise) -> Evidence:
    """What `examine` sees; kept for kernels, which do the same again as long as they are the same code."""
    try:
        key = (task.key, repr(evidence.taken(answer, evidence.inputs_of(task)))) if task.asks_for_a_kernel else None
    except VirtualGPUError:
        key = None
    if key is None:
        return examine(answer, task)
    cases = tuple(case.name for case in task.cases())
    if (*key, cases) not in _kept:
        while len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        _kept[(*key, cases)] = examine(answer, task)
    return _kept[(*key, cases)]


def _phrase(seen: Evidence) -> str:
    from helpers.checking.verdicts import named

    mistake = None if seen.right else named(seen)
    return mistake.name if mistake else ""


def _number(value: float) -> str:
    if math.isinf(value):
        return "does not count, as it is too large, or as one block or warp does most of the work"
    return figure(value)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Nothing that the answer prints or warns of becomes an output of a graded cell."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def _display(data: dict, text: str) -> None:
    from IPython import get_ipython
    from IPython.display import publish_display_data

    if get_ipython() is None:
        print(text)
    else:
        publish_display_data({MIME: data, "text/plain": text})
