"""What makes a machine fit for the workbook: a table of checks, each with what was found and its remedy.

Every check tries the thing itself: a compiler compiles, the virtual GPU computes. What other modules of the
project raise is for `doctor` to report.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from helpers.workbook import packages, real_gpu

PYTHONS = (3, 11), (3, 14)
STATES = ("ok", "warn", "problem")


@dataclass(frozen=True)
class Finding:
    """What one check says: `state` is "ok", "warn" or "problem"; a remedy comes with the last two."""

    name: str
    state: str
    found: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(f"state is one of {', '.join(STATES)}, not {self.state!r}")
        if self.state != "ok" and not self.remedy:
            raise ValueError(f"{self.name}: a finding that is not ok says what to do about it")


@dataclass(frozen=True)
class Check:
    """One row: the name shown, what looks, and the remedy when looking itself fails.

    Where `packages` are named, the remedy is to reinstall them.
    """

    name: str
    look: Callable[[str], Finding | Iterable[Finding]]
    remedy: str = ""
    packages: tuple[str, ...] = ()


def reinstall(*names: str) -> str:
    """The remedy for what these packages bring: to repair what is damaged, or to reinstall them if nothing is."""
    if any(fault.serious for fault in package_faults()):
        return f"Packages are damaged or missing: {packages.called('repair')}"
    with contextlib.suppress(OSError):
        pins, _ = packages.read()
        names = tuple(f"{name}=={pins[name]}" for name in names if name in pins)
    return packages.pip_line(["install", "--force-reinstall", "--no-deps", *names])


@cache
def package_faults() -> tuple[packages.Fault, ...]:
    """What is wrong with the installed packages; nothing where the pins aren't at hand."""
    try:
        return tuple(packages.all_faults())
    except OSError:
        return ()


# -- Python and packages --------------------------------------------------------------------------------


def python_version(name: str, version: tuple[int, ...] | None = None) -> Finding:
    version = tuple(sys.version_info[:3]) if version is None else version
    found = f"Python {'.'.join(map(str, version))} on {platform.system()} {platform.machine()}"
    oldest, newest = PYTHONS
    if not oldest <= version[:2] <= newest:
        return Finding(name, "problem", found, "Install Python 3.11 to 3.14 and make the environment with it.")
    return Finding(name, "ok", found)


def pinned_packages(name: str) -> list[Finding]:
    """Every package that is missing, damaged, or not at its pin; the last is a warning where others depend on it."""
    if not packages.PINS.is_file():
        found = "constraints.txt is not beside the installed helpers: versions not compared"
        return [Finding(name, "warn", found, "Install from the folder of the workbook, as its README says.")]
    return [
        Finding(fault.name, "problem" if fault.serious else "warn", fault.found, packages.pip_line(fault.pip))
        for fault in package_faults()
    ] or [Finding(name, "ok", "every package is complete and at the version of constraints.txt")]


IMPORTED = (
    *("numpy", "scipy", "PIL", "matplotlib.pyplot", "sklearn", "ipywidgets", "anywidget"),
    *("numba.cuda", "cupy", "torch"),
)
ON_LINUX = ("triton",)
"""What chapters and labs import, themselves or through helpers; `helpers` gives them the real cupy on a GPU."""


def imports(name: str) -> list[Finding]:
    known = IMPORTED + ON_LINUX * sys.platform.startswith("linux")
    modules = [module for module in known if module not in packages.left_out()]
    failing = packages.failing_imports(modules)
    return [
        Finding(name, "problem", f"import {module}: {said}", reinstall(*_distributions(module)))
        for module, said in failing.items()
    ] or [Finding(name, "ok", f"{', '.join(modules)} can be imported")]


def _distributions(module: str) -> tuple[str, ...]:
    """The installed packages that bring a module; what is damaged may not say."""
    top = module.split(".")[0]
    named = {"sklearn": "scikit-learn", "PIL": "pillow", "cupy": "cupy-cuda13x"}
    found = importlib.metadata.packages_distributions().get(top, ())
    return tuple(sorted({packages.canonical(each) for each in found})) or (named.get(top, top),)


# -- compilers ------------------------------------------------------------------------------------------

ONE_LINER = 'extern "C" __global__ void doctor(float* x) { x[threadIdx.x] = 2.0f * threadIdx.x; }'
THREADS = 64
PTX = """
.version 7.8
.target sm_75
.address_size 64
.visible .entry doctor(.param .u64 x)
{
    .reg .b32 %r<2>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f1, %f1, %f1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""
"""The same kernel in PTX, so that the virtual GPU can be tried without a compiler."""


@contextlib.contextmanager
def compiled_anew() -> Iterator[None]:
    """What is kept on disk would hide that a compiler is gone."""
    before = os.environ.get("VGPU_CACHE")
    os.environ["VGPU_CACHE"] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["VGPU_CACHE"]
        else:
            os.environ["VGPU_CACHE"] = before


@compiled_anew()
def cuda_c_compiler(name: str) -> Finding:
    from vgpu import compile

    ptx = compile.cuda_c_to_ptx(ONE_LINER, name="doctor.cu").ptx
    version = re.search(r"^\.version\s+(\S+)", ptx, re.MULTILINE)
    return Finding(name, "ok", f"NVRTC compiles, PTX {version[1] if version else 'of unknown version'}")


@compiled_anew()
def python_compiler(name: str) -> Finding:
    from vgpu.compile.python import numba_to_ptx

    def doctor(x: Any) -> None:
        x[0] = 2.0

    compiled = numba_to_ptx(doctor, "void(float32[::1])")
    return (
        Finding(name, "ok", f"numba-cuda {importlib.metadata.version('numba-cuda')} compiles {doctor.__name__}()")
        if compiled.entry_name in compiled.ptx
        else Finding(name, "problem", "no kernel in its PTX", reinstall("numba", "numba-cuda"))
    )


def triton_compiler(name: str, platform: str = sys.platform) -> Finding:
    from vgpu.base.errors import Unsupported
    from vgpu.standins import triton

    try:
        version = triton.installed().__version__
    except Unsupported as error:
        if platform.startswith("linux"):
            return Finding(name, "problem", str(error).split(". ")[0], reinstall("triton"))
        remedy = "Only the chapters about Triton need it: read them on Linux, in WSL, in a container or in the cloud."
        return Finding(name, "warn", "Triton is published for Linux only", remedy)
    from vgpu.standins.triton.driver import VirtualDriver

    target = VirtualDriver().get_current_target()
    return Finding(name, "ok", f"Triton {version}, compiling for {target.backend} {target.arch}")


@compiled_anew()
def registers(name: str) -> Finding:
    from vgpu import compile

    ptx = compile.cuda_c_to_ptx(ONE_LINER, name="doctor.cu").ptx
    counts = {arch: compile.resources(ptx, "ptx", arch=arch).registers for arch in ("sm_80", "sm_90")}
    found = ", ".join(f"{count} on {arch}" for arch, count in counts.items())
    return Finding(name, "ok", f"the assembler counts registers: {found}")


# -- what runs ------------------------------------------------------------------------------------------


def virtual_gpu(name: str) -> Finding:
    import numpy as np

    from vgpu.launch import launch
    from vgpu.storage import memory

    (kernel,) = launch.load(PTX, language="cuda", source=ONE_LINER).values()
    values = memory.array((THREADS,), np.float32, label="x")
    allocation = memory.owner(values)
    assert allocation is not None
    launch.launch(kernel, 1, THREADS, [struct.pack("<Q", allocation.address)])
    if not np.array_equal(values, 2.0 * np.arange(THREADS, dtype=np.float32)):
        remedy = "Please report it, with the output of `warpbook doctor --json`."
        return Finding(name, "problem", f"a kernel ran and gave wrong values: {values[:4]} …", remedy)
    return Finding(name, "ok", f"a kernel of {THREADS} threads ran and gave the right values")


VECTOR_UNITS = {"avx512f": "AVX-512", "avx2": "AVX2", "sve": "SVE", "neon": "NEON"}


def vector_unit(name: str, cpu: str | None = None) -> Finding:
    """`cpu` is what `jit.cpu()` says: a name and, in brackets, the widest vector instructions."""
    if cpu is None:
        from vgpu.runtime import jit

        cpu = jit.cpu()
    for feature, title in VECTOR_UNITS.items():
        if f"({feature})" in cpu:
            return Finding(name, "ok", f"{title} on {cpu.split(' (')[0]}, {os.cpu_count()} CPU threads")
    remedy = "Nothing is broken, but kernels run several times slower than on a CPU of the last ten years."
    return Finding(name, "warn", f"no wide vectors on {cpu}", remedy)


PROBE_BYTES = 1 << 20


def disk_cache(name: str) -> Finding:
    """Where compiled code is kept from one process to the next; that it is not kept costs seconds and nothing else."""
    from vgpu.base import on_disk

    try:
        place, (entries, nbytes) = on_disk.folder(), on_disk.size()
    except on_disk.Refused as error:
        problem, remedy = str(error).rsplit(". ", 1)
        return Finding(name, "warn", f"compiled code is not kept: {problem}", remedy)
    if place is None:
        return Finding(name, "ok", "compiled code is not kept (VGPU_CACHE=off)")
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())  # some file systems report a full disk only now
    except OSError as error:
        remedy = "Make room on that disk, or set VGPU_CACHE to another folder."
        return Finding(name, "warn", f"nothing more can be kept in {place}: {error.strerror or error}", remedy)
    return Finding(name, "ok", f"{entries} entries, {nbytes / 1e6:.1f} MB of compiled code in {place}")


def what_runs(name: str) -> Finding:
    from vgpu.hardware.device import device
    from vgpu.hardware.driver import hidden, wanted

    here = device()
    if here.real:
        real_gpu.launch_both()
        return Finding(name, "ok", f"kernels run on a real GPU, where CuPy and Numba each launched one: {here!r}")
    if here.trouble:
        remedy = "Nothing is broken. For measured times see the table of drivers in README.md; to hide this message, "
        return Finding(name, "warn", f"{here.trouble} Kernels run on the virtual GPU.", remedy + HIDE)
    none = "every GPU is hidden by CUDA_VISIBLE_DEVICES" if hidden() else "no NVIDIA GPU found, and none is needed"
    why = "chosen by VGPU_BACKEND" if wanted() == "virtual" else none
    return Finding(name, "ok", f"kernels run on the virtual GPU ({why}): {here!r}")


HIDE = "set VGPU_BACKEND=virtual."


# -- JupyterLab -----------------------------------------------------------------------------------------


# The extension's folder, the package that brings it, what is not shown without it.
LAB_EXTENSIONS = (
    ("@jupyter-widgets/jupyterlab-manager", "jupyterlab-widgets", "widgets"),
    ("anywidget", "anywidget", "pictures whose marks are dragged"),
)


def extension_folders() -> list[Path]:
    from jupyter_core.paths import jupyter_path

    return [Path(folder) for folder in jupyter_path("labextensions")]


def widgets(name: str, folders: Sequence[Path] | None = None) -> Finding:
    import ipywidgets
    import jupyterlab

    folders = extension_folders() if folders is None else folders
    versions = f"JupyterLab {jupyterlab.__version__}, ipywidgets {ipywidgets.__version__}"
    for extension, package, what in LAB_EXTENSIONS:
        if not any((folder / extension).is_dir() for folder in folders):
            return Finding(
                name,
                "problem",
                f"{versions}, but JupyterLab has no extension for {what}",
                f"{reinstall(package)}. Then reload the page.",
            )
    return Finding(name, "ok", f"{versions}, extensions for widgets present")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def browser_paths() -> tuple[str | None, str | None]:
    """Paths of Chromium (or Chrome) and its driver, None for what is missing: what the browser test needs.

    Of several browsers, as on hosted runners, it is the first of the driver's own release.
    """
    driver, found = shutil.which("chromedriver"), list(filter(None, map(shutil.which, BROWSERS)))
    if driver and len(found) > 1:
        wanted = _release(driver)
        found.sort(key=lambda path: _release(path) != wanted)
    return found[0] if found else None, driver


def _release(program: str) -> str:
    """The major version that a browser or its driver gives; empty if it doesn't run."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30)
        if version := re.search(r"(\d+)\.\d+\.", ran.stdout):
            return version[1]
    return ""


def browser(name: str) -> Finding:
    paths = browser_paths()
    if None in paths:
        missing = " and ".join(word for word, path in zip(("Chromium", "chromedriver"), paths, strict=True) if not path)
        return Finding(
            name,
            "warn",
            f"{missing} not found",
            "Only the project's browser test needs them. On Debian: apt-get install chromium chromium-driver",
        )
    return Finding(name, "ok", "Chromium and chromedriver found")


# -- grading --------------------------------------------------------------------------------------------


def grading_sandbox(name: str) -> Finding:
    """Where submissions would be graded; who grades none needs nothing of it."""
    from helpers.grading.sandbox import InfrastructureFault, open_sandbox
    from helpers.grading.sandbox.cgroups import place

    only = "Only an instructor's machine needs it, to grade. "
    try:
        with open_sandbox() as sandbox:
            forks, problem = sandbox.forks, sandbox.problem
    except InfrastructureFault as error:
        first, *more = str(error).splitlines()
        return Finding(name, "warn", first, only + " ".join(line.removeprefix("- ").strip() for line in more))
    groups = f"control groups of {place()}" if place() else "no control groups, so memory is watched from outside"
    found = f"{sandbox.tier.name}, {'with' if forks else 'without'} fork server, {groups}"
    if problem:
        return Finding(name, "warn", found, f"{only}It works, but more slowly: {problem}.")
    return Finding(name, "ok", found)


# -- the table ------------------------------------------------------------------------------------------

CHECKS = (
    Check("Python", python_version, "Install Python 3.11 to 3.14."),
    Check("packages", pinned_packages, packages=("packaging",)),
    Check("imports", imports, packages=("numpy", "matplotlib", "scikit-learn", "torch")),
    Check("CUDA C compiler", cuda_c_compiler, packages=("nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "cuda-bindings")),
    Check("Python compiler", python_compiler, packages=("numba", "numba-cuda", "llvmlite", "nvidia-nvvm")),
    Check("Triton", triton_compiler, packages=("triton",)),
    Check("registers", registers, packages=("nvidia-cuda-nvrtc",)),
    Check("virtual GPU", virtual_gpu, packages=("llvmlite", "numpy")),
    Check("vector unit", vector_unit, packages=("llvmlite",)),
    Check("cache", disk_cache, "Set VGPU_CACHE to a folder of your own, or to off."),
    Check("what runs", what_runs, "To use the virtual GPU and leave this one alone, set VGPU_BACKEND=virtual."),
    Check("widgets", widgets, packages=("jupyterlab", "ipywidgets", "jupyterlab-widgets", "anywidget")),
    Check("browser test", browser, "On Debian: apt-get install chromium chromium-driver"),
    Check("grading sandbox", grading_sandbox, packages=("ipykernel", "jupyter-client", "psutil")),
)
