"""Functions on tensors whose work is run again: evidence is a program for each case, and the kernels it launches.

Where the function lives, it's called on stand-ins: random arrays of the shapes of a case's arguments. What it does with
them is taken down, and whoever judges runs that on the case's own arguments, which the function never sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.exercise import Case
from helpers.checking.kernel_as_json import Portable
from helpers.checking.tensor_program import NotReplayable, Program, play
from helpers.checking.tracing import MOST_KERNELS, Kernels, traced
from helpers.checking.trial import Here, Runs
from vgpu.hardware.device import real_gpu

LONGEST_MESSAGE = 2_000


class Raised(Exception):
    """The answer raised an exception where it ran; the message has its type and words."""


def inputs(cases: list[Case]) -> dict:
    """What a function is to be called on: for each case the types and shapes of its arguments, which are arrays."""
    return {"calls": [[[each.dtype.str, list(each.shape)] for each in case.arguments] for case in cases]}


def take(function: Callable, inputs: dict) -> dict:
    """Evidence of a function, JSON: its kernels, and for each case its program or the error that it raised."""
    kernels = Kernels()
    programs = [_program(function, call, kernels) for call in inputs["calls"]]
    return {"kernels": [each.as_json() for each in kernels.packed], "programs": programs}


def _program(function: Callable, call: list, kernels: Kernels) -> dict:
    try:
        return traced(function, _stand_ins(call), kernels).as_json()
    except Exception as error:  # a learner's function may fail in any way
        return {"error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


def _stand_ins(call: list) -> tuple[np.ndarray, ...]:
    """Random arrays, no two of them alike: by what they hold `tracing` knows them again."""
    dice = np.random.default_rng(1)
    return tuple(dice.standard_normal(shape).astype(dtype) for dtype, shape in call)


class Replayed:
    """A function known by its programs, call by call."""

    def __init__(self, kernels: list[Portable], programs: list):
        self.kernels, self._programs = kernels, iter(programs)

    def call(self, arguments: tuple, runs: list[Runs]) -> object:
        """What the function returns for these arguments."""
        data = next(self._programs, None)
        if isinstance(data, dict) and "error" in data:
            raise Raised(str(data["error"])[:LONGEST_MESSAGE])
        return play(Program.from_json(data), arguments, runs, _in_code(self.kernels))


def _in_code(kernels: list[Portable]) -> int:
    return sum(each.numbers for each in kernels)


def read(data: dict) -> Replayed:
    """The function again, from evidence of unknown origin; raises NotPortable and NotReplayable."""
    kernels, programs = data.get("kernels"), data.get("programs")
    if not isinstance(kernels, list) or not isinstance(programs, list) or len(kernels) > MOST_KERNELS:
        raise NotReplayable(f"the evidence has a list of programs, and one of at most {MOST_KERNELS} kernels")
    return Replayed([Portable.from_json(each) for each in kernels], programs)


def playable(answer: Any, runs: Callable[[Any], Any]) -> Callable:
    """A plain function that does what `answer` does: on the arguments of a case, but by its own kernels alone.

    answer: a `Replayed`, whose kernels `runs` launches, or a learner's function, which is called and replayed here. On
    a real GPU a learner's function is called as it is.
    """
    if isinstance(answer, Replayed):
        everywhere = [Here(each) for each in answer.kernels] if runs is Here else runs(answer.kernels)
        return lambda *arguments: answer.call(arguments, everywhere)
    if real_gpu():
        return answer

    def replay(*arguments: np.ndarray) -> object:
        kernels = Kernels()
        program = traced(answer, arguments, kernels)
        return play(program, arguments, [Here(each) for each in kernels.packed], _in_code(kernels.packed))

    return replay
