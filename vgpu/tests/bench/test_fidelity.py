"""The table of outside kernels: what becomes of programs, fetched and run from a repository made here; the page."""

from __future__ import annotations

import subprocess

import pytest

from vgpu.bench.fidelity import __main__ as command
from vgpu.bench.fidelity import results
from vgpu.bench.fidelity.manifest import MANIFEST, Program, Source, programs, published
from vgpu.bench.fidelity.outcome import Ran, judged, kernels_of
from vgpu.bench.fidelity.page import page
from vgpu.bench.fidelity.sources import WrongCommit, fetched
from vgpu.programs.cuda_c import build

COMPILER = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")
PROGRAM = """\
#include <cstdio>
#include <cuda_runtime.h>
template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N; }
__global__ void race(int *x) {
    __shared__ int last;
    last = threadIdx.x;
    x[threadIdx.x % 32] = last;
}
int main(int count, char **words) {
    int *x, first = 0;
    cudaMallocManaged(&x, 128);
    fill<1><<<1, 32>>>(x);
    fill<2><<<1, 32>>>(x);
    cudaMemcpy(&first, x, 4, cudaMemcpyDefault);
    END
    return 0;
}
"""
ENDS = {
    "right": 'printf(first == 2 ? "Test passed" : "FAILED");',
    "same": "",
    "racy": "race<<<1, 64>>>(x);",
    "wrong": 'printf(first == 1 ? "Test passed" : "FAILED");',
    "refused": "cudaIpcCloseMemHandle(x);",
    "uncompilable": "return no_such_function();",
    "hangs": "for (volatile int i = 0;; ++i) {}",
}
LISTED = """
[[source]]
repository = "someone/kernels"
commit = "{commit}"
file = "{{}}/main.cu"
passed = "passed"
failed = "FAILED"

[source.programs]
right = "1 2"
same = ""
racy = ""
wrong = ""
refused = ""
uncompilable = ""
hangs = {{ seconds = 4 }}

[[published]]
repository = "someone/kernels"
file = "same/main.cu"
kernel = "fill<2>"
gpu = "A100"
scale = 2
left_out = "what isn't modelled"
changes = {{ launch_overhead = 0.5 }}
address = "https://example.org/a"
note = "twice the grid"

[published.figures]
"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum" = 2
"registers" = 8
"seconds" = 1.0
"no__such.sum" = 1
"""


def _git(folder, *words):
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def origin(tmp_path):
    """A repository of programs that end in different ways, as {owner}+{name}; and its commit."""
    folder = tmp_path / "origins" / "someone+kernels"
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet")
    for name, end in ENDS.items():
        (folder / name).mkdir()
        (folder / name / "main.cu").write_text(PROGRAM.replace("END", end))
    _git(folder, "add", ".")
    _git(folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "programs")
    return str(tmp_path / "origins" / "{owner}+{name}"), _git(folder, "rev-parse", "HEAD")


@COMPILER
def test_programs_are_fetched_run_and_written_down(tmp_path, origin, capsys):
    address, commit = origin
    manifest, kept, written = (tmp_path / name for name in ("manifest.toml", "results.json", "page.md"))
    manifest.write_text(LISTED.format(commit=commit))
    files = ["--manifest", str(manifest), "--results", str(kept), "--page", str(written)]
    assert command.main(["--sources", str(tmp_path / "sources"), "--from", address, *files]) == 0
    listed, figures = programs(manifest), published(manifest)
    found = results.read(kept, listed, figures)
    became = {key.split("/")[2]: outcome for key, outcome in found.programs.items()}
    assert {name: (outcome.result, len(outcome.kernels)) for name, outcome in became.items()} == {
        "right": ("right", 1),
        "same": ("same", 1),
        "racy": ("ran", 2),
        "wrong": ("wrong", 1),
        "refused": ("refused", 0),
        "uncompilable": ("doesn't compile", 0),
        "hangs": ("too long", 1),
    }
    assert became["racy"].reason.startswith("the sanitizer found: race: ")
    assert became["refused"].reason == "calls cudaIpcCloseMemHandle"
    assert became["wrong"].reason == "it says 'FAILED'"
    assert "no_such_function" in became["uncompilable"].reason
    (kernel,) = became["right"].kernels
    assert (kernel.name, kernel.launches, kernel.variants, kernel.block) == ("fill", 2, 2, (32, 1, 1))
    (ours,) = found.published.values()
    assert ours == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 2,
        "registers": kernel.registers,
        "seconds": pytest.approx(1.0, rel=1e-4),  # twice the launch's, beside which the kernel's are nothing
        "no__such.sum": None,
    }
    text = written.read_text()
    assert "5 kernels of 7 programs ran." in text
    assert f"[right/main.cu 1 2](https://github.com/someone/kernels/blob/{commit}/right/main.cu) | right" in text
    assert "1 of 2 are equal." in text
    assert "Off by a factor of 1 in 1 row whose time depends on what the model leaves out: what isn't modelled" in text
    # What has a result isn't run again, and without sources only the page is written.
    capsys.readouterr()
    assert command.main(["--sources", str(tmp_path / "sources"), "--missing", *files]) == 0
    written.unlink()
    assert command.main(files) == 0
    assert capsys.readouterr().out == "" and written.read_text() == text


def test_another_commit_is_refused(tmp_path, origin):
    address, commit = origin
    fetched(Source("someone/kernels", commit), tmp_path / "sources", address)
    with pytest.raises(WrongCommit, match=f"is at {commit}, and the manifest says 0000: check it out"):
        fetched(Source("someone/kernels", "0000"), tmp_path / "sources", address)


PROGRAM_OF = Program(Source("a/b", "c"), "main.cu", passed="PASS", failed="FAIL|mismatch at")
KERNEL = {"kernel": "k"}


@pytest.mark.parametrize(
    ("program", "ran", "expected"),
    [
        (PROGRAM_OF, Ran(0, "PASS\n", "", 1, [KERNEL]), ("right", "")),
        (PROGRAM_OF, Ran(0, "PASS\nmismatch at 3\n", "", 1, [KERNEL]), ("wrong", "it says 'mismatch at 3'")),
        (PROGRAM_OF, Ran(0, "\n", "", 1, [KERNEL]), ("ran", "")),
        (PROGRAM_OF, Ran(0, "\n", "", 1, []), ("refused", "it launches no kernel here")),
        (PROGRAM_OF, Ran(None, "PASS", "", 1, []), ("too long", "more than 60 s of CPU time")),
        (PROGRAM_OF, Ran(2, "usage\n", "", 1, [KERNEL]), ("wrong", "exit status 2: usage")),
        (PROGRAM_OF, Ran(2, "waived\n", "", 1, []), ("refused", "exit status 2: waived")),
        (
            PROGRAM_OF,
            Ran(1, "", "Traceback (most recent call last):\n  ...\nTypeError: 0 iterations\n", 1, []),
            ("failed", "exit status 1: TypeError: 0 iterations"),
        ),
        (PROGRAM_OF, Ran(-11, "", "", 1, []), ("wrong", "ended by SIGSEGV")),
        (
            PROGRAM_OF,
            Ran(0, "PASS", "OutOfBounds: k: thread 3\n", 1, [KERNEL]),
            ("wrong", "OutOfBounds: k: thread 3"),
        ),
        (PROGRAM_OF, Ran(0, "PASS", "Unsupported: no graphs\n", 1, [KERNEL]), ("refused", "no graphs")),
        (
            Program(Source("a/b", "c"), "test_it.py", exit_is_check=True),
            Ran(0, "3 passed", "", 1, [KERNEL]),
            ("right", ""),
        ),
    ],
)
def test_what_became_of_a_program(program, ran, expected):
    assert judged(program, ran) == expected


def test_instances_of_a_template_are_one_kernel():
    row = {"grid": [1, 1, 1], "block": [32, 1, 1], "registers": 8, "modelled_seconds": 1.0, "launches": 3}
    rows = [
        {"kernel": "scale<float>", **row},
        {"kernel": "scale<double>", **row, "registers": 10, "modelled_seconds": 2.0, "launches": 1},
        {"kernel": "scale<double>", **row, "grid": [2, 1, 1]},
        {"kernel": "add", **row},
    ]
    found = kernels_of(rows)
    assert [(each.name, each.launches, each.variants, each.registers, each.modelled) for each in found] == [
        ("scale", 7, 2, 10, 8.0),
        ("add", 3, 1, 8, 3.0),
    ]


def test_the_page_is_made_of_the_results():
    listed, figures = programs(), published()
    found = results.read(results.RESULTS, listed, figures)
    assert set(found.programs) == {program.key for program in listed}, "run python -m vgpu.bench.fidelity --missing"
    assert command.PAGE.read_text(encoding="utf-8") == page(found, listed, figures)


def test_no_program_is_listed_twice():
    keys = [program.key for program in programs(MANIFEST)]
    assert len(keys) == len(set(keys))
