"""Stream work that went through JSON is ordered, timed and blamed as it was at home."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.checking import evidence, stream_work
from helpers.checking.examine import examine
from helpers.checking.exercise import Case, Out, exercises
from helpers.checking.recording_as_json import NotARecording, as_data, timeline
from helpers.checking.solutions import ways
from helpers.checking.verdicts import named
from vgpu.standins import cupy as cp
from vgpu.tools.streams.recording import dry_run

KEYS = ("ch11.overlap", "ch11.replay")  # the third is given kernels in Numba, which stay where they are
ANSWERS = [(key, "solution", exercises()[key].solution) for key in KEYS]
ELSEWHERE = ("the kernel takes a chunk for all",)
"""Mistakes told otherwise elsewhere: an error arrives as words."""
ANSWERS += [(key, what, text) for key in KEYS for what, text in ways(exercises()[key]) if what not in ELSEWHERE]


def said(evidence):
    """The mistake's name and the facts that are told of it."""
    mistake = named(evidence)
    return mistake and (mistake.name, mistake.seen)


@pytest.mark.parametrize(("key", "text"), [pytest.param(k, t, id=f"{k}: {what}") for k, what, t in ANSWERS])
def test_the_program_of_an_answer_is_judged_as_the_answer_is(key, text):
    task = exercises()[key]
    cases = [*task.cases(), *([task.measured()] if task.measured else [])]
    task = replace(task, cases=lambda: cases, measured=None)
    answer = task.build(text)
    mine = examine(answer, task)
    data = json.loads(json.dumps(evidence.taken(answer, evidence.inputs_of(task)), allow_nan=False))
    its = examine(evidence.answer_in(data, task), task)
    assert [outcome.ok for outcome in mine.outcomes] == [outcome.ok for outcome in its.outcomes]
    assert [finding.title for finding in mine.findings] == [finding.title for finding in its.findings]
    assert [(b.label, b.value) for b in its.budgets] == [(b.label, pytest.approx(b.value)) for b in mine.budgets]
    assert said(mine) == said(its)


def work():
    streams = [cp.cuda.Stream() for _ in range(2)]
    x = cp.zeros(1000, cp.float32)
    event = cp.cuda.Event()
    with streams[0]:
        x += 1
        event.record()
    streams[1].wait_event(event)
    with streams[1]:
        x *= 2


def test_streams_and_events_keep_their_order():
    recorded = dry_run(work)
    again = timeline(json.loads(json.dumps(as_data(recorded))))
    assert [(o.kind, o.label) for o in again.operations] == [(o.kind, o.label) for o in recorded.operations]
    assert [step.follows for step in again.steps()] == [step.follows for step in recorded.steps()]
    assert again.schedule("A100").seconds == recorded.schedule("A100").seconds
    assert not again.hazards()


def test_host_memory_is_pinned_or_pageable_wherever_an_answer_is_tried():
    x = np.arange(1000, dtype=np.float32)

    def brought(host, device, out):
        stream = cp.cuda.Stream()
        device.set(host, stream)
        with stream:
            device += 1
        device.get(stream, out=out, blocking=False)

    for given, waited in ((x, [False, False, False]), (stream_work.Pageable(x), [True, False, False])):
        case = Case("both ways", (given, stream_work.OnDevice(x.size), Out(x + 1)))
        task = replace(exercises()["ch11.overlap"], cases=lambda case=case: [case], budgets=(), measured=None)
        data = json.loads(json.dumps(evidence.taken(brought, evidence.inputs_of(task))))
        for answer in (brought, evidence.answer_in(data, task)):
            seen = examine(answer, task)
            assert seen.right
            assert [each.waits for each in seen.outcomes[0].timeline.operations] == waited


CHANGES = {
    "no queues": lambda data: data.pop("queues"),
    "a queue that is not there": lambda data: data["operations"][0].update(queue=9),
    "a kind that is none": lambda data: data["operations"][0].update(kind="magic"),
    "bytes below none": lambda data: data["operations"][0].update(nbytes=-1),
    "no label": lambda data: data["operations"][0].update(label=None),
    "accesses that are none": lambda data: data["operations"][0].update(accesses=[1]),
    "no list": lambda data: data.update(operations=3),
    "more bytes than there are": lambda data: data["operations"][0].update(nbytes=10**300),
    "a graph's step that follows none": lambda data: data["operations"][0].update(
        kind="graph", nodes=[[dict(data["operations"][0]), [1]]]
    ),
    "too many": lambda data: data.update(operations=data["operations"] * 12_000),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_no_recording_is_refused(change):
    data = as_data(dry_run(work))
    change(data)
    with pytest.raises(NotARecording):
        timeline(data)


def test_graphs_within_graphs_have_an_end():
    data = as_data(dry_run(work))
    for _ in range(50):
        data["operations"] = [data["operations"][0] | {"kind": "graph", "nodes": [[data["operations"][0], []]]}]
    with pytest.raises(NotARecording, match="graphs within graphs"):
        timeline(data)
