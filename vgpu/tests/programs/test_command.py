"""`python -m vgpu`: unchanged programs run, are observed, and fail as programs do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from vgpu.base.errors import Unsupported
from vgpu.programs import command

NUMBA = """\
import sys
import numpy as np
import numba.cuda
from numba import cuda
from numba.cuda import grid, jit
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]

@jit
def double(x, out):
    i = grid(1)
    if i < x.size:
        out[i] = 2 * x[i]

@cuda.jit
def draw(states, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = xoroshiro128p_uniform_float32(states, i)

total = cuda.reduce(lambda a, b: a + b)

x = np.arange(100, dtype=np.float32)
on_device = cuda.to_device(x)
out = cuda.device_array_like(on_device)
for _ in range(3):
    add[4, 32](on_device, on_device, out)
assert (out.copy_to_host() == 2 * x).all()
twice, drawn = np.zeros_like(x), np.zeros_like(x)
double[4, 32](x, twice)
assert (twice == 2 * x).all()
draw[4, 32](create_xoroshiro128p_states(128, seed=1), drawn)
assert 0.3 < drawn.mean() < 0.7
assert total(x) == x.sum()
assert numba.cuda.jit is cuda.jit and cuda.is_available()
print("arguments", sys.argv[1:], __name__)
raise SystemExit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""
CUPY = """\
import cupy as cp
import cupy.cuda.runtime as runtime
import cupyx
from cupy.cuda import Stream
from cupyx.profiler import time_range

source = 'extern "C" __global__ void twice(const float* x, float* y, int n) {\\n'
source += "    int i = blockIdx.x * blockDim.x + threadIdx.x;\\n    if (i < n) y[i] = 2 * x[i];\\n}\\n"
twice = cp.RawKernel(source, "twice")
x = cp.arange(100, dtype=cp.float32)
y = cp.zeros_like(x)
with Stream(non_blocking=True), time_range("a launch"):
    twice((4,), (32,), (x, y, cp.int32(100)))
assert (y == 2 * x).all() and runtime.getDeviceCount() == 1
for statement in ("from cupyx import jit", "from cupyx.profiler import benchmark", "from cupy.linalg import trick"):
    try:
        exec(statement)
    except ImportError as error:
        print(error)
"""
TRITON = """\
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)

assert torch.cuda.is_available()
x = torch.rand(1000, device="cuda")
y, out = torch.rand(1000).cuda(), torch.empty_like(x)
assert x.is_cuda
add[(triton.cdiv(1000, 256),)](x, y, out, 1000, BLOCK=256)
torch.cuda.synchronize()
assert torch.equal(out, x + y)
network = torch.nn.Linear(3, 3).to("cuda").to(torch.float64).to(0)
assert network(torch.ones(3, dtype=torch.float64, device=torch.device("cuda", 0))).shape == (3,)
assert torch.zeros(2).to("cuda:0", torch.float16).dtype == torch.float16

@triton.jit
def by_address(table, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    out = tl.load(table + 1).to(tl.pointer_type(tl.bfloat16))
    tl.store(out + i, tl.load(x + i).to(tl.bfloat16))

rows = torch.zeros(2, 32, dtype=torch.bfloat16, device="cuda")
table = torch.tensor([x.data_ptr(), rows[1].data_ptr()], device="cuda")
by_address[(1,)](table, BLOCK=32)
assert torch.equal(rows[1], x[:32].bfloat16()) and not rows[0].any()
by_address[(1,)](table, BLOCK=32)
module = getattr(torch, triton.runtime.driver.active.get_active_torch_device().type)
module.set_stream(module.Stream())
print(torch.cuda.get_device_name(), torch.cuda.get_device_properties(0).multi_processor_count)
"""
TORCH = """\
import cupy as cp
import numba.cuda
import torch

SOURCE = 'extern "C" __global__ void clip(const float* x, float* y, float most, int n) {\\n'
SOURCE += "    int i = blockIdx.x * blockDim.x + threadIdx.x;\\n    if (i < n) y[i] = fminf(x[i], most);\\n}\\n"
kernel = cp.RawKernel(SOURCE, "clip")

@torch.library.custom_op("mine::clip", mutates_args=())
def clip(x: torch.Tensor, most: float) -> torch.Tensor:
    y = torch.empty_like(x)
    views = cp.asarray(x.detach()), cp.asarray(y)
    kernel((-(-x.numel() // 128),), (128,), (*views, cp.float32(most), cp.int32(x.numel())))
    return y

@numba.cuda.jit
def double(x):
    i = numba.cuda.grid(1)
    if i < x.size:
        x[i] *= 2

def keep(ctx, inputs, output):
    ctx.inside = inputs[0] < inputs[1]

def backward(ctx, gradient):
    return gradient * ctx.inside, None

clip.register_autograd(backward, setup_context=keep)
x = torch.randn(1000, device="cuda", requires_grad=True)
clip(x, 0.5).sum().backward()
assert torch.equal(x.grad, (x < 0.5).float())
assert torch.equal(clip(x.detach(), 0.5), x.detach().clamp(max=0.5))
y = torch.arange(100.0).cuda()
double[1, 128](y)
assert y[3] == 6
print("as PyTorch")
"""
WRONG = """\
import numpy as np
from numba import cuda

@cuda.jit
def reverse(x):
    shared = cuda.shared.array(64, dtype=np.float32)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    x[i] = shared[63 - i]

@cuda.jit
def beyond(x):
    x[cuda.grid(1)] = 1

x = cuda.to_device(np.arange(64, dtype=np.float32))
for _ in range(3):
    reverse[1, 64](x)
beyond[2, 64](x)
print("ended")
"""
UNORDERED = """\
import cupy as cp
import numpy as np

x = cp.zeros(1 << 16, dtype=cp.float32)
fill = cp.ElementwiseKernel("float32 v", "float32 x", "x = v", "fill")
with cp.cuda.Stream(non_blocking=True):
    fill(cp.float32(1), x)
with cp.cuda.Stream(non_blocking=True):
    fill(cp.float32(2), x)
"""


@pytest.fixture
def vgpu(tmp_path):
    """Runs `python -m vgpu` in a folder of its own: (exit status, stdout, stderr)."""

    def run(verb, program, *arguments, options=(), environment=None):
        file = tmp_path / "program.py"
        file.write_text(program)
        command = [sys.executable, "-W", "ignore", "-m", "vgpu", verb, *options, "program.py", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | (environment or {}), capture_output=True, text=True, timeout=300
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_numba_unchanged_with_its_arguments_and_exit_status(vgpu):
    status, shown, errors = vgpu("run", NUMBA, "3", "--json")
    assert (status, shown) == (3, "arguments ['3', '--json'] __main__\n"), errors


def test_cupy_unchanged(vgpu):
    status, shown, errors = vgpu("run", CUPY)
    assert (status, errors) == (0, "")
    jit, benchmark, other = shown.splitlines()
    assert jit == "cupyx.jit is not on the virtual GPU. Use numba's cuda.jit (from vgpu import cuda), or cp.RawKernel."
    assert benchmark.startswith("cupyx.profiler.benchmark is not on the virtual GPU. Use vgpu.profile(")
    assert other.startswith("cupy.linalg.trick is not on the virtual GPU. If CuPy has it,")


def test_triton_unchanged_with_tensors_on_cuda(vgpu):
    pytest.importorskip("triton", reason="Triton is published for Linux only")
    status, shown, errors = vgpu("run", TRITON, options=("--gpu", "H100"))
    assert (status, shown) == (0, "H100 132\n"), errors


def test_an_operator_of_pytorch_with_a_kernel_in_cuda_c(vgpu):
    status, shown, errors = vgpu("run", TORCH)
    assert (status, shown) == (0, "as PyTorch\n"), errors


def test_a_profile_has_each_kernel_once_by_grid_and_block(vgpu, tmp_path):
    status, shown, _ = vgpu("profile", NUMBA, options=("--json", "out.json", "--html", "out.html"))
    found = json.loads((tmp_path / "out.json").read_text())
    assert status == 0 and "Profile of add: 4 blocks of 32 threads" in shown
    (add,) = [each for each in found if each["kernel"] == "add"]
    assert (add["grid"], add["block"], add["launches"]) == ([4, 1, 1], [32, 1, 1], 3)
    assert add["metrics"]["sectors_per_request"] == 3.25  # the last of four warps has four elements, in one sector
    assert {line["source"].strip() for line in add["lines"]} >= {"out[i] = x[i] + y[i]"}
    assert (tmp_path / "out.html").read_text().count("Profile of") == len(found)


def test_the_sanitizer_lists_a_mistake_once_and_the_status_is_1(vgpu, tmp_path):
    status, shown, errors = vgpu("sanitize", WRONG, options=("--json", "out.json"))
    assert status == 1 and shown.startswith("ended\n") and errors == ""
    found = {each["kernel"]: each for each in json.loads((tmp_path / "out.json").read_text())}
    (race,) = [each for each in found["reverse"]["findings"] if each["kind"].startswith("race")]
    assert (race["line"], race["other_line"], race["in_launches"]) == (8, 9, 3)
    (beyond,) = found["beyond"]["findings"]
    assert (beyond["kind"], beyond["line"], beyond["count"]) == ("out_of_bounds", 13, 64)
    assert "in 3 launches" in shown and "errors in 2 kernels" in shown


@pytest.mark.parametrize(("end", "status"), [("raise SystemExit(3)", 3), ("assert False, 'wrong'", 1)])
def test_a_program_that_fails_has_its_report(vgpu, end, status):
    found, shown, errors = vgpu("profile", f"{NUMBA.rpartition('raise')[0]}{end}\n")
    assert found == status and "Profile of add: 4 blocks of 32 threads" in shown
    assert ("AssertionError: wrong" in errors) == (status == 1)


def test_threads_of_the_program_are_watched_too(vgpu):
    in_a_thread = "thread = threading.Thread(target=beyond[2, 64], args=(x,))\nthread.start()\nthread.join()"
    program = "import threading\n" + WRONG.replace("beyond[2, 64](x)", in_a_thread)
    status, shown, errors = vgpu("sanitize", program)
    assert status == 1 and "beyond: 1 finding in 1 launch" in shown, errors


def test_random_schedules_show_that_a_result_depends_on_them(vgpu):
    status, shown, _ = vgpu("sanitize", WRONG, options=("--schedules", "3"))
    assert status == 1 and "`x` differs between seed 0 and seed" in shown


def test_a_program_without_mistakes_has_none(vgpu):
    status, shown, errors = vgpu("sanitize", CUPY)
    assert (status, errors) == (0, "")
    assert shown.endswith("twice: nothing found in 1 launch\n\n0 errors in 1 kernel\n")


def test_a_fault_ends_a_plain_run_with_a_short_traceback(vgpu):
    status, shown, errors = vgpu("run", WRONG)
    assert (status, shown) == (1, "")
    assert "OutOfBounds" in errors and 'program.py", line 18' in errors
    assert errors.count("File ") == 1


def test_a_trace_has_the_events_and_names_what_nothing_orders(vgpu, tmp_path):
    status, shown, _ = vgpu("trace", UNORDERED, options=("--json", "out.json"))
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert status == 1 and "fill" in shown
    assert {event["ph"] for event in events} == {"X"} and all(event["dur"] > 0 for event in events)


def test_machine_code_and_occupancy(vgpu):
    status, shown, _ = vgpu("sass", CUPY, options=("--gpu", "A100"))
    assert status == 0 and "Machine code of twice for A100 (sm_80)" in shown and "STG" in shown
    status, shown, _ = vgpu("occupancy", CUPY, options=("--gpu", "A100"))
    assert status == 0 and "twice  32" in " ".join(shown.split()).replace("twice 32", "twice  32")


def test_a_module(tmp_path):
    (tmp_path / "program.py").write_text(NUMBA)
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "run", "-m", "program", "5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (5, "arguments ['5'] __main__\n"), done.stderr


def test_a_file_that_is_not_there(capsys):
    from vgpu.programs.command import main

    assert main(["run", "nowhere.py"]) == 2
    assert capsys.readouterr().err == "There is no file nowhere.py.\n"


@pytest.mark.parametrize(("value", "reported"), [("1", False), ("profile", True), ("0", None)])
def test_the_variable_vgpu(tmp_path, monkeypatch, value, reported):
    from vgpu.programs import pth

    monkeypatch.setattr(pth, "path", lambda: tmp_path / "vgpu-startup.pth")
    pth.install()
    (tmp_path / "program.py").write_text("import cupy\nprint(cupy.__name__)\n" if value == "0" else CUPY)
    source = f"import runpy, site; site.addsitedir({str(tmp_path)!r}); runpy.run_path('program.py')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source], cwd=tmp_path, env=os.environ | {"VGPU": value},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if reported is None:  # CuPy itself, which isn't installed everywhere
        assert "vgpu.standins" not in done.stdout
    else:
        assert done.returncode == 0 and ("Profile of twice" in done.stderr) == reported, done.stderr
    pth.remove()
    assert not pth.path().exists()


def test_an_unknown_value_of_the_variable_ends_the_program(tmp_path):
    source = "from vgpu.programs.startup import begin; begin(); print('went on')"
    done = subprocess.run(
        [sys.executable, "-c", source], env=os.environ | {"VGPU": "fast"}, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("VGPU is 'fast'; it may be 1, run, profile")


def test_a_report_that_cannot_be_made_says_why(capsys):
    def finish():
        raise Unsupported("nvdisasm is not installed here")

    assert command._report(finish, command.parse(["sass", "program.py"]))
    assert capsys.readouterr() == ("", "vgpu sass: nvdisasm is not installed here\n")
