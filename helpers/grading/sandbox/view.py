"""What of this machine's files a sandbox shows: the system, Python, `helpers/` and `vgpu/`, and nothing else.

All are read-only. The last two are shown at the same place everywhere, so that messages with paths are the same on
every machine.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import vgpu
from helpers.checking import books

HELPERS = Path(__file__).resolve().parents[2]
VGPU = Path(vgpu.__file__).resolve().parent
HERE = Path(__file__).resolve().parent
OWN = books.own()
PLACE = "/opt/warpbook"
OWN_PLACE = f"{PLACE}/exercises"  # of another project's exercises
SCRATCH = "/tmp"
HOME = "/tmp/home"
ROLES = {
    "student": "the exercises of labs, with the values they expect, are hidden",
    "runner": "the same: what runs a student's kernel has no use for them",
    "judge": "all of helpers/ is shown, and another project's exercises",
}
# Programs and libraries. Python itself may lie elsewhere; where all packages lie in one store, it is shown.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
ETC = ("ld.so.cache", "alternatives", "localtime")
ETC_MADE_UP = {"passwd": "passwd.txt", "group": "group.txt"}


@dataclass(frozen=True)
class Entry:
    """One place in the sandbox: `kind` "show" (read-only, what lies at `source`), "link" (to `source`) or "hide"."""

    kind: str
    place: str
    source: str = ""


def view(role: str) -> list[Entry]:
    """The entries of a role, in the order in which they are to be made; ValueError for an unknown role."""
    if role not in ROLES:
        raise ValueError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    wanted = {path: Entry("hide", path) for path in _private()}
    wanted |= {path: Entry("show", path, path) for path in _python()}
    wanted |= {path: _link_or_show(path) for path in SYSTEM if os.path.lexists(path)}
    # Python's folder may lie in the project's, and that in a folder of the system: each is needed where the folder that
    # it lies in says otherwise.
    entries: dict[str, Entry] = {}
    for path in sorted(wanted, key=lambda path: path.count("/")):
        around = _around(path, entries)
        if (around is not None and around.kind == "show") != (wanted[path].kind != "hide"):
            entries[path] = wanted[path]
    etc = [Entry("show", f"/etc/{name}", f"/etc/{name}") for name in ETC if os.path.exists(f"/etc/{name}")]
    etc += [Entry("show", f"/etc/{name}", str(HERE / file)) for name, file in ETC_MADE_UP.items()]
    return [*entries.values(), *etc, *_helpers(role)]


def _around(path: str, entries: dict[str, Entry]) -> Entry | None:
    """The innermost entry whose folder a path lies in."""
    return next((entries[str(folder)] for folder in Path(path).parents if str(folder) in entries), None)


def in_scratch(entries: list[Entry]) -> list[str]:
    """Places in /tmp that are shown. A job's own /tmp comes over them, and they have to be shown there again."""
    return [entry.place for entry in entries if entry.kind == "show" and entry.place.startswith(f"{SCRATCH}/")]


def folders_for(entry: Entry, entries: Sequence[Entry]) -> list[str]:
    """The folders to be made for an entry, outermost first: those around it that no other entry shows."""
    by_place = {other.place: other for other in entries}
    folders: list[str] = []
    for folder in map(str, Path(entry.place).parents):
        if folder in ("/", SCRATCH) or folder in by_place:
            return [] if folder in by_place and by_place[folder].kind != "hide" else folders[::-1]
        folders.append(folder)
    return folders[::-1]


def _helpers(role: str) -> list[Entry]:
    entries = [Entry("show", f"{PLACE}/helpers", str(HELPERS)), Entry("show", f"{PLACE}/vgpu", str(VGPU))]
    entries += [Entry("hide", f"{PLACE}/vgpu/tests")] * (VGPU / "tests").is_dir()
    if role == "judge":
        entries += [Entry("show", OWN_PLACE, str(OWN))] * bool(OWN)
    else:
        exercises = HELPERS / "exercises"
        # By their names, so that what an editor keeps of them is hidden too; so is what Python has compiled.
        for path in sorted(exercises.iterdir()):
            place = f"{PLACE}/helpers/exercises/{path.name}"
            of_a_lab = "lab" in path.name.lower()
            if path.is_dir() and (of_a_lab or not (path / "__init__.py").exists()):
                entries.append(Entry("hide", place))
            elif of_a_lab:
                entries.append(Entry("show", place, str(HERE / "no_exercises.txt")))
    return entries


def _link_or_show(path: str) -> Entry:
    return Entry("link", path, os.readlink(path)) if os.path.islink(path) else Entry("show", path, path)


def _python() -> list[str]:
    """The folders of this Python, and of the one that its environment was made from, by every name they have."""
    folders = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    program = sys.executable
    while os.path.islink(program):
        program = os.path.join(os.path.dirname(program), os.readlink(program))
        folders.add(str(Path(program).parent.parent))
    folders |= {os.path.realpath(folder) for folder in folders}
    folders = {os.path.normpath(folder) for folder in folders}
    return sorted(folder for folder in folders if folder != "/" and os.path.isdir(folder))


def _private() -> list[str]:
    """Folders that are never shown, should one lie in a folder that is: the project, every copy of it, homes."""
    installed = [folder for folder in [*site.getsitepackages(), *sys.path] if folder]
    packages = {os.path.join(folder, name) for folder in installed for name in ("helpers", "vgpu")}
    folders = {
        str(HELPERS.parent),
        str(HELPERS),
        str(VGPU.parent),
        str(VGPU),
        os.path.expanduser("~"),
        "/home",
        "/root",
        *packages,
        *([str(OWN)] if OWN else []),
    }
    # Where they are installed among other packages, their folder's parent is those packages.
    folders -= {*site.getsitepackages(), sys.prefix, sys.base_prefix, "/"}
    return sorted(os.path.realpath(folder) for folder in folders if os.path.isdir(folder))
