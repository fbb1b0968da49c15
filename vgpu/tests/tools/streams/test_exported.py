"""Measured schedules: traces of a real GPU's work, written by hand after the profiler's format, to spans."""

import json
from decimal import Decimal

import pytest

from vgpu.tests.tools.streams.chrome_trace import BASE, call, copy, event, kernel, memset, recorded, sync, text
from vgpu.tools.streams.exported import NOTES, PROGRAM, RecordingError, kernel_name, read

UP, DOWN = "HtoD (Pinned -> Device)", "DtoH (Device -> Pinned)"
GPU = "NVIDIA A100-SXM4-80GB"

# Two streams: copies and a kernel in each, a graph of two kernels in the second, and the host's calls.
PIPELINE = [
    call("cudaMemcpyAsync", 10, 4.5, 11),
    call("cuLaunchKernel", 15, 3, 12, category="cuda_driver"),
    call("cudaMemcpyAsync", 19, 4, 13),
    call("cudaMemcpyAsync", 24, 4, 14),
    call("cudaGraphLaunch", 29, 6, 15),
    call("cudaStreamSynchronize", 36, 84, 16),
    copy(UP, 20, 30.25, 13, 1 << 20, 11),
    kernel("add", 51, 9, 13, 12),
    copy(DOWN, 62, 30, 13, 1 << 20, 13),
    copy("HtoD (Pageable -> Device)", 52, 40, 21, 1 << 20, 14),
    kernel("void n::scale<float>(float*, int)", 95, 5, 21, 15, grid=(8, 2, 1), block=(32, 4, 1),
           graph_id=3, graph_node_id=12884901888),
    kernel("add", 101, 7, 21, 15, graph_id=3, graph_node_id=12884901889),
]  # fmt: skip


def schedule(*events, **more):
    return read(text(recorded(*events)), GPU, **more).schedule


def test_copies_and_kernels_of_two_streams_and_a_graph():
    found = schedule(*PIPELINE)
    assert (found.kind, found.gpu, found.assumptions) == ("measured", GPU, NOTES)
    # Seconds from the first span, which is the host's first call at 10.
    assert [(span.engine, span.stream, span.start, span.end, span.label) for span in found.spans] == [
        ("H2D", "stream 1", 10e-6, 40.25e-6, "H2D 1.0 MiB"),
        ("SMs", "stream 1", 41e-6, 50e-6, "add (64 blocks)"),
        ("H2D", "stream 2", 42e-6, 82e-6, "H2D 1.0 MiB"),
        ("D2H", "stream 1", 52e-6, 82e-6, "D2H 1.0 MiB"),
        ("SMs", "stream 2", 85e-6, 90e-6, "scale (8×2 blocks)"),
        ("SMs", "stream 2", 91e-6, 98e-6, "add (64 blocks)"),
    ]
    assert {span.kind for span in (*found.spans, *found.host)} == {"measured"}
    assert [(span.nbytes, span.pinned) for span in found.spans if span.engine != "SMs"] == [
        (1 << 20, True), (1 << 20, False), (1 << 20, True)
    ]  # fmt: skip
    assert (found.spans[4].grid, found.spans[4].block) == ((8, 2, 1), (32, 4, 1))
    assert found.seconds == 110e-6  # the host's wait ends last
    assert found.engines == ("D2H", "H2D", "SMs")
    assert found.busy("H2D") == pytest.approx(70.25e-6) and found.busy("SMs") == pytest.approx(21e-6)
    # 21 + 70.25 + 30 busy, and anything busy from 10 to 40.25, 41 to 82, 85 to 90 and 91 to 98.
    assert found.overlap == pytest.approx(121.25e-6 - 83.25e-6)


def test_the_hosts_calls_are_spans_of_the_host():
    found = schedule(*PIPELINE)
    assert [(span.engine, span.start, span.end, span.label) for span in found.host] == [
        ("host", 0.0, 4.5e-6, "cudaMemcpyAsync: H2D 1.0 MiB, stream 1"),
        ("host", 5e-6, 8e-6, "cuLaunchKernel: add (64 blocks), stream 1"),
        ("host", 9e-6, 13e-6, "cudaMemcpyAsync: D2H 1.0 MiB, stream 1"),
        ("host", 14e-6, 18e-6, "cudaMemcpyAsync: H2D 1.0 MiB, stream 2"),
        ("host", 19e-6, 25e-6, "cudaGraphLaunch: 2 operations"),
        ("host", 26e-6, 110e-6, "cudaStreamSynchronize"),
    ]
    assert found.busy("host") == pytest.approx(105.5e-6)


def test_the_recordings_own_work_is_left_out_and_tells_the_default_stream():
    found = schedule(kernel("f", 10, 1, 7, 20), kernel("g", 12, 1, 13, 21), memset(14, 2, 7, 4096, 22))
    assert [(span.stream, span.engine, span.label) for span in found.spans] == [
        ("the default stream", "SMs", "f (64 blocks)"),
        ("stream 1", "SMs", "g (64 blocks)"),
        ("the default stream", "memset", "memset 4.0 KiB"),
    ]
    assert found.host == ()
    other = read(text(recorded(kernel("f", 10, 1, 7, 20), stream=9)), GPU).schedule
    assert [span.stream for span in other.spans] == ["stream 1"]


def test_a_trace_without_marks_is_read_whole():
    found = read(text([kernel("f", 10, 1, 7, 20), call("cudaLaunchKernel", 5, 2, 20)]), GPU).schedule
    assert [(span.stream, span.start) for span in found.spans] == [("stream 1", 5e-6)]
    assert len(found.host) == 1


def test_streams_are_numbered_as_the_program_asked_and_not_as_they_ran():
    work = [kernel("late", 90, 1, 30, 5), kernel("early", 10, 1, 20, 6)]
    found = read(text(recorded(*work)), GPU)
    assert [(span.stream, span.label[:5]) for span in found.schedule.spans] == [
        ("stream 2", "early"),
        ("stream 1", "late "),
    ]
    assert [row.stream for row in found.rows] == ["stream 1", "stream 2"]
    del work[0]["args"]["correlation"]  # without the calls' numbers only the start is left
    assert [row.stream for row in read(text(recorded(*work)), GPU).rows] == ["stream 1", "stream 2"]
    assert read(text(recorded(*work)), GPU).rows[0].label.startswith("early")


def test_waits_of_the_driver_are_taken_from_their_own_records():
    found = read(text(recorded(
        kernel("f", 20, 50, 13, 20),
        sync("Stream Sync", 25, 50, 13, 21),
        call("cudaEventSynchronize", 80, 4, 22),
        sync("Event Sync", 81, 2, 13, 22),  # the same wait as the call's
        sync("Stream Wait Event", 90, 1, 13, 23),  # a stream's wait, not the host's
        sync("Context Sync", 95, 1, -1, 24, device=1),  # another GPU's
    )), GPU)  # fmt: skip
    assert [span.label for span in found.schedule.host] == ["Stream Sync", "cudaEventSynchronize"]
    assert [tuple(row) for row in found.rows] == [
        ("stream 1", "kernel", "f (64 blocks)", False),
        ("stream 1", "synchronise", "", True),
        ("the host", "synchronise", "", True),
        ("stream 1", "wait", "wait for an event", False),
    ]


def test_a_wait_for_everything_is_no_stream_and_calls_without_numbers_are_not_mixed_up():
    found = read(text(recorded(
        sync("Context Sync", 5, 5, -1, 19), kernel("f", 20, 5, 13, 20),
        call("cudaFree", 30, 1), sync("Stream Sync", 40, 1, 13, None),
    )), GPU)  # fmt: skip
    assert [span.stream for span in found.schedule.spans] == ["stream 1"]
    assert [span.label for span in found.schedule.host] == ["Context Sync", "cudaFree", "Stream Sync"]


def test_events_stand_where_they_were_recorded():
    def record(stream, correlation, device=0):
        # Without a time of their own, as CUPTI's older records of events are.
        return event("cuda_event", "cudaEvent", -500, 0, device, stream, event_id=5, stream=stream,
                     correlation=correlation, device=device, context=1)  # fmt: skip

    found = read(text(recorded(
        record(7, 0),  # before the program
        record(13, 20), kernel("f", 20, 5, 13, 21), record(13, 22), record(7, 23), record(21, 24, device=1),
        sync("Stream Wait Event", 30, 1, 14, 25), kernel("g", 40, 5, 14, 26), sync("Context Sync", 50, 5, -1, 27),
    )), GPU)  # fmt: skip
    assert [f"{row.stream}: {row.kind}" for row in found.rows] == [
        *("stream 1: record", "stream 1: kernel", "stream 1: record", "the default stream: record"),
        *("stream 2: wait", "stream 2: kernel", "the host: synchronise"),
    ]
    assert [span.label for span in found.schedule.host] == ["Context Sync"]


def test_what_the_host_waits_for():
    found = read(text(recorded(
        call("cudaMemcpy", 10, 50, 20), copy(UP, 12, 40, 7, 64, 20),
        call("cudaMemcpyAsync", 70, 2, 21), copy(UP, 80, 40, 7, 64, 21),
        call("cudaMemcpyAsync", 130, 40, 22), copy("DtoH (Device -> Pageable)", 140, 20, 7, 64, 22),
        call("cudaMemcpy", 180, 2, 23), copy("DtoD (Device -> Device)", 190, 20, 7, 64, 23),
    )), GPU)  # fmt: skip
    assert [row.waits for row in found.rows] == [True, False, True, False]


@pytest.mark.parametrize(
    ("name", "engine", "pinned"),
    [
        ("HtoD (Pinned -> Device)", "H2D", True),
        ("HtoD (PAGEABLE -> DEVICE)", "H2D", False),
        ("DtoH (Device -> Pageable)", "D2H", False),
        ("HtoD (Managed -> Device)", "H2D", None),
        ("HtoD (Unknown -> Device)", "H2D", None),
        ("HtoA (Pinned -> Array)", "H2D", True),
        ("AtoH (Array -> Pinned)", "D2H", True),
        ("DtoD (Device -> Device)", "D2D", None),
        ("DtoA (Device -> Array)", "D2D", None),
        ("PtoP (Device -> Device)", "P2P", None),
        ("HtoH (Pageable -> Pinned)", "H2H", None),
        ("<unknown> (Pinned -> Device)", "copy", None),
    ],
)
def test_a_copys_direction_and_memory(name, engine, pinned):
    (span,) = schedule(copy(name, 10, 1, 7, 4096, 20)).spans
    assert (span.engine, span.pinned, span.label) == (engine, pinned, f"{engine} 4.0 KiB")


def test_records_with_little_in_them():
    bare = {"ph": "X", "cat": "kernel", "name": "f", "ts": BASE + 10}
    found = schedule(
        bare,
        {**bare, "args": None, "dur": -5, "ts": BASE + 11},
        {**bare, "ts": None},
        {**bare, "ts": "soon"},
        {**bare, "ts": float("nan")},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": BASE + 20, "dur": 1, "pid": 0, "tid": 8},
        {"ph": "X", "cat": "gpu_memcpy", "ts": BASE + 30, "dur": 1, "pid": 0, "tid": 8, "args": {"bytes": "N/A"}},
        event("kernel", "g", 40, 1, 0, 8, grid=[0, 0, 0], block="?"),
        event("gpu_user_annotation", PROGRAM, 10, 40, 0, 8),
        "no record",
        None,
    )
    assert [(span.engine, span.label, span.start, span.end) for span in found.spans] == [
        ("SMs", "f", 0.0, 0.0),
        ("SMs", "f", 1e-6, 1e-6),
        ("H2D", "H2D", 10e-6, 11e-6),
        ("copy", "copy", 20e-6, 21e-6),
        ("SMs", "g", 30e-6, 31e-6),
    ]
    assert [span.stream for span in found.spans] == ["stream 1"] * 2 + ["stream 2"] * 3
    assert (found.spans[2].nbytes, found.spans[2].pinned, found.spans[4].grid) == (None, None, None)
    assert repr(found).startswith("Schedule measured on")


def test_spans_of_no_length_still_print():
    found = schedule(kernel("f", 10, 0, 7, 20))
    assert (found.seconds, found.overlap, found.busy("SMs")) == (0, 0, 0)
    assert "0 ns to" in repr(found) and "f (64 blocks)" in found._repr_html_()


def test_times_are_kept_to_the_nanosecond():
    """Sixteen digits before the point, as Kineto once wrote them: a double keeps a quarter of a microsecond there."""

    def late(start):
        return Decimal("1689861288825108") + Decimal(start)

    records = [kernel("f", 0, 0.001, 7, 20), kernel("g", 0, 0.002, 7, 21)]
    records[0]["ts"], records[1]["ts"] = "FIRST", "SECOND"
    written = text(records).replace('"FIRST"', str(late("0.100"))).replace('"SECOND"', str(late("0.103")))
    found = read(written, GPU).schedule
    assert [(span.start, span.end) for span in found.spans] == [(0.0, 1e-9), (3e-9, 5e-9)]


def test_only_the_current_device_is_shown():
    work = kernel("f", 10, 1, 7, 20), kernel("g", 12, 1, 7, 21, device=1)
    assert [span.label for span in schedule(*work).spans] == ["f (64 blocks)"]
    assert [span.label for span in schedule(*work, device=1).spans] == ["g (64 blocks)"]
    peer = event("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 10, 1, 0, 7, fromDevice=1, inDevice=0, toDevice=0,
                 stream=7, correlation=20, bytes=64)  # fmt: skip
    assert [span.engine for span in schedule(peer).spans] == ["P2P"]
    with pytest.raises(RecordingError, match=r"ran on device 0, 1, and it is device 2 .* that is recorded"):
        schedule(*work, device=2)


def test_a_trace_without_gpu_work_says_why():
    with pytest.raises(RecordingError, match="nothing in the with block ran on the GPU"):
        schedule(call("cudaEventRecord", 10, 1, 20))
    silent = [record for record in recorded(call("cudaLaunchKernel", 10, 1, 20)) if record.get("cat") != "gpu_memset"]
    with pytest.raises(RecordingError, match=r"called 1 times, but CUPTI recorded no work .*other profilers"):
        read(text(silent), GPU)
    with pytest.raises(RecordingError, match="A memset was issued, but CUPTI"):
        read(text([record for record in silent if record.get("cat") != "cuda_runtime"]), GPU)
    with pytest.raises(RecordingError, match="nothing in the with block"):
        read(text([]), GPU)


@pytest.mark.parametrize("wrong", ["", "{", b"\xff\xfe", "[1, 2", "{}", '"text"', '{"traceEvents": {}}', "null"])
def test_text_that_is_no_trace(wrong):
    with pytest.raises(RecordingError, match="profiler's trace"):
        read(wrong, GPU)


def test_bytes_that_are_no_utf8_and_a_bare_list_are_read():
    name = b"k\x01\xff"
    written = json.dumps([kernel("NAME", 10, 1, 7, 20)]).encode().replace(b"NAME", name)
    (span,) = read(written, GPU).schedule.spans
    assert span.label == "k\x01\N{REPLACEMENT CHARACTER} (64 blocks)"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("add", "add"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >"
         "(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)", "vectorized_elementwise_kernel"),
        ("cudapy::__main__::add_one[abi:v1][abi:cw51cXTLSUwv1sDUaKthqqNgqqgQA_3d_3d]"
         "(Array<float, 1, C, mutable, aligned>)", "add_one"),
        ("void (anonymous namespace)::fill<float>(float*, float)", "fill"),
        ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*)", "cunn_SoftMaxForward"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("_ZN1n4fillIfEEvPT_S1_", "_ZN1n4fillIfEEvPT_S1_"),
        ("f(int) const", "f"),
        ("void g<(a->b)>()", "void g<(a->b)>()"),
        ("broken<", "broken<"),
        ("n::{lambda(int)#1}::operator()(int) const", "n::{lambda(int)#1}::operator()(int) const"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_kernels_plain_name(name, short):
    assert kernel_name(name) == short
