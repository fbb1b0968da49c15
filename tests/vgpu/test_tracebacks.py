"""What a notebook shows of an error: the learner's lines and the message, not the road through this package."""

from __future__ import annotations

import pytest

from tests.notebook_kernel import NotebookKernel

SETUP = """
import numpy as np
from helpers import benchmark, cp, cuda, profile
x = cp.zeros(100, np.float32)
raw = cp.RawKernel('extern "C" __global__ void raw(float* x, int n) { x[threadIdx.x + n] = 1; }', "raw")

@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 1

@cuda.jit
def misspelt(x):
    x[0] = cuda.gird(1)
"""


@pytest.fixture(scope="module")
def notebook():
    """A notebook in which the learner has a few kernels."""
    with NotebookKernel() as made:
        assert made.run(SETUP) == ("ok", "")
        yield made


CASES = (
    ("fill[4, 32](x)", "OutOfBounds: out of bounds: thread (4) of block (3)"),
    ("fill[0, 32](x)", "LaunchError: the grid size in x is 0"),
    ("fill[4, 32](x, x)", "ArgumentError: `fill` takes 1 argument (x), 2 given"),
    ("fill[4, 32](np.array([None]))", "ArgumentError: `fill`: argument `x` is an array of Python objects"),
    ("fill[4, 32](np.array(['a']))", "CompileError: `fill`, line 8: a number is stored into an array of"),
    ("fill(x)", "MissingConfiguration: `fill` is a kernel"),
    ("misspelt[1, 1](x)", "CompileError: `misspelt`, line 12: there is no `cuda.gird`"),
    ("raw((1,), (32,), (x, 1000))", "OutOfBounds: out of bounds"),
    ("raw((1,), (32,), (x,))", "ArgumentError: raw(float* x, int n) takes 2 arguments"),
    ("raw((1,), (32,), (5, 1))", "ArgumentError: argument 1 of raw, `float* x`: the number 5"),
    ("cp.RawKernel(raw.code, 'row')((1,), (1,), ())", "NoSuchKernel: no kernel named 'row'"),
    ("cp.RawKernel('raw', raw.code)", "ArgumentError: RawKernel(code, name): the source comes first"),
    ("x + np.zeros(100)", "MixingError: Unsupported type"),
    ("cp.RawKernel(b'raw', 'raw')", "ArgumentError: RawKernel(code, name): the source is text"),
    ("cp.asarray(['a'])", "ArgumentError: Unsupported dtype <U1"),
    ("fill[1, 32](np.zeros(64)[::2])", "NotContiguous: the array is neither C- nor Fortran-contiguous"),
    ("profile(3, 4, 32, (x,))", "ArgumentError: profile takes a @cuda.jit"),
    ("cp.zeros(10**14)", "OutOfMemory: out of memory on the virtual GPU"),
    ("profile(fill, 4, 32, (x,))", "OutOfBounds: out of bounds"),
)


@pytest.mark.parametrize("cell, error", CASES)
def test_only_the_learners_line_stands_above_the_message(notebook, cell, error):
    status, text = notebook.run(cell)
    assert status == error.split(":")[0]
    road, _, message = text.rpartition(f"\n{status}: ")
    assert f"{status}: {message}".startswith(error)
    assert road.count("-->") == 1 and f"----> 1 {cell}" in road
    assert ".py" not in road


def test_functions_of_the_learner_all_show(notebook):
    status, text = notebook.run("def launch():\n    fill[4, 32](x)\n\nbenchmark(launch)")
    assert status == "OutOfBounds"
    assert [line.split(maxsplit=2)[2] for line in text.splitlines() if "-->" in line] == [
        "benchmark(launch)",
        "fill[4, 32](x)",
    ]


def test_everything_shows_when_asked_for(notebook):
    notebook.run("%xmode Verbose")
    try:
        assert "kernel.py" in notebook.run("fill[4, 32](x)")[1]
    finally:
        notebook.run("%xmode Context")


@pytest.mark.parametrize("mode", ["Plain", "Minimal"])
def test_other_ways_to_show_an_error_are_as_short(notebook, mode):
    notebook.run(f"%xmode {mode}")
    try:
        text = notebook.run("fill[4, 32](x)")[1]
    finally:
        notebook.run("%xmode Context")
    assert "out of bounds: thread (4) of block (3)" in text and "kernel.py" not in text


def test_an_error_while_another_is_handled_shows_both_briefly(notebook):
    status, text = notebook.run("try:\n    fill[4, 32](x)\nexcept IndexError:\n    fill[0, 32](x)")
    assert status == "LaunchError" and "During handling of the above exception" in text
    assert "OutOfBounds: out of bounds" in text and "kernel.py" not in text


def test_long_messages_are_broken_between_words(notebook):
    text = notebook.run("fill[4, 32](np.array([None]))")[1]
    message = text[text.rindex("ArgumentError") :]
    assert max(map(len, message.splitlines())) <= 110 < len(message)
    assert " ".join(message.split()).endswith("pass x.astype(numpy.float32).")


def test_the_traceback_itself_stays_whole(notebook):
    notebook.run("fill[4, 32](x)")
    status, text = notebook.run("import sys, traceback; print(traceback.extract_tb(sys.last_traceback)[-1].name)")
    assert (status, text) == ("ok", "run\n")


def test_a_mistake_of_this_package_shows_whole(notebook):
    cell = "from unittest import mock\nplace = 'vgpu.launch.launch.check_dimensions'\n"
    cell += "with mock.patch(place, lambda *sizes: {}['no']):\n"
    status, text = notebook.run(cell + "    fill[4, 32](x)")
    assert status == "KeyError" and "launch.py" in text
