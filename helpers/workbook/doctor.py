"""Is this machine fit for the workbook? A table of checks, each with what was found and its remedy.

Every check tries the thing itself: a compiler compiles, the virtual GPU computes. What other modules of the
project raise is a finding here, never a crash.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import struct
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLDEST_PYTHON = (3, 11)
STATES = ("ok", "warn", "problem")
REINSTALL = "python -m pip install -c constraints.txt -e '.[test]' in the folder of the workbook (or: make lab)"


@dataclass(frozen=True)
class Finding:
    """What one check says: `state` is "ok", "warn" or "problem"; a remedy comes with the last two."""

    name: str
    state: str
    found: str
    remedy: str = ""

    def __post_init__(self):
        if self.state not in STATES:
            raise ValueError(f"state is one of {', '.join(STATES)}, not {self.state!r}")
        if self.state != "ok" and not self.remedy:
            raise ValueError(f"{self.name}: a finding that is not ok says what to do about it")


@dataclass(frozen=True)
class Check:
    """One row: the name shown, what looks, and the remedy when looking itself fails."""

    name: str
    look: Callable[[str], Finding | Iterable[Finding]]
    remedy: str


# -- Python and packages --------------------------------------------------------------------------------


def python_version(name: str, version: tuple[int, ...] | None = None) -> Finding:
    version = tuple(sys.version_info[:3]) if version is None else version
    found = f"Python {'.'.join(map(str, version))} on {platform.system()} {platform.machine()}"
    if version[:2] < OLDEST_PYTHON:
        return Finding(name, "problem", found, "Install Python 3.11 or newer and make the environment with it.")
    return Finding(name, "ok", found)


def canonical(name: str) -> str:
    """A package's name as pip compares it: lower case, one dash for any run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> dict[str, str]:
    """The `name==version` lines of a constraints file, by canonical name."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonical(name.strip()): version.strip() for name, version in pairs}


def read_requirements(pyproject: str) -> set[str]:
    """The direct dependencies that a pyproject.toml asks for on this platform, by canonical name."""
    from packaging.requirements import Requirement

    rows = map(Requirement, tomllib.loads(pyproject)["project"]["dependencies"])
    return {canonical(row.name) for row in rows if row.marker is None or row.marker.evaluate()}


def installed_versions() -> dict[str, str]:
    """Every installed package and its version, by canonical name; the first on the path wins."""
    versions: dict[str, str] = {}
    for package in importlib.metadata.distributions():
        if package.metadata["Name"]:
            versions.setdefault(canonical(package.metadata["Name"]), package.version)
    return versions


def compare(pins: Mapping[str, str], direct: set[str], installed: Mapping[str, str]) -> list[Finding]:
    """Findings for what is missing or has another version than pinned, else one that says all agree.

    A wrong direct dependency is a problem, a wrong dependency of a dependency a warning; a pin of
    something that this platform does not need is neither.
    """
    from packaging.version import Version

    findings = []
    for name in sorted(direct | set(pins)):
        pin, have = pins.get(name), installed.get(name)
        if have is None:
            if name in direct:
                remedy = f'python -m pip install "{name}=={pin}"' if pin else f"python -m pip install {name}"
                findings.append(Finding(name, "problem", "not installed", remedy))
        # A local part, as in 2.13.0+cpu, names a build and not another version.
        elif pin and Version(Version(have).public) != Version(pin):
            state = "problem" if name in direct else "warn"
            remedy = f'python -m pip install "{name}=={pin}"'
            findings.append(Finding(name, state, f"{have}, where {pin} is pinned", remedy))
    if findings:
        return findings
    present = sum(name in installed for name in set(pins) | direct)
    return [Finding("packages", "ok", f"{present} packages at the versions of constraints.txt")]


def packages(name: str) -> list[Finding]:
    pins, project = ROOT / "constraints.txt", ROOT / "pyproject.toml"
    if not pins.is_file() or not project.is_file():
        return [
            Finding(
                name,
                "warn",
                "constraints.txt is not beside the installed helpers: versions not compared",
                "Install from the folder of the workbook: " + REINSTALL,
            )
        ]
    direct = read_requirements(project.read_text(encoding="utf-8"))
    return compare(read_pins(pins.read_text(encoding="utf-8")), direct, installed_versions())


# -- compilers ------------------------------------------------------------------------------------------

ONE_LINER = 'extern "C" __global__ void doctor(float* x) { x[threadIdx.x] = 2.0f * threadIdx.x; }'
THREADS = 64


def cuda_c_compiler(name: str) -> Finding:
    from helpers.vgpu import compile

    ptx = compile.cuda_c_to_ptx(ONE_LINER, name="doctor.cu").ptx
    version = re.search(r"^\.version\s+(\S+)", ptx, re.MULTILINE)
    return Finding(name, "ok", f"NVRTC compiles, PTX {version[1] if version else 'of unknown version'}")


def python_compiler(name: str) -> Finding:
    from helpers.vgpu import compile

    def doctor(x):
        x[0] = 2.0

    compiled = compile.numba_to_ptx(doctor, "void(float32[::1])")
    return (
        Finding(name, "ok", f"numba-cuda {importlib.metadata.version('numba-cuda')} compiles {doctor.__name__}()")
        if compiled.entry_name in compiled.ptx
        else Finding(name, "problem", "no kernel in its PTX", REINSTALL)
    )


def triton_compiler(name: str, platform: str = sys.platform) -> Finding:
    from helpers.vgpu.base.errors import Unsupported
    from helpers.vgpu.standins import triton

    try:
        version = triton.installed().__version__
    except Unsupported as error:
        if platform.startswith("linux"):
            return Finding(name, "problem", str(error).split(". ")[0], REINSTALL)
        remedy = "Only the chapters about Triton need it: read them on Linux, in WSL, in a container or in the cloud."
        return Finding(name, "warn", "Triton is published for Linux only", remedy)
    from helpers.vgpu.standins.triton.driver import VirtualDriver

    target = VirtualDriver().get_current_target()
    return Finding(name, "ok", f"Triton {version}, compiling for {target.backend} {target.arch}")


def registers(name: str) -> Finding:
    from helpers.vgpu import compile

    ptx = compile.cuda_c_to_ptx(ONE_LINER, name="doctor.cu").ptx
    counts = {arch: compile.resources(ptx, "ptx", arch=arch).registers for arch in ("sm_80", "sm_90")}
    found = ", ".join(f"{count} on {arch}" for arch, count in counts.items())
    return Finding(name, "ok", f"nvJitLink counts registers: {found}")


# -- what runs ------------------------------------------------------------------------------------------


def virtual_gpu(name: str) -> Finding:
    import numpy as np

    from helpers.vgpu import compile
    from helpers.vgpu.launch import launch
    from helpers.vgpu.storage import memory

    (kernel,) = launch.load(
        compile.cuda_c_to_ptx(ONE_LINER, name="doctor.cu").ptx, language="cuda", source=ONE_LINER
    ).values()
    values = memory.array((THREADS,), np.float32, label="x")
    launch.launch(kernel, 1, THREADS, [struct.pack("<Q", memory.owner(values).address)])
    if not np.array_equal(values, 2.0 * np.arange(THREADS, dtype=np.float32)):
        remedy = "Please report it, with the output of `warpbook doctor --json`."
        return Finding(name, "problem", f"a kernel ran and gave wrong values: {values[:4]} …", remedy)
    return Finding(name, "ok", f"a kernel of {THREADS} threads ran and gave the right values")


VECTOR_UNITS = {"avx512f": "AVX-512", "avx2": "AVX2", "sve": "SVE", "neon": "NEON"}


def vector_unit(name: str, cpu: str | None = None) -> Finding:
    """`cpu` is what `jit.cpu()` says: a name and, in brackets, the widest vector instructions."""
    if cpu is None:
        from helpers.vgpu.runtime import jit

        cpu = jit.cpu()
    for feature, title in VECTOR_UNITS.items():
        if f"({feature})" in cpu:
            return Finding(name, "ok", f"{title} on {cpu.split(' (')[0]}, {os.cpu_count()} CPU threads")
    remedy = "Nothing is broken, but kernels run several times slower than on a CPU of the last ten years."
    return Finding(name, "warn", f"no wide vectors on {cpu}", remedy)


def cache(name: str) -> Finding:
    """Where compiled code is kept from one process to the next; that it is not kept costs seconds and nothing else."""
    from helpers.vgpu.base import on_disk

    try:
        place, (entries, nbytes) = on_disk.folder(), on_disk.size()
    except on_disk.Refused as error:
        problem, remedy = str(error).rsplit(". ", 1)
        return Finding(name, "warn", f"compiled code is not kept: {problem}", remedy)
    if place is None:
        return Finding(name, "ok", "compiled code is not kept (WARPBOOK_CACHE=off)")
    return Finding(name, "ok", f"{entries} entries, {nbytes / 1e6:.1f} MB of compiled code in {place}")


def what_runs(name: str) -> Finding:
    from helpers.hardware.device import device

    here = device()
    kind = "a real GPU" if here.real else "the virtual GPU (no NVIDIA GPU found, and none is needed)"
    return Finding(name, "ok", f"kernels run on {kind}: {here!r}")


# -- JupyterLab -----------------------------------------------------------------------------------------


# The extension's folder, the package that brings it, what is not shown without it.
LAB_EXTENSIONS = (
    ("@jupyter-widgets/jupyterlab-manager", "jupyterlab_widgets", "widgets"),
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
                f"python -m pip install --force-reinstall --no-deps -c constraints.txt {package}, then reload the page",
            )
    return Finding(name, "ok", f"{versions}, extensions for widgets present")


def browser_paths() -> tuple[str | None, str | None]:
    """Paths of Chromium (or Chrome) and its driver, None for what is missing: what the browser test needs."""
    browsers = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, browsers)), None), shutil.which("chromedriver")


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
        return Finding(name, "warn", first, only + " ".join(line.removeprefix("- ") for line in more))
    groups = f"control groups of {place()}" if place() else "no control groups, so memory is watched from outside"
    found = f"{sandbox.tier.name}, {'with' if forks else 'without'} fork server, {groups}"
    if problem:
        return Finding(name, "warn", found, f"{only}It works, but more slowly: {problem}.")
    return Finding(name, "ok", found)


# -- the table ------------------------------------------------------------------------------------------

CHECKS = (
    Check("Python", python_version, "Install Python 3.11 or newer."),
    Check("packages", packages, REINSTALL),
    Check(
        "CUDA C compiler",
        cuda_c_compiler,
        "Reinstall nvidia-cuda-nvrtc and nvidia-cuda-runtime: " + REINSTALL,
    ),
    Check("Python compiler", python_compiler, "Reinstall numba and numba-cuda: " + REINSTALL),
    Check("Triton", triton_compiler, "Reinstall triton: " + REINSTALL),
    Check("registers", registers, "Reinstall nvidia-nvjitlink: " + REINSTALL),
    Check("virtual GPU", virtual_gpu, "Reinstall llvmlite: " + REINSTALL),
    Check("vector unit", vector_unit, "Reinstall llvmlite: " + REINSTALL),
    Check("cache", cache, "Set WARPBOOK_CACHE to a folder of your own, or to off."),
    Check("what runs", what_runs, "Set WARPBOOK_BACKEND=virtual to leave the GPU alone."),
    Check("widgets", widgets, "Reinstall jupyterlab and ipywidgets: " + REINSTALL),
    Check("browser test", browser, "On Debian: apt-get install chromium chromium-driver"),
    Check(
        "grading sandbox", grading_sandbox, "Only an instructor's machine needs it. Reinstall ipykernel: " + REINSTALL
    ),
)


def no_compilers_remedy(remedy: str, system: str = sys.platform) -> str:
    """The remedy for this platform: on macOS there is nothing to reinstall."""
    if system == "darwin":
        return "NVIDIA ships no compilers for macOS: use Linux or Windows, in a container or in the cloud."
    return remedy


def examine(checks: Sequence[Check] = CHECKS) -> list[Finding]:
    """Make every check; one that raises becomes a problem with the row's remedy."""
    findings: list[Finding] = []
    for check in checks:
        try:
            result = check.look(check.name)
            findings += [result] if isinstance(result, Finding) else list(result)
        except Exception as error:  # whatever a broken installation throws is what the learner wants to read
            first = (str(error).strip().splitlines() or [""])[0]
            found = f"{type(error).__name__}: {first}" if first else type(error).__name__
            findings.append(Finding(check.name, "problem", found, no_compilers_remedy(check.remedy)))
    return findings


MARKS = {"ok": "ok     ", "warn": "warn   ", "problem": "PROBLEM"}


def as_text(findings: Sequence[Finding]) -> str:
    """One line a finding, its remedy below it, and a last line that sums up."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{MARKS[finding.state]}  {finding.name:<{width}}  {finding.found}")
        if finding.remedy:
            lines.append(f"{'':{len(MARKS['ok'])}}  {'':{width}}  → {finding.remedy}")
    problems = sum(finding.state == "problem" for finding in findings)
    warnings = sum(finding.state == "warn" for finding in findings)
    lines.append("")
    lines.append(
        f"{problems} problem{'s' * (problems != 1)}, {warnings} warning{'s' * (warnings != 1)}."
        if problems or warnings
        else "All well: run `warpbook lab`."
    )
    return "\n".join(lines)


def as_json(findings: Sequence[Finding]) -> str:
    """The findings as a JSON list of objects with name, state, found and remedy."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)


def exit_status(findings: Sequence[Finding]) -> int:
    """1 when anything is a problem, else 0: warnings do not stop the course."""
    return int(any(finding.state == "problem" for finding in findings))
