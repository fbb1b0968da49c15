"""The explorers of time: CPU against GPU, swim lanes, and timelines of programs in both languages."""

import re

import numpy as np
import pytest

from helpers import cp, cuda, gpus, streams, widgets
from helpers.pictures import figures
from helpers.pictures.figures import PALETTE
from helpers.pictures.plots.time import around, window
from tests.pictures.widgets.choose import choose
from vgpu.tools.streams.spans import Schedule, Span

STEPS = r"""
extern "C" __global__ void steps_of(float* values, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = values[i];
    for (int k = 0; k < steps; ++k) value = 0.999f * value + 0.5f;
    values[i] = value;
}
"""


@cuda.jit
def numba_steps(values, n, steps):
    i = cuda.grid(1)
    if i < n:
        value = values[i]
        for _ in range(steps):
            value = np.float32(0.999) * value + np.float32(0.5)
        values[i] = value


KERNELS = {"cuda": lambda: cp.RawKernel(STEPS, "steps_of"), "numba": lambda: numba_steps}


def explorer(language="cuda", **options):
    values = cp.ones(1 << 13, "float32")
    arguments = lambda n, steps: (values, np.int32(n), np.int32(steps))
    return widgets.crossover(KERNELS[language](), arguments, steps=(1, 64, 4096), **options)


@pytest.mark.parametrize(
    ("language", "gpu"), [("cuda", "10.1 µs: the GPU is 4.9"), ("numba", "10.2 µs: the GPU is 4.8")]
)
def test_copies_take_away_what_one_step_gains_and_work_brings_it_back(language, gpu):
    shown = explorer(language)
    first = choose(shown)
    assert first.startswith(f"2^20 elements: EPYC 7742 49.3 µs, A100 {gpu} times as fast")
    assert "the GPU wins from 120,000 elements on (modelled)" in first
    copied = choose(shown, copies="pinned")
    assert "the CPU is 7" in copied and "times as fast; no size up to 2^28 lets the GPU win (modelled)" in copied
    assert "no size" in choose(shown, copies="pageable")
    assert "the GPU wins from" in choose(shown, copies="pinned", steps=4096)
    assert "the GPU wins from" in choose(shown, steps=1, launches=64)


def test_a_smaller_size_and_another_gpu_are_drawn():
    shown = explorer()
    small = choose(shown, elements=1 << 10)
    assert small.startswith("2^10 elements: EPYC 7742 48.2 ns, A100 ") and "the CPU is" in small
    assert "RTX 4090 " in choose(shown, gpu="RTX 4090")


@pytest.mark.parametrize("gpu", gpus.GPUS)
def test_every_gpu_of_the_table_can_be_chosen(gpu):
    assert gpu in choose(explorer(), gpu=gpu, copies="pinned")


def test_the_axes_stand_still():
    shown = explorer()
    limits = {
        shown.draw(elements=1 << 20, copies=copies, launches=1, gpu="A100", steps=steps).figure.axes[0].get_ylim()
        for copies in ("not counted", "pageable")
        for steps in (1, 4096)
    }
    assert len(limits) == 1


def test_a_cpu_may_be_measured():
    alt = explorer(cpu=1e-9).shown.alt
    assert alt.startswith("2^20 elements: your CPU 1.05 ms, A100 10.1 µs: the GPU is 104 times as fast")
    assert alt.endswith("(CPU measured, GPU modelled).")
    by_work = explorer(cpu=lambda steps: 1e-9 * steps)
    assert "your CPU 67.1 ms" in choose(by_work, steps=64)


def test_a_kernel_that_fails_says_why_in_words():
    values = cp.ones(16, "float32")
    broken = widgets.crossover(KERNELS["cuda"](), lambda n: (values, np.int32(n), np.int32(1)))
    assert "out of bounds" in broken.shown
    assert 'role="alert"' in broken.view.value


def test_an_unknown_cpu_is_answered_with_the_table():
    with pytest.raises(KeyError, match="EPYC 7742"):
        explorer(cpu="Cray-1")


SIZE = 1 << 20
ADD = cp.RawKernel('extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }', "add")


@cuda.jit
def numba_add(x):
    x[cuda.grid(1)] += 1


def chunks_with_cupy(chunks, queues, pinned):
    host = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * SIZE), np.float32) if pinned else np.empty(SIZE, np.float32)
    x, size = cp.empty(SIZE, np.float32), SIZE // chunks
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(queues)]
    for i in range(chunks):
        part, stream = slice(i * size, (i + 1) * size), lanes[i % queues]
        x[part].set(host[part], stream)
        ADD((size // 256,), (256,), (x[part],), stream=stream)
        x[part].get(stream, out=host[part], blocking=False)
    cp.cuda.Device().synchronize()


def chunks_with_numba(chunks, queues, pinned):
    host = cuda.pinned_array(SIZE, np.float32) if pinned else np.empty(SIZE, np.float32)
    lanes, size = [cuda.stream() for _ in range(queues)], SIZE // chunks
    for i in range(chunks):
        part, stream = slice(i * size, (i + 1) * size), lanes[i % queues]
        x = cuda.to_device(host[part], stream=stream)
        numba_add[size // 256, 256, stream](x)
        x.copy_to_host(host[part], stream=stream)
    cuda.synchronize()


@pytest.mark.parametrize("program", [chunks_with_cupy, chunks_with_numba])
def test_the_alt_text_says_time_shares_and_how_it_was_got(program):
    explorer = widgets.swim_lanes(program, chunks=(1, 2, 4), streams=(1, 2))
    choose(explorer, chunks=1, streams=1)
    alone = streams.schedule(program, 1, 1, True)
    assert explorer.shown.alt.startswith("1 chunk in 1 stream, pinned memory: ")
    assert "as long as one piece" in explorer.shown.alt and "0% of the work overlaps other work" in explorer.shown.alt
    assert "(modelled on A100)" in explorer.shown.alt
    choose(explorer, chunks=4, streams=2)
    found = streams.schedule(program, 4, 2, True)
    (share,) = re.findall(r"(\d+)% of the work", explorer.shown.alt)
    work = sum(map(found.busy, found.engines))
    assert int(share) == round(100 * found.overlap / work) > 0
    assert found.seconds < alone.seconds
    assert f"{alone.seconds / found.seconds:.2f} times as fast as one piece" in explorer.shown.alt
    assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value


def test_pageable_memory_lets_nothing_overlap_and_the_mark_stays():
    explorer = widgets.swim_lanes(chunks_with_cupy, chunks=(1, 4), streams=(1, 4), start=(4, 4))
    assert explorer.values == {"chunks": 4, "streams": 4, "pinned": True}
    explorer.controls["pinned"].value = False
    assert "pageable memory: " in explorer.shown.alt and "times the time of one piece" in explorer.shown.alt
    assert "; 0% of the work overlaps other work" in explorer.shown.alt
    (axes,) = explorer.draw(4, 4, False).figure.axes
    assert "one piece, pinned" in [text.get_text() for text in axes.texts]


def test_the_axis_reaches_the_mark_and_streams_are_numbered_where_labels_do_not_fit():
    explorer = widgets.swim_lanes(chunks_with_cupy, chunks=(1, 8), streams=(1, 4), start=(8, 4))
    picture = explorer.draw(8, 4, True)
    (axes,) = picture.figure.axes
    alone = streams.schedule(chunks_with_cupy, 1, 1, True).seconds
    assert axes.get_xlim()[1] >= 1e6 * alone
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG
    assert {"1", "2", "3", "4"} <= {text.get_text() for text in axes.texts}


def test_a_program_that_fails_says_so_in_words():
    def broken(chunks, queues, pinned):
        raise ValueError("size must be a multiple of the chunks")

    explorer = widgets.swim_lanes(broken)
    assert 'role="alert"' in explorer.view.value and "multiple of the chunks" in explorer.view.value


def test_a_gpu_that_cannot_be_recorded_says_so_in_words(monkeypatch):
    def refuse(program, *values):
        raise streams.RecordingError("another profiler is running")

    monkeypatch.setattr(streams, "schedule", refuse)
    assert "another profiler is running" in widgets.swim_lanes(chunks_with_cupy).view.value


HALVE = cp.RawKernel('extern "C" __global__ void halve(float* x) { x[blockIdx.x * 256 + threadIdx.x] /= 2; }', "halve")


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


def with_cupy():
    x = cp.asarray(np.ones(2**16, np.float32))
    for _ in range(3):
        HALVE((256,), (256,), (x,))
    assert x.get()[0] == 1 / 8


def with_numba():
    host = cuda.pinned_array(2**16, np.float32)
    host[:] = 1
    stream = cuda.stream()
    x = cuda.to_device(host, stream=stream)
    scale[256, 256, stream](x, np.float32(0.5))
    x.copy_to_host(host, stream=stream)
    stream.synchronize()


@pytest.mark.parametrize(
    ("program", "count", "kernel", "memory"), [(with_cupy, 5, "halve", "pageable"), (with_numba, 3, "scale", "pinned")]
)
def test_every_operation_is_gone_through(program, count, kernel, memory):
    explorer = widgets.timeline(program)
    assert f"Operation {explorer.values['operation']} of {count}, on the engine" in explorer.shown.alt  # the longest
    said = []
    for number in range(1, count + 1):
        said.append(choose(explorer, operation=number))
        assert said[-1].startswith(f"Operation {number} of {count}, on ")
    assert explorer.controls["operation"].max == count
    assert "copies to the GPU: H2D" in said[0] and f", {memory}, at " in said[0]
    assert "copies to the host: D2H" in said[-1]
    assert f"the SMs: {kernel} (256 blocks)" in said[1] and "(modelled on A100)" in said[1]


def test_the_share_is_that_of_the_kernels_in_the_window():
    schedule = streams.schedule(with_numba)
    explorer = widgets.timeline(with_numba)
    share = schedule.busy("SMs") / schedule.seconds
    assert f"A kernel is running for {share:.0%} of the whole program" in explorer.shown.alt
    explorer.controls["operation"].value, explorer.controls["zoom"].value = 2, 32
    assert "of these" in explorer.shown.alt and f"for {share:.0%} of" not in explorer.shown.alt


def test_another_program_may_have_fewer_operations():
    explorer = widgets.timeline({"CuPy": with_cupy, "Numba": with_numba})
    assert choose(explorer, operation=5, program="Numba").startswith("Numba: operation 3 of 3")
    assert explorer.controls["operation"].max == 3


def made(*spans) -> Schedule:
    return Schedule("A100", tuple(Span(engine, stream, start, end, engine) for engine, stream, start, end in spans),
                    max(span[3] for span in spans))  # fmt: skip


def test_a_window_is_cut_and_keeps_lanes_and_colours():
    schedule = made(("H2D", "a", 0, 4), ("SMs", "b", 4, 6), ("D2H", "a", 6, 10))
    seen = window(schedule, 3, 5)
    assert seen.seconds == 2
    assert [(span.start, span.end) for span in seen.spans] == [(0, 1), (1, 2), (4, 4)]
    assert seen.busy("SMs") == 1 and seen.busy("D2H") == 0
    assert [span.stream for span in seen.spans] == ["a", "b", "a"]


@pytest.mark.parametrize(("start", "end", "zoom", "shown"), [
    (0, 1, 1, (0, 10)), (0, 1, 2, (0, 5)), (4, 6, 2, (2.5, 7.5)), (9, 10, 4, (7.5, 10)),
])  # fmt: skip
def test_the_marked_operation_is_in_the_middle_as_far_as_the_ends_allow(start, end, zoom, shown):
    assert around(Span("SMs", "a", start, end, "k"), 10, zoom) == pytest.approx(shown)


def test_the_picture_marks_the_operation():
    explorer = widgets.timeline(with_numba)
    assert PALETTE["yellow"] in explorer.view.value


def test_a_program_that_asks_for_nothing_is_told_so():
    with pytest.raises(ValueError, match="asks nothing of the GPU"):
        widgets.timeline(lambda: None)
    with pytest.raises(ValueError, match="this mapping is empty: give a program"):
        widgets.timeline({})
