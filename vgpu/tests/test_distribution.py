"""The engine as a distribution: what it runs without, what its settings are called, and which frames are its own."""

import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest
import setuptools

import vgpu
from vgpu.base import ours, settings

FOLDER = Path(vgpu.__file__).parent
WITHOUT = ("torch", "numba", "cupy", "triton", "matplotlib", "IPython", "jupyterlab", "helpers")

ALONE = """
import sys

sys.modules.update(dict.fromkeys({without!r}))  # importing None fails
import numpy as np
from vgpu import cp, occupancy, profile, sanitize, trace

add = cp.RawKernel('extern "C" __global__ void add(const float* x, float* y, int n) {{\\n'
                   'int i = blockIdx.x * blockDim.x + threadIdx.x;\\nif (i < n) y[i] = x[i] + 1;\\n}}', "add")
x, y = cp.asarray(np.arange(100, dtype=np.float32)), cp.zeros(100, cp.float32)
add((4,), (32,), (x, y, np.int32(100)))
assert y.get().tolist() == list(range(1, 101))
assert profile(add, 4, 32, (x, y, np.int32(100)))["global_load_sectors"] == 13
assert [found.line for found in sanitize(add, 4, 32, (x, y, np.int32(101))).errors] == [3, 3]
trace(add, 4, 32, (x, y, np.int32(100)))
try:
    from vgpu import cuda
except ImportError as error:
    print(error)
"""


def test_cuda_c_needs_no_optional_package():
    ran = subprocess.run([sys.executable, "-c", ALONE.format(without=WITHOUT)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "pip install numba-cuda[cu13]==" in ran.stdout


def test_a_wheel_has_every_folder_and_file():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    packages = {"vgpu": FOLDER} | {
        f"vgpu.{name}": FOLDER / name.replace(".", "/") for name in setuptools.find_packages(str(FOLDER))
    }
    taken = {FOLDER / name for name in ("pyproject.toml", "setup.py")}  # those beside the package
    for name, folder in packages.items():
        for pattern in ("*.py", *patterns["*"], *patterns.get(name, ())):
            taken |= set(folder.glob(pattern))
    for path in FOLDER.rglob("*.*"):
        parts = path.relative_to(FOLDER).parts
        if path.is_file() and not {"tests", "__pycache__", "build", "vgpu.egg-info"} & {*parts}:
            assert path in taken, f"{path} is in no package, or no pattern of package-data has it"


def test_every_name_of_the_front_door_is_there():
    assert all(getattr(vgpu, name) is not None for name in vgpu.__all__)
    with pytest.raises(AttributeError, match=r"vgpu has no 'profil'; it has: .*profile"):
        vgpu.profil  # noqa: B018


def test_settings_are_read_by_their_names_and_by_their_former_ones(monkeypatch):
    monkeypatch.delenv("VGPU_TIMEOUT", raising=False)
    monkeypatch.delenv("WARPBOOK_TIMEOUT", raising=False)
    assert (settings.timeout(), settings.timeout(default=20), settings.timeout(3.5)) == (60, 20, 3.5)
    monkeypatch.setenv("WARPBOOK_TIMEOUT", "7")
    settings._warn.cache_clear()
    with pytest.warns(FutureWarning, match="WARPBOOK_TIMEOUT is now VGPU_TIMEOUT"):
        assert settings.timeout() == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert settings.timeout() == 7  # said once
        monkeypatch.setenv("VGPU_TIMEOUT", "8")
        assert settings.timeout() == 8
    del os.environ["VGPU_TIMEOUT"], os.environ["WARPBOOK_TIMEOUT"]
    assert settings.timeout() == 60
    monkeypatch.setattr(os, "environ", {"VGPU_TIMEOUT": "9"})
    assert settings.timeout() == 9


def test_frames_of_tools_built_on_it_are_its_own(monkeypatch):
    monkeypatch.setattr(ours, "_PACKAGES", {"vgpu"})
    assert ours.ours("vgpu") and ours.ours("vgpu.launch.grid")
    assert not any(map(ours.ours, ("vgpux", "numpy", "__main__", "", "a_tool.module", "vgpu.tests.test_grid")))
    ours.belongs("a_tool")
    assert ours.ours("a_tool.module") and not ours.ours("a_tool.tests.test_it")
