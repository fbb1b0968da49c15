"""A GPU that the installed CUDA packages can't use counts as none, and the reason is given once."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import torch

from vgpu.hardware import driver
from vgpu.standins import backend
from vgpu.tests.fake_driver import C, Driver, show_gpus

T4 = Driver(b"Tesla T4", (7, 5), 12040)
GTX = Driver(b"NVIDIA GeForce GTX 1080", (6, 1), 13000)
UNUSABLE = {
    "old driver": (T4, r"driver of this Tesla T4 supports CUDA 12\.4\..* CUDA 13\.0, which needs driver 580"),
    "old GPU": (GTX, r"GTX 1080 has compute capability 6\.1\. CUDA 13,.* needs 7\.5"),
    "old GPU, old driver": (Driver(b"V100", (7, 0), 12040), "V100 has compute capability 7.0"),
    "no GPU": (Driver(fails={"cuInit": 100}), r"cuInit returned error 100 \(no CUDA-capable device is detected\)"),
    "unknown error": (Driver(fails={"cuInit": 999}), r"cuInit returned error 999\."),
    "none visible": (Driver(devices=0), "no GPU is visible to it"),
    "faulty memory": (
        Driver(fails={"cuDevicePrimaryCtxRetain": 214}),
        r"H200 can't be used: cuDevicePrimaryCtxRetain returned error 214 \(uncorrectable ECC error",
    ),
    "no library": (object(), "no attribute 'cuInit'"),
    "a newer GPU beside it": (
        Driver((b"Tesla P100", b"Tesla V100", b"NVIDIA H100"), ((6, 0), (7, 0), (9, 0)), 13010),
        r"P100 has compute capability 6\.0\..* The NVIDIA H100 in this machine is new enough: let CUDA_VISIBLE_DEVICES",
    ),
}


@pytest.fixture
def machine(monkeypatch):
    """A machine whose driver the test sets, and a PyTorch with CUDA."""
    monkeypatch.delenv("VGPU_BACKEND", raising=False)
    monkeypatch.setattr(driver, "torch_has_cuda", lambda: True)

    def with_driver(library):
        for cached in (driver.probe, backend.on_gpu):
            cached.cache_clear()
        show_gpus(monkeypatch)
        monkeypatch.setattr(driver, "library", lambda: library)

    yield with_driver
    driver.probe.cache_clear()
    backend.on_gpu.cache_clear()


@pytest.mark.parametrize("which", UNUSABLE)
def test_a_gpu_that_cannot_be_used_is_reported_once(machine, which, capsys):
    library, reason = UNUSABLE[which]
    machine(library)
    assert not backend.on_gpu() and not backend.on_gpu()
    assert driver.usable() is None
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and backend.INSTEAD in shown
    assert re.search(reason, shown)


USABLE = {"none": None, "newest": Driver(), "Turing": Driver(capability=(7, 5)), "CUDA 13.2": Driver(version=13020)}


@pytest.mark.parametrize("library", USABLE.values(), ids=USABLE)
def test_otherwise_nothing_is_printed_and_the_gpu_is_closed_again(machine, library, capsys):
    machine(library)
    assert backend.on_gpu() is (library is not None)
    assert capsys.readouterr().err == ""
    assert library is None or library.open == 0


def test_the_backend_can_be_chosen(machine, monkeypatch, capsys):
    machine(T4)
    monkeypatch.setenv("VGPU_BACKEND", "virtual")
    assert not backend.on_gpu() and capsys.readouterr().err == ""
    machine(T4)
    monkeypatch.setenv("VGPU_BACKEND", "gpu")
    with pytest.raises(RuntimeError, match=r"no GPU can be used\. The driver of this Tesla T4"):
        backend.on_gpu()
    machine(None)
    with pytest.raises(RuntimeError, match="no NVIDIA driver"):
        backend.on_gpu()
    monkeypatch.setenv("VGPU_BACKEND", "cuda")
    with pytest.raises(ValueError, match="it may be auto, virtual, gpu"):
        driver.usable()


def test_a_gpu_that_kernels_do_not_run_on_is_hidden_from_pytorch(machine, monkeypatch):
    """PyTorch may be able to use it, and chapters hand its tensors to kernels."""
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: 1, raising=False)
    monkeypatch.setattr(torch.cuda, "_device_count_nvml", lambda: len(torch.cuda._parse_visible_devices()))
    monkeypatch.setattr(torch.cuda, "_cached_device_count", None)
    for library, chosen, seen in ((GTX, "auto", False), (Driver(), "virtual", False), (Driver(), "auto", True)):
        machine(library)
        monkeypatch.setenv("VGPU_BACKEND", chosen)
        assert backend.on_gpu() is seen
        assert torch.cuda.is_available() is seen


def test_nothing_is_reported_where_the_environment_hides_every_gpu(machine, monkeypatch, capsys):
    """So it is in the processes that one with an unusable GPU starts: the reason is given once."""
    for value in ("", "-1"):
        machine(T4)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
        assert not backend.on_gpu() and capsys.readouterr().err == ""
    monkeypatch.setenv("VGPU_BACKEND", "gpu")
    machine(None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(RuntimeError, match="CUDA_VISIBLE_DEVICES hides every GPU"):
        backend.on_gpu()


def test_a_pytorch_without_cuda_leaves_the_gpu_to_those_who_insist(machine, monkeypatch):
    machine(Driver())
    monkeypatch.setattr(driver, "torch_has_cuda", lambda: False)
    assert driver.usable() is None
    assert re.search(r"without CUDA.*on this NVIDIA H200\. Install its build for CUDA 13", driver.trouble())
    machine(Driver())
    monkeypatch.setenv("VGPU_BACKEND", "gpu")
    assert backend.on_gpu()


def test_pytorch_is_asked_without_importing_it():
    code = "import sys; from vgpu.hardware import driver; print(driver.torch_has_cuda(), 'torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(torch.version.cuda is not None), "False"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc, to build a driver library")
@pytest.mark.parametrize(
    ("definitions", "reason"),
    [
        ({"NAME": "Tesla T4", "CAPABILITY": 75, "VERSION": 12040, "INIT": 0}, "supports CUDA 12.4"),
        ({"NAME": "GTX 1080", "CAPABILITY": 61, "VERSION": 13000, "INIT": 0}, "compute capability 6.1"),
        ({"NAME": "", "CAPABILITY": 90, "VERSION": 13000, "INIT": 100}, "cuInit returned error 100 (no CUDA-capable"),
        ({"NAME": "H100", "CAPABILITY": 90, "VERSION": 13000, "INIT": 0}, "H100 can't be used"),
    ],
    ids=["old driver", "old GPU", "cuInit fails", "does not open"],
)
def test_a_users_cell_runs_beside_a_driver_library_of_that_kind(tmp_path, definitions, reason):
    source = tmp_path / "driver.c"
    source.write_text(C)
    flags = [f'-D{name}="{value}"' if name == "NAME" else f"-D{name}={value}" for name, value in definitions.items()]
    subprocess.run(["gcc", "-shared", "-fPIC", *flags, source, "-o", tmp_path / "libcuda.so.1"], check=True)
    cell = """
from vgpu import cp, cuda, device
x = cp.arange(4)
cp.RawKernel('extern "C" __global__ void up(long long* x) { x[threadIdx.x] += 1; }', "up")((1,), (4,), (x,))
print(int(x.sum()), device().real)
"""
    hiding = ("VGPU_BACKEND", *driver.HIDING)
    environment = {name: value for name, value in os.environ.items() if name not in hiding}
    environment |= {"LD_LIBRARY_PATH": str(tmp_path), "VGPU_CACHE": "off"}
    ran = subprocess.run([sys.executable, "-c", cell], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["10", "False"]
    assert ran.stderr.count(reason) == 1 and backend.INSTEAD in ran.stderr
