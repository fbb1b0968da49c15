"""`report`: all that the tools say about a launch, and a short message where a user's edit goes wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from helpers import cp, gpus, profile, report, sass, triton
from helpers.workbook.run import unnamed_pictures
from tests.notebook_kernel import ROOT, NotebookKernel

PAGE = json.loads((ROOT / "notebooks" / "your_own_kernel.ipynb").read_text(encoding="utf-8"))
CELLS = {cell["id"]: "".join(cell["source"]) for cell in PAGE["cells"]}
LONGEST_MESSAGE = 1000
FRAMES = re.compile(r"/(helpers|vgpu)/\w+")


@pytest.fixture(scope="module")
def notebook():
    with NotebookKernel() as started:
        assert started.run(CELLS["own-imports"])[0] == "ok"
        yield started


# Section, what is edited and with what; what the launch shows; what the report says.
EDITS = (
    ("cuda", "row * n + column];", "row * n + column;", 'kernel.cu, line 6: expected a "]"', 'expected a "]"'),
    ("cuda", "(x, y, np.int32(n))", "(x, y)", "takes 3 arguments, and 2 were given", "takes 3 arguments"),
    ("cuda", "np.int32(n)", "float(n)", "argument 3 of transpose, `int n`: a Python float", "Pass np.int32(1000)."),
    ("cuda", "row < n", "row <= n", "at element 1000000", "Sanitizer: out of bounds; race: two writes"),
    ("cuda", "y[column * n + row] = x[row * n + column]", "y[row * n + column] = x[column * n + row]", "True",
     "31.25 sectors per global load, 3.91 sectors per global store"),
    ("cuda", "(32, 32), (32, 32)", "(125, 32), (8, 32)", "True", "8 sectors per global store"),
    ("cuda", "(32, 32), (32, 32)", "(32, 32), (64, 32)", "at most 1024 threads", "2048 threads is too large"),
    ("numba", "partial[t + step]", "partial[t + step]", "False", "thread (32) of block (0) writes `partial[32]`"),
    ("numba", "    step //= 2", "    cuda.syncthreads()\n        step //= 2", "True", "Sanitizer: nothing found"),
    ("numba", "    step //= 2", "        cuda.syncthreads()\n        step //= 2", "True", "threads that have ended"),
    ("numba", "64, 256", "65, 256", "thread (0) of block (64) read 4 bytes at `x[16384]`", "Sanitizer: out of bounds"),
    ("numba", "@cuda.jit\n", "", "'function' object is not subscriptable", "is a plain Python function"),
    ("triton", "781", "784", "True", "14 sectors per global load"),
    ("triton", "BLOCK=1024", "BLOCK=512", "False", "Sanitizer: nothing found"),
    ("triton", ', mask=inside, other=-float("inf")', "", "program (4095)", "Sanitizer: out of bounds"),
    ("triton", "BLOCK=1024", "BLOCK=1000", "is no power of two", "The kernel doesn't compile."),
    ("triton", "H100", "H1000", "True", "Did you mean H100"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("section", "old", "new", "shows", "says"), EDITS, ids=[f"{e[0]}: {e[2]}" for e in EDITS])
def test_an_edit_is_answered_in_a_few_words(notebook, section, old, new, shows, says):
    launch, call = (CELLS[f"own-{section}-{each}"] for each in ("kernel", "report"))
    assert old in launch + call
    _, shown = notebook.run(launch.replace(old, new))
    assert shows in shown and not FRAMES.search(shown)
    reported, text = notebook.run(call.replace(old, new))
    assert reported == "ok" and says in text
    assert (len(text) < LONGEST_MESSAGE) == text.startswith(
        ("The kernel doesn't compile.", "The launch isn't possible.")
    )


SCALE = r"""
extern "C" __global__ void scale(const float* x, float* y, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = by * x[i];
}
"""


@pytest.fixture
def launch():
    """A kernel with its grid, block and arguments."""
    kernel = cp.RawKernel(SCALE, "scale", options=("-maxrregcount=24",))
    x = cp.arange(256, dtype="float32")
    x[-1] = np.nan
    return kernel, 2, 128, (x, cp.zeros(256, "float32"), np.float32(2))


def test_a_report_agrees_with_each_tool(launch):
    seen, counted = report(*launch, device="T4"), profile(*launch, device="T4")
    assert seen.profile.metrics() == counted.metrics() and repr(seen.profile) == repr(counted)
    assert seen.profile.kernel.max_registers == 24 and not seen.findings
    held, code = counted.occupancy, sass(*launch, device="T4")
    html = seen._repr_html_()
    assert f"Occupancy on T4 (compiler): {held.fraction:.1%}, limited by {held.limiter}" in html
    assert f"Machine code (SASS, sm_75): {len(code.instructions)} instructions" in html
    for gpu in gpus.GPUS.values():
        assert f">{gpu.name}</td>" in html
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" in html and "Roofline (modelled)" in html


def test_it_launches_once_and_shows_what_the_arrays_hold(launch):
    kernel, grid, block, (x, y, by) = launch
    seen = report(kernel, grid, block, (y, y, by))
    assert not y.get().any() and [row[0] for row in seen.arrays] == ["x", "y"]
    y += 1
    seen = report(kernel, grid, block, (y, y, by))
    assert (y.get() == 2).all() and seen.arrays[1] == ("y", "float32", (256,), "2 2 2 2 2 2 …")
    assert report(kernel, grid, block, (x, y, by)).arrays[1][3] == "0 2 4 6 8 10 … (1 of 256 are NaN)"


def test_types_that_numpy_lacks_are_shown_as_numbers():
    tl = triton.language

    @triton.jit
    def double(x, out, SIZE: tl.constexpr):
        at = tl.arange(0, SIZE)
        tl.store(out + at, 2 * tl.load(x + at))

    x = torch.arange(8, dtype=torch.bfloat16)
    seen = report(double, (1,), None, (x, torch.zeros_like(x)), SIZE=8)
    assert seen.arrays[1] == ("out", "bfloat16", (8,), "0 2 4 6 8 10 …")


def test_its_pictures_have_names_and_mistakes_lie_open(launch):
    kernel, _, block, args = launch
    html = report(kernel, 3, block, args)._repr_html_()
    assert not unnamed_pictures(html)
    opened = re.findall(r"<details [^>]*open><summary[^>]*>([^<:(]+)", html)
    assert opened == ["Sanitizer", "Profile "]
    assert re.findall(r"<details [^>]*open><summary[^>]*>([^<:(]+)", report(*launch)._repr_html_()) == ["Profile "]


def test_a_kernel_without_memory_and_one_that_does_not_end():
    empty = cp.RawKernel('extern "C" __global__ void empty() {}', "empty")
    assert "the kernel moves no bytes" in report(empty, 1, 32, ())._repr_html_()
    loop = r'extern "C" __global__ void loop(int* x) { while (atomicAdd(x, 0) == 0); }'
    seen = report(cp.RawKernel(loop, "loop"), 1, 32, (cp.zeros(1, "int32"),), timeout=1)
    assert "Sanitizer: the kernel does not end; the launch did not run to its end" in repr(seen)


def test_a_report_is_saved_as_a_page(launch, tmp_path):
    kernel, grid, block, args = launch
    page = report(*launch).save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "<title>Report of scale" in page and "<details" in page
    page = report(kernel, grid, block, args[:2]).save(tmp_path / "refused.html").read_text(encoding="utf-8")
    assert "takes 3 arguments, and 2 were given" in page and "<details" not in page
