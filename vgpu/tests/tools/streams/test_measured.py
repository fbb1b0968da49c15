"""Recordings of a real GPU: how they are made, what they answer and refuse, and that both kinds print alike."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.results.fake_torch import FakeTorch
from vgpu import streams
from vgpu.base.errors import Unsupported
from vgpu.hardware.device import device
from vgpu.hardware.gpus import GPUS
from vgpu.standins import cupy as cp
from vgpu.tests.tools.streams.chrome_trace import call, copy, kernel, memset, recorded, text
from vgpu.tools.streams.exported import DEFAULT_STREAM, PROGRAM, RecordingError, read

SIZE = 1 << 14
PROGRAM_TRACE = text(recorded(
    call("cudaMemcpyAsync", 10, 4, 11),
    copy("HtoD (Pinned -> Device)", 20, 30, 13, 4 * SIZE, 11),
    call("cuLaunchKernel", 15, 3, 12, category="cuda_driver"),
    kernel("add", 51, 9, 13, 12),
    call("cudaMemcpyAsync", 19, 4, 13),
    copy("DtoH (Device -> Pinned)", 62, 30, 13, 4 * SIZE, 13),
    call("cudaDeviceSynchronize", 25, 70, 14),
))  # fmt: skip


def use(monkeypatch, torch):
    monkeypatch.setattr("vgpu.standins.backend.on_gpu", lambda: True)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


@pytest.fixture
def torch(monkeypatch):
    return use(monkeypatch, FakeTorch(PROGRAM_TRACE))


def test_a_recording_marks_the_program_and_waits_for_it(torch):
    with streams.record() as timeline:
        torch.log.append("the program")
    assert torch.log == [
        "wait",
        ("profile", ["CPU", "CUDA"], {"enable_cuda_sync_events": True}),
        "start",
        *(DEFAULT_STREAM, "zero", "end", "wait"),
        *(PROGRAM, "the program", "end", "wait"),
        "stop",
    ]
    assert [span.label for span in timeline.schedule().spans] == ["H2D 64.0 KiB", "add (64 blocks)", "D2H 64.0 KiB"]
    assert timeline.schedule() is timeline.schedule()


def test_a_profiler_without_the_setting_for_waits_is_used_without(monkeypatch, torch):
    def refuse(**options):
        raise TypeError("no such option")

    monkeypatch.setattr(torch._C._profiler, "_ExperimentalConfig", refuse)
    with streams.record():
        pass
    assert ("profile", ["CPU", "CUDA"], None) in torch.log


def test_both_kinds_of_recording_print_alike(monkeypatch):
    host, x = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * SIZE), np.float32, SIZE), cp.zeros(SIZE, np.float32)
    add = cp.RawKernel('extern "C" __global__ void add(float* x) { x[blockIdx.x * 256 + threadIdx.x] += 1; }', "add")
    stream = cp.cuda.Stream(non_blocking=True)

    def program():
        with streams.record() as timeline:
            x.set(host, stream)
            add((SIZE // 256,), (256,), (x,), stream=stream)
            x.get(stream, out=host, blocking=False)
            cp.cuda.Device().synchronize()
        return timeline

    modelled = program()
    use(monkeypatch, FakeTorch(PROGRAM_TRACE))
    measured = program()
    assert repr(modelled) == repr(measured) and modelled._repr_html_() == measured._repr_html_()
    assert len(modelled) == len(measured) == 4

    def shape(printed):
        """The print without its times, and without what is told of the host."""
        printed = re.sub(r" +[\d.]+ [mnµ]?s", " t", printed).replace("NVIDIA A100-SXM4-80GB", "A100")
        printed = re.sub(r">[\d.]+ [mnµ]?s<", ">t<", printed)
        return re.split(r"\n meanwhile|<details>", printed)[0]

    modelled, measured = modelled.schedule("A100"), measured.schedule()
    for show in (repr, lambda schedule: schedule._repr_html_()):
        assert "modelled" not in show(measured) and "measured" not in shape(show(modelled))
        assert shape(show(modelled)).replace("modelled", "measured") == shape(show(measured))
    details = [(span.nbytes, span.pinned, span.grid, span.block) for span in modelled.spans]
    assert details == [(span.nbytes, span.pinned, span.grid, span.block) for span in measured.spans]
    assert "<strong>measured</strong>" in measured._repr_html_() and "How it was measured" in measured._repr_html_()
    assert " meanwhile the host, in calls of CUDA:\n" in repr(measured) and "cudaMemcpyAsync: H2D" in repr(measured)
    assert measured.assumptions != modelled.assumptions


def test_another_gpu_than_the_measured_one_is_refused(torch):
    with streams.record() as timeline:
        pass
    assert timeline.schedule("A100") == timeline.schedule(GPUS["A100"]) == timeline.schedule()
    with pytest.raises(ValueError, match=r"measured on NVIDIA A100.*For H100 it can only be modelled.*=virtual"):
        timeline.schedule("H100")
    with pytest.raises(ValueError, match="can only be modelled"):
        timeline.elapsed(None, None, "H100")
    with pytest.raises(KeyError, match="no GPU called"):
        timeline.schedule("A1000000")
    assert timeline.schedule(device("A100")) is timeline.schedule()
    device.reset()


def test_what_only_the_virtual_gpu_sees_is_refused(torch):
    with streams.record() as timeline:
        timeline.host_write(np.zeros(4))
        timeline.host_read(np.zeros(4))
    for ask in (timeline.hazards, timeline.findings, timeline.steps):
        with pytest.raises(Unsupported, match="VGPU_BACKEND=virtual"):
            ask()


class Event:
    """A CUDA event as PyTorch and Numba have it; without a time it was never recorded."""

    def __init__(self, at=None):
        self.at, self.waited = at, False

    def synchronize(self):
        self.waited = True

    def elapsed_time(self, end):
        if self.at is None or end.at is None:
            raise RuntimeError("both events must be recorded")
        return end.at - self.at


def test_elapsed_is_the_events_own_time(monkeypatch, torch):
    with streams.record() as timeline:
        pass
    start, end = Event(1.5), Event(4.0)
    assert timeline.elapsed(start, end) == 2.5 and end.waited
    with pytest.raises(ValueError, match=r"no time between these events \(both events must be recorded\): record both"):
        timeline.elapsed(start, Event())
    # CuPy's events leave the subtraction to a function.
    cupy = SimpleNamespace(cuda=SimpleNamespace(get_elapsed_time=lambda start, end: end.at - start.at))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    start, end = (SimpleNamespace(at=at, synchronize=lambda: None) for at in (1.0, 8.0))
    assert timeline.elapsed(start, end) == 7.0


def test_a_recording_is_known_at_its_end_and_does_not_nest(torch):
    with streams.record() as timeline:
        for shown in (repr(timeline), timeline._repr_html_()):
            assert "Timeline of NVIDIA A100-SXM4-80GB, empty: the recording has no trace yet" in shown
        with pytest.raises(RecordingError, match="after the with block"):
            timeline.schedule()
        with pytest.raises(RecordingError, match="do not nest"), streams.record():
            pass
    assert len(timeline) == 4
    with streams.record():
        pass


def test_an_error_in_the_block_is_the_one_that_is_raised(monkeypatch, torch):
    with pytest.raises(ZeroDivisionError), streams.record() as timeline:
        _ = 1 / 0
    assert torch.log[-1] == "stop" and "empty" in repr(timeline)
    with pytest.raises(RecordingError, match="nothing is kept"):
        timeline.schedule()

    def broken():
        raise RuntimeError("an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal memory access"), streams.record():
        monkeypatch.setattr(torch.cuda, "synchronize", broken)
    assert torch.log[-1] == "stop"
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.profiler.profile, "stop", lambda self: broken())
    with pytest.raises(ZeroDivisionError), streams.record():
        _ = 1 / 0
    with pytest.raises(RuntimeError, match="illegal memory access"), streams.record():
        pass


def test_a_profiler_that_is_taken_is_said_so(monkeypatch):
    use(monkeypatch, FakeTorch(PROGRAM_TRACE, fails=RuntimeError("Profiler is already enabled on this thread")))
    for _ in range(2):  # the failure leaves nothing behind
        with pytest.raises(RecordingError, match=r"already enabled.*One profiler runs at a time"), streams.record():
            pass


def test_a_profiler_of_the_programs_own_is_not_robbed(monkeypatch, torch):
    monkeypatch.setattr(torch.autograd.profiler, "_is_profiler_enabled", True)
    with pytest.raises(RecordingError, match="another of its profilers is running"), streams.record():
        pass
    assert "start" not in torch.log


def test_pytorch_has_what_a_recording_asks_for():
    """The names that are not part of PyTorch's promised interface, and the methods of a profiler."""
    torch = pytest.importorskip("torch")
    assert torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    assert torch.autograd.profiler._is_profiler_enabled is False
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert torch.autograd.profiler._is_profiler_enabled is True
    assert {"start", "stop", "export_chrome_trace"} <= set(dir(torch.profiler.profile))
    assert torch.profiler.ProfilerActivity.CPU in torch.profiler.supported_activities()


def test_a_pytorch_that_does_not_see_the_gpu_says_what_to_install(monkeypatch, torch):
    def refused(match):
        with pytest.raises(RecordingError, match=match), streams.record():
            pass

    monkeypatch.setattr(torch.profiler, "supported_activities", lambda: {"CPU"})
    refused("built without CUPTI.*VGPU_BACKEND=virtual")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refused("built for CUDA 13.0 and finds no GPU")
    monkeypatch.setattr(torch.version, "cuda", None)
    refused("built without CUDA.*Install PyTorch for your driver")
    monkeypatch.setitem(sys.modules, "torch", None)
    refused("PyTorch cannot be imported.*pip install torch")


def test_the_current_device_is_the_recorded_one(monkeypatch):
    use(monkeypatch, FakeTorch(text(recorded(memset(1, 2, 7, 64, 20, device=1), kernel("f", 9, 1, 7, 21))), device=1))
    with streams.record() as timeline:
        pass
    assert [row.label for row in timeline.rows()] == ["memset 64 bytes"]


def test_an_empty_recording_says_why(monkeypatch):
    use(monkeypatch, FakeTorch(text(recorded())))
    with streams.record() as timeline:
        pass
    assert "empty: nothing in the with block ran on the GPU" in repr(timeline)
    for ask in (timeline.schedule, timeline.rows):
        with pytest.raises(RecordingError, match="nothing in the with block"):
            ask()


def test_the_marks_are_found_in_what_pytorch_writes(tmp_path):
    """The real profiler's form of the trace, as far as a machine without a GPU can show it."""
    torch = pytest.importorskip("torch")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        with torch.profiler.record_function(DEFAULT_STREAM):
            pass
        with torch.profiler.record_function(PROGRAM):
            torch.ones(3) + 1
    path = tmp_path / "trace.json"
    profiler.export_chrome_trace(str(path))
    with pytest.raises(RecordingError, match="A memset was issued, but CUPTI recorded no work"):
        read(path.read_bytes(), "A100")
