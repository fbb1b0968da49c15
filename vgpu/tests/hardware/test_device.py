"""Naming what runs and choosing what is modelled, with a driver that is there, not there, or broken."""

import subprocess
import sys

import pytest

import vgpu.hardware.device
from vgpu.hardware import driver
from vgpu.hardware.device import current, device, real_gpu, reset
from vgpu.hardware.gpus import GPUS
from vgpu.tests.fake_driver import Driver, show_gpus


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine whose driver the test sets; the choice of GPU is forgotten afterwards."""
    monkeypatch.delenv("VGPU_BACKEND", raising=False)
    monkeypatch.delenv("VGPU_GPU", raising=False)

    def with_driver(library):
        driver.probe.cache_clear()
        show_gpus(monkeypatch)
        monkeypatch.setattr(driver, "torch_has_cuda", lambda: True)
        monkeypatch.setattr(driver, "library", lambda: library)

    with_driver(None)
    reset()
    yield with_driver
    reset()
    driver.probe.cache_clear()


def test_without_a_driver(machine):
    assert not real_gpu()
    assert repr(device()) == "Device(runs on='virtual GPU', models='A100 SXM4 80 GB')"
    assert current() is GPUS["A100"]


@pytest.mark.parametrize("library", [Driver(fails={"cuInit": 100}), Driver(devices=0)], ids=["none", "none visible"])
def test_a_driver_without_a_gpu_is_no_gpu(machine, library):
    machine(library)
    assert not real_gpu() and device().runs_on == "virtual GPU"
    assert "no GPU that it can use" in device()._repr_html_()


def test_a_real_gpu_is_named_and_modelled(machine):
    machine(Driver())
    assert real_gpu()
    assert repr(device()) == "Device(runs on='NVIDIA H200', models='H200 SXM5 141 GB')"
    assert "measured" in device()._repr_html_()


def test_another_gpu_may_be_modelled_on_a_real_one(machine):
    machine(Driver())
    chosen = device("t4")
    assert (chosen.runs_on, chosen.real, chosen.models) == ("NVIDIA H200", True, GPUS["T4"])


def test_the_virtual_backend_can_be_asked_for(machine, monkeypatch):
    machine(Driver())
    monkeypatch.setenv("VGPU_BACKEND", "virtual")
    assert not real_gpu()
    assert device().runs_on == "virtual GPU"
    assert current() is GPUS["A100"]


def test_choosing_stays(machine):
    device("rtx 4090")
    assert current().compute_capability == (8, 9)
    assert "RTX 4090" in device()._repr_html_()
    device(GPUS["L4"])
    assert device().models.name == "L4"


def test_environment_chooses_until_the_user_does(machine, monkeypatch):
    monkeypatch.setenv("VGPU_GPU", "v100")
    assert current().name == "V100"
    device("T4")
    assert current().name == "T4"


def test_an_unknown_gpu_changes_nothing(machine):
    with pytest.raises(KeyError, match="Did you mean"):
        device("RTX 409O")
    assert current().name == "A100"


def test_function_and_module_both_answer():
    assert device.current is current
    assert vgpu.hardware.device.current() is current()


@pytest.mark.parametrize("name", ["device", "occupancy", "roofline", "profile", "compare"])
def test_a_module_imported_first_does_not_hide_its_function(name):
    room = "hardware" if name in ("device", "occupancy") else "tools"
    code = f"import vgpu.{room}.{name}; from vgpu import {name} as f; assert callable(f)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_it_imports_no_compiler():
    heavy = ("cupy", "numba", "cuda", "numpy")
    code = f"import sys, vgpu.hardware.device; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
