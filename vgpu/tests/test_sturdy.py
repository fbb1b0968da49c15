"""The virtual GPU under strain: numbers of threads, forks, Ctrl-C, little memory, huge grids, random schedules."""

from __future__ import annotations

import _thread
import ctypes
import gc
import multiprocessing
import os
import select
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from vgpu.base import schedule, steady
from vgpu.base.errors import KernelTimeout, LaunchError, OutOfBounds
from vgpu.launch import launch
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda
from vgpu.storage import memory
from vgpu.tests.fuzz import cases

i4, f4 = np.int32, np.float32
ROOT = Path(__file__).resolve().parents[2]


def script(text: str, **options) -> subprocess.Popen:
    """A fresh Python that runs `text`; it is to be ended by the caller."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, **options,
    )  # fmt: skip


def said(text: str, **options) -> str:
    """What a fresh Python prints that runs `text` to a good end."""
    process = script(text, **options)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (process.returncode, out, err)
    return out


# ---------------------------------------------------------------- the number of threads

KERNELS = {
    "integer atomics": (
        """extern "C" __global__ void k(int* x) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        atomicAdd(x + i % 7, i); atomicMax(x + 8 + i % 5, i * 7919 % 1000); atomicXor(x + 16, i * 31); }""", 37, 96, {},
    ),
    "shared memory": (
        """extern "C" __global__ void k(int* x) { __shared__ int s[128]; int t = threadIdx.x; s[t] = t * t;
        for (int d = 64; d; d /= 2) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
        if (t == 0) x[blockIdx.x] = s[0] + blockIdx.x; }""", 41, 128, {},
    ),
    "divergence": (
        """extern "C" __global__ void k(int* x) { int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
        for (int v = i; v != 1 && n < 90; n++) v = v & 1 ? 3 * v + 1 : v / 2;
        x[i] = n + __popc(__activemask()); }""", 9, 64, {},
    ),
    "tensor cores": (
        """#include <mma.h>
        using namespace nvcuda;
        extern "C" __global__ void k(int* x) { __shared__ half s[512]; int t = threadIdx.x;
        for (int i = t; i < 512; i += 32) s[i] = __int2half_rn((i * 7 + blockIdx.x) % 11);
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.5f); wmma::load_matrix_sync(a, s, 16); wmma::load_matrix_sync(b, s + 256, 16);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync((float*)x + 256 * blockIdx.x, c, 16, wmma::mem_row_major); }""", 6, 32, {},
    ),
    "asynchronous copies": (
        """#include <cuda_pipeline.h>
        extern "C" __global__ void k(int* x) { __shared__ int s[64]; int t = threadIdx.x;
        __pipeline_memcpy_async(s + t, x + 1024 + (t * 5 + blockIdx.x) % 64, 4); __pipeline_commit();
        __pipeline_wait_prior(0); __syncthreads(); x[blockIdx.x * 64 + t] = s[63 - t] + t; }""", 11, 64, {},
    ),
    "a barrier of the grid": (
        """#include <cooperative_groups.h>
        extern "C" __global__ void k(int* x) { auto g = cooperative_groups::this_grid(); int i = g.thread_rank();
        for (int r = 0; r < 3; r++) { int v = x[i] + x[(i + 33) % g.size()]; g.sync(); x[i] = v + r; g.sync(); } }""",
        12, 64, {"cooperative": True},
    ),
    "a scan that looks back": (
        """extern "C" __global__ void k(volatile int* x) { if (threadIdx.x) return; int b = blockIdx.x;
        int own = b * b + 1, sum = 0; x[512 + b] = own; __threadfence(); x[b] = 1;
        for (int i = b - 1; i >= 0; i--) { int f; while ((f = x[i]) == 0); __threadfence();
        if (f == 2) { sum += x[768 + i]; break; } sum += x[512 + i]; }
        x[768 + b] = sum + own; __threadfence(); x[b] = 2; }""", 60, 32, {},
    ),
}  # fmt: skip


def run(kernel, grid, block, threads, options):
    """The memory after a launch, and its counters as text."""
    x = memory.array(2048, i4)
    x[:] = np.arange(2048) % 13
    x[:1024] = 0
    counters = launch.launch(
        kernel, grid, block, [struct.pack("<Q", x.ctypes.data)], threads=threads, observe=True, **options
    )
    return x.tobytes(), str(counters.total), str(counters.lines), counters.footprint


@pytest.mark.parametrize("name", KERNELS)
def test_results_and_counts_do_not_depend_on_the_threads(compiled, name):
    source, grid, block, options = KERNELS[name]
    (kernel,) = launch.load(compiled_ptx(source), language="cuda", source=source).values()
    found = [run(kernel, grid, block, threads, options) for threads in (1, 2, 3, 8, 1, 8)]
    if name == "a scan that looks back":  # how often it looks, and how far, is up to the blocks before
        found = [each[:1] for each in found]
    assert all(each == found[0] for each in found)
    assert any(np.frombuffer(found[0][0], i4)[:1024])


def compiled_ptx(source: str) -> str:
    from vgpu.compile import cuda_c_to_ptx

    return cuda_c_to_ptx(source).ptx


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_what_is_printed_and_the_first_fault_do_not_depend_on_the_threads(compiled, threads, capfd):
    kernel = (
        compiled.c("""extern "C" __global__ void k(int* x) { int b = blockIdx.x;
        if (threadIdx.x == 5) printf("%d ", b); if (b >= 11 && threadIdx.x == 40) *(int*)(4ull * b) = 1; }""")
    )  # no array is there
    with pytest.raises(OutOfBounds) as caught:
        kernel(200, 64, np.zeros(4, i4), threads=threads)
    assert caught.value.block == (11, 0, 0) and caught.value.thread == (40, 0, 0)
    assert capfd.readouterr().out.split()[:11] == [str(b) for b in range(11)]


def test_workers_that_wait_for_one_another_all_run(compiled):
    """More workers than a machine has cores: each needs a thread, or blocks wait for some that never start."""
    flag, order, count = np.zeros(400, i4), np.zeros(400, i4), np.zeros(1, i4)
    kernel = compiled.c("""extern "C" __global__ void k(volatile int* flag, int* order, int* count) {
        if (threadIdx.x) return; int b = blockIdx.x; if (b + 1 < gridDim.x) while (flag[b + 1] == 0);
        order[atomicAdd(count, 1)] = b; __threadfence(); flag[b] = 1; }""")
    kernel(400, 32, flag, order, count, threads=100)
    np.testing.assert_array_equal(order, np.arange(400)[::-1])


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("body", ["", "__syncthreads();", "if (blockIdx.x == 2000000000) x[0] = 1;"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_grid_of_short_blocks_is_timed_out(compiled, body, threads):
    kernel = compiled.c(f'extern "C" __global__ void k(int* x) {{ {body} }}')
    with pytest.raises(KernelTimeout, match=r"did not end within 0\.2 s"):
        kernel(2**31 - 1, 64, np.zeros(4, i4), threads=threads, timeout=0.2)


def test_a_random_order_has_its_limit(compiled):
    kernel = compiled.c('extern "C" __global__ void k(int* x) { }')
    with pytest.raises(LaunchError, match="at most 4194304 blocks"):
        kernel(2**31 - 1, 32, np.zeros(4, i4), schedule="random", seed=1)


# ---------------------------------------------------------------- threads and processes


@numba_cuda.jit
def add(x, value):
    i = numba_cuda.grid(1)
    if i < x.size:
        x[i] += value


def both(value: int) -> float:
    """What two kernels say that were compiled just now, in two languages; it is 33000 times `value`."""
    x = cp.zeros(1000, f4)
    add[8, 128](x, f4(value))
    y = cp.zeros(32, i4)
    cp.RawKernel(f'extern "C" __global__ void k(int* x) {{ x[threadIdx.x] = {value}; }}', "k")((1,), (32,), (y,))
    return float(x.sum()) + 1000 * float(y.sum())


def test_threads_compile_and_launch_at_the_same_time():
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(both, range(12))) == [33000.0 * value for value in range(12)]


def test_threads_launch_the_same_kernel_with_their_own_arguments():
    def work(value):
        x = cp.zeros(5000, i4)
        for _ in range(20):
            add[40, 128](x, i4(value))
            gc.collect(0)
        return set(cp.asnumpy(x).tolist())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [{20 * value} for value in range(4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_a_child_has_kernels_of_its_own(how):
    assert both(3) == 99000.0
    with multiprocessing.get_context(how).Pool(1) as pool:
        assert pool.map(both, [1, 2]) == [33000.0, 66000.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_amid_the_compilations_of_another_thread():
    """The child finds no lock held by a thread that it has not got."""
    stop, serial = threading.Event(), iter(range(1000, 100_000))

    def compile_on():
        while not stop.is_set():
            both(next(serial))

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        for value in range(6):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if both(value) == 33000.0 * value else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_kernels_in_a_signal_handler_in_del_and_at_exit():
    text = said("""
        import atexit, gc, signal
        from vgpu.standins import cupy as cp

        def answer(value):
            x = cp.zeros(32, "i4")
            cp.RawKernel('extern "C" __global__ void k(int* x) { x[threadIdx.x] = %d; }' % value, "k")(
                (1,), (32,), (x,))
            return int(x.sum()) // 32

        class Last:
            def __del__(self):
                print("del", answer(2))

        answer(0)  # a handler that comes amid the first import would find half of it
        signal.signal(signal.SIGALRM, lambda *_: print("signal", answer(1)))
        atexit.register(lambda: print("exit", answer(3)))
        assert answer(4) == 4  # a handler cannot import what is being imported
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        x = cp.zeros(2, "i4")
        spin = cp.RawKernel(
            'extern "C" __global__ void k(volatile int* x) { for (int i = 0; i < 30000000; i++) x[0] = i; }', "k")
        spin((1,), (32,), (x,))
        loop = [Last()]; loop.append(loop); del loop; gc.collect()
        """)
    assert text.split() == ["signal", "1", "del", "2", "exit", "3"]


# ---------------------------------------------------------------- Ctrl-C

SPINS = {
    "spin": "f[1] = 0;",
    "barriers": "f[1] = 0; __syncthreads();",
    "atomics": "atomicAdd((int*)f + 1, 1);",
    "printf": 'printf("%%d", f[1]);',
}


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(
    ("name", "how"),
    [("spin", "sequential"), ("barriers", "random"), ("atomics", "observed"), ("printf", "sequential"),
     ("spin", "compiling")],
)  # fmt: skip
def test_ctrl_c_again_and_again(name, how):
    """Every press ends a launch (or a compilation), and the next kernel runs with nothing left of the last."""
    process = script(f"""
        import contextlib, io
        from vgpu.base import schedule
        from vgpu.launch import launch
        from vgpu.standins import cupy as cp
        from vgpu.storage import memory
        source = '''extern "C" __global__ void k(volatile int* f) {{
            while (f[0]) {{ {SPINS[name]} }} f[2] += 7; }} // %d'''
        flag, how, spun = cp.zeros(3, "i4"), {how!r}, 0
        fixed = cp.RawKernel(source % -1, "k")
        fixed((1,), (1,), (flag,))
        if how == "observed":
            counted = launch.counting()
            counted.__enter__()
        for turn in range(4):
            try:
                print("ready", flush=True)
                with contextlib.redirect_stdout(io.StringIO()), schedule.scheduled(
                    "random" if how == "random" else "sequential"):
                    flag[0] = 1
                    while how == "compiling":
                        cp.RawKernel(source % (spun := spun + 1), "k").compile()
                    fixed((9,), (64,), (flag,))
            except KeyboardInterrupt:
                pass
            else:
                print("not interrupted")
            flag[0] = flag[2] = 0
            fixed((1,), (1,), (flag,))
            cp.RawKernel(source % (-2 - turn), "k")((1,), (1,), (flag,))
            assert int(flag[2]) == 14
            assert len(memory._live) == len(memory._starts)
            print("fine", flush=True)
        print("end", flush=True)
        """)
    try:
        for turn in range(4):
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            signal.sigtimedwait([], 0.02 + 0.15 * turn)
            process.send_signal(signal.SIGINT)
            while how == "compiling" and not select.select([process.stdout], [], [], 20)[0]:
                process.send_signal(signal.SIGINT)  # as a user does: NVRTC may discard one that is on its way
            assert process.stdout.readline() == "fine\n", (process.stderr.read(), process.wait())
        assert process.stdout.readline() == "end\n"
    finally:
        process.kill()
        process.communicate()


def test_a_second_ctrl_c_does_not_leave_workers_behind(compiled, monkeypatch):
    """Whatever interrupts the wait for the workers, the launch waits on until none of them runs."""
    from vgpu.launch import running

    presses, seen = iter(range(4)), []

    def wait(*_, **__):
        raise KeyboardInterrupt

    def sleep(_):
        if next(presses, None) is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(running, "wait", wait)
    monkeypatch.setattr(running, "time", types.SimpleNamespace(**{**vars(time), "sleep": sleep}))
    original = running.Running.abandon
    monkeypatch.setattr(running.Running, "abandon", lambda self: (original(self), seen.append(self)))
    kernel = compiled.c('extern "C" __global__ void k(volatile int* x) { while (x[0] == 0) x[1] = 1; }')
    with pytest.raises(KeyboardInterrupt):
        kernel(50, 32, np.zeros(2, i4), threads=3)
    assert seen and not any(worker.running for worker in seen[0].workers)


def test_compilers_are_out_of_reach_of_ctrl_c():
    """What runs apart goes on to its end though the wait for it is broken off, and errors come back."""
    ended, begun = threading.Event(), threading.Event()

    def work():
        begun.set()
        signal.raise_signal(signal.SIGINT)
        ended.wait(20)
        done.append(threading.current_thread())

    done: list = []
    with pytest.raises(KeyboardInterrupt):
        steady.run_uninterrupted(work)
    assert begun.is_set() and not done
    ended.set()
    for thread in threading.enumerate():
        if thread.name == "virtual-gpu-compiler":
            thread.join()
    assert done and done[0] is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        steady.run_uninterrupted(lambda: 1 // 0)


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="waiting for a signal is Linux's")
def test_a_compiler_that_ignores_the_signal_keeps_nobody_waiting():
    """Setting a signal to be ignored discards one that waits, in whichever thread that is done."""
    ignore = ctypes.CDLL(None).signal
    ignore.argtypes = [ctypes.c_int, ctypes.c_void_p]
    handler, ended = signal.getsignal(signal.SIGINT), threading.Event()

    def compile_without_end() -> None:
        while not ended.is_set():
            ignore(signal.SIGINT, signal.SIG_IGN)

    other = threading.Thread(target=compile_without_end)
    other.start()
    try:
        for i in range(50):
            assert steady.run_uninterrupted(lambda i=i: i, ignore_sigint=True) == i
    finally:
        ended.set()
        other.join()
        signal.signal(signal.SIGINT, handler)


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="waiting for a signal is Linux's")
@pytest.mark.parametrize("step", ["getsignal", "pthread_sigmask", "signal", "sigtimedwait"])
def test_a_press_that_another_thread_takes_at_any_step_is_handed_on(step, monkeypatch):
    """And leaves the signal as it was: not blocked, and with its handler."""
    function = getattr(signal, step)

    def pressed_after(*arguments):
        given = function(*arguments)
        _thread.interrupt_main()
        return given

    as_it_was = signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        patch.setattr(signal, step, pressed_after)
        steady.run_uninterrupted(lambda: time.sleep(0.1), ignore_sigint=True)
    assert (signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT)) == as_it_was


@pytest.mark.parametrize("line", range(1, 9))
def test_the_books_of_memory_survive_an_interruption(line, monkeypatch):
    """A change that is broken off after any of its lines is made good by the next call."""
    gc.collect()  # what other tests have left
    before = memory.usage()
    kept = memory.allocate(1000)
    lines = {"allocate": 0, "_retire": 0}

    def trace(frame, event, _):
        name = frame.f_code.co_name
        if frame.f_code.co_filename == memory.__file__ and name in lines:
            if event == "line" and memory._change is not None:
                lines[name] += 1
                if lines[name] == line:
                    raise KeyboardInterrupt
            return trace
        return None

    previous = sys.gettrace()
    for broken in (lambda: memory.allocate(500), kept.free):
        sys.settrace(trace)
        try:
            broken()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(previous)
    del kept, broken
    gc.collect()
    assert memory.usage() == before
    assert [b.address for b in memory._live] == list(memory._starts) == sorted(memory._starts)
    assert [b.end for b in memory._live] == list(memory._ends)


# ---------------------------------------------------------------- memory


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_little_memory_is_an_error_with_words():
    text = said("""
        import resource
        import numpy as np
        from vgpu.standins import cupy as cp
        kernel = cp.RawKernel('extern "C" __global__ void k(float* x) { float a[9000]; for (int i = 0; i < 9000; i++)'
            'a[i] = i; x[threadIdx.x] = a[(int)x[1] & 1023]; }', "k")
        x = cp.zeros(1024, "f4")
        kernel((1,), (32,), (x,))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (12 << 20), resource.RLIM_INFINITY))
        for what in (lambda: cp.zeros(40_000_000, "f4"), lambda: kernel((64,), (1024,), (x,))):
            try:
                what()
                print("ran")
            except MemoryError as error:
                print(str(error)[:32] or "no words")
        kernel((1,), (32,), (x,))
        print("fine", float(x[3]))
        """)
    rows = text.splitlines()
    assert rows == ["out of memory on the virtual GPU", "out of memory on the virtual GPU", "fine 0.0"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_launches_and_arrays_leave_nothing_behind():
    x = cp.zeros(1000, f4)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def work(times):
        for _ in range(times):
            add[8, 128](x, f4(1))
            arrays = [memory.allocate(n * 1000) for n in range(10)]
            del arrays

    work(300)
    before, books = resident(), memory.usage()
    work(1500)
    assert memory.usage() == books
    assert resident() - before < 8 << 20


def test_sizes_at_the_ends(compiled):
    kernel = compiled.c("""extern "C" __global__ void k(int* x) { __shared__ int s[12288]; double a[100];
        int t = threadIdx.x; for (int i = 0; i < 100; i++) a[i] = i * t; for (int i = t; i < 12288; i += 1024) s[i] = i;
        __syncthreads(); x[t] = s[12287 - t] + (int)a[(x[t] + t) % 100]; }""")
    x = np.zeros(1024, i4)
    kernel(3, 1024, x)
    assert x[0] >= 12287
    empty = cp.zeros(0, f4)
    add[1, 32](empty, f4(1))
    assert empty.size == 0
    with pytest.raises(MemoryError, match="out of memory on the virtual GPU"):
        cp.zeros(1 << 50, np.uint8)


# ---------------------------------------------------------------- random schedules


@pytest.mark.parametrize("seed", range(6))
def test_random_schedules_of_race_free_kernels_give_one_result(seed):
    found = cases.KINDS["schedules"](seed)
    assert found["outcome"] == "agreed", found


def test_recursion_by_lanes_that_do_not_start_together(compiled):
    kernel = compiled.c("""__device__ __noinline__ unsigned deep(unsigned n, unsigned x) {
            return n == 0 ? x + 1u : deep(n - 1, x * 3u) ^ n; }
        extern "C" __global__ void k(unsigned* x) {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = i * 2654435761u;
            for (int r = 0; r < 6; r++) a = deep(a & 3, a);
            x[i] = a; }""")
    expected = np.zeros(320, np.uint32)
    kernel(5, 64, expected)
    for seed in range(40):
        found = np.zeros(320, np.uint32)
        kernel(5, 64, found, schedule="random", seed=seed)
        np.testing.assert_array_equal(found, expected)


def test_a_schedule_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="sequential"):
        schedule.chosen("chaotic")
