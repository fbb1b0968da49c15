"""Evidence of an answer, as JSON: what is to be judged where no code of its author runs.

Of a kernel it is the compiled kernel itself, so that whoever judges runs it on inputs that its author has never seen,
and counts. Of stream work it is the program that it issues, which is replayed in the same way. Of a function it is
what it returned for the inputs it was given. `inputs_of` says what an answer to an exercise is to be tried on, without
a word on what is right; `taken` tries it and makes the evidence; `answer_in` gives back something that `examine` takes
for the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import numpy as np

from helpers.checking import recording_as_json, replayed, stream_work
from helpers.checking.exercise import Case, Exercise, Out
from helpers.checking.kernel_as_json import NotPortable, Portable, packed
from helpers.checking.replayed import Raised
from helpers.checking.tensor_program import NotReplayable
from helpers.checking.values_as_json import NotPlain, plain, unplain
from vgpu.base.errors import CompileError, VirtualGPUError
from vgpu.standins.twins import twin
from vgpu.tools.streams.recording import Timeline

LONGEST_MESSAGE = 2_000
MOST_EVIDENCE = 3_000_000
"""Letters of JSON that the evidence of one answer may have."""


class NoEvidence(ValueError):
    """What was read is no evidence of an answer to that exercise; the message says why."""


# --- kernels ----------------------------------------------------------------------------------------------------------


def _kernel_inputs(cases: list[Case]) -> dict:
    """A kernel is tried elsewhere: to compile it, the types of its arguments will do."""
    return {"arguments": [_type_of(argument) for argument in cases[0].arguments]}


def _type_of(argument: object) -> list:
    value: Any = argument.expected if isinstance(argument, Out) else argument
    return [np.asarray(value).dtype.str, np.ndim(value) if isinstance(value, np.ndarray) else None, _bare(value)]


def _bare(value: object) -> str | None:
    """Python's own numbers are other types to Numba than NumPy's."""
    return type(value).__name__ if type(value) in (bool, int, float) else None


def _sample(dtype: str, ndim: int | None, bare: str | None) -> Any:
    from vgpu.standins import cupy as cp

    if bare is not None:
        return {"bool": bool, "int": int, "float": float}[bare](0)
    return np.dtype(dtype).type(0) if ndim is None else cp.zeros((1,) * ndim, np.dtype(dtype))


def _take_kernel(answer: Any, inputs: dict) -> dict:
    try:
        kernel, _, _ = twin(answer)
        return {"kernel": packed(kernel, tuple(_sample(*each) for each in inputs["arguments"])).as_json()}
    except VirtualGPUError as error:
        return {"refused": {"type": type(error).__name__, "words": str(error)[:LONGEST_MESSAGE], "line": error.line}}


class _Refused:
    """A kernel that could not be had where it was written: it fails again wherever it is used."""

    def __init__(self, kind: object, words: str, line: int | None):
        self._error = CompileError(words, line) if kind == CompileError.__name__ else VirtualGPUError(words)

    def prepare(self, *_arguments: object, **_named: object) -> NoReturn:
        raise self._error

    __call__ = prepare


def _read_kernel(data: dict) -> Portable | _Refused:
    refused = data.get("refused")
    if isinstance(refused, dict):
        line = refused.get("line")
        return _Refused(
            refused.get("type"), str(refused.get("words"))[:LONGEST_MESSAGE], line if type(line) is int else None
        )
    try:
        return Portable.from_json(data.get("kernel"))
    except NotPortable as error:
        raise NoEvidence(str(error)) from None


# --- functions --------------------------------------------------------------------------------------------------------


def _function_inputs(cases: list[Case]) -> dict:
    return {"calls": [plain(list(case.arguments)) for case in cases]}


def _call(function: Callable, call: object) -> dict:
    try:
        return {"value": plain(function(*unplain(call)))}
    except NotPlain as error:
        return {"error": f"it returned {error}"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


def _take_values(answer: Any, inputs: dict) -> dict:
    return {"results": [_call(answer, call) for call in inputs["calls"]]}


class _Returned:
    """A function that returns what it returned elsewhere, call by call."""

    def __init__(self, results: list):
        self._results = iter(results)

    def __call__(self, *_arguments: object) -> Any:
        result = next(self._results, None)
        if not isinstance(result, dict) or "value" not in result:
            raise Raised(str((result or {}).get("error", "there is no result of this call"))[:LONGEST_MESSAGE])
        try:
            return unplain(result["value"])
        except NotPlain as error:
            raise Raised(f"it returned {error}") from None


def _read_values(data: dict) -> _Returned:
    if not isinstance(data.get("results"), list):
        raise NoEvidence("a function's evidence is a list of results")
    return _Returned(data["results"])


# --- stream work ------------------------------------------------------------------------------------------------------


def _stream_inputs(cases: list[Case]) -> dict:
    """Stream work is replayed elsewhere: to write it down, arrays of the same shapes and types will do."""
    return {"calls": [[_described(argument, _likeness) for argument in case.arguments] for case in cases]}


def _described(argument: object, held: Callable[[object], dict]) -> dict:
    """An argument of a function; `held` says of a value what is to be known of it."""
    if isinstance(argument, Out):
        initial = None if argument.initial is None else held(argument.initial)
        on_device = isinstance(argument, stream_work.OutOnDevice)
        kind, shape = argument.expected.dtype.str, list(argument.expected.shape)
        return {"out": [kind, shape], "initial": initial, "on_device": on_device}
    if isinstance(argument, stream_work.OnDevice):
        return {"device": held(argument.array)}
    if isinstance(argument, stream_work.Pageable):
        return {"pageable": held(argument.array)}
    if hasattr(argument, "code") and hasattr(argument, "name"):
        return {"kernel": [argument.code, argument.name]}
    return {"host": held(argument)}


def _likeness(value: object) -> dict:
    return {"drawn": stream_work.drawn_as(value)} if isinstance(value, np.ndarray) else _itself(value)


def _itself(value: object) -> dict:
    return {"value": plain(value)}


def _given(data: dict, number: int) -> Any:
    if "kernel" in data:
        return _raw_kernel(*data["kernel"])
    if "out" in data:
        kind = stream_work.OutOnDevice if data["on_device"] else Out
        initial = data["initial"] and _array_of(data["initial"], number)
        return kind(np.empty(data["out"][1], data["out"][0]), initial)
    ((place, held),) = data.items()
    return {"device": stream_work.OnDevice, "pageable": stream_work.Pageable, "host": lambda value: value}[place](
        _array_of(held, number)
    )


def _array_of(data: dict, number: int) -> Any:
    if "drawn" not in data:
        return unplain(data["value"])
    dtype, shape, least, greatest = data["drawn"]
    return stream_work.drawn(dtype, shape, least, greatest, number)


@cache
def _raw_kernel(code: str, name: str) -> Any:
    from vgpu.standins import cupy as cp

    return cp.RawKernel(code, name)


def _take_programs(answer: Any, inputs: dict) -> dict:
    return {"programs": [_program(answer, call) for call in inputs["calls"]]}


def _program(answer: Any, call: list) -> dict:
    try:
        given = tuple(_given(argument, number) for number, argument in enumerate(call))
        return {"program": stream_work.program(answer, given)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


class Programs(stream_work.Issued):
    """Stream work that was issued elsewhere, a program for each case in order; `replayed` executes one."""

    def __init__(self, programs: list, replayed: Callable = stream_work.replayed):
        self._left, self.replayed = iter(programs), replayed

    def issue(self, case: Case) -> tuple[np.ndarray, Timeline]:
        data = next(self._left, None)
        if not isinstance(data, dict) or "program" not in data:
            error = data.get("error") if isinstance(data, dict) else "there is no program for this case"
            raise Raised(str(error)[:LONGEST_MESSAGE])
        return self.replayed(data["program"], case)


def replay_as_json(program: object, case: Case) -> dict:
    """A program, and the arguments of a case without a word on what is right: for `replayed_as_json`, elsewhere."""
    return {"program": program, "arguments": [_described(argument, _itself) for argument in case.arguments]}


def replayed_as_json(request: dict) -> dict:
    """The result of a program, and the recording of its run."""
    given = tuple(_given(argument, number) for number, argument in enumerate(request["arguments"]))
    got, timeline = stream_work.replayed(request["program"], Case("a replay", given))
    return {"result": plain(got), "recording": recording_as_json.as_data(timeline)}


def replayed_of(data: object) -> tuple[np.ndarray, Timeline]:
    """The result and the recording again, from data of unknown origin; raises NotPlain or NotARecording."""
    if not isinstance(data, dict) or not isinstance(got := unplain(data.get("result")), np.ndarray):
        raise NotPlain("the result is no array")
    return got, recording_as_json.timeline(data.get("recording"))


def _read_programs(data: dict) -> Programs:
    if not isinstance(data.get("programs"), list) or not data["programs"]:
        raise NoEvidence("the evidence of stream work is a list of programs")
    return Programs(data["programs"])


# --- all of them ------------------------------------------------------------------------------------------------------

KINDS = {
    "numba": (_kernel_inputs, _take_kernel, _read_kernel),
    "cuda": (_kernel_inputs, _take_kernel, _read_kernel),
    "python": (_function_inputs, _take_values, _read_values),
    "tensors": (replayed.inputs, replayed.take, replayed.read),
    "streams": (_stream_inputs, _take_programs, _read_programs),
}
"""language of an exercise -> its inputs of cases, evidence of an answer and inputs, an answer of evidence."""


def inputs_of(task: Exercise) -> dict:
    """What an answer to `task` is to be tried on: JSON without expected values."""
    return {"language": task.language, **KINDS[task.language][0](task.cases())}


def taken(answer: Any, inputs: dict) -> dict:
    """Evidence of `answer`: JSON. inputs: as `inputs_of` makes them.

    That a kernel does not compile is evidence too, and so is what a function raises.
    """
    return {"language": inputs["language"], **KINDS[inputs["language"]][1](answer, inputs)}


def answer_in(data: object, task: Exercise) -> Any:
    """The answer to `task` that evidence of unknown origin stands for; raises NoEvidence."""
    if not isinstance(data, dict) or data.get("language") != task.language:
        raise NoEvidence(f"this is no evidence of an answer to {task.key}")
    try:
        return KINDS[task.language][2](data)
    except (NotPortable, NotReplayable) as error:
        raise NoEvidence(str(error)) from None
