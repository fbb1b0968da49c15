"""Several threads at once: each gets what it gets alone, from everything that watches, counts or puts memory back."""

import _thread
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
import torch

from helpers import benchmark, cp, profile, record, sanitize, streams, trace
from helpers.checking import learner_state
from helpers.results.torch.memory import memory_line
from vgpu.base.own import LAUNCHING, run_isolated
from vgpu.base.schedule import scheduled
from vgpu.launch import launch as engine
from vgpu.storage import memory
from vgpu.tools.steps.interleaving import interleavings

THREADS = 4
MANY = r"""
extern "C" __global__ void add(float* x, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < times; ++k) x[i] += 1;
}
extern "C" __global__ void last(int* x, int which) { x[which] = threadIdx.x + 32 * blockIdx.x; }
extern "C" __global__ void neighbour(float* x, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void tally(int* x) { x[0] = x[0] + 1; }
extern "C" __global__ void spin(volatile int* flag) { while (*flag) *flag ^= 2; }
extern "C" __global__ void keeps(int pieces, int** out) {
    for (int k = 0; k < pieces; ++k) { int* p = (int*)malloc(16); p[0] = k; if (out) out[k] = p; }
}
"""
add, last, neighbour, tally, spin, keeps = (
    cp.RawKernel(MANY, name) for name in ("add", "last", "neighbour", "tally", "spin", "keeps")
)
everybodys, counter = cp.zeros(64, np.float32), cp.zeros(1, np.int32)


def pipeline(n: int) -> None:
    size = 512
    host = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * size * (n + 1)), np.float32)
    host[:] = n
    x = cp.empty(size * (n + 1), np.float32)
    for i in range(n + 1):
        part, stream = slice(i * size, (i + 1) * size), cp.cuda.Stream(non_blocking=True)
        x[part].set(host[part], stream)
        add((size // 64,), (64,), (x[part], np.int32(n + 1)), stream=stream)
        x[part].get(stream, out=host[part], blocking=False)
        if n % 2:
            host[part] = -1  # while the copy may still be under way
    cp.cuda.Device().synchronize()


def told(timeline) -> tuple:
    gpu = "A100"
    return repr(timeline), repr(timeline.schedule(gpu)), list(map(str, timeline.hazards())), timeline.findings()


def recorded(n: int):
    with streams.record() as outer:
        pipeline(n)
        with streams.record() as inner:
            pipeline(0)
    return told(outer), told(inner)


def recorded_with_threads_of_its_own(n: int):
    """Work that threads ask for which are started within; each waits for the one before."""

    def work(i: int) -> None:
        cp.zeros(256 * (i + 1), np.float32).fill(i)

    with streams.record() as timeline:
        for i in range(n + 1):
            thread = threading.Thread(target=work, args=(i,))
            thread.start()
            thread.join()
    return told(timeline)


def captured(n: int):
    """A graph, while others use the default stream, which would end the capture of a blocking stream."""

    def work():
        x, stream = cp.zeros(64, np.float32), cp.cuda.Stream()
        with stream:
            stream.begin_capture()
            for _ in range(n + 1):
                add((1,), (64,), (x, np.int32(1)))
            graph = stream.end_capture()
        graph.launch()
        add((1,), (64,), (x, np.int32(1)))
        return x.get().tolist()

    return run_isolated(work)


def profiled(n: int):
    found = profile(add, n + 1, 64, (cp.zeros(64 * (n + 1), np.float32), np.int32(n)))
    return dict(found.total), found.table(), found.counters.footprint


def counted(n: int) -> list:
    heard = []
    with engine.FINISHED.hearing(lambda run: heard.append((run.kernel.name, run.counters().total["instructions"]))):
        for _ in range(2):
            add((n + 1,), (64,), (cp.zeros(64 * (n + 1), np.float32), np.int32(1)))
    return heard


def sanitized(n: int):
    """Its own arrays under several seeds, which start from the same memory each."""
    x = cp.zeros(4, np.int32)
    found = sanitize(last, n + 1, 32 * (n + 1), (x, np.int32(n)), seeds=(1, 2, 3), races_in_global=True)
    return str(found), x.get().tolist()


def sanitized_in_order(n: int):
    x, out = cp.ones(64, np.float32), cp.zeros(64, np.float32)
    return str(sanitize(neighbour, 1, 16 * (n + 1), (x, out))), repr(out.get().tolist())  # NaN is not itself


def lost_by(n: int):
    return str(sanitize(keeps, 1, n + 1, (np.int32(n + 1), np.uint64(0))))


def leaked(n: int):
    with sanitize.leaks() as found:
        held = [cp.zeros(100 + n, np.float32) for _ in range(n + 1)]
        keeps((1,), (n + 1,), (np.int32(1), np.uint64(0)))
    del held
    return [(leak.what, leak.count, leak.nbytes) for leak in found]


def under_a_schedule(n: int):
    found = []
    for turn in range(8):
        x = cp.zeros(2, np.int32)
        with scheduled("random", seed=8 * n + turn):
            last((8,), (32,), (x, np.int32(0)))
        last((8,), (32,), (x, np.int32(1)))
        found.append(x.get().tolist())
    return found


def traced(n: int):
    """Everybody's array, which is put back as it was."""
    return repr(trace(add, 1, 16 * (n + 1), (everybodys, np.int32(1)))), everybodys.get().tolist()


def stepped(n: int):
    return [repr(step) for step in record(add, 1, 32, (everybodys, np.int32(n))).steps]


def interleaved(n: int):
    """Every schedule begins with what is in everybody's counter, which others raise meanwhile and put back."""
    found = interleavings(tally, 1, 2 * (n + 1), (counter,), seeds=(1, 2))
    return repr(found), [repr(run) for run in found.runs], counter.get().tolist()


def timed(n: int):
    ticks = count(step=n + 1)
    return benchmark(lambda: None, repeat=3, clock=lambda: float(next(ticks))).samples


def held_by_torch(n: int):
    line = memory_line(lambda: [torch.ones(1000 * (n + 1)) for _ in range(n + 1)])
    return [change.nbytes for change in line.changes]


def with_an_allocator(n: int):
    asked = []

    def mine(size: int):
        asked.append(size)
        return cp.cuda.MemoryPool().malloc(size)

    with cp.cuda.using_allocator(mine):
        for i in range(n + 1):
            cp.cuda.alloc(64 * (i + 1))
    return asked


VERBS = (
    recorded, recorded_with_threads_of_its_own, captured, profiled, counted, sanitized, sanitized_in_order, lost_by,
    leaked, under_a_schedule, traced, stepped, interleaved, timed, held_by_torch, with_an_allocator,
)  # fmt: skip


def together(*functions) -> list:
    """The results of functions that are called in threads of their own, all at once."""
    start = threading.Barrier(len(functions))

    def work(function):
        start.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(work, functions))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_four_at_once_get_what_each_gets_alone(verb):
    alone = [verb(n) for n in range(THREADS)]
    assert len({repr(each) for each in alone}) == THREADS, "the four do not differ, so that a mix would not show"
    for _ in range(2):
        assert together(*(lambda n=n: verb(n) for n in range(THREADS))) == alone


@pytest.mark.slow
def test_all_verbs_at_once_get_what_each_gets_alone():
    alone = [verb(n) for verb in VERBS for n in (1, 2)]
    assert together(*(lambda verb=verb, n=n: verb(n) for verb in VERBS for n in (1, 2))) == alone


def test_a_launch_is_not_lost_while_another_thread_puts_memory_back():
    x = cp.zeros(64, np.float32)

    def launches():
        for _ in range(200):
            add((1,), (64,), (x, np.int32(1)))
            x[:32] += 1

    def traces():
        for _ in range(20):
            trace(add, 1, 64, (x, np.int32(3)))

    together(launches, traces, traces)
    assert x.get().tolist() == [400.0] * 32 + [200.0] * 32


def test_two_recordings_number_the_same_streams_each_in_its_own_order():
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)

    def work(*queues):
        with streams.record() as timeline:
            for queue in queues:
                add((1,), (64,), (everybodys, np.int32(0)), stream=queue)
        return timeline

    first, second = work(one, two), work(two, one)
    hazards = [str(found) for found in first.hazards()]
    second.schedule("A100")
    assert [str(found) for found in first.hazards()] == hazards
    assert [row.stream for row in first.rows()] == [row.stream for row in second.rows()] == ["stream 1", "stream 2"]


def test_who_was_there_before_a_recording_is_not_heard_and_who_goes_on_after_it_neither():
    with ThreadPoolExecutor(1) as before, ThreadPoolExecutor(1) as within:
        before.submit(time.sleep, 0).result()
        with streams.record() as timeline:
            before.submit(cp.zeros, 64).result()
            within.submit(cp.zeros, 128).result()
        within.submit(cp.zeros, 256).result()
    assert [operation.nbytes for operation in timeline.operations] == [1024]
    assert not engine.FINISHED


def test_ctrl_c_in_the_midst_of_a_launch_leaves_the_turn_to_others():
    x, flag = cp.zeros(64, np.float32), cp.ones(1, np.int32)

    def stop_it() -> list:
        until = time.monotonic() + 60  # a launch that has ended at once would else be waited for without an end
        while time.monotonic() < until and LAUNCHING.acquire(blocking=False):
            LAUNCHING.release()
            time.sleep(0.001)
        _thread.interrupt_main()
        add((1,), (64,), (x, np.int32(1)))
        return x.get().tolist()

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(stop_it)
        with pytest.raises(KeyboardInterrupt), streams.record():
            spin((1,), (1,), (flag,))
            pytest.fail("a kernel that spins on a flag has ended")
        assert result.result() == [1.0] * 64
    assert not engine.FINISHED and not memory.ALLOCATED


def test_fields_kept_by_several_threads_are_all_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path))
    together(*(lambda n=n: learner_state.keep(learner_state.EXERCISES, "one", **{f"field{n}": n}) for n in range(16)))
    assert learner_state.entry(learner_state.EXERCISES, "one") == {f"field{n}": n for n in range(16)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_waits_for_a_launch_before_it_takes_the_locks_that_a_launch_needs():
    """Those of executors and of logging: modules that were imported later would take theirs first."""
    say = "import sys; from vgpu.base import steady\n"
    say += "print({'concurrent.futures.thread', 'logging'} <= {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"
