"""Recordings of one block: which lanes step where, what they write, and what the user calls it."""

import ast

import numpy as np
import pytest

from vgpu import record
from vgpu.base.errors import Deadlock, LaunchError, OutOfBounds
from vgpu.reference import machine
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.storage.memory import ArrayInfo
from vgpu.tools.steps.naming import KnownValues, assignment, changed, special_name
from vgpu.tools.steps.recording import At
from vgpu.tools.steps.stepper import RecordingTooLong

LANE = np.arange(32)

DIVERGENT = """\
extern "C" __global__ void powers(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int bits = x[i];
    int power = 1;
    while (bits > 1) {
        bits = bits / 3;
        power = power * 3;
    }
    y[i] = power;
}
"""


def divergent():
    kernel = cp.RawKernel(DIVERGENT, "powers")
    x = cp.array(np.tile([1, 4, 10, 30], 16).astype(np.int32))
    y = cp.zeros(64, np.int32)
    return record(kernel, 2, 32, (x, y, np.int32(64)), (1, 0, 0)), y


def test_a_loop_that_lanes_leave_one_after_another():
    found, y = divergent()
    assert found.warps == 1 and (y.get() == 0).all(), "a recording changes nothing"
    rounds = found.at_line(7)
    masks = [tuple(bool(m) for m in first <= LANE % 4) for first in (1, 2, 3)]
    # 4, 10 and 30 are above 1 for one, two and three divisions by three.
    seen = [step.mask for number, step in enumerate(rounds) if number == 0 or step.mask != rounds[number - 1].mask]
    assert seen == masks
    (store,) = [step for step in found.steps if step.touched and step.touched[0].access.op == "store"]
    assert store.line == 9 and all(store.mask)
    assert store.touched[0].after == (1, 3, 9, 27) * 8 and store.touched[0].before == (0,) * 32
    assert store.touched[0].access.addresses == tuple(128 + 4 * LANE)
    last = found.steps[-1]
    assert all(last.done) and last.standing == (None,) * 32


def test_lanes_that_left_the_loop_stand_behind_it():
    found, _ = divergent()
    step = next(step for step in found.at_line(7) if step.mask == tuple(bool(m) for m in LANE % 4 == 3))
    others = {line for line, on in zip(step.standing, step.mask, strict=True) if not on}
    onwards = next(later for later in found.steps[step.number :] if later.mask[0])
    assert others == {onwards.line} and onwards.line != step.line
    assert not any(step.waiting) and not any(step.done)


def test_values_carry_the_users_names():
    found, _ = divergent()
    values = found.values(found.at_line(9)[-1].number)
    assert values["i"].values == tuple(range(32, 64)) and found.steps[values["i"].since].line == 2
    assert values["threadIdx.x"].values == tuple(range(32)) and values["blockIdx.x"].values == (1,) * 32
    assert values["x"].values == (At("x", 0),) * 32
    # Of `bits = bits / 3` and `power = 1` no instruction is left, so nothing tells what these two hold, and when.
    assert "bits" not in values and "power" not in values


def test_forwards_and_backwards_by_lines():
    found, _ = divergent()
    start = found.at_line(2)[0]
    onwards = found.next_line(start.number)
    assert onwards.line == 3 and found.steps[onwards.number - 1].line == 2
    back = found.previous_line(onwards.number)
    assert back is start
    assert found.next_line(found.steps[-1].number) is None and found.previous_line(0) is None
    assert [step.number for step in found.steps] == list(range(len(found.steps)))


def test_recordings_are_the_same_every_time():
    (first, _), (again, _) = divergent(), divergent()
    assert first == again and repr(first.steps) == repr(again.steps)
    assert first.title == f"Recording of powers, block (1, 0, 0): {len(first.steps)} steps of 1 warp"


@cuda.jit
def mirrored(source, target):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = source[t]
    cuda.syncthreads()
    other = s[63 - t]
    target[t] = other + 1


FIRST = mirrored.py_func.__code__.co_firstlineno


def test_a_barrier_with_two_warps():
    source, target = cuda.to_device(np.arange(64, dtype=np.float32)), cuda.to_device(np.zeros(64, np.float32))
    found = record(mirrored, 1, 64, (source, target))
    assert found.warps == 2 and not target.copy_to_host().any()
    waits = [step for step in found.steps if "bar.sync" in step.instruction]
    assert [step.warp for step in waits] == [0, 1] and {step.line for step in waits} == {FIRST + 5}
    # The first warp waits until the second has come.
    assert all(waits[0].waiting) and not any(
        waits[0].mask and step.warp == 0 for step in found.steps[waits[0].number + 1 : waits[1].number]
    )
    loads = [step for step in found.at_line(FIRST + 6) if step.touched]
    assert [step.touched[0].access.space for step in loads] == ["shared", "shared"]
    assert loads[0].number > waits[1].number
    assert loads[0].touched[0].after == tuple(63.0 - LANE) and loads[1].touched[0].after == tuple(31.0 - LANE)
    other = found.values(found.steps[-1].number, warp=0)["other"]
    assert other.values == tuple(63.0 - LANE)
    assert found.values(found.steps[-1].number, warp=1)["t"].values == tuple(LANE + 32)
    assert {step.warp for step in record(mirrored, 1, 64, (source, target), warp=1).steps} == {1}


def test_registers_after_a_step():
    source, target = cuda.to_device(np.arange(64, dtype=np.float32)), cuda.to_device(np.zeros(64, np.float32))
    found = record(mirrored, 1, 64, (source, target))
    store = next(step for step in found.steps if step.touched and step.touched[0].access.array == "target")
    register = store.instruction.rpartition(",")[2].strip(" ;")
    assert found.registers(store.number)[register].values == tuple(64.0 - LANE)
    assert found.registers(store.number)[register].type == "f32"
    assert register not in found.registers(0)


@cuda.jit
def counting(x, y, n):
    i = cuda.grid(1)
    v = x[i]
    k = 0
    while v > 2.0:
        v = v / 2.0
        k += 1
    y[i] = k


def test_a_name_that_changes_in_a_loop_is_known_or_silent():
    x = np.linspace(1, 40, 32).astype(np.float32)
    found = record(counting, 1, 32, (cuda.to_device(x), cuda.to_device(np.zeros(32, np.int64)), 3))
    start = counting.py_func.__code__.co_firstlineno
    seen = [found.values(step.number).get("v") for step in found.at_line(start + 7)]
    seen += [found.values(step.number).get("v") for step in found.at_line(start + 8)]
    # Whenever `v` is given a value, it is the one that the loop has reached in each lane.
    halvings = [set((x[lane] / 2.0 ** np.arange(7)).tolist()) for lane in range(32)]
    for value in filter(None, seen):
        assert all(value.values[lane] is None or value.values[lane] in halvings[lane] for lane in range(32))
    last = found.values(found.steps[-1].number)
    assert last["i"].values == tuple(LANE)
    assert "v" not in last or all(v is None or v <= 2.0 for v in last["v"].values)


SHUFFLE = """\
extern "C" __global__ void total(const int* x, int* y) {
    int sum = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0)
        y[0] = sum;
}
"""


def test_a_reduction_by_shuffles():
    x, y = cp.array(np.arange(1, 33, dtype=np.int32)), cp.zeros(1, np.int32)
    found = record(cp.RawKernel(SHUFFLE, "total"), 1, 32, (x, y))
    expected, seen = np.arange(1, 33), []
    for step in found.steps:
        if "shfl" in step.instruction:
            received = next(written for written in step.written if written.type != "pred")
            seen.append(received.values)
    wanted = []
    for offset in (16, 8, 4, 2, 1):
        received = np.where(LANE + offset < 32, np.roll(expected, -offset), expected)
        wanted.append(tuple(received.tolist()))
        expected = expected + received
    assert seen == wanted
    (store,) = [step for step in found.steps if step.touched and step.touched[0].access.op == "store"]
    assert store.active == (True,) + (False,) * 31 and store.touched[0].after[0] == 528
    assert y.get()[0] == 0


def test_functions_that_stay_calls():
    source = """
__device__ __noinline__ int doubled(int value) {
    return value + value;
}
extern "C" __global__ void f(int* x) {
    int i = threadIdx.x;
    x[i] = doubled(i) + 1;
}
"""
    x = cp.zeros(32, np.int32)
    found = record(cp.RawKernel(source, "f"), 1, 32, (x,))
    sums = [written.values for step in found.at_line(3) for written in step.written]
    assert tuple((2 * LANE).tolist()) in sums
    (store,) = [step for step in found.steps if step.touched and step.touched[0].access.op == "store"]
    assert store.line == 7 and store.touched[0].after == tuple((2 * LANE + 1).tolist())


def test_guarded_lanes_are_not_active():
    source = 'extern "C" __global__ void f(int* x) { if (threadIdx.x < 5) x[threadIdx.x] = 7; }'
    found = record(cp.RawKernel(source, "f"), 1, 32, (cp.zeros(32, np.int32),))
    branch = next(step for step in found.steps if "bra" in step.instruction)
    assert all(branch.mask) and branch.active == tuple((LANE >= 5).tolist())


def test_limits_and_mistakes():
    x, y = cp.zeros(64, np.int32), cp.zeros(64, np.int32)
    kernel = cp.RawKernel(DIVERGENT, "powers")
    with pytest.raises(RecordingTooLong, match="more than 5 steps"):
        record(kernel, 2, 32, (x, y, np.int32(64)), max_steps=5)
    with pytest.raises(IndexError, match="outside the grid"):
        record(kernel, 2, 32, (x, y, np.int32(64)), (2, 0, 0))
    with pytest.raises(OutOfBounds):
        record(kernel, 3, 32, (x, y, np.int32(64)), (2, 0, 0))
    assert (y.get() == 0).all()


# --- selections and partial recordings --------------------------------------------------------------------------

SELECTED = """\
extern "C" __global__ void fold(const float* x, float* y) {
    float v = x[threadIdx.x];
    if (v < 0)
        v = -v;
    y[threadIdx.x] = v;
}
"""


@cuda.jit
def folded(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    if v > 0:  # noqa: SIM108 - two arms on two lines are what this is about
        v = v * 2
    else:
        v = -v
    y[t] = v


def test_an_arm_that_all_lanes_compute_is_not_yet_the_variable():
    data = (np.arange(32, dtype=np.float32) - 10) / 4
    x, y = cp.asarray(data), cp.zeros(32, np.float32)
    found = record(cp.RawKernel(SELECTED, "fold"), 1, 32, (x, y))
    (arm,) = found.at_line(4)
    assert all(arm.active) and arm.written[0].values == tuple((-data).tolist()) and arm.written[0].name is None
    assert found.values(arm.number)["v"].values == tuple(data.tolist()), "before the selection `v` is what was loaded"
    assert found.values(found.steps[-1].number)["v"].values == tuple(np.abs(data).tolist())


def test_a_selection_of_both_arms_has_their_name():
    data = (np.arange(32, dtype=np.float32) - 10) / 4
    x, y = cuda.to_device(data), cuda.to_device(np.zeros(32, np.float32))
    found = record(folded, 1, 32, (x, y))
    selection = next(step for step in found.steps if step.instruction.startswith("selp.f64"))
    assert selection.written[0].name == "v"
    assert selection.written[0].values == tuple(np.where(data > 0, 2 * data, -data).tolist())
    named = [w for step in found.steps[: selection.number] for w in step.written if w.name == "v"]
    assert [w.values for w in named] == [tuple(data.tolist())], "until then only the load is called v"


def test_a_partial_recording_ends_with_the_error():
    x, y = cp.array(np.tile([1, 4, 10, 30], 16).astype(np.int32)), cp.zeros(40, np.int32)
    arguments = (x, y, np.int32(64))
    found = record(cp.RawKernel(DIVERGENT, "powers"), 2, 32, arguments, (1, 0, 0), partial=True)
    assert isinstance(found.stopped, OutOfBounds) and found.stopped.thread == (8, 0, 0)
    assert found.steps[-1].line == 9 and "st.global" in found.steps[-1].instruction
    assert record(cp.RawKernel(DIVERGENT, "powers"), 2, 32, arguments, partial=True).stopped is None
    short = record(cp.RawKernel(DIVERGENT, "powers"), 2, 32, arguments, partial=True, max_steps=20)
    assert len(short.steps) == 20 and isinstance(short.stopped, RecordingTooLong)


def test_a_recording_keeps_the_listing_and_the_memory_as_it_was():
    source, target = cuda.to_device(np.arange(64, dtype=np.float32)), cuda.to_device(np.full(64, 7, np.float32))
    found = record(mirrored, 1, 64, (source, target))
    assert found.listing[FIRST + 1] == "def mirrored(source, target):"
    assert found.listing[FIRST + 3].startswith("    t = ")
    held = {each.name: each for each in found.held}
    assert set(held) == {"source", "target", "s"}
    assert np.frombuffer(held["target"].data, np.float32).tolist() == [7.0] * 64
    assert held["s"].space == "shared" and held["s"].shape == (256,)


# fmt: off
@cuda.jit
def two_on_a_line(x):
    a = cuda.shared.array(32, np.float32); b = cuda.shared.array(32, np.float32)  # noqa: E702
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[t] = 2 * x[t]
    cuda.syncthreads()
    x[t] = a[31 - t] + b[31 - t]
# fmt: on


def test_shared_arrays_are_told_apart():
    found = record(two_on_a_line, 1, 32, (cuda.to_device(np.ones(32, np.float32)),))
    assert {(each.name, each.start) for each in found.held if each.space == "shared"} == {("a", 0), ("b", 128)}


# --- names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "language", "name", "expression"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;", "cuda", "i", "blockIdx.x * blockDim.x + threadIdx.x"),
        ("s += 2.0f * x[i];  // add", "cuda", "s", "s + 2.0 * x[i]"),
        ("const float v = (float)(n) / 2;", "cuda", "v", "n / 2"),
        ("i = cuda.grid(1)", "numba", "i", "cuda.grid(1)"),
        ("total -= x[i, j]", "numba", "total", "total - x[i, j]"),
        ("pid = tl.program_id(0)", "triton", "pid", "tl.program_id(0)"),
    ],
)
def test_assignments(line, language, name, expression):
    found = assignment(line, language)
    assert found.name == name and ast.unparse(found.expression) == expression


@pytest.mark.parametrize(
    ("line", "language"),
    [("if (i == 3) return;", "cuda"), ("x[i] = 3;", "cuda"), ("for (int i = 0; i < n; i++) {", "cuda"),
     ("a = b = 1", "numba"), ("x[i] = 1", "numba"), ("def f(x):", "numba"), ("i, j = cuda.grid(2)", "numba")],
)  # fmt: skip
def test_lines_without_a_plain_assignment(line, language):
    assert assignment(line, language) is None


def test_what_a_line_may_change():
    assert changed("for (int i = 0; i < n; i++) {") == {"i"}
    assert changed("for k in range(n):") == {"k"} and changed("if (a == b && c <= d) x[i] += y;") == set()
    assert changed("a += 1; --b;") == {"a", "b"}


def test_special_registers():
    assert special_name("%tid.x", "cuda") == "threadIdx.x" and special_name("%ctaid.y", "numba") == "cuda.blockIdx.y"
    assert special_name("%ctaid.x", "triton") == "tl.program_id(0)" and special_name("%tid.x", "triton") is None


def agrees(text, values, mask=slice(None), **known):
    x = np.arange(10, 74, dtype=np.int32)
    array = ArrayInfo("x", x.ctypes.data, x.nbytes, "int32", x.shape, x.strides)
    names = KnownValues("numba", (array,), {"n": 5}, {"%tid.x": LANE.astype(np.uint64)})
    on = np.zeros(32, bool)
    on[mask] = True
    for name, value in known.items():
        names.learn(name, value, np.ones(32, bool))
    return names.agrees(ast.parse(text, mode="eval").body, values, on)


def test_a_name_needs_the_right_values_in_every_lane():
    i = LANE.astype(np.int32)
    assert agrees("cuda.threadIdx.x + n", i + 5) and not agrees("cuda.threadIdx.x + n", i + 6)
    assert agrees("x[i]", i + 10, i=i) and agrees("x[i + 40]", i + 50, slice(0, 24), i=i)
    assert not agrees("x[i + 40]", i + 50, i=i), "some lanes would lie outside"
    assert not agrees("unknown + 1", i) and not agrees("i / 2", i, i=i) and not agrees("f(i)", i, i=i)
    half = i.astype(np.float32) * np.float32(0.5)
    assert agrees("v * v", half * half, v=half) and not agrees("v * v", (half * half).astype(np.int32), v=half)


WAITING = """
extern "C" __global__ void k(volatile int* flags, int* out) {
    if (threadIdx.x == 0) { if (blockIdx.x + 1 < gridDim.x) while (flags[blockIdx.x + 1] == 0) {}
        out[blockIdx.x] = 1; __threadfence(); flags[blockIdx.x] = 7; }
}"""


def test_others_run_unseen_where_the_block_waits_for_them():
    args = cp.zeros(20, np.int32), cp.zeros(20, np.int32)
    found = record(cp.RawKernel(WAITING, "k"), 20, 32, args, block_index=3)
    (store,) = [t for step in found.steps for t in step.touched if t.access.array == "out"]
    assert store.access.addresses[0] == 12 and store.after[0] == 1
    loads = [t.after[0] for step in found.steps for t in step.touched if t.access.op == "load"]
    assert set(loads[:-1]) == {0} and loads[-1] == 7, "the memory that a load saw is that of its own time"
    assert not cp.asnumpy(args[0]).any() and not cp.asnumpy(args[1]).any()


def test_too_many_steps_of_others_say_so(monkeypatch):
    monkeypatch.setattr(machine, "MOST_OF_OTHERS", 100)
    args = cp.zeros(20, np.int32), cp.zeros(20, np.int32)
    with pytest.raises(LaunchError, match=r"waits for other blocks.*Use a smaller grid"):
        record(cp.RawKernel(WAITING, "k"), 20, 32, args, block_index=3)
    assert record(cp.RawKernel(WAITING, "k"), 20, 32, args, block_index=19).steps


def test_a_block_that_waits_for_ever_is_a_deadlock():
    source = WAITING.replace("blockIdx.x + 1 < gridDim.x", "true").replace("blockIdx.x + 1]", "0]")
    args = cp.zeros(20, np.int32), cp.zeros(20, np.int32)
    with pytest.raises(Deadlock, match="line 3"):
        record(cp.RawKernel(source, "k"), 3, 32, args, block_index=1)
