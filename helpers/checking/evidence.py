"""Evidence of an answer, as JSON: what is to be judged where no code of its author runs.

Of a kernel it is the compiled kernel itself, so that whoever judges runs it on inputs that its author has never seen,
and counts. Of a function it is what it returned for the inputs it was given, of stream work what it asked for.
`inputs_of` says what an answer to an exercise is to be tried on, without a word on what is right; `taken` tries it and
makes the evidence; `answer_in` gives back something that `examine` takes for the answer.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from helpers.checking import recording_as_json, replayed, stream_work
from helpers.checking.exercise import Case, Exercise, Out
from helpers.checking.kernel_as_json import NotPortable, Portable, packed
from helpers.checking.replayed import Raised
from helpers.checking.tensor_program import NotReplayable
from helpers.checking.values_as_json import NotPlain, plain, unplain
from helpers.vgpu.base.errors import CompileError, VirtualGPUError
from helpers.vgpu.standins.twins import twin

LONGEST_MESSAGE = 2_000
MOST_EVIDENCE = 3_000_000
"""Letters of JSON that the evidence of one answer may have."""


class NoEvidence(ValueError):
    """What was read is no evidence of an answer to that exercise; the message says why."""


# --- kernels ----------------------------------------------------------------------------------------------------------


def _kernel_inputs(cases: list[Case]) -> dict:
    """A kernel is tried elsewhere: to compile it, the types of its arguments will do."""
    return {"arguments": [_type_of(argument) for argument in cases[0].arguments]}


def _type_of(argument) -> list:
    value = argument.expected if isinstance(argument, Out) else argument
    return [np.asarray(value).dtype.str, np.ndim(value) if isinstance(value, np.ndarray) else None, _bare(value)]


def _bare(value) -> str | None:
    """Python's own numbers are other types to Numba than NumPy's."""
    return type(value).__name__ if type(value) in (bool, int, float) else None


def _sample(dtype: str, ndim: int | None, bare: str | None):
    from helpers.vgpu.standins import cupy as cp

    if bare is not None:
        return {"bool": bool, "int": int, "float": float}[bare](0)
    return np.dtype(dtype).type(0) if ndim is None else cp.zeros((1,) * ndim, np.dtype(dtype))


def _take_kernel(answer, inputs: dict) -> dict:
    try:
        kernel, _, _ = twin(answer)
        return {"kernel": packed(kernel, tuple(_sample(*each) for each in inputs["arguments"])).as_json()}
    except VirtualGPUError as error:
        return {"refused": {"type": type(error).__name__, "words": str(error)[:LONGEST_MESSAGE], "line": error.line}}


class _Refused:
    """A kernel that could not be had where it was written: it fails again wherever it is used."""

    def __init__(self, kind: str, words: str, line: int | None):
        self._error = CompileError(words, line) if kind == CompileError.__name__ else VirtualGPUError(words)

    def prepare(self, *_arguments, **_named):
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


def _call(function, call) -> dict:
    try:
        return {"value": plain(function(*unplain(call)))}
    except NotPlain as error:
        return {"error": f"it returned {error}"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


def _take_values(answer, inputs: dict) -> dict:
    return {"results": [_call(answer, call) for call in inputs["calls"]]}


class _Returned:
    """A function that returns what it returned elsewhere, call by call."""

    def __init__(self, results: list):
        self._results = iter(results)

    def __call__(self, *_arguments):
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
    return {"calls": [[_asked(argument) for argument in case.arguments] for case in cases]}


def _asked(argument) -> dict:
    if isinstance(argument, Out):
        held = None if argument.initial is None else plain(np.asarray(argument.initial))
        on_device = isinstance(argument, stream_work.OutOnDevice)
        kind, shape = argument.expected.dtype.str, list(argument.expected.shape)
        return {"out": [kind, shape], "initial": held, "on_device": on_device}
    if isinstance(argument, stream_work.OnDevice):
        return {"device": plain(argument.array)}
    if isinstance(argument, stream_work.Pageable):
        return {"pageable": plain(argument.array)}
    if hasattr(argument, "code") and hasattr(argument, "name"):
        return {"kernel": [argument.code, argument.name]}
    return {"host": plain(argument)}


def _given(data: dict):
    if "out" in data:
        kind = stream_work.OutOnDevice if data["on_device"] else Out
        return kind(np.empty(data["out"][1], data["out"][0]), unplain(data["initial"]))
    if "device" in data:
        return stream_work.OnDevice(unplain(data["device"]))
    if "pageable" in data:
        return stream_work.Pageable(unplain(data["pageable"]))
    if "kernel" in data:
        return _raw_kernel(*data["kernel"])
    return unplain(data["host"])


@cache
def _raw_kernel(code: str, name: str):
    from helpers.vgpu.standins import cupy as cp

    return cp.RawKernel(code, name)


def _take_recordings(answer, inputs: dict) -> dict:
    return {"recordings": [_recording(answer, call) for call in inputs["calls"]]}


def _recording(answer, call: list) -> dict:
    try:
        got, timeline = stream_work.issue(answer, Case("a call", tuple(map(_given, call))))
        return {"result": plain(got), "recording": recording_as_json.as_data(timeline)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


class _Issued(stream_work.Issued):
    """Stream work that was asked for elsewhere, call by call; the last one is told again when it is counted."""

    def __init__(self, recordings: list):
        self._left = list(reversed(recordings))

    def issue(self):
        data = self._left.pop() if len(self._left) > 1 else self._left[0]
        if not isinstance(data, dict) or "recording" not in data:
            raise Raised(str((data if isinstance(data, dict) else {}).get("error", "no recording"))[:LONGEST_MESSAGE])
        try:
            got, timeline = unplain(data.get("result")), recording_as_json.timeline(data["recording"])
        except (NotPlain, recording_as_json.NotARecording) as error:
            raise Raised(str(error)) from None
        if not isinstance(got, np.ndarray):
            raise Raised("the result is no array")
        return got, timeline


def _read_recordings(data: dict) -> _Issued:
    if not isinstance(data.get("recordings"), list) or not data["recordings"]:
        raise NoEvidence("the evidence of stream work is a list of recordings")
    return _Issued(data["recordings"])


# --- all of them ------------------------------------------------------------------------------------------------------

KINDS = {
    "numba": (_kernel_inputs, _take_kernel, _read_kernel),
    "cuda": (_kernel_inputs, _take_kernel, _read_kernel),
    "python": (_function_inputs, _take_values, _read_values),
    "tensors": (replayed.inputs, replayed.take, replayed.read),
    "streams": (_stream_inputs, _take_recordings, _read_recordings),
}
"""language of an exercise -> its inputs of cases, evidence of an answer and inputs, an answer of evidence."""


def inputs_of(task: Exercise) -> dict:
    """What an answer to `task` is to be tried on: JSON without expected values."""
    return {"language": task.language, **KINDS[task.language][0](task.cases())}


def taken(answer, inputs: dict) -> dict:
    """Evidence of `answer`: JSON. inputs: as `inputs_of` makes them.

    That a kernel does not compile is evidence too, and so is what a function raises.
    """
    return {"language": inputs["language"], **KINDS[inputs["language"]][1](answer, inputs)}


def answer_in(data: object, task: Exercise):
    """The answer to `task` that evidence of unknown origin stands for; raises NoEvidence."""
    if not isinstance(data, dict) or data.get("language") != task.language:
        raise NoEvidence(f"this is no evidence of an answer to {task.key}")
    try:
        return KINDS[task.language][2](data)
    except (NotPortable, NotReplayable) as error:
        raise NoEvidence(str(error)) from None
