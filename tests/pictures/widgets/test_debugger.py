"""The debugger of warps: every step of a block, by line and by instruction, in all languages, errors included."""

import numpy as np
import pytest

from helpers import cp, cuda, record, widgets
from helpers.pictures.plots.debugger import lane_states, warp_frame
from helpers.pictures.plots.short_values import short, tiny
from helpers.pictures.widgets.explorers.debugger import ALL_WARPS, LAST_TOUCHED
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose
from vgpu.tools.steps.recording import At
from vgpu.tools.steps.timeline import MemoryThen, Moments

SETTLE = r"""
extern "C" __global__ void settle(const float* x, int* rounds) {
    int t = threadIdx.x;
    float v = x[t];
    int count = 0;
    while (v > 1.0f) {
        v = v * 0.5f;
        count = count + 1;
    }
    rounds[t] = count;
}
"""


@cuda.jit
def tree(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[0] = s[0]


FIRST = tree.py_func.__code__.co_firstlineno


@pytest.fixture(scope="module")
def settling():
    x, rounds = cp.asarray(np.arange(1, 33, dtype=np.float32)), cp.zeros(32, np.int32)
    return widgets.debugger(cp.RawKernel(SETTLE, "settle"), 1, 32, (x, rounds))


@pytest.fixture(scope="module")
def summing():
    x, out = cp.arange(64, dtype="float32"), cp.zeros(1, dtype="float32")
    return widgets.debugger(tree, 1, 64, (x, out))


def press(explorer, words):
    (button,) = (button for button in explorer.buttons if button.description == words)
    button.click()
    return explorer.shown.alt


def test_lanes_leave_a_loop_and_come_back(settling):
    settling.controls["step"].value = 1
    assert settling.shown.alt.startswith("Step 1 of ") and "line 2, 32 of 32 lanes active" in settling.shown.alt
    active = []
    while True:
        before = settling.controls["step"].value
        press(settling, "next change of mask")
        if settling.controls["step"].value == before:
            break
        active.append(sum(settling.timeline.moments[settling.controls["step"].value - 1].mask))
    # Of 1 to 32, so many are above 1, 2, 4, 8 and 16; then all come together.
    assert active == [31, 30, 28, 24, 16, 32]
    assert settling.shown.alt.endswith("There is no step to go to: next change of mask.")
    assert settling.timeline.moments[settling.controls["step"].value - 1].line == 10


def test_lanes_that_left_stand_at_the_line_where_they_go_on(settling):
    moment = next(m for m in settling.timeline.moments if sum(m.mask) == 16 and m.line == 7)
    standing = settling.timeline.standing[moment.number]
    assert {line for line, on in zip(standing, moment.mask, strict=True) if not on} == {10}
    assert set(settling.timeline.standing[-1]) == {None}


def test_there_and_back_again(settling):
    settling.controls["step"].value = 5
    first = settling.view.value
    assert "Step 6 of" in press(settling, "forward ▶") and settling.view.value != first
    assert "Step 5 of" in press(settling, "◀ back") and settling.view.value == first
    settling.controls["step"].value = 1
    assert "Step 1 of" in press(settling, "◀ back") and "There is no step to go to: back." in settling.view.value


def test_variables_are_shown_with_their_types_and_the_chosen_lane(settling):
    settling.controls["step"].value, settling.controls["lane"].value = 4, 21
    body = settling.view.value
    assert ">v = 22<" in body and ">f32<" in body and "lane 21 · thread 21" in body
    settling.controls["values"].value = "registers"
    assert ">%f" in settling.view.value and "pred" in settling.view.value
    choose(settling, values="variables", lane=0)


def test_memory_shows_old_and_new_values(settling):
    last = len(settling.timeline)
    store = next(m for m in reversed(settling.timeline.moments) if m.touched)
    assert "32 elements of rounds written" in choose(settling, step=store.number + 1)
    assert settling.view.value.count("line-through") == 32
    settling.controls["array"].value = "x"
    assert "line-through" not in settling.view.value and "float32[32]" in settling.view.value
    settling.controls["array"].value = LAST_TOUCHED
    assert last == settling.controls["step"].max


def test_steps_by_instruction_stay_where_they_were(settling):
    settling.controls["step"].value = 8
    line, lines = settling.timeline.moments[7].line, len(settling.timeline)
    settling.controls["by"].value = "instruction"
    assert len(settling.timeline) == len(settling.recording.steps) == settling.controls["step"].max > lines
    assert settling.timeline.moments[settling.controls["step"].value - 1].line == line
    settling.controls["by"].value = "line"
    assert settling.controls["step"].value == 8 and settling.controls["step"].max == lines


def test_a_block_of_two_warps_with_barriers(summing):
    assert summing.controls["warp"].options == (ALL_WARPS, "0", "1")
    summing.controls["step"].value = 1
    assert "warp 0, line" in press(summing, "next barrier") and "32 waiting at a barrier" in summing.shown.alt
    assert set(lane_states(summing.timeline, summing.controls["step"].value - 1)) == {"waiting"}
    # The last warp to come does not wait.
    assert "warp 1, " in press(summing, "next barrier")
    assert set(lane_states(summing.timeline, summing.controls["step"].value - 1)) == {"active"}
    here = summing.timeline.moments[summing.controls["step"].value - 1].last.number
    summing.controls["warp"].value = "0"
    now = summing.timeline.moments[summing.controls["step"].value - 1]
    assert now.warp == 0 and now.last.number <= here
    assert {m.warp for m in summing.timeline.moments} == {0}
    summing.controls["warp"].value = ALL_WARPS
    assert {m.warp for m in summing.timeline.moments} == {0, 1}


def test_where_the_other_warps_are(summing):
    summing.controls["step"].value = 1
    assert "warp 1 not begun" in summing.view.value
    press(summing, "next barrier")
    summing.controls["step"].value += 1
    assert "warp 0 waits at line" in summing.view.value
    press(summing, "next barrier")
    assert "warp 0 is at line" in summing.view.value, "warp 1 came last and set it free"
    summing.controls["step"].value = len(summing.timeline)
    assert "warp 0 finished" in summing.view.value


def test_a_shared_array_has_its_name_and_no_value_before_it_is_written(summing):
    memory = MemoryThen(summing.recording)
    (first,) = (m for m in Moments(summing.recording, warp=0).moments if m.line == FIRST + 4)
    after = memory.after("s", first.steps[0].number, first.last.number)
    assert after.values[:32].tolist() == [float(v) for v in range(32)] and set(after.values[32:]) == {None}
    assert after.before == dict.fromkeys(range(32))
    (store,) = (step.number for step in first.steps if any(each.access.op == "store" for each in step.touched))
    assert memory.after("s", store, store).before == dict.fromkeys(range(32))
    end = memory.after("s", 0, summing.recording.steps[-1].number)
    assert end.values[0] == sum(range(64))


def test_it_begins_where_it_is_told():
    x, rounds = cp.ones(32, dtype="float32"), cp.zeros(32, np.int32)
    explorer = widgets.debugger(cp.RawKernel(SETTLE, "settle"), 1, 32, (x, rounds), step=3, lane=7, by="instruction")
    assert explorer.values == {"step": 3, "lane": 7, "by": "instruction", "warp": "0", "array": LAST_TOUCHED,
                               "values": "variables"}  # fmt: skip
    with pytest.raises(ValueError, match="by is one of line, instruction"):
        Moments(explorer.recording, by="word")


@pytest.mark.parametrize("size", [20, 5])
def test_a_kernel_that_leaves_its_array_is_shown_up_to_there(size):
    x, rounds = cp.asarray(np.arange(1, 33, dtype=np.float32)), cp.zeros(size, np.int32)
    explorer = widgets.debugger(cp.RawKernel(SETTLE, "settle"), 1, 32, (x, rounds))
    assert "Here the kernel stops" not in explorer.shown.alt
    explorer.controls["step"].value = len(explorer.timeline)
    assert "Here the kernel stops: " in explorer.shown.alt and f"thread ({size}, 0, 0)" in explorer.shown.alt
    assert lane_states(explorer.timeline, len(explorer.timeline) - 1)[size] == "failed"
    assert rounds.get().tolist() == [0] * size


def test_a_long_block_is_cut_and_says_so():
    x, rounds = cp.asarray(np.full(32, 1e30, np.float32)), cp.zeros(32, np.int32)
    explorer = widgets.debugger(cp.RawKernel(SETTLE, "settle"), 1, 32, (x, rounds), max_steps=100)
    explorer.controls["step"].value = len(explorer.timeline)
    assert explorer.shown.alt.endswith("The recording is cut here, after 100 instructions; the kernel goes on.")


def test_a_kernel_that_does_not_compile_says_why_in_words():
    explorer = widgets.debugger(cp.RawKernel('extern "C" __global__ void f() { oops; }', "f"), 1, 32, ())
    assert isinstance(explorer.shown, str) and "oops" in explorer.shown
    assert 'role="alert"' in explorer.view.value
    assert "oops" in explorer._repr_mimebundle_()["text/html"]


def test_a_block_that_is_no_multiple_of_a_warp():
    @cuda.jit
    def double(x):
        i = cuda.threadIdx.x
        x[i] = 2 * x[i]

    explorer = widgets.debugger(double, 1, 40, (cp.ones(40, dtype="float32"),), warp=1)
    assert "of 8 lanes active" in explorer.shown.alt
    assert lane_states(explorer.timeline, 0)[7:9] == ("active", "no thread")


def test_many_warps_and_two_dimensions():
    @cuda.jit
    def flip(x, out):
        j, i = cuda.grid(2)
        out[j, i] = x[i, j]

    x, out = cp.asarray(np.arange(256, dtype=np.float32).reshape(16, 16)), cp.zeros((16, 16), dtype="float32")
    explorer = widgets.debugger(flip, 1, (16, 16), (x, out), warp=3, lane=17)
    explorer.controls["step"].value = len(explorer.timeline)
    assert "lane 17 · thread 1, 7" in explorer.view.value
    assert "float32[16 × 16]" in explorer.view.value and "[0,0]" in explorer.view.value
    assert len(explorer.controls["warp"].options) == 9


def test_the_first_frame_is_a_still_picture_with_words(settling):
    bundle = settling._repr_mimebundle_()
    assert "<img" in bundle["text/html"] and unnamed_pictures(bundle["text/html"]) == []
    assert bundle["text/plain"].startswith("debugger(step=") and "0x" not in bundle["text/plain"]
    assert settling.view.layout.height.endswith("px")


def test_every_step_of_a_block_can_be_drawn():
    x, out = cp.arange(64, dtype="float32"), cp.zeros(1, dtype="float32")
    recording = record(tree, 1, 64, (x, out))
    memory = MemoryThen(recording)
    for by in ("line", "instruction"):
        timeline = Moments(recording, by=by)
        for number in range(len(timeline)):
            frame = warp_frame(timeline, memory, number, registers=by == "instruction")
            assert frame.finding.startswith(f"Step {number + 1} of {len(timeline)}: warp ")
            assert frame.svg.startswith("<svg") and len(frame.svg) < 100_000


@pytest.mark.parametrize(
    ("value", "four", "seven"),
    [(7, "7", "7"), (-12345, "-1e4", "-12345"), (1234567890, "1e9", "1.23e9"), (0.125, ".125", "0.125"),
     (-0.03125, "-.03", "-0.0312"), (1.5, "1.5", "1.5"), (123456.0, "1e5", "1.23e5"), (1e-9, "~0", "1e-09"),
     (True, "T", "True"), (float("nan"), "nan", "nan"), (float("-inf"), "-inf", "-inf"), (At("x", 12), "+12", "x+12")],
)  # fmt: skip
def test_values_in_little_room(value, four, seven):
    assert tiny(value) == four and len(tiny(value)) <= 4
    assert short(value) == seven and len(short(value)) <= 7
