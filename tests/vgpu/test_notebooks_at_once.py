"""Several notebooks on one machine: each goes on whatever the others do, are asked to do, or how they end."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from nbformat.v4 import new_output

from tests.notebook_kernel import NotebookKernel
from tests.workbook.made import code, written

SETUP = '''
import numpy as np
from helpers import cp, cuda
heavy = cp.RawKernel("""extern "C" __global__ void heavy(unsigned* x, int n) {
    unsigned v = threadIdx.x;
    for (int i = 0; i < n; i++) v = v * 1664525u + 1013904223u;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v; }""", "heavy")
x = cp.zeros(64 * 256, np.uint32)

def run(n):
    heavy((64,), (256,), (x, n))
    return int(x.sum())

def expected(n):
    v = np.tile(np.arange(256, dtype=np.uint32), 64)
    for _ in range(n):
        v = v * np.uint32(1664525) + np.uint32(1013904223)
    return int(v.sum())

_ = run(1)
'''
ENDLESS = "print('begun', flush=True); run(2_000_000_000)"
RIGHT = "run(1000) == expected(1000)"


@pytest.fixture
def two(tmp_path):
    """Two running notebooks that share what a learner's notebooks share: home, caches, answers."""
    shared = {"WARPBOOK_STATE": str(tmp_path / "state"), "TRITON_CACHE_DIR": str(tmp_path / "triton")}
    with NotebookKernel(**shared) as one, NotebookKernel(**shared) as other:
        tickets = [each.send(SETUP) for each in (one, other)]
        assert [each.result(ticket) for each, ticket in zip((one, other), tickets, strict=True)] == [("ok", "")] * 2
        yield one, other


def begin(kernel: NotebookKernel) -> str:
    """Start a launch that takes for ever, and wait until it runs."""
    ticket = kernel.send(ENDLESS)
    kernel.wait_for(ticket, "begun")
    time.sleep(1)  # from the print to the launch
    return ticket


def test_an_interrupt_stops_one_and_leaves_the_other(two):
    stopped, other = two
    long = other.send("[run(200_000) for _ in range(5)][-1] == run(200_000)")
    for _ in range(3):
        ticket = begin(stopped)
        stopped.interrupt()
        status, text = stopped.result(ticket)
        assert status == "KeyboardInterrupt"
        assert "The kernel heavy was interrupted: thread" in text and "grid.py" not in text
        assert stopped.run(RIGHT) == ("ok", "True")
    assert other.result(long) == ("ok", "True")


def test_a_restart_in_the_middle_of_a_launch(two):
    restarted, other = two
    begin(restarted)
    long = other.send("[run(200_000) for _ in range(3)][-1] == run(200_000)")
    restarted.restart()
    assert restarted.run(SETUP) == ("ok", "")
    assert restarted.run(RIGHT) == ("ok", "True")
    assert other.result(long) == ("ok", "True")


def test_both_compile_and_answer_at_once(two):
    cell = """
from helpers import predict
from helpers.checking.predict import answer
for i in range(30):
    predict("?", [1, 2], key=f"{NAME}-{i}").commit(2)
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
y = cp.ones(1000, np.float32)
double[8, 128](y)
print(float(y.sum()), sum(answer(f"{NAME}-{i}") for i in range(30)))"""
    tickets = [each.send(f"NAME = 'notebook {at}'\n{cell}") for at, each in enumerate(two)]
    assert [each.result(ticket) for each, ticket in zip(two, tickets, strict=True)] == [("ok", "2000.0 60\n")] * 2
    assert two[0].run("sum(answer(f'notebook 1-{i}') for i in range(30))") == ("ok", "60")


@pytest.mark.skipif(sys.platform != "linux", reason="Triton is published for Linux")
def test_both_fill_tritons_cache_at_once(two):
    cell = """
from helpers import triton
import torch, triton.language as tl
@triton.jit
def add(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)
x = torch.zeros(1000)
for BLOCK in (32, 64, 128, 256):
    add[(triton.cdiv(1000, BLOCK),)](x, 1000, BLOCK=BLOCK)
float(x.sum())"""
    tickets = [each.send(cell) for each in two]
    assert [each.result(ticket) for each, ticket in zip(two, tickets, strict=True)] == [("ok", "4000.0")] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_processes_and_threads_that_a_notebook_starts(two):
    notebook, other = two
    long = other.send(ENDLESS)
    cell = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
run(10)
def own(n):
    y = cp.zeros(64 * 256, np.uint32)
    heavy((64,), (256,), (y, n))
    return int(y.sum())
wanted = [expected(n) for n in range(6)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(own, range(6)) == wanted)
with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
    print(list(pool.map(own, range(6))) == wanted)
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(own, range(6))) == wanted)"""
    assert notebook.run(cell) == ("ok", "True\n" * 3)
    other.interrupt()
    assert other.result(long)[0] == "KeyboardInterrupt"


def test_nbval_in_two_processes(tmp_path, root):
    true = new_output("execute_result", {"text/plain": "True"}, execution_count=2)
    cells = code(SETUP, count=1), code(RIGHT, outputs=[true], count=2)
    pages = [written(tmp_path, *cells, name=name) for name in ("one.ipynb", "two.ipynb")]
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    at_once = [subprocess.Popen([*command, str(path)], cwd=root, stdout=subprocess.PIPE, text=True) for path in pages]
    said = [process.communicate(timeout=300)[0] for process in at_once]
    assert [process.returncode for process in at_once] == [0, 0], said
    assert all("2 passed" in text for text in said)
