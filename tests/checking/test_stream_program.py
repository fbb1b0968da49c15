"""A program of stream work is executed on arrays that its author's process never had, and nothing in it is believed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.checking import evidence, stream_work
from helpers.checking.examine import examine
from helpers.checking.exercise import Budget, Case, Exercise, Out
from helpers.checking.probe import RESULTS
from helpers.checking.stream_program import NotReplayable
from helpers.checking.stream_replay import NotAProgram
from helpers.checking.stream_work import OnDevice, OutOnDevice, Pageable, of, waits
from helpers.checking.trial import Stopped
from helpers.grading import judge
from helpers.grading.elsewhere import replays
from helpers.grading.runner import _replayed
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda

TWICE = r"""extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}"""
LAUNCHES = Budget("launches", lambda timeline: len(of(timeline, "kernel")), 1, "One is enough.")
WAITS = Budget("waits", waits, 0, "None is needed.")


def values(*shape, seed=1):
    return np.random.default_rng(seed).integers(-32, 33, shape).astype(np.float32) / 4


def task(*cases, **named):
    """An exercise on these cases; without any, the double of 40 numbers, by a kernel that is given."""
    named = {"budgets": (LAUNCHES, WAITS), "hints": ("", "", "")} | named
    return Exercise(
        "here.work", "", language="streams", name="work", drawn=lambda dice: [double(50, int(dice.integers(99)))],
        cases=lambda: list(cases) or [double(40)], sanitize=True, **named,
    )  # fmt: skip


def double(n, seed=1):
    x = values(n, seed=seed)
    return Case(f"{n} numbers", (OnDevice(x), OutOnDevice(2 * x), cp.RawKernel(TWICE, "twice")))


def work(x, out, twice):
    twice((-(-x.size // 32),), (32,), (x, out, np.int32(x.size)))


def slow(x, out, twice):
    room = cp.empty_like(out)
    for _ in range(3):
        twice((-(-x.size // 32),), (32,), (x, room, np.int32(x.size)))
    out[...] = room
    cp.cuda.Device().synchronize()


@pytest.fixture
def judged(known_exercises):
    """The points of an answer whose evidence somebody has changed, part by part; all is JSON on its way."""

    def points(answer, forge=lambda program: None, asked=None, exercise=None):
        exercise = known_exercises["here.work"] = exercise or task()
        data = evidence.taken(answer, evidence.inputs_of(exercise.for_marks(3)))
        for each in data["programs"]:
            if "program" in each:
                forge(each["program"])

        def ask(request):
            request = json.loads(json.dumps(request))
            if asked is not None:
                asked.append(request)
            return {"ready": True} if "kernel" in request else json.loads(json.dumps(_replayed(request["replay"])))

        proof = json.loads(json.dumps(data, allow_nan=False))
        return judge.answer({"exercise": exercise.key, "seed": 3, "evidence": proof}, ask)

    return points


@pytest.fixture
def known_exercises(monkeypatch):
    from helpers.checking import exercise

    known = dict(exercise.exercises())
    monkeypatch.setattr(exercise, "exercises", lambda: known)
    return known


def rights(verdict):
    return [part["right"] for part in verdict.values()]


def test_a_right_answer_gets_all_points_and_a_slow_one_its_results(judged):
    assert rights(judged(work)) == [True, True, True]
    assert rights(judged(slow)) == [True, False, False]


# -- forgeries -------------------------------------------------------------------------------------------------------


def without(*kinds):
    return lambda program: program.update(steps=[each for each in program["steps"] if each["kind"] not in kinds])


def one_launch(program):
    first = next(each for each in program["steps"] if each["kind"] == "kernel")
    program["steps"] = [first, *(each for each in program["steps"] if each["kind"] != "kernel")]
    program["steps"].append({**first, "kind": "synchronise", "event": None})


def renamed(program):
    program["kernels"][0]["name"] = "nothing"


def one_block(program):
    for each in program["steps"]:
        each["grid"] = [1]


@pytest.mark.parametrize(
    ("answer", "forge", "right"),
    [
        (slow, without("kernel"), [False, False, False]),
        (slow, without("array"), [False, False, False]),
        (slow, renamed, [True, False, False]),
        (slow, one_launch, [True, True, False]),  # a launch and a copy do give the result, and the host still waits
        (work, one_block, [False, False, False]),
        (work, lambda program: program.update(steps=[]), [False, False, False]),
    ],
)
def test_work_that_is_not_in_a_program_is_not_done(judged, answer, forge, right):
    assert rights(judged(answer, forge)) == right


def decoys(x, out, twice):
    twice((-(-x.size // 32),), (32,), (x, cp.empty_like(out), np.int32(x.size)))


def made_by_numpy(x, out, twice):
    decoys(x, out, twice)
    out.set(2 * x.get())


def uploaded_as_a_constant(x, out, twice):
    decoys(x, out, twice)
    out[...] = cp.asarray(2 * x.get())


def through_pinned_memory(x, out, twice):
    decoys(x, out, twice)
    staging = cuda.pinned_array(out.shape, out.dtype)
    staging[...] = 2 * x.get()
    out.set(staging)


def in_the_kernel(x, out, twice):
    table = ", ".join(f"{2 * each!r}f" for each in x.get().tolist())
    code = f'extern "C" __global__ void twice(float* y) {{ float t[] = {{{table}}}; y[threadIdx.x] = t[threadIdx.x]; }}'
    cp.RawKernel(code, "twice")((1,), (x.size,), (out,))


@pytest.mark.parametrize("answer", [made_by_numpy, uploaded_as_a_constant, through_pinned_memory, in_the_kernel])
def test_what_the_host_calculates_is_not_part_of_the_result(judged, answer):
    found = judged(answer)
    assert not any(rights(found))
    assert (found[RESULTS]["mistake"] == "the host calculates") is (answer is not in_the_kernel)


def test_nobody_but_the_runner_gets_values_and_nobody_gets_results(judged):
    exercise, asked = task(), []
    given = json.dumps(evidence.inputs_of(exercise.for_marks(3)))
    judged(work, asked=asked, exercise=exercise)
    for case in exercise.for_marks(3).cases():
        value, wanted = (evidence.plain(each)["data"] for each in (case.arguments[0].array, case.out.expected))
        assert value not in given and value in json.dumps(asked)
        assert wanted not in given and wanted not in json.dumps(asked)


# -- what the host does itself ---------------------------------------------------------------------------------------


def passes(answer, *arguments):
    return examine(answer, task(Case("one", arguments), budgets=())).right


def staged(copy):
    def answer(x, out):
        staging, stream = cuda.pinned_array(x.shape, x.dtype), cp.cuda.Stream(non_blocking=True)
        room = cp.empty(x.shape, x.dtype)
        copy(staging, x)
        room.set(staging, stream)
        room.get(stream, out=out, blocking=False)

    return answer


def in_two_halves(staging, x):
    half = len(x) // 2
    staging[half:], staging[:half] = x[half:], x[:half]


def turned(staging, x):
    staging[...] = x[::-1]


@pytest.mark.parametrize(
    ("copy", "given"),
    [
        (lambda staging, x: staging.__setitem__(..., x), lambda x: x),
        (np.copyto, lambda x: x),
        (in_two_halves, lambda x: x),
        (turned, lambda x: x[::-1]),
        (lambda staging, x: staging.fill(3), lambda x: np.full_like(x, 3)),
    ],
    ids=["assigned", "np.copyto", "in halves", "rows in another order", "a constant"],
)
def test_the_host_may_copy_and_write_constants(copy, given):
    x = values(6, 40)
    assert passes(staged(copy), Pageable(x), Out(np.ascontiguousarray(given(x))))


def test_what_comes_back_may_be_copied_on():
    x = values(3, 40)

    def answer(x, out):
        for row, result in zip(x, out, strict=True):
            result[...] = row.get()

    assert passes(answer, OnDevice(x), Out(x))


def test_a_program_does_not_hold_very_much_that_the_host_has_calculated():
    noise = np.random.default_rng(1).random((40, 20_000), np.float32)

    def answer(out):
        for row, result in zip(noise, out, strict=False):
            result[...] = row

    with pytest.raises(NotReplayable, match="let kernels calculate"):
        stream_work.program(answer, (Out(noise),))
    stream_work.program(answer, (Out(noise[:15]),))


@pytest.mark.parametrize(("rows", "copied"), [(20, True), (300, False)])
def test_where_the_host_calculates_very_much_no_copies_are_looked_for(rows, copied):
    """To look for a copy of what the host has written takes long in vain."""
    given = Pageable(values(40)), Out(np.zeros((rows + 1, 40), np.float32))

    def answer(x, out):
        for n in range(rows):
            out[n] = x * n + 1
            cp.cuda.Stream.null.synchronize()
        out[rows] = x

    pieces = [piece for step in stream_work.program(answer, given)["steps"] for piece in step.get("pieces", [])]
    assert (len(pieces[-1]) == 5) is copied


def test_copies_of_every_kind_and_functions_of_cupy_are_replayed():
    x = values(4, 30)

    def answer(x, out):
        room = cp.zeros(x.shape, "float32")
        room += x
        room[1, 3:] = room[0, 3:]
        room.data.copy_from_device_async(x[2].data, 12)
        room[3].data.memset_async(0, 120)
        cp.maximum(room, 0, out=room)
        out[...] = cp.where(room > 2, 1 - room, room.sum(axis=1, keepdims=True))

    held = x.copy()
    held[1, 3:], held[0, :3], held[3] = held[0, 3:], x[2, :3], 0
    held = np.maximum(held, 0)
    wanted = np.where(held > 2, 1 - held, held.sum(axis=1, keepdims=True))
    assert passes(answer, OnDevice(x), OutOnDevice(wanted))


def test_a_program_cannot_hold_work_on_which_the_device_spends_more_than_moving_bytes():
    x = values(4, 4)
    seen = examine(lambda x, out: cp.matmul(x, x, out=out), task(Case("one", (OnDevice(x), OutOnDevice(x @ x)))))
    assert "matmul can't be replayed" in str(seen.outcomes[0].error)


# -- programs that were written by hand ------------------------------------------------------------------------------


def step(**changes):
    return lambda program: program["steps"][0].update(changes)


LARGE = {"kind": "device", "nbytes": 2**40}
CHANGES = {
    "no list": lambda program: program.update(steps=3),
    "too many steps": lambda program: program.update(steps=program["steps"] * 20_001),
    "a kind that is none": step(kind="magic"),
    "a stream that is not there": step(queue=9),
    "a kernel that is not there": step(kernel=-1),
    "no PTX": lambda program: program["kernels"][0].update(ptx="AAAA"),
    "parameters that are missing": step(parameters=[]),
    "a pointer past its buffer": step(parameters=[["00" * 8, [[0, 0, 10**9]]], ["00" * 8, []], ["00" * 4, []]]),
    "a pointer past its parameter": step(parameters=[["00" * 8, [[4, 0, 0]]], ["00" * 8, []], ["00" * 4, []]]),
    "an array past its buffer": step(arrays=[["x", 0, 0, 10**6]]),
    "more memory than there may be": lambda program: program.update(buffers=[LARGE, LARGE]),
    "a buffer of an argument that is not there": lambda program: program.update(buffers=[{"argument": 7}] * 2),
    "a buffer of a kernel": lambda program: program.update(buffers=[{"argument": 2}] * 2),
    "a view past its buffer": step(
        kind="D2D", function="copy", named={}, asynchronous=True,
        inputs=[{"view": [0, 0, "<f4", [10**6], [4]]}], outputs=[[1, 0, "<f4", [10**6], [4]]],
    ),
    "a view of objects": step(
        kind="D2D", function="copy", named={}, asynchronous=True,
        inputs=[{"view": [0, 0, "|O", [1], [8]]}], outputs=[[1, 0, "|O", [1], [8]]],
    ),
    "a function that is not known": step(
        kind="array", function="fromfile", named={}, inputs=[{"value": "/etc/hostname"}], outputs=[]
    ),
    "the host writes on the device": step(
        kind="host write", view=[1, 0, "|u1", [4], [1]], pieces=[[1, 0, 4, "eJxjYGBgAAAABAAB"]]
    ),
    "a graph that follows itself": lambda program: program.update(
        graphs=[[[program["steps"][0], [0]]]], steps=[{"kind": "graph", "queue": 0, "graph": 0}]
    ),
    "a graph in a graph": lambda program: program.update(
        graphs=[[[{"kind": "graph", "queue": 0, "graph": 0}, []]]], steps=[{"kind": "graph", "queue": 0, "graph": 0}]
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_no_program_is_refused(change):
    case = double(40)
    program = evidence.taken(work, evidence.inputs_of(task(case)))["programs"][0]["program"]
    run = replays(lambda request: {} if "kernel" in request else json.loads(json.dumps(_replayed(request["replay"]))))
    assert (run(json.loads(json.dumps(program)), case)[0] == case.out.expected).all()
    change(program)
    with pytest.raises(Stopped, match="NotAProgram"):
        run(program, case)


def test_the_host_of_a_program_reaches_no_hazard_unseen():
    """The copy of what the host wrote is part of the program, so a wait that is left out shows."""
    x = values(2, 4000)

    def answer(x, staging, out):
        stream, room = cp.cuda.Stream(non_blocking=True), cp.empty(x.shape, x.dtype)
        for row, result, batch in zip(room, out, x, strict=True):
            staging[...] = batch
            row.set(staging, stream)
            row.get(stream, out=result, blocking=False)
            stream.synchronize()

    exercise = task(Case("two rows", (Pageable(x), values(4000), Out(x))), budgets=())
    data = evidence.taken(answer, evidence.inputs_of(exercise))
    assert examine(evidence.answer_in(data, exercise), exercise).right
    without("synchronise")(data["programs"][0]["program"])
    seen = examine(evidence.answer_in(data, exercise), exercise)
    assert seen.findings and "host write" in seen.findings[0].what


def test_whether_memory_is_pinned_is_said_by_the_case():
    x = values(1000)

    def answer(x, out):
        room = cp.empty(x.shape, x.dtype)
        room.set(x, cp.cuda.Stream(non_blocking=True))
        room.get(out=out)

    exercise = task(Case("one", (Pageable(x), Out(x))), budgets=())
    data = evidence.taken(answer, evidence.inputs_of(exercise))
    for each in data["programs"][0]["program"]["buffers"]:
        if "argument" in each:
            each["kind"] = "pinned"
    for each in data["programs"][0]["program"]["steps"]:
        each |= {"asynchronous": True, "pinned": True, "waits": False}
    timeline = examine(evidence.answer_in(data, exercise), exercise).outcomes[0].timeline
    assert [each.pinned for each in timeline.operations] == [False, True]
    assert timeline.operations[0].waits


def to_host_buffers(program):
    """Kernels get the arrays of the host that copies come from and go to; there are no copies."""
    ends = [each for each in program["steps"] if each["kind"] in ("H2D", "D2H")]
    (source, *_), (target, *_) = ends[0]["inputs"][0]["view"], ends[1]["outputs"][0]
    launch = next(each for each in program["steps"] if each["kind"] == "kernel")
    for parameter, buffer in zip(launch["parameters"], (source, target), strict=False):
        parameter[1][0][1:] = [buffer, 0]
    program["steps"] = [launch | {"arrays": []}]


def copied_among_hosts(program):
    ends = [each for each in program["steps"] if each["kind"] in ("H2D", "D2H")]
    program["steps"] = [{**ends[0], "outputs": ends[1]["outputs"]}]


@pytest.mark.parametrize("change", [to_host_buffers, copied_among_hosts])
def test_work_in_memory_of_the_host_is_not_the_devices(change):
    x = values(40)

    def answer(x, out, twice):
        here, there, stream = cp.empty(40, "float32"), cp.empty(40, "float32"), cp.cuda.Stream(non_blocking=True)
        here.set(x, stream)
        twice((2,), (32,), (here, there, np.int32(40)), stream=stream)
        there.get(stream, out=out, blocking=False)

    exercise = task(Case("one", (x, Out(2 * x), cp.RawKernel(TWICE, "twice"))), budgets=())
    data = evidence.taken(answer, evidence.inputs_of(exercise))
    assert examine(evidence.answer_in(data, exercise), exercise).right
    change(data["programs"][0]["program"])
    error = examine(evidence.answer_in(data, exercise), exercise).outcomes[0].error
    assert isinstance(error, NotAProgram) and "host" in str(error)


def test_arrays_of_the_recording_are_others_of_the_same_form():
    x, n = values(3, 5), np.arange(6, dtype=np.int32)
    for array in (x, n):
        other = stream_work.drawn(*json.loads(json.dumps(stream_work.drawn_as(array))), 2)
        assert (other.dtype, other.shape) == (array.dtype, array.shape) and (other != array).any()
        assert array.min() <= other.min() and other.max() <= array.max() + 1e-5
    assert np.isnan(stream_work.drawn(*stream_work.drawn_as(np.full(3, np.nan, "f4")), 0)).all()
    out = stream_work.decoy(replace(Out(x), initial=x), 1)
    assert (out.initial != x).any() and out.initial.shape == x.shape
