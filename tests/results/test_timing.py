"""Measuring, with a clock that the test turns."""

import sys
from types import SimpleNamespace

import pytest

from helpers.results import timing
from helpers.results.timing import Timing, benchmark


class Clock:
    """A clock that moves only when the work does: by each of `steps` in turn, the last one repeated."""

    def __init__(self, *steps):
        self.now, self.steps, self.calls = 0.0, list(steps), 0

    def work(self, *args):
        self.calls += 1
        self.now += self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(timing, "real_gpu", lambda: False)


def test_warm_up_does_not_count():
    clock = Clock(10.0, 10.0, 1.0, 2.0, 4.0)
    found = benchmark(clock.work, clock=clock, warmup=2, repeat=3)
    assert found.samples == (1.0, 2.0, 4.0)
    assert (found.median, found.minimum, found.quartiles) == (2.0, 1.0, (1.5, 3.0))


def test_one_slow_run_moves_the_mean_but_not_the_median():
    clock = Clock(1.0, 1.0, 1.0, 1.0, 100.0)
    assert benchmark(clock.work, clock=clock, warmup=0, repeat=5).median == 1.0


def test_rates_come_from_what_was_stated():
    clock = Clock(0.5)
    found = benchmark(clock.work, clock=clock, repeat=3, bytes=1e9, flops=4e9)
    assert (found.bandwidth, found.gflops) == (2.0, 8.0)
    assert "2 GB/s" in repr(found) and "8 GFLOP/s" in repr(found)
    bare = benchmark(clock.work, clock=clock, repeat=1)
    assert bare.bandwidth is None and bare.gflops is None
    assert bare.quartiles == (0.5, 0.5)


def test_arguments_are_passed_on():
    seen = []
    clock = Clock(1.0)
    benchmark(lambda *args: (seen.append(args), clock.work()), 1, "two", clock=clock, warmup=0, repeat=1)
    assert seen == [(1, "two")]


@pytest.mark.parametrize("step, runs", [(1.0, 7), (0.125, 7), (0.015625, 8), (2**-10, 128), (2**-11, 200)])
def test_without_repeat_the_runs_fill_a_budget(step, runs):
    clock = Clock(step)
    assert len(benchmark(clock.work, clock=clock).samples) == runs
    assert clock.calls == runs + timing.WARMUP


def test_the_wait_comes_before_each_reading():
    clock, events = Clock(1.0), []
    benchmark(
        lambda: (clock.work(), events.append("run")),
        clock=lambda: (events.append("read"), clock())[1],
        sync=lambda: events.append("wait"),
        warmup=0,
        repeat=1,
    )
    assert events == ["wait", "wait", "read", "run", "wait", "read"]


@pytest.mark.parametrize("wrong", [{"repeat": 0}, {"warmup": -1}])
def test_too_few_runs_are_refused(wrong):
    with pytest.raises(ValueError, match="at least one run"):
        benchmark(lambda: None, **wrong)


def test_it_says_measured_on_what():
    found = benchmark(lambda: None, repeat=1)
    assert "measured" in repr(found)
    assert "time.perf_counter, on this CPU" in repr(found) and "no GPU's time" in repr(found)
    html = found._repr_html_()
    assert "<strong>measured</strong>" in html and '<th scope="row">median</th>' in html


def test_repr_follows_from_the_samples_alone():
    one = Timing((1e-3, 2e-3, 3e-3), 2, "CUDA events", "on NVIDIA H200", bytes=2e6)
    assert repr(one) == (
        "Timing(measured 2 ms, middle half 1.5 ms to 2.5 ms, 1 GB/s; 3 after 2 to warm up; CUDA events, on NVIDIA H200)"
    )


def test_on_a_gpu_the_clock_is_a_pair_of_events(monkeypatch):
    log = []

    class Event:
        def record(self):
            log.append("record")

        def synchronize(self):
            log.append("synchronize")

    runtime = SimpleNamespace(deviceSynchronize=lambda: log.append("wait"))
    cuda = SimpleNamespace(Event=Event, get_elapsed_time=lambda a, b: 2.5, runtime=runtime)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(timing, "real_gpu", lambda: True)
    monkeypatch.setattr(timing, "device", lambda: SimpleNamespace(runs_on="NVIDIA H200"))
    found = benchmark(lambda: log.append("run"), warmup=1, repeat=2)
    assert found.samples == (2.5e-3, 2.5e-3)
    assert (found.clock, found.on) == ("CUDA events", "on NVIDIA H200")
    assert log == ["run", "wait", *["record", "run", "record", "synchronize"] * 2]


def test_a_launch_instead_of_a_function_says_what_to_write():
    with pytest.raises(TypeError, match=r"benchmark\(lambda: kernel\[blocks, threads\]\(x, y\)\)"):
        benchmark(None)
