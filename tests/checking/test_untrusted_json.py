"""Whatever a process in a student's hands sends: it's read as what it should be, or refused with the declared error."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest

from helpers.checking import recording_as_json, trial_as_json
from helpers.checking.kernel_as_json import NotPortable, Portable
from helpers.checking.recording_as_json import NotARecording
from helpers.checking.step_as_data import NotRecorded, replayed
from helpers.checking.trial import Blank, Here, Stopped, Trial
from helpers.checking.trial_as_json import ERRORS, NotSeen, error_as_json, error_of, seen_as_json, seen_of
from helpers.checking.values_as_json import NotPlain, plain, unplain
from helpers.grading.warm import KERNELS, THREADS
from vgpu.base.errors import CompileError
from vgpu.compile.resources import Resources
from vgpu.standins import cupy as cp
from vgpu.tools.streams.recording import dry_run

X = np.arange(THREADS, dtype=np.float32)
RACE = Trial((Blank(np.dtype("float32"), (64,)),), (2,), (32,), True)
RACY = cp.RawKernel('extern "C" __global__ void racy(float* x) { x[0] = blockIdx.x; x[1] = threadIdx.x; }', "racy")


def seen(x=X, **how):
    return Here(KERNELS[0]).run(Trial((Blank(x.dtype, x.shape), x), (1,), (THREADS,), **how))


def work():
    streams, event, x = [cp.cuda.Stream() for _ in range(2)], cp.cuda.Event(), cp.zeros(1000, cp.float32)
    with streams[0]:
        x += 1
        event.record()
    streams[1].wait_event(event)
    with streams[1]:
        streams[1].begin_capture()
        RACY((2,), (32,), (x,))
        graph = streams[1].end_capture()
        graph.launch(streams[1])


def steps(calls):
    """A step is read when it's replayed, by PyTorch, whose own errors are what an answer may raise."""
    a = np.zeros((2, 2), np.float32)
    try:
        replayed(unplain(calls), (a, a[:, :1], a, a), 0.5, 1)
    except (NotRecorded, NotPlain):
        raise
    except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError):
        return []
    return calls


TENSOR, CONSTANT = ("tensor", 2), ("constant", np.ones((2, 2), np.float32))
CALLS = [("torch.add", [TENSOR, 1], {"alpha": 2}, True), ("torch.cat", [[TENSOR, CONSTANT]], {"dim": 0}, False),
         ("torch.Tensor.__getitem__", [TENSOR, ("slice", 0, None, None)], {}, True),
         ("step", [0], {}, True)]  # fmt: skip
VALUES = [None, True, -7, 2**70, 1.5, "text", [1, [2]], (1, ()), {"a": X[:3]}, float("nan"), np.float32(1)]
READERS = {
    # what is sent -> how it's read, how it's written, the errors that reading may raise
    "kernel": (lambda: KERNELS[1].as_json(), Portable.from_json, Portable.as_json, NotPortable),
    "seen": (lambda: seen_as_json(seen(watch=True, follow=(0, 0))), seen_of, seen_as_json, NotSeen),
    "findings": (lambda: seen_as_json(Here(RACY).run(RACE)), seen_of, seen_as_json, NotSeen),
    "failed": (lambda: seen_as_json(seen(X[:16])), seen_of, seen_as_json, NotSeen),
    "error": (lambda: error_as_json(CompileError("no", 3)), error_of, error_as_json, NotSeen),
    "resources": (lambda: trial_as_json.resources_as_json(Resources(40)), trial_as_json.resources_of,
                  trial_as_json.resources_as_json, NotSeen),
    "recording": (lambda: recording_as_json.as_data(dry_run(work)), recording_as_json.timeline,
                  recording_as_json.as_data, NotARecording),
    "values": (lambda: plain(VALUES), unplain, plain, NotPlain),
    "step": (lambda: plain(CALLS), steps, list, (NotRecorded, NotPlain)),
}  # fmt: skip


def deep(levels: int) -> list:
    return [deep(levels - 1)] if levels else []


HOSTILE = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 10**300, 1.0, -0.5, float("nan"), float("inf"), "", "x", "x\n", "1",
    "\ud800", "é" * 9, "a" * 5000, "AAAA", "nan", [], [0], [[]], {}, {"x": 1}, {"\ud800": 1}, {"tuple": [1]}, deep(99),
    {"array": "<f4", "shape": [2**24], "data": "AAAA", "scalar": False},
    {"array": "<u8", "shape": [0], "data": "eJwDAAAAAAE=", "scalar": False},
]  # fmt: skip


def places(data, found: list) -> list:
    """Every list and object in a message, with the keys in it."""
    if isinstance(data, dict | list):
        found += [(data, key) for key in (list(data) if isinstance(data, dict) else range(len(data)))]
        for each in data.values() if isinstance(data, dict) else data:
            places(each, found)
    return found


def spoilt(data, dice: random.Random):
    """The message with one or two things in it changed, missing, doubled or too many."""
    data = copy.deepcopy(data)
    for _ in range(dice.choice((1, 1, 2))):
        where = places(data, [])
        if not where:
            return dice.choice(HOSTILE)
        inside, key = dice.choice(where)
        match dice.randrange(6):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, dict):
                inside[dice.choice(("evil", "\ud800", "__class__", *inside))] = inside.pop(key)
            case 2 if isinstance(inside, list):
                inside *= dice.choice((2, 3))
            case 3:
                inside[key] = [inside[key]]
            case 4:
                other, there = dice.choice(where)
                inside[key] = copy.deepcopy(other[there]) if there in other or isinstance(other, list) else None
            case _:
                inside[key] = copy.deepcopy(dice.choice(HOSTILE))
    return data


@pytest.mark.parametrize("what", READERS)
def test_a_message_that_was_changed_is_read_or_refused(what, times=400):
    made, read, write, declared = READERS[what]
    message, dice = json.loads(json.dumps(made(), allow_nan=False)), random.Random(what)
    read(message)
    refused = 0
    for _ in range(times):
        try:
            found = read(spoilt(message, dice))
        except declared as error:
            refused += 1
            assert len(str(error)) <= 300
        else:
            again = json.dumps(write(found), allow_nan=False)
            read(json.loads(again))
    assert refused > times / 4


def others(value) -> list:
    """What's no value of the same type, though Python might take some of it for one."""
    match value:
        case bool():
            return [int(value), "true"]
        case int():
            return [float(value), str(value), bool(value)]
        case str():
            return [0, [value]]
        case list():
            return [{}, {"0": 1}, "[]"]
        case dict():
            return [[], list(value.items()), "{}"]
    return []


@pytest.mark.parametrize("what", [each for each in READERS if each not in ("values", "step")])
def test_what_has_another_type_or_other_fields_is_refused(what):
    made, read, _, declared = READERS[what]
    message = json.loads(json.dumps(made()))
    less = [{key: value for key, value in message.items() if key != left_out} for left_out in message]
    for data in (*HOSTILE, *less, message | {"evil": 1}):
        with pytest.raises(declared):
            read(data)
    for inside, key in places(message, []):
        value = inside[key]
        for other in others(value):
            inside[key] = other
            with pytest.raises(declared):
                read(message)
        inside[key] = value
    read(message)


@pytest.mark.parametrize("name", [*filter(None, ERRORS), None])
def test_each_error_comes_back_as_what_it_was(name):
    places = {"line": 3, "thread": (1, 0, 0), "block": None, "address": None}
    error = error_of({"type": name, "words": "line 3: no", **places})
    assert (type(error), str(error), vars(error)) == (ERRORS.get(name, Stopped), "line 3: no", places)


@pytest.mark.parametrize("store", ["*(float*)-16ll = 1;", "*(float*)16 = 1;", "((float*)0)[-4] = 1;", "x[-1] = 1;"])
def test_an_error_at_an_odd_address_is_told(store):
    kernel = cp.RawKernel(f'extern "C" __global__ void wild(float* x) {{ {store} }}', "wild")
    for watch in (False, True):
        error = Here(kernel).run(Trial(RACE.arguments, (1,), (1,), watch)).error
        again = error_of(json.loads(json.dumps(error_as_json(error))))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_messages_in_messages_have_an_end():
    """Deeper than the stack reaches, where no socket has refused them before."""
    message, end = recording_as_json.as_data(dry_run(work)), []
    for _ in range(100_000):
        end = [end]
    for data in ({"operations": end}, {"queues": end}, {"operations": [message["operations"][0] | {"nodes": end}]}):
        with pytest.raises(NotARecording):
            recording_as_json.timeline(message | data)
    for data in (end, {"unknown": end}, {"tuple": end}, {"array": end}, {"gpu": end}):
        with pytest.raises(NotPlain):
            unplain(data)
