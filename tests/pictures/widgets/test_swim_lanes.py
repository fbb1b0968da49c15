"""The explorer of swim lanes: a teacher's own program, in both languages, as chunks, streams and memory change."""

import re

import numpy as np
import pytest

from helpers import cp, cuda, streams, widgets
from helpers.pictures import figures
from helpers.workbook.run import unnamed_pictures
from vgpu.hardware.device import device, reset

SIZE = 1 << 20
ADD = cp.RawKernel('extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }', "add")


@pytest.fixture(autouse=True)
def on_an_a100():
    device("A100")
    yield
    reset()


@cuda.jit
def numba_add(x):
    x[cuda.grid(1)] += 1


def with_cupy(chunks, queues, pinned):
    host = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * SIZE), np.float32) if pinned else np.empty(SIZE, np.float32)
    x, size = cp.empty(SIZE, np.float32), SIZE // chunks
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(queues)]
    for i in range(chunks):
        part, stream = slice(i * size, (i + 1) * size), lanes[i % queues]
        x[part].set(host[part], stream)
        ADD((size // 256,), (256,), (x[part],), stream=stream)
        x[part].get(stream, out=host[part], blocking=False)
    cp.cuda.Device().synchronize()


def with_numba(chunks, queues, pinned):
    host = cuda.pinned_array(SIZE, np.float32) if pinned else np.empty(SIZE, np.float32)
    lanes, size = [cuda.stream() for _ in range(queues)], SIZE // chunks
    for i in range(chunks):
        part, stream = slice(i * size, (i + 1) * size), lanes[i % queues]
        x = cuda.to_device(host[part], stream=stream)
        numba_add[size // 256, 256, stream](x)
        x.copy_to_host(host[part], stream=stream)
    cuda.synchronize()


@pytest.mark.parametrize("program", [with_cupy, with_numba])
def test_the_alt_text_says_time_shares_and_how_it_was_got(program):
    explorer = widgets.swim_lanes(program, chunks=(1, 2, 4), streams=(1, 2))
    explorer.controls["chunks"].value = 1
    explorer.controls["streams"].value = 1
    alone = streams.schedule(program, 1, 1, True)
    assert explorer.shown.alt.startswith("1 chunk in 1 stream, pinned memory: ")
    assert (
        "as long as one piece" in explorer.shown.alt
        and "0% of the work is done beside other work" in explorer.shown.alt
    )
    assert "(modelled on A100)" in explorer.shown.alt
    explorer.controls["chunks"].value = 4
    explorer.controls["streams"].value = 2
    found = streams.schedule(program, 4, 2, True)
    (share,) = re.findall(r"(\d+)% of the work", explorer.shown.alt)
    work = sum(map(found.busy, found.engines))
    assert int(share) == round(100 * found.overlap / work) > 0
    assert found.seconds < alone.seconds
    assert f"{alone.seconds / found.seconds:.2f} times as fast as one piece" in explorer.shown.alt
    assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value
    assert unnamed_pictures(explorer.view.value) == []


def test_pageable_memory_lets_nothing_overlap_and_the_mark_stays():
    explorer = widgets.swim_lanes(with_cupy, chunks=(1, 4), streams=(1, 4), start=(4, 4))
    assert explorer.values == {"chunks": 4, "streams": 4, "pinned": True}
    explorer.controls["pinned"].value = False
    assert "pageable memory: " in explorer.shown.alt and "times the time of one piece" in explorer.shown.alt
    assert "; 0% of the work is done beside other work" in explorer.shown.alt
    (axes,) = explorer.draw(4, 4, False).figure.axes
    assert "one piece, pinned" in [text.get_text() for text in axes.texts]


def test_the_axis_reaches_the_mark_and_streams_are_numbered_where_labels_do_not_fit():
    explorer = widgets.swim_lanes(with_cupy, chunks=(1, 8), streams=(1, 4), start=(8, 4))
    picture = explorer.draw(8, 4, True)
    (axes,) = picture.figure.axes
    alone = streams.schedule(with_cupy, 1, 1, True).seconds
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
    assert "another profiler is running" in widgets.swim_lanes(with_cupy).view.value
