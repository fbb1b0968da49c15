"""The packages of this environment: what the project pins, what is installed, and what is damaged.

Nothing here needs a package to be intact, so that a broken environment can be described and repaired from inside.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import urlparse
from urllib.request import url2pathname

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "constraints.txt"
OURS = {"vgpu": (ROOT / "vgpu", ("cupy", "numba", "torch", "triton")), "warpbook": (ROOT, ("test",))}
"""The distributions of this checkout, each with its folder and the optional dependencies that `make lab` and
environment.yml install as well."""
LEFT_OUT = Path(sys.prefix) / ".without"
"""A file of an environment that is made without some of them, as that of the container: their names."""
PROJECTS = tuple(folder / "pyproject.toml" for folder, _ in OURS.values())
TORCH_BUILDS = "https://download.pytorch.org/whl/"


def canonical(name: str) -> str:
    """A package's name as pip compares it: lower case, one dash for any run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> dict[str, str]:
    """The `name==version` lines of a constraints file, by canonical name."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonical(name.strip()): version.strip() for name, version in pairs}


def read_requirements(pyproject: str, extras: tuple[str, ...] = ()) -> set[str]:
    """The direct dependencies that a pyproject.toml lists for this platform, by canonical name."""
    Requirement = _packaging("requirements").Requirement
    project = tomllib.loads(pyproject)["project"]
    rows = project["dependencies"] + [row for name in extras for row in project["optional-dependencies"][name]]
    parsed = map(Requirement, rows)
    return {canonical(row.name) for row in parsed if row.marker is None or row.marker.evaluate()}


def same_version(installed: str, pin: str) -> bool:
    """Whether they are one version; a local part, as in 2.13.0+cpu, names a build and not another version."""
    Version = _packaging("version").Version
    return Version(Version(installed).public) == Version(pin)


def _packaging(module: str) -> ModuleType:
    """A module of `packaging`, from pip's own copy where the package is damaged."""
    try:
        return importlib.import_module(f"packaging.{module}")
    except ImportError:
        return importlib.import_module(f"pip._vendor.packaging.{module}")


@dataclass(frozen=True)
class Installed:
    """One installed package, the folder that its files are relative to, and the files that pip wrote."""

    name: str
    version: str
    folder: Path
    files: Mapping[str, int | None]
    """Each with its size in bytes, if pip wrote it down."""

    @property
    def damaged(self) -> int:
        """How many of its files are gone or of another size, compiled Python aside."""
        there: dict[str, dict[str, int]] = {}
        bad = 0
        for file, size in self.files.items():
            parent, _, name = file.rpartition("/")
            if parent not in there:
                there[parent] = _sizes(os.path.join(self.folder, parent))
            found = there[parent].get(name)
            bad += not name.endswith(".pyc") and (found is None or size not in (None, found))
        return bad


def _sizes(folder: str) -> dict[str, int]:
    """The size of each file in it; empty for a folder that is gone."""
    try:
        with os.scandir(folder) as found:
            return {entry.name: entry.stat().st_size for entry in found}
    except OSError:
        return {}


def installed() -> dict[str, Installed]:
    """Every installed package by canonical name; the first on the path wins."""
    found: dict[str, Installed] = {}
    for package in importlib.metadata.distributions():
        metadata = package.metadata
        name = metadata["Name"] if metadata else None
        if name and metadata["Version"]:
            files = dict(_recorded(package.read_text("RECORD") or ""))
            each = Installed(canonical(name), metadata["Version"], Path(str(package.locate_file(""))), files)
            found.setdefault(each.name, each)
    return found


def _recorded(text: str) -> Iterator[tuple[str, int | None]]:
    """The paths in a RECORD file, and their sizes; a path that holds a comma is quoted there, and is left out.

    Scripts, which lie outside the packages' folder, begin with the path of their Python: their sizes don't count.
    """
    for line in text.splitlines():
        path, _, rest = line.partition(",")
        if path and not path.startswith('"'):
            size = rest.rpartition(",")[2]
            yield path, int(size) if size.isdigit() and not path.startswith("..") else None


@dataclass(frozen=True)
class Fault:
    """One package that is missing, damaged, or not at its pin; `serious` if Warpbook depends on it directly."""

    name: str
    found: str
    wanted: str
    serious: bool
    damaged: bool = False

    @property
    def pip(self) -> list[str]:
        """The arguments of pip that put it right."""
        force = ["--force-reinstall", "--no-deps"] if self.damaged else []
        return ["install", *force, *self.index, self.wanted]

    @property
    def index(self) -> list[str]:
        """Where else pip has to look: PyPI has no builds such as torch 2.13.0+cpu."""
        build = self.wanted.partition("+")[2]
        return ["--extra-index-url", f"{TORCH_BUILDS}{build}"] if self.name == "torch" and build else []


def faults(pins: Mapping[str, str], direct: set[str], there: Mapping[str, Installed]) -> list[Fault]:
    """What is wrong, by name. A pin of something that this platform does not need is no fault."""
    found = []
    for name in sorted(direct | set(pins)):
        pin, have = pins.get(name), there.get(name)
        wanted = f"{name}=={pin}" if pin else name
        if have is None:
            if name in direct:
                found.append(Fault(name, "not installed", wanted, serious=True))
        elif pin and not same_version(have.version, pin):
            found.append(Fault(name, f"{have.version}, where {pin} is pinned", wanted, serious=name in direct))
        elif bad := have.damaged:
            # The installed build, such as 2.13.0+cpu: another build may need packages that are not there.
            exact = f"{name}=={have.version}"
            words = f"damaged: {bad:,} of its {len(have.files):,} files are missing or cut short"
            found.append(Fault(name, words, exact, serious=True, damaged=True))
    return found


_IMPORT = """
import importlib, sys
answers, sys.stdout = sys.stdout, sys.stderr
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        print("ok", file=answers, flush=True)
    except BaseException as error:
        print(type(error).__name__ + ":", *str(error).split(), file=answers, flush=True)
"""


def failing_imports(modules: Sequence[str]) -> dict[str, str]:
    """The modules that cannot be imported, each with the error.

    They are imported in another process: a damaged library can take Python down with it.
    """
    failing, left = dict[str, str](), list(modules)
    while left:
        ran = subprocess.run([sys.executable, "-c", _IMPORT, *left], capture_output=True, text=True, errors="replace")
        said = ran.stdout.splitlines()
        failing |= {name: line for name, line in zip(left, said, strict=False) if line != "ok"}
        if len(said) < len(left):
            failing[left[len(said)]] = f"Python crashed, exit status {ran.returncode}"
        left = left[len(said) + 1 :]
    return failing


def read() -> tuple[dict[str, str], set[str]]:
    """The pins and the direct dependencies of this project. Raises FileNotFoundError in a wheel's installation."""
    direct = set()
    for name, (folder, _) in OURS.items():
        direct |= read_requirements((folder / "pyproject.toml").read_text(encoding="utf-8"), extras(name))
    return read_pins(PINS.read_text(encoding="utf-8")), direct


def left_out() -> set[str]:
    """The optional dependencies that this environment is made without."""
    return set(LEFT_OUT.read_text(encoding="utf-8").split()) if LEFT_OUT.is_file() else set()


def extras(name: str) -> tuple[str, ...]:
    """The optional dependencies of one of OURS that this environment has."""
    return tuple(each for each in OURS[name][1] if each not in left_out())


def editable(name: str) -> str:
    """The argument of pip that installs one of OURS from this checkout."""
    wanted = ",".join(extras(name))
    return f"--editable={OURS[name][0]}" + f"[{wanted}]" * bool(wanted)


def not_from_here() -> Iterator[Fault]:
    """Those of OURS that aren't installed from this checkout."""
    for name, (folder, _) in OURS.items():
        noted = [each.read_text("direct_url.json") for each in importlib.metadata.distributions(name=name)]
        paths = [url2pathname(urlparse(json.loads(text)["url"]).path) for text in noted if text]
        if not any(os.path.isdir(path) and os.path.samefile(path, folder) for path in paths):
            found = f"installed from {' and '.join(paths) or 'an index'}" if noted else "not installed"
            yield Fault(name, f"{found}, where {folder} is meant", editable(name), serious=True)


def all_faults() -> list[Fault]:
    """What is wrong with this environment. Raises FileNotFoundError in a wheel's installation."""
    pins, direct = read()
    return [*not_from_here(), *faults(pins, direct, installed())]


def called(*arguments: str) -> str:
    """How to call `warpbook` in this environment, as a line for a shell: it need not be activated."""
    return " ".join([_short(script()), *arguments])


def script() -> Path:
    """The file of the command `warpbook` in this environment."""
    return Path(sys.executable).with_name("warpbook.exe" if sys.platform == "win32" else "warpbook")


def pip_line(arguments: list[str]) -> str:
    """A call of this environment's pip, as a line for a shell."""
    python = _short(Path(sys.executable))
    quoted = [f'"{word}"' if "==" in word else word for word in arguments]
    return " ".join([f"{python} -m ensurepip &&"] * (not has_pip()) + [python, "-m", "pip", *quoted])


def has_pip() -> bool:
    """Whether this environment has pip; those that uv makes have none."""
    return importlib.util.find_spec("pip") is not None


def _short(path: Path) -> str:
    """A path as typed where the command was called."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
