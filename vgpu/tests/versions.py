"""The engine with the newest versions of what it uses, beside the pinned ones: which of them work.

`python -m vgpu.tests.versions` makes an environment for each row of `USED` in a temporary folder, installs the newest
versions there, runs a few of the engine's tests in it, prints a table, and keeps it in `versions.json` with the date.
What isn't installed there, such as PyTorch for Triton's tests, is that of the environment it is called in.
`… numba triton` tries these only; `… torch` has to be named, for it is gigabytes. It needs the network, and minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("versions.json")
PINS = ROOT / "constraints.txt"
HEAD = ("package", "pinned", "newest", "tests", "what fails")


@dataclass(frozen=True)
class Used:
    """Packages to try in their newest versions, the engine's extras that need them, and the tests that use them.

    All others have their pinned versions.
    """

    packages: tuple[str, ...]
    extras: tuple[str, ...]
    tests: tuple[str, ...]
    only_named: bool = False


USED = {
    "numba": Used(("numba-cuda", "numba", "llvmlite"), ("numba",), ("test_numba_cuda.py", "test_numba_errors.py")),
    "cupy": Used(("cupy-cuda13x",), ("cupy",), ("test_cupy_arrays.py", "test_cupy_cuda.py")),
    "triton": Used(("triton",), ("triton",), ("test_triton.py", "test_triton_errors.py")),
    "cuda": Used(
        ("cuda-bindings", "nvidia-cuda-crt", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvjitlink"),
        (),
        ("test_ptx.py", "test_cupy_kernels.py", "programs/test_cuda_c.py"),
    ),
    "llvmlite": Used(("llvmlite", "numpy"), (), ("test_ir.py", "test_jit.py", "test_memory.py")),
    "torch": Used(("torch",), ("torch",), ("test_cupy_arrays.py",), only_named=True),
}


def tried(used: Used, folder: Path) -> dict[str, Any]:
    """Install the newest versions into a new environment in `folder` and run the tests there."""
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    others = folder / "constraints.txt"
    others.write_text(without(PINS.read_text(encoding="utf-8"), used.packages), encoding="utf-8")
    wanted = [*used.packages, *requirements(used.extras)]
    installed = _run([python, "-m", "pip", "install", "-q", "--upgrade", "-c", str(others), *wanted])
    if installed.returncode:
        return {"newest": {}, "passed": 0, "fails": [f"pip: {installed.stderr.strip().splitlines()[-1]}"]}
    listed = _run([python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]).stdout
    newest = {each["name"].lower(): each["version"] for each in json.loads(listed)}
    # The engine, and of the environment at hand what isn't installed there; pip must not see it before.
    beside = f"{ROOT}\n{sysconfig.get_path('purelib')}\n"
    Path(next(folder.rglob("site-packages")), "beside.pth").write_text(beside, encoding="utf-8")
    tests = [f"vgpu/tests/{name}" for name in used.tests]
    done = _run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
    passed = re.search(r"(\d+) passed", done.stdout)
    fails = re.findall(r"^(?:FAILED|ERROR) (.+)", done.stdout, re.MULTILINE)
    if done.returncode and not fails:
        fails = [(done.stdout + done.stderr).strip().splitlines()[-1]]
    return {
        "newest": {name: newest[name] for name in used.packages},
        "passed": int(passed[1]) if passed else 0,
        "fails": fails,
    }


def requirements(extras: Iterable[str]) -> list[str]:
    """What the engine needs, with some of its extras and the tests'."""
    project = tomllib.loads((ROOT / "vgpu" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in (*extras, "test"))]
    return [requirement for each in found for requirement in each]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    wide = os.environ | {"COLUMNS": "300"}  # for pytest's summary
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=wide)


def pins(text: str) -> dict[str, str]:
    """The pinned version of each package of a constraints file."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def without(text: str, packages: Iterable[str]) -> str:
    """The constraints but those of some packages."""
    return "\n".join(line for line in text.splitlines() if line.partition("==")[0] not in packages)


def table(rows: Mapping[str, Mapping[str, Any]], pinned: Mapping[str, str]) -> str:
    """What was tried as a table in Markdown."""
    lines = [HEAD, tuple("---" for _ in HEAD)]
    for name, row in rows.items():
        fails = ", ".join(each.removeprefix("vgpu/tests/") for each in row["fails"]) or "nothing"
        for package in USED[name].packages:
            versions = pinned.get(package, "-"), row["newest"].get(package, "not installed")
            lines.append((package, *versions, f"{row['passed']} pass", fails))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(named: Iterable[str]) -> int:
    """Try what is named, or all that has not to be named; keep and print the table. 1 where something fails."""
    chosen = list(named) or [name for name, used in USED.items() if not used.only_named]
    kept = json.loads(RECORD.read_text(encoding="utf-8"))["rows"] if RECORD.exists() else {}
    for name in chosen:
        print(f"{name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            row = tried(USED[name], Path(folder))
        row |= {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "python": platform.python_version()}
        kept[name] = row
        RECORD.write_text(json.dumps({"rows": kept}, indent=1) + "\n", encoding="utf-8")
    print(table({name: kept[name] for name in chosen}, pins(PINS.read_text(encoding="utf-8"))))
    return int(any(kept[name]["fails"] for name in chosen))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("named", nargs="*", metavar="NAME", help=f"any of {', '.join(USED)}")
    given = parser.parse_args().named
    if unknown := set(given) - set(USED):
        parser.error(f"there is no {', '.join(sorted(unknown))}: {', '.join(USED)}")
    sys.exit(main(given))
