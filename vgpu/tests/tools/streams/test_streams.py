"""Streams: what CUDA orders and what it does not, and the modelled schedule of copies and kernels."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from vgpu import streams
from vgpu.hardware.gpus import GPUS
from vgpu.operations import LEGACY, Operation, Queue, span
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.tools.streams.listing import NumberedList
from vgpu.tools.streams.model import DRAM_EFFICIENCY, PINNED_FRACTION, STAGING, EngineSimulation, Work
from vgpu.tools.streams.order import findings, hazards, order, overlap, steps
from vgpu.tools.streams.spans import Schedule, Span

A100 = GPUS["A100"]
ADD = cp.RawKernel(
    'extern "C" __global__ void add(float* x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] += by; }', "add"
)
SIZE = 1 << 14
GRID, BLOCK = (SIZE // 256,), (256,)


def pinned(size=SIZE, value=0.0):
    array = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * size), np.float32, size)
    array[:] = value
    return array


def device(size=SIZE):
    return cp.zeros(size, np.float32)


def launch(x, stream=None, by=1):
    ADD((x.size // 256,), BLOCK, (x, np.float32(by)), stream=stream)


# ---------------------------------------------------------------- order, on operations made by hand


def ordered(*operations):
    """Which of the steps (by number) come before which, as pairs."""
    behind = order(steps(operations))
    return {(i, j) for j, bits in enumerate(behind) for i in range(j) if bits >> i & 1}


def kernel(queue, **more):
    return Operation("kernel", queue, asynchronous=True, **more)


ONE, TWO, FREE = Queue(16), Queue(32), Queue(48, blocking=False)
THREAD = Queue(2, kind="per-thread")


def test_one_stream_is_in_order_and_two_are_not():
    assert ordered(kernel(ONE), kernel(TWO), kernel(ONE), kernel(TWO)) == {(0, 2), (1, 3)}


def test_the_legacy_default_stream_stands_between_blocking_streams():
    assert ordered(kernel(ONE), kernel(LEGACY), kernel(TWO)) == {(0, 1), (1, 2), (0, 2)}
    assert ordered(kernel(THREAD), kernel(LEGACY), kernel(ONE)) == {(0, 1), (1, 2), (0, 2)}


def test_non_blocking_streams_do_not_wait_for_it():
    assert ordered(kernel(FREE), kernel(LEGACY), kernel(FREE)) == {(0, 2)}


def test_the_per_thread_default_stream_is_a_stream_like_others():
    assert ordered(kernel(THREAD), kernel(ONE), kernel(THREAD)) == {(0, 2)}


def test_events_order_what_comes_before_the_record_and_after_the_wait():
    event = object()
    found = ordered(
        kernel(ONE),
        Operation("record", ONE, event=event),
        kernel(ONE),
        Operation("wait", TWO, event=event),
        kernel(TWO),
    )
    # Steps: kernel, record, kernel, kernel (waits are no steps of their own).
    assert found == {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)}


def test_an_event_recorded_again_stands_for_the_later_place():
    event = object()
    record = Operation("record", ONE, event=event)
    found = ordered(record, kernel(ONE), record, Operation("wait", TWO, event=event), kernel(TWO))
    assert (1, 3) in found


def test_a_wait_before_the_record_is_no_wait():
    event = object()
    wait, record = Operation("wait", TWO, event=event), Operation("record", ONE, event=event)
    assert ordered(wait, kernel(ONE), record, kernel(TWO)) == {(0, 1)}


@pytest.mark.parametrize(
    ("target", "known"),
    [({}, {0, 1}), ({"queue": ONE}, {0}), ({"queue": TWO}, {1})],
    ids=["device", "one stream", "the other"],
)
def test_what_the_host_has_waited_for_is_over(target, known):
    found = ordered(kernel(ONE), kernel(TWO), Operation("synchronise", waits=True, **target), kernel(FREE))
    assert {i for i, j in found if j == 3} == known | {2}


def test_a_copy_that_the_host_waits_for_orders_what_it_asks_for_later():
    assert ordered(Operation("D2H", ONE, waits=True), kernel(TWO)) == {(0, 1)}
    assert ordered(Operation("D2H", ONE, asynchronous=True), kernel(TWO)) == set()


def test_nodes_of_a_graph_follow_the_stream_and_what_they_follow():
    node = kernel(FREE)
    graph = Operation("graph", ONE, nodes=((node, ()), (node, (0,)), (node, (0,))))
    found = ordered(kernel(ONE), graph, kernel(ONE))
    assert {j for i, j in found if i == 0} == {1, 2, 3, 4} and (2, 3) not in found
    assert {i for i, j in found if j == 4} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ([(0, 10)], [(5, 20)], 5),
        ([(0, 10)], [(10, 20)], 0),
        ([(0, 10), (20, 30)], [(10, 20)], 0),
        ([(0, 10), (20, 30), (40, 50)], [(5, 45)], 20),
        ([(0, 100)], [(1, 2), (50, 60), (99, 200)], 12),
        ([(0, 10), (20, 30)], [(0, 10), (20, 30)], 20),
    ],
)
def test_bytes_in_common(a, b, common):
    def pieces(ranges):
        starts, ends = (np.array(side, np.uint64) for side in zip(*ranges, strict=True))
        return SimpleNamespace(starts=starts, ends=ends)

    assert overlap(pieces(a), pieces(b)) == overlap(pieces(b), pieces(a)) == common


def test_hazards_come_in_the_order_of_the_later_operation():
    writes = [kernel(queue, accesses=(span(0, 4, True, name),)) for queue, name in ((ONE, "a"), (TWO, "b"), (FREE, ""))]
    found = hazards(steps(writes))
    assert [(hazard.numbers, hazard.name) for hazard in found] == [((0, 1), "a"), ((0, 2), "a"), ((1, 2), "b")]


def test_of_several_blocking_copies_the_first_is_named():
    copies = [Operation("D2H", ONE, label, waits=True) for label in ("first", "second")]
    (found,) = findings([*copies, kernel(TWO)])
    assert found.startswith("The host waits for first of stream 0x10 to end")


# ---------------------------------------------------------------- the machine


def run(*jobs, engines=2):
    """Start and end of jobs (work, numbers it follows, time it is asked for, priority)."""
    machine = EngineSimulation(engines)
    for number, (work, follows, time, priority) in enumerate(jobs):
        machine.submit(number, work, follows, time, priority)
    machine.finish()
    return [(job.start, pytest.approx(job.end)) for job in machine.jobs.values()]


def test_each_engine_does_one_copy_at_a_time():
    up, down = Work("H2D", 3.0), Work("D2H", 2.0)
    assert run((up, (), 0, 0), (up, (), 0, 0), (down, (), 0, 0)) == [(0, 3), (3, 6), (0, 2)]
    assert run((up, (), 0, 0), (down, (), 0, 0), engines=1) == [(0, 3), (3, 5)]


def test_a_job_waits_for_those_it_follows_and_for_being_asked():
    copy, work = Work("H2D", 3.0), Work("SMs", 1.0)
    assert run((copy, (), 1, 0), (work, (0,), 1, 0), (work, (), 2, 0)) == [(1, 4), (4, 5), (2, 3)]


def test_small_kernels_run_side_by_side_and_big_ones_in_turn():
    small, big = Work("SMs", 4.0, blocks=10, resident=100), Work("SMs", 4.0, blocks=100, resident=100)
    assert run(*[(small, (), 0, 0)] * 10) == [(0, 4)] * 10
    assert run((big, (), 0, 0), (big, (), 0, 0)) == [(0, 4), (4, 8)]


def test_the_tail_of_a_kernel_leaves_room_for_the_next():
    # 150 blocks of which 100 fit: two waves of 1 second. The next kernel's 50 blocks start beside the second one.
    first, second = Work("SMs", 2.0, blocks=150, resident=100), Work("SMs", 1.0, blocks=50, resident=100)
    assert run((first, (), 0, 0), (second, (), 0, 0)) == [(0, 2), (1, 2)]


def test_urgent_streams_go_first_but_never_interrupt_a_block():
    long, short = Work("SMs", 10.0, blocks=1000, resident=100), Work("SMs", 1.0, blocks=100, resident=100)
    # Asked for at 2.5, while the third wave runs; it gets the SMs at 3.
    assert run((long, (), 0, 0), (short, (), 2.5, -1)) == [(0, 11), (3, 4)]
    assert run((long, (), 0, 0), (short, (), 2.5, 0)) == [(0, 10), (10, 11)]


def test_busy_times_and_overlap():
    spans = (
        Span("H2D", "a", 0, 2, ""),
        Span("SMs", "a", 1, 4, ""),
        Span("SMs", "b", 2, 5, ""),
        Span("SMs", "c", 2.5, 3, ""),
        Span("D2H", "a", 7, 8, ""),
    )
    schedule = Schedule("A100", spans, 8.0)
    assert (schedule.busy("H2D"), schedule.busy("SMs"), schedule.busy("D2H")) == (2, 4, 1)
    assert schedule.overlap == pytest.approx(1)
    assert schedule.engines == ("D2H", "H2D", "SMs")


# ---------------------------------------------------------------- recordings of real programs


def pipeline(chunks, queues, size=SIZE):
    inputs, outputs = [pinned(size, i) for i in range(chunks)], [pinned(size) for _ in range(chunks)]
    arrays = [device(size) for _ in range(chunks)]
    with streams.record() as timeline:
        for i in range(chunks):
            stream = queues[i % len(queues)]
            arrays[i].set(inputs[i], stream)
            launch(arrays[i], stream)
            arrays[i].get(stream, out=outputs[i], blocking=False)
        cp.cuda.Device().synchronize()
    assert all((outputs[i] == i + 1).all() for i in range(chunks))
    return timeline


def test_two_streams_overlap_copies_and_one_does_not():
    single = pipeline(4, [cp.cuda.Stream(non_blocking=True)], 16 * SIZE)
    double = pipeline(4, [cp.cuda.Stream(non_blocking=True) for _ in range(2)], 16 * SIZE)
    assert single.hazards() == double.hazards() == []
    assert single.schedule(A100).overlap == pytest.approx(0, abs=1e-12)
    assert double.schedule(A100).overlap > 0
    assert double.schedule(A100).seconds < single.schedule(A100).seconds


def test_copies_take_their_bytes_over_the_link():
    timeline = pipeline(1, [cp.cuda.Stream()])
    up, work, down = timeline.schedule("A100").spans
    seconds = 4 * SIZE / (32e9 * PINNED_FRACTION)
    assert up.end - up.start == pytest.approx(seconds) == pytest.approx(down.end - down.start)
    assert (up.engine, work.engine, down.engine) == ("H2D", "SMs", "D2H")
    assert work.start >= up.end and down.start >= work.end
    assert {span.kind for span in (up, work, down)} == {"modelled"}


def test_a_kernel_takes_its_modelled_time_without_the_launch():
    from vgpu.tools.profile import profile

    x = device()
    model = profile(ADD, GRID, BLOCK, (x, np.float32(1)), device=A100).model
    with streams.record() as timeline:
        launch(x)
    (span,) = timeline.schedule(A100).spans
    assert span.end - span.start == pytest.approx(model.seconds - model.terms["launch"])
    assert span.start == pytest.approx(A100.launch_overhead)


def test_pageable_copies_wait_and_are_slow_and_said_to_be():
    x, host = device(), np.zeros(SIZE, np.float32)
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        x.set(host, stream)
        x.get(stream, out=host, blocking=False)
    assert [each.waits for each in timeline.operations] == [True, True]
    assert timeline.schedule(A100).spans[0].end - 5e-6 == pytest.approx(4 * SIZE / STAGING)
    (finding,) = timeline.findings()
    assert f"2 of the copies in stream 1 ({8 * SIZE:,} bytes)" in finding and "pinned memory" in finding
    assert timeline.hazards() == []


def test_a_forgotten_wait_between_streams():
    x, host = device(), pinned(value=1)
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    with streams.record() as timeline:
        x.set(host, one)
        launch(x, two)
    (hazard,) = timeline.hazards()
    assert (hazard.kind, hazard.name, hazard.nbytes) == ("write after write", "x", 4 * SIZE)
    assert "add (64 blocks) in stream 2 and H2D 64.0 KiB in stream 1 touch" in str(hazard)
    assert "wait_event" in str(hazard)
    with streams.record() as mended:
        x.set(host, one)
        two.wait_event(one.record())
        launch(x, two)
    assert mended.hazards() == []


def test_write_after_read_between_streams():
    x, out = device(), pinned()
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    with streams.record() as timeline:
        x.get(one, out=out, blocking=False)
        launch(x, two)
    assert [hazard.kind for hazard in timeline.hazards()] == ["write after read"]


def test_streams_on_different_parts_of_an_array_are_no_hazard():
    x = device(2 * SIZE)
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    with streams.record() as timeline:
        launch(x[:SIZE], one)
        launch(x[SIZE:], two)
    assert timeline.hazards() == []
    with streams.record() as timeline:
        launch(x[: SIZE + 256], one)
        launch(x[SIZE:], two)
    assert [hazard.nbytes for hazard in timeline.hazards()] == [1024]


def test_parts_that_meet_within_a_sector_are_no_hazard():
    x = device(2000)
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    add = cp.RawKernel(
        """extern "C" __global__ void part(float* x, int from, int to) {
        int i = from + threadIdx.x;
        if (i < to) x[i]++;
    }""",
        "part",
    )
    with streams.record() as timeline:
        add((1,), (1024,), (x, np.int32(0), np.int32(1001)), stream=one)
        add((1,), (1024,), (x, np.int32(1001), np.int32(2000)), stream=two)
        launch(x[:768], one)
        two.synchronize()
        x[1:4].get(two)
    assert [hazard.nbytes for hazard in timeline.hazards()] == [12, 12]
    counter = device(1)
    with streams.record() as timeline:
        for stream in (one, two):
            add((1,), (1,), (counter, np.int32(0), np.int32(1)), stream=stream)
    assert [hazard.nbytes for hazard in timeline.hazards()] == [4]


def test_kernels_that_only_read_one_array_are_no_hazard():
    total = cp.RawKernel(
        'extern "C" __global__ void first(float* y, const float* x) { y[threadIdx.x] = x[threadIdx.x]; }', "first"
    )
    x, y, z = device(), device(32), device(32)
    with streams.record() as timeline:
        total((1,), (32,), (y, x), stream=cp.cuda.Stream())
        total((1,), (32,), (z, x), stream=cp.cuda.Stream())
    assert timeline.hazards() == []


def test_array_expressions_are_operations_of_the_current_stream():
    x = device()
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        with one:
            y = x + 1
        with two:
            z = y * 2
            y.fill(3)
    assert float(z[0]) == 2
    found = [(hazard.kind, hazard.second.label) for hazard in timeline.hazards()]
    assert found == [("read after write", "mul"), ("write after write", "ndarray.fill")]


def test_reading_the_buffer_before_waiting_for_the_copy():
    x, out = device(), pinned()
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        x.get(stream, out=out, blocking=False)
        timeline.host_read(out)
        stream.synchronize()
        timeline.host_read(out)
    (hazard,) = timeline.hazards()
    assert hazard.kind == "read after write" and hazard.second.kind == "host read"
    assert "synchronise the stream" in str(hazard)


def test_an_event_behind_the_copy_is_enough_and_one_before_it_is_not():
    x, out = device(), pinned()
    stream, event = cp.cuda.Stream(non_blocking=True), cp.cuda.Event()
    for early in (True, False):
        with streams.record() as timeline:
            if early:
                event.record(stream)
            x.get(stream, out=out, blocking=False)
            if not early:
                event.record(stream)
            event.synchronize()
            timeline.host_read(out)
        assert len(timeline.hazards()) == early


@pytest.mark.parametrize("asks", ["event", "stream", "numba"])
def test_who_asks_until_it_is_done_has_waited(asks):
    x, out = device(), pinned()
    stream, event, theirs = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cuda.event()
    done = {"event": lambda: event.done, "stream": lambda: stream.done, "numba": theirs.query}[asks]
    for polled in (True, False):
        with streams.record() as timeline:
            x.get(stream, out=out, blocking=False)
            event.record(stream)
            theirs.record(cuda.external_stream(stream.ptr))
            while polled and not done():
                pass
            timeline.host_read(out)
        assert len(timeline.hazards()) == (not polled)
        assert [each.kind for each in timeline.operations].count("synchronise") == polled


def test_writing_the_source_before_the_copy_is_over_is_noticed():
    x, host = device(), pinned(value=1)
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        x.set(host, stream)
        host[:] = 2  # an ordinary NumPy array: noticed by what is in it
        stream.synchronize()
    (hazard,) = timeline.hazards()
    assert hazard.kind == "write after read" and "two buffers in turn" in str(hazard)
    with streams.record() as timeline:
        x.set(host, stream)
        stream.synchronize()
        host[:] = 3
        x.set(host, stream)
        stream.synchronize()
    assert timeline.hazards() == []


def test_a_pinned_array_that_noted_the_hosts_write_is_named_once():
    host, x = cuda.pinned_array(SIZE, np.float32), device()
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        x.set(host, stream)
        host[:] = 1
        stream.synchronize()
    (hazard,) = timeline.hazards()
    assert hazard.kind == "write after read" and hazard.nbytes == 4 * SIZE


def test_a_buffer_that_the_device_writes_is_not_taken_for_the_hosts_doing():
    x, host = device(), pinned(value=1)
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        x.set(host, stream)
        launch(x, stream)
        x.get(stream, out=host, blocking=False)
        stream.synchronize()
    assert timeline.hazards() == [] and (host == 2).all()


def test_the_default_stream_in_between():
    arrays = [device() for _ in range(3)]
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    with streams.record() as timeline:
        launch(arrays[0], one)
        launch(arrays[1])
        launch(arrays[2], two)
        launch(arrays[0], one)
        launch(arrays[1])
    assert any("stream 1" in line and "never overlap" in line for line in timeline.findings())
    spans = timeline.schedule(A100).spans
    assert all(earlier.end <= later.start + 1e-12 for earlier, later in pairwise(spans))
    free = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        launch(arrays[0], free)
        launch(arrays[1])
        launch(arrays[0], free)
    assert timeline.findings() == []


def test_the_default_stream_before_or_after_another_stands_between_nothing():
    arrays, stream = [device() for _ in range(2)], cp.cuda.Stream()
    for queues in ((None, None, stream, stream), (stream, stream, None, None)):
        with streams.record() as timeline:
            for number, each in enumerate(queues):
                launch(arrays[number % 2], *([each] if each else []))
        assert timeline.findings() == []


def test_waiting_for_an_event_that_was_never_recorded():
    stream = cp.cuda.Stream()
    with streams.record() as timeline:
        stream.wait_event(cp.cuda.Event())
    assert timeline.findings() == [
        "stream 1 waits for an event that was never recorded, which is no wait at all: call event.record(stream) first."
    ]


def test_priorities_decide_who_goes_first():
    low, high = cp.cuda.Stream(priority=0), cp.cuda.Stream(priority=-9)
    assert high.priority == cp.cuda.runtime.deviceGetStreamPriorityRange()[1] == -5
    slow = replace(A100, launch_overhead=0.0)
    big, other, small = device(1 << 20), device(1 << 20), device()
    with streams.record() as timeline:
        launch(big, low)
        launch(other, low)
        launch(small, high)
    by_stream = {}
    for found in timeline.schedule(slow).spans:
        by_stream.setdefault(found.stream, []).append(found)
    assert by_stream["stream 2"][0].end < by_stream["stream 1"][1].end


def test_elapsed_is_modelled_and_the_clock_is_the_hosts():
    x, start, end, never = device(), cp.cuda.Event(), cp.cuda.Event(), cp.cuda.Event()
    stream = cp.cuda.Stream(non_blocking=True)
    with streams.record() as timeline:
        start.record(stream)
        launch(x, stream)
        end.record(stream)
    (span,) = timeline.schedule(A100).spans
    assert timeline.elapsed(start, end, A100) == pytest.approx(1e3 * span.end)
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    with pytest.raises(ValueError, match="the end event was not recorded within this recording"):
        timeline.elapsed(start, never)


def test_memory_work_takes_drams_time():
    x = device(1 << 20)
    with streams.record() as timeline:
        cp.cuda.runtime.memsetAsync(x.data.ptr, 0, x.nbytes, 0)
    (span,) = timeline.schedule(A100).spans
    assert span.end - span.start == pytest.approx(x.nbytes / (2039e9 * DRAM_EFFICIENCY))


def test_a_gpu_without_a_known_link_has_no_schedule():
    timeline = pipeline(1, [cp.cuda.Stream()])
    with pytest.raises(ValueError, match="host link"):
        timeline.schedule(replace(A100, host_bandwidth=None))
    with pytest.raises(KeyError, match="no GPU called"):
        timeline.schedule("A1000000")


def test_recordings_nest_and_leave_nothing_behind():
    from vgpu.launch import launch as engine

    x = device()
    with streams.record() as outer:
        launch(x)
        with streams.record() as inner:
            launch(x)
    launch(x)
    assert (len(outer), len(inner)) == (2, 1)
    assert not engine.FINISHED


def test_a_recording_survives_an_error_in_the_block():
    from vgpu.launch import launch as engine

    with pytest.raises(ZeroDivisionError), streams.record():
        _ = 1 / 0
    assert not engine.FINISHED


def test_shown_as_text_and_as_a_table():
    timeline = pipeline(1, [cp.cuda.Stream()])
    assert repr(timeline).startswith("Timeline of 4 operations\n  stream 1: H2D 64.0 KiB\n  stream 1: add (64 blocks)")
    schedule = timeline.schedule("A100")
    assert repr(schedule).startswith("Schedule modelled on A100: ")
    for html in (timeline._repr_html_(), schedule._repr_html_()):
        assert "<caption" in html and 'scope="col"' in html
    assert "<strong>modelled</strong>" in schedule._repr_html_() and "Assumed" in schedule._repr_html_()


# ---------------------------------------------------------------- Numba


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_numbas_streams_pinned_arrays_and_events():
    host, out = cuda.pinned_array(SIZE, np.float32), cuda.pinned_array_like(np.zeros(SIZE, np.float32))
    host[:] = 1
    stream, other, event = cuda.stream(), cuda.stream(), cuda.event()
    with streams.record() as timeline:
        x = cuda.to_device(host, stream=stream)
        add_one[GRID, BLOCK, stream](x)
        event.record(stream)
        event.wait(other)
        x.copy_to_host(out, stream=other)
        other.synchronize()
        assert out.sum() == 2 * SIZE
    assert [each.kind for each in timeline.operations] == [
        *("H2D", "kernel", "record", "wait", "D2H", "synchronise", "host read")
    ]
    assert not any(each.waits for each in timeline.operations[:5])
    assert timeline.hazards() == []


def test_numbas_pinned_arrays_notice_that_the_host_reads_too_early():
    out, stream = cuda.pinned_array(SIZE, np.float32), cuda.stream()
    x = cuda.to_device(np.ones(SIZE, np.float32))
    for read in (lambda: out[3], lambda: out.sum(), lambda: out + 1, lambda: np.median(out), lambda: out.tolist()):
        with streams.record() as timeline:
            x.copy_to_host(out, stream=stream)
            read()
        assert [hazard.second.kind for hazard in timeline.hazards()] == ["host read"]
    second = cuda.pinned_array(SIZE, np.float32)
    with streams.record() as timeline:
        _ = out[0], out[1:].sum(), second[0]
    assert len(timeline) == 3
    with streams.record() as timeline:
        x.copy_to_device(out, stream=stream)
        out[0] = 5
    assert {hazard.kind for hazard in timeline.hazards()} == {"write after read"}


@pytest.mark.filterwarnings("ignore:Host array used in CUDA kernel")
def test_numbas_copies_without_a_stream_wait():
    host = cuda.pinned_array(SIZE, np.float32)
    with streams.record() as timeline:
        x = cuda.to_device(host)
        add_one[GRID, BLOCK](x)
        x.copy_to_host()
        add_one[GRID, BLOCK](np.zeros(SIZE, np.float32))
    assert [(each.kind, each.waits) for each in timeline.operations] == [
        ("H2D", True), ("kernel", False), ("D2H", True), ("H2D", True), ("kernel", False), ("D2H", True)
    ]  # fmt: skip
    assert timeline.hazards() == []


def test_host_memory_pinned_for_a_while():
    host, stream = np.zeros(SIZE, np.float32), cuda.stream()
    x = cuda.to_device(host)
    with streams.record() as timeline:
        with cuda.pinned(host):
            x.copy_to_host(host, stream=stream)
        x.copy_to_host(host, stream=stream)
    assert [each.pinned for each in timeline.operations] == [True, False]


def test_the_per_thread_default_stream_of_numba():
    x, y = (cuda.to_device(np.zeros(SIZE, np.float32)) for _ in range(2))
    with streams.record() as timeline:
        add_one[GRID, BLOCK, cuda.per_thread_default_stream()](x)
        add_one[GRID, BLOCK, cuda.stream()](y)
    assert [each.queue.kind for each in timeline.operations] == ["per-thread", "stream"]
    assert (x.copy_to_host() == 1).all()


def test_pinned_arrays_are_arrays():
    a = cuda.pinned_array((3, 4), np.int32)
    a[...] = np.arange(12).reshape(3, 4)
    assert a.sum() == 66 and a[1:].shape == (2, 4) and a.T[0, 1] == 4
    assert (np.add(a, 1, out=a) is a) and a.max() == 12 and list(map(int, a[0])) == [1, 2, 3, 4]
    assert cuda.pinned_array(3, np.int16, strides=(4,)).strides == (4,)
    assert span(0, 4, True).writes


def test_a_blocking_copy_between_streams_is_told():
    def run(blocking):
        host, out = pinned(), pinned()
        parts = [(cp.cuda.Stream(non_blocking=True), device()) for _ in range(2)]
        with streams.record() as timeline:
            for stream, x in parts:
                x.set(host, stream=stream)
                launch(x, stream)
                x.get(out=out, stream=stream, blocking=blocking)
        return timeline

    (told,) = run(True).findings()
    assert told.startswith(
        "The host waits for D2H 64.0 KiB of stream 1 to end before it issues anything to other streams"
    )
    assert run(False).findings() == []


def test_the_hosts_own_spans_are_what_it_asks_for_and_waits():
    stream, x, out = cp.cuda.Stream(), device(), pinned()
    with streams.record() as timeline:
        launch(x, stream)
        x.get(out=out, stream=stream)
    found = timeline.schedule("A100")
    assert [span.label for span in found.host] == ["add (64 blocks)", "D2H 64.0 KiB", "waits"]
    assert all(one.end <= two.start + 1e-12 for one, two in pairwise(found.host))
    assert found.host[-1].end == pytest.approx(found.seconds)
    assert "<td" in found._repr_html_() and "stream 1" in timeline._repr_html_()


def test_hazards_and_findings_read_as_sentences():
    told = NumberedList(["first `x` & more", "second"], "nothing")
    assert told == ["first `x` & more", "second"]
    assert repr(told) == "1. first `x` & more\n2. second"
    assert "<li" in told._repr_html_() and "first <code>x</code> &amp; more" in told._repr_html_()
    assert repr(NumberedList([], "nothing")) == "nothing" and NumberedList([], "no <")._repr_html_() == "<p>no &lt;</p>"
    with streams.record() as timeline:
        pass
    assert repr(timeline.hazards()).startswith("No hazards") and repr(timeline.findings()).startswith("Nothing found")


def test_a_schedule_of_a_program_is_that_of_its_recording():
    x, stream = device(), cp.cuda.Stream()

    def program(times, by=1):
        for _ in range(times):
            launch(x, stream, by)

    found = streams.schedule(program, 3, by=2)
    assert (x.get() == 6).all() and len(found.spans) == 3 and found.kind == "modelled"
    assert [each.kind for each in streams.dry_run(program, 2).operations] == ["kernel"] * 2


def test_within_a_profiler_a_gpu_cannot_be_recorded_and_its_schedule_is_modelled(monkeypatch):
    x = device()

    def program():
        launch(x, cp.cuda.Stream())

    monkeypatch.setattr("vgpu.standins.backend.on_gpu", lambda: True)
    monkeypatch.setattr("vgpu.base.profiler._PROFILED", True)
    found = streams.schedule(program)
    assert found.kind == "modelled" and [span.label for span in found.spans] == ["add (64 blocks)"]


@pytest.mark.parametrize(("begins", "hazards"), [(8, 0), (7, 1)])
def test_copies_of_columns_that_lie_side_by_side_are_no_hazard(begins, hazards):
    runtime = cp.cuda.runtime
    there = runtime.malloc(4 * 16)
    columns = cp.cuda.alloc_pinned_memory(4 * 8)
    with streams.record() as timeline:
        for offset in (0, begins):
            stream = cp.cuda.Stream(non_blocking=True)
            runtime.memcpy2DAsync(there + offset, 16, columns.ptr, 8, 8, 4, runtime.memcpyHostToDevice, stream.ptr)
    runtime.free(there)
    assert len(timeline.hazards()) == hazards


def test_graphs_that_are_launched_once_each_are_told():
    x, stream = device(), cp.cuda.Stream(non_blocking=True)

    def captured():
        stream.begin_capture()
        launch(x, stream)
        return stream.end_capture()

    with streams.record() as timeline:
        for _ in range(3):
            captured().launch(stream)
    (told,) = timeline.findings()
    assert told.startswith("3 graphs were launched once each.")
    graph = captured()
    with streams.record() as timeline:
        graph.launch(stream)
        graph.launch(stream)
    assert timeline.findings() == [] and len({each.graph for each in timeline.operations}) == 1


@pytest.mark.parametrize("look", [float, int, bool, lambda x: x.item(), lambda x: x.tolist(), lambda x: x.tobytes()])
def test_a_number_that_the_host_takes_from_the_device_is_a_copy_that_it_waits_for(look):
    x = cp.ones(1, cp.float32)
    found = streams.dry_run(lambda: look(x))
    assert [(operation.kind, operation.waits) for operation in found.operations] == [("D2H", True)]


def test_the_host_fills_a_part_of_a_pinned_array_while_another_part_is_sent():
    """Only what is written counts: two buffers in turn may be two parts of one array."""

    def program(wait):
        buffers, x = cuda.pinned_array((2, 64), "float32"), cp.empty((3, 64), dtype="float32")
        stream, sent = cp.cuda.Stream(non_blocking=True), [cp.cuda.Event(), cp.cuda.Event()]
        for k in range(3):
            if wait:
                sent[k % 2].synchronize()
            buffers[k % 2] = k
            x[k].set(buffers[k % 2], stream)
            sent[k % 2].record(stream)

    assert not streams.dry_run(program, True).hazards()
    named = {hazard.nbytes for hazard in streams.dry_run(program, False).hazards()}
    assert named == {4 * 64}
