"""The judge's side of what runs elsewhere: trials and programs go out as data, what comes back is a stranger's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from helpers.checking.evidence import NoEvidence, replay_as_json, replayed_of
from helpers.checking.exercise import Case, Exercise
from helpers.checking.kernel_as_json import Portable
from helpers.checking.recording_as_json import NotARecording
from helpers.checking.trial import Seen, Trial
from helpers.checking.trial_as_json import NotSeen, error_of, resources_of, seen_of, trial_as_json
from helpers.checking.values_as_json import NotPlain
from vgpu.base.errors import Unsupported
from vgpu.compile.resources import Resources
from vgpu.hardware.gpus import GPU
from vgpu.tools.streams.recording import Timeline

Ask = Callable[[dict], dict]
"""A request of JSON to whatever runs a kernel, and its answer: see `helpers.grading.runner`."""


def elsewhere(kernels: list[Portable], task: Exercise, ask: Ask) -> list[Elsewhere]:
    """What runs trials of each of an answer's kernels; raises NoEvidence where one of them is none."""
    if kernels:
        answer = ask({"kernel": [each.as_json() for each in kernels], "variants": _variants(task)})
        if "no_evidence" in answer:
            raise NoEvidence(str(answer["no_evidence"])[:300])
    return [Elsewhere(kernel, which, ask) for which, kernel in enumerate(kernels)]


class Elsewhere:
    """Runs trials of one kernel, the answer's kernel number `which`, by asking for them."""

    def __init__(self, kernel: Portable, which: int, ask: Ask):
        self._ask, self._lines, self._first = ask, kernel.source.splitlines(), kernel.first_line
        self._which = which
        self._resources: dict[str, Resources] = {}

    def run(self, trial: Trial) -> Seen:
        try:
            return seen_of(self._ask({"trial": trial_as_json(trial), "which": self._which}).get("seen"))
        except NotSeen as error:
            return Seen(error=error)

    def resources(self, gpu: GPU) -> Resources:
        if gpu.name not in self._resources:
            answer = self._ask({"resources": gpu.name, "which": self._which})
            if "error" in answer:
                raise error_of(answer["error"])
            self._resources[gpu.name] = resources_of(answer.get("resources"))
        return self._resources[gpu.name]

    def machine_code(self, gpu: GPU) -> NoReturn:
        raise Unsupported("machine code is looked at where a kernel was written, and a lab has no budget for it")

    def line(self, number: int) -> str:
        at = number - self._first
        return self._lines[at].strip() if 0 <= at < len(self._lines) else ""


def replays(ask: Ask) -> Callable:
    """What executes a program of stream work on a case, as `stream_work.replayed` does, by asking for it."""
    ask({"kernel": [], "variants": []})

    def replayed(program: object, case: Case) -> tuple[np.ndarray, Timeline]:
        answer = ask({"replay": replay_as_json(program, case)})
        if "error" in answer:
            raise error_of(answer["error"])
        try:
            return replayed_of(answer.get("replayed"))
        except (NotPlain, NotARecording) as error:
            raise NotSeen(str(error)[:300]) from None

    return replayed


def _variants(task: Exercise) -> list[dict]:
    """The kinds of code that an exercise's launches need, so that each is compiled once."""
    follows = any(budget.of == "warp" for budget in task.budgets)
    counted = {"count": True, **({"follow": True} if follows else {})}
    return [counted, *([{**counted, "watch": True}] if task.sanitize else [])]
