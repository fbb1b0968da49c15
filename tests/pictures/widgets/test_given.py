"""What a teacher may give an explorer by mistake is answered with what was meant to be there."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, widgets
from helpers.pictures.widgets.controls import choice, dropdown, slider
from tests.pictures.widgets.choose import choose

NAME = "a_kernel_with_a_name_that_goes_on_for_so_long_that_no_heading_and_no_sentence_has_room_for_all_of_it"
FILL = f"""
extern "C" __global__ void {NAME}(int* x) {{ x[threadIdx.x] = threadIdx.x; }}
extern "C" __global__ void still(int* x) {{ if (x[0] > 1000000) x[1] = 1; }}
extern "C" __global__ void copy(const float* a, float* b, int stride, int offset) {{
    b[threadIdx.x] = a[threadIdx.x * stride + offset];
}}
"""


@cuda.jit
def add(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + 1


def arrays(n=64):
    return cp.arange(n, dtype="float32"), cp.zeros(n, "float32")


def launch():
    return Launch(add, 2, 32, arrays())


def raw(name="copy"):
    return cp.RawKernel(FILL, name)


WRONG = {
    "an empty mapping": (lambda: widgets.slots({}), ValueError, "mapping is empty"),
    "an empty mapping of launches": (lambda: widgets.scheduler({}), ValueError, "at least one by its name"),
    "an empty mapping of cards": (lambda: widgets.cards({}), ValueError, "mapping is empty"),
    "a list of kernels": (lambda: widgets.banks([raw()]), TypeError, "mapping from short names"),
    "no launch": (lambda: widgets.scheduler(add), TypeError, "give a Launch"),
    "a launch without a name": (lambda: widgets.roofline(launch()), TypeError, "saxpy"),
    "a kernel in a roofline": (lambda: widgets.roofline({"k": add}), TypeError, "launches and profiles"),
    "21 kernels in a roofline": (
        lambda: widgets.roofline(dict.fromkeys(map(str, range(21)), launch())), ValueError, "at most 20",
    ),
    "a GPU misspelled": (lambda: widgets.slots(gpu="H10"), KeyError, "Did you mean H100"),
    "a GPU misspelled elsewhere": (lambda: widgets.roofline({"k": launch()}, gpu="RTX4091"), KeyError, "RTX 4090"),
    "a precision misspelled": (
        lambda: widgets.roofline({"k": launch()}, precision="fp23"), ValueError, "Did you mean 'fp32'",
    ),
    "an intensity that is text": (lambda: widgets.roofline({"k": launch()}, what_if="4"), ValueError, "FLOP/byte"),
    "one number for a range": (lambda: widgets.sectors(raw(), stride=5), TypeError, r"\(low, high\)"),
    "a range the wrong way round": (lambda: widgets.sectors(raw(), stride=(8, 4)), ValueError, "8 is more than 4"),
    "a stride backwards": (lambda: widgets.sectors(raw(), stride=(-4, 4)), ValueError, "0 or above"),
    "an operation by another name": (lambda: widgets.sectors(raw(), op="read"), ValueError, "'load', 'store'"),
    "a list for a range": (lambda: widgets.banks(raw(), stride=[1, 2, 3]), TypeError, r"\(low, high\)"),
    "an array for arguments": (lambda: widgets.banks(raw(), cp.zeros(4)), TypeError, r"\(x,\) for one argument"),
    "an array for arguments of lives": (lambda: widgets.lives(add, cp.zeros(4)), TypeError, r"\(x, y\)"),
    "a block of too many threads": (lambda: widgets.slots(block=2000), ValueError, "from 1 to 1024"),
    "a block of two dimensions": (lambda: widgets.slots(block=(8, 8)), TypeError, "number of threads"),
    "too many registers": (lambda: widgets.slots(registers=300), ValueError, "1 to 255"),
    "no blocks": (lambda: widgets.waves(add, arrays(), blocks=(0, 10)), ValueError, "at least one block"),
    "a start outside": (lambda: widgets.waves(add, arrays(), start=5000), ValueError, "5000 lies outside"),
    "a warp that is not there": (lambda: widgets.lanes(add, 1, 64, arrays(), warp=2), ValueError, "0 to 1"),
    "controls without a function": (lambda: widgets.lanes(add, 1, 64, arrays(), n=[1, 2]), TypeError, "is a function"),
    "a warp of the debugger": (lambda: widgets.debugger(add, 1, 64, arrays(), warp=7), ValueError, "'all', '0', '1'"),
    "a lane of the debugger": (lambda: widgets.debugger(add, 1, 64, arrays(), lane=32), ValueError, "from 0 to 31"),
    "steps by another name": (lambda: widgets.debugger(add, 1, 64, arrays(), by="lines"), ValueError, "'line'"),
    "no values": (lambda: widgets.traffic(lambda n: launch(), n=()), ValueError, "at least one"),
    "one value": (lambda: widgets.traffic(lambda n: launch(), n=3), TypeError, "list of the values"),
    "no control": (lambda: widgets.traffic(launch), ValueError, "at least one control"),
    "a kernel for a launch": (lambda: widgets.traffic(lambda n: add, n=(1,)), TypeError, "gives a Launch"),
    "too many threads of a tree": (lambda: widgets.tree(add, threads=(256,)), ValueError, "1 to 128"),
    "too many elements of a scan": (lambda: widgets.scan(add, elements=(64,)), ValueError, "1 to 32"),
    "one size": (lambda: widgets.tree(add, threads=64), TypeError, "list of the values"),
    "one thread": (lambda: widgets.schedules(add, 1, 32, arrays(), threads=3), TypeError, "list of the values"),
    "a time for a function": (lambda: widgets.timer_bars(5.0), TypeError, "kernel is a function"),
    "arguments for a function": (lambda: widgets.crossover(add, arrays()), TypeError, "args is a function"),
    "a CPU without time": (lambda: widgets.crossover(add, lambda n: arrays(), cpu=0.0), ValueError, "more than 0"),
    "a control's own name": (
        lambda: widgets.crossover(add, lambda n, gpu: arrays(), gpu=(1, 2)), ValueError, "something else",
    ),
    "a block in one dimension": (lambda: widgets.thread_grid(add, block=8), TypeError, r"\(8, 8\)"),
    "too many operations": (lambda: widgets.fusion([f"y{n} = x + {n}" for n in range(13)]), ValueError, "more than 12"),
    "a cut at no name": (lambda: widgets.fusion(["y = x * x"], cuts=["q"]), ValueError, "a cut cannot be 'q'"),
    "broken sectors": (lambda: widgets.fusion(["y = x * x"], columns=(100,)), ValueError, "multiples of 8"),
    "no rows": (lambda: widgets.fusion(["y = x * x"], rows=(0,)), ValueError, "1 or more"),
    "a kernel without variables": (
        lambda: widgets.lives(cp.RawKernel('extern "C" __global__ void no() {}', "no")), ValueError, "no variable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_told_what_is_wanted(what):
    make, kind, words = WRONG[what]
    with pytest.raises(kind, match=words):
        make()


def test_a_gpu_is_found_whatever_its_case():
    assert widgets.slots(gpu="h100").values["gpu"] == "H100"
    assert list(widgets.cards(launch(), gpus="h100").controls["gpu"].options) == ["H100", "A100"]


def test_a_value_too_long_to_stand_beside_a_slider_gets_a_menu():
    assert type(choice("v", "short", ["short", "brief"])).__name__ == "SelectionSlider"
    assert type(choice("v", "short", ["short", "x" * 40])).__name__ == "Dropdown"


@pytest.mark.parametrize("kind", [choice, dropdown])
def test_a_control_refuses_what_it_cannot_show(kind):
    with pytest.raises(ValueError, match="n cannot be 9: it is one of 1, 2"):
        kind("n", 9, [1, 2])
    with pytest.raises(ValueError, match="n goes from 1 to 3; 9 lies outside"):
        slider("n", 9, 1, 3)


def test_a_launch_has_its_kernels_name_on_its_cards():
    assert widgets.cards(launch()).shown.alt.startswith("add: ")


def test_a_kernel_that_moves_no_bytes_stands_beside_those_that_do():
    quiet = cp.RawKernel('extern "C" __global__ void quiet(int* x, int n) { if (n > 5) x[0] = 1; }', "quiet")
    found = widgets.roofline({"add": launch(), "quiet": Launch(quiet, 1, 32, (cp.zeros(4, "int32"), np.int32(1)))})
    assert "No bytes at DRAM, so no place: quiet." in found.shown.alt and "bound: add" in found.shown.alt
    assert "No bytes at L1, so no place: quiet." in choose(found, memory="L1")


def test_twenty_kernels_stand_under_one_roof():
    found = widgets.roofline({f"version {n}": launch() for n in range(20)})
    assert "version 19" in found.shown.alt


def test_a_block_too_long_to_record_whole_is_recorded_warp_by_warp():
    x, out = arrays(1024)
    whole = widgets.lanes(add, 1, 1024, (x, out)).shown.alt
    parts = widgets.lanes(add, 1, 1024, (x, out), max_steps=40, warp=31)
    assert parts.shown.alt == whole.replace("Warp 0", "Warp 31")
    assert choose(parts, warp=0) == whole


def test_the_grid_of_threads_counts_blocks_that_write_nothing():
    @cuda.jit
    def first_row(blocks, threads, rows, columns):
        x, y = cuda.grid(2)
        if y == 0 and x < columns:
            blocks[x], threads[x] = cuda.blockIdx.x, cuda.threadIdx.x

    said = widgets.thread_grid(first_row, columns=16, rows=8, block=(8, 4)).shown.alt
    assert said.startswith("4 blocks of 32 threads (4 warps) over 8 × 16")


LONG = {
    "lanes": lambda: widgets.lanes(raw(NAME), 1, 32, (cp.zeros(32, "int32"),)),
    "lives": lambda: widgets.lives(raw(NAME), (cp.zeros(32, "int32"),)),
    "schedules": lambda: widgets.schedules(raw(NAME), 1, 32, (cp.zeros(32, "int32"),), seeds=(0,)),
    "cards": lambda: widgets.cards({NAME: launch()}),
    "roofline": lambda: widgets.roofline({NAME: launch()}),
}


@pytest.mark.parametrize("explorer", LONG)
def test_a_long_name_is_cut_in_the_sentence_below(explorer):
    said = LONG[explorer]().shown.alt
    assert NAME not in said and NAME[:35] in said and "…" in said


def test_schedules_of_a_kernel_that_shares_nothing_say_so():
    said = widgets.schedules(raw("still"), 1, 64, (cp.zeros(4, "int32"),), seeds=(0, 1)).shown.alt
    assert "share nothing that is written" in said and "the same result" in said


def test_a_block_with_too_many_steps_is_no_race():
    @cuda.jit
    def long(x):
        i = cuda.grid(1)
        total = np.float32(0)
        for k in range(x[i]):
            total += np.float32(k) * total
        x[i] = total

    shown = widgets.schedules(long, 1, 33, (cp.full(33, 900, "int32"),), seeds=(0,)).shown
    assert isinstance(shown, str) and "more than 4,000 steps: take fewer threads" in shown


FOUR = r"""
extern "C" __global__ void turn(const float4* x, float4* out) {
    __shared__ float4 tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float4 other = tile[63 - threadIdx.x];
    out[threadIdx.x] = make_float4(other.x + 1, other.y, other.z, other.w);
}
"""


def four():
    return cp.RawKernel(FOUR, "turn"), 1, 64, (cp.arange(256, dtype="float32"), cp.zeros(256, "float32"))


def test_vectors_of_floats_in_shared_memory_are_floats_in_schedules():
    assert "tile[0] ends as (0, 1, 2, 3)" in widgets.schedules(*four(), threads=(0, 63), seeds=(0,)).shown.alt


def test_vectors_of_floats_in_shared_memory_are_floats_in_the_debugger():
    memory = widgets.debugger(*four()).memory
    held = memory.after("tile", 0, 10_000)
    assert list(held.values[:8]) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def copies(count):
    def program():
        stream, x = cuda.stream(), np.ones(64, np.float32)
        for _ in range(count):
            cuda.to_device(x, stream=stream)
        stream.synchronize()

    return program


def test_a_program_of_hundreds_of_operations_is_drawn():
    found = widgets.timeline({"few": copies(3), "many": copies(300)})
    assert "of 300, on the engine that copies to the GPU" in choose(found, program="many")
    assert len(found.shown.image) < 150_000


def test_a_program_without_work_has_no_lanes():
    shown = widgets.swim_lanes(lambda chunks, streams, pinned: None).shown
    assert shown == "the program asks nothing of the GPU: no copy, no kernel"


def test_an_error_that_comes_when_a_control_moves_is_shown_and_not_lost():
    def times(n):
        return 10 // (n - 2)

    found = widgets.timer_bars(lambda elements: times(1 if elements > 1024 else 2) + 20)
    assert choose(found, elements=1024).startswith("ZeroDivisionError: ")
    assert 'role="alert"' in found.view.value and "ZeroDivisionError" in found.view.value
    assert choose(found, elements=4096).startswith("1 launch")
    with pytest.raises(ZeroDivisionError):
        widgets.timer_bars(lambda elements: times(2))


def test_the_words_of_a_missing_key_stand_without_quotes():
    def draw(n):
        raise KeyError("no such GPU: the table has A100")

    assert widgets.explore(draw, n=(1, 2)).shown == "no such GPU: the table has A100"
