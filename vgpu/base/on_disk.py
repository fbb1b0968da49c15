"""The compilers' results, kept on disk from one process to the next: PTX, machine code, the assembler's reports.

An entry is a file named by a hash of everything that the result depends on, so no entry is ever out of date. Processes
share the folder without a lock: an entry is written to a temporary file, which is then renamed. An entry that is
truncated or changed doesn't match its checksum and is made again. Where an entry can't be stored (a full disk, a
read-only folder), the result is used all the same.

`VGPU_CACHE` names another folder; `VGPU_CACHE=off` keeps nothing. A folder that another user may write to is
not used, since machine code is read from it. Students' code, the runner and the judge of the grader keep and read
nothing at all (`grading/sandbox/server.py`).

Libraries for caches were looked at: `joblib` and `diskcache` read pickles, with which a damaged file could do anything
(`records` reads the engine's own classes only), and the latter needs SQLite's locks, which shared homes often lack.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from vgpu.base.settings import setting

T = TypeVar("T")
OFF = "off"
MOST_BYTES = 512 << 20
ENGINE = "sources"
SETTLED = 2_000_000_000  # ns for which a file must not have changed, since file systems' clocks may tick in seconds
NO_COMPILERS = ("bench", "hardware", "tests", "tools")
CHECKSUM_BYTES = hashlib.sha256().digest_size
_NAME = re.compile(r"[a-z]+-[0-9a-f]{64}(\.|$)")
_written: int | None = None  # bytes since this process last measured the folder; None: it hasn't yet


class Refused(ValueError):
    """A folder in which nothing is kept; the message says why, and the fix."""


def remembered(kind: str, key: Sequence[object], make: Callable[[], tuple[bytes, Iterable[str]]]) -> bytes:
    """The result of `make()`, which also returns the files and folders that it depends on besides `key`.

    They are not read again: the result holds as long as each of them has the same size, times and number, as in
    ccache's direct mode. What changed just before `make` was called isn't remembered, since it may change once more
    without another time. Errors: those of `make`.
    """
    path = _path(kind, (), key)
    if path is not None and (data := _read(path)) is not None:
        states, _, result = data.partition(b"\n")
        if all(_state(file) == state for file, state in json.loads(states).items()):
            return result
    began = time.time_ns()
    result, files = make()
    found = {file: _state(file) for file in files}
    newest = max((max(state[1:3]) for state in found.values() if state), default=0)
    if path is not None and newest < began - SETTLED:
        _write(path, json.dumps(found).encode() + b"\n" + result)
    return result


def _state(file: str) -> list[int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def kept(
    kind: str,
    packages: Sequence[str],
    inputs: Sequence[object],
    make: Callable[[], T],
    dump: Callable[[T], bytes] = bytes,  # type: ignore[assignment] # of bytes themselves
    load: Callable[[bytes], T] = bytes,  # type: ignore[assignment]
) -> T:
    """The result of `make()`, which is called only where no process has kept it yet.

    kind: "ptx" and the like, the beginning of the file's name. packages: the distributions whose versions the result
    depends on; where one is not installed as such, nothing is kept. inputs: all else that it depends on, as JSON can
    hold it; the engine's own sources need not be named. dump, load: between the result, if it isn't bytes, and bytes.
    Errors: those of `make`, which are not kept.
    """
    path = _path(kind, packages, inputs)
    if path is None:
        return make()
    if (data := _read(path)) is not None:
        return load(data)
    made = make()
    with contextlib.suppress(RecursionError):  # see `records.dump`
        _write(path, dump(made))
    return made


# --- where --------------------------------------------------------------------------------------------------


def folder() -> Path | None:
    """The folder of the entries, made if need be; None when `VGPU_CACHE=off`. Raises Refused."""
    chosen = setting("CACHE") or ""
    if chosen.lower() == OFF:
        return None
    return _private(os.path.abspath(os.path.expanduser(chosen or _usual())))


def _usual() -> str:
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("vgpu", appauthor=False), "compiled")


@functools.lru_cache(maxsize=8)
def _private(chosen: str) -> Path:
    """A folder that only this user can write to, made if it is not there yet."""
    path = Path(chosen)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except OSError as error:
        raise Refused(f"{path} cannot be used ({error}). Set VGPU_CACHE to another folder.") from None
    if hasattr(os, "geteuid"):
        if found.st_uid != os.geteuid():
            raise Refused(f"{path} belongs to another user. Set VGPU_CACHE to a folder of your own.")
        if found.st_mode & 0o022:
            raise Refused(f"other users can write to {path}, and code is read from it. Call `chmod go-w {path}`.")
    return path


def _path(kind: str, packages: Sequence[str], inputs: Sequence[object]) -> Path | None:
    """The file of an entry; None where nothing can be kept."""
    try:
        directory = folder()
        versions = list(map(_version, packages))
    except (Refused, ImportError):  # which a package is that isn't installed
        return None
    if directory is None:
        return None
    key = json.dumps([kind != ENGINE and _engine(), kind, versions, list(inputs)])
    return directory / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()}"


@functools.cache
def _version(package: str) -> str:
    """The version of an installed package, from the name of its folder: to ask `importlib` takes 15 ms."""
    begin = re.sub(r"[-_.]+", "_", package).lower() + "-"
    for folder in sys.path:
        with contextlib.suppress(OSError):
            found = [name for name in os.listdir(folder or os.curdir) if name.lower().startswith(begin)]
            versions = [name[len(begin) :].removesuffix(".dist-info") for name in found if name.endswith(".dist-info")]
            if len(versions) == 1:
                return versions[0]
            if versions:
                break
    from importlib.metadata import version

    return version(package)


@functools.cache
def _engine() -> str:
    """A hash of the sources that decide what compilers are given and what is made of it."""
    engine = Path(__file__).parents[1]

    def make() -> tuple[bytes, list[str]]:
        folders = [path for path, _, _ in os.walk(engine) if _decides(path, engine)]
        files = sorted(path for folder in folders for path in Path(folder).glob("*.py"))
        hashes = b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)
        return hashlib.sha256(hashes).hexdigest().encode(), [*folders, *map(str, files)]

    return remembered(ENGINE, [str(engine)], make).decode()


def _decides(folder: str, engine: Path) -> bool:
    parts = Path(folder).relative_to(engine).parts
    return "__pycache__" not in parts and not (parts and parts[0] in NO_COMPILERS)


# --- one entry ----------------------------------------------------------------------------------------------


def _checksum(path: Path, data: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + data).digest()


def _read(path: Path) -> bytes | None:
    """The contents of an entry; None where there is none with the right checksum."""
    try:
        held = path.read_bytes()
    except OSError:
        return None
    data = held[CHECKSUM_BYTES:]
    if held[:CHECKSUM_BYTES] != _checksum(path, data):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # what was used last goes last
    return data


def _write(path: Path, data: bytes) -> None:
    fresh = None
    try:
        file, fresh = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        with open(file, "wb") as stream:
            stream.write(_checksum(path, data) + data)
        os.replace(fresh, path)
    except OSError:
        if fresh is not None:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
        return
    _limit_size(path.parent, len(data))


# --- all of them --------------------------------------------------------------------------------------------


def _limit_size(directory: Path, nbytes: int) -> None:
    """After `nbytes` were written: now and then remove the least recently used entries, if all take too much."""
    global _written
    _written = None if _written is None else _written + nbytes
    if _written is not None and _written <= MOST_BYTES // 32:
        return
    _written = 0
    found = sorted(_entries(directory), key=lambda entry: entry[1].st_mtime_ns)
    total = sum(status.st_size for _, status in found)
    if total <= MOST_BYTES:
        return
    for path, status in found:
        if total <= MOST_BYTES * 3 // 4:
            return
        with contextlib.suppress(OSError):  # another process was quicker
            path.unlink()
        total -= status.st_size


def _entries(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Every entry of the folder, half-written ones included; other files are left alone."""
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            with contextlib.suppress(OSError):
                if _NAME.match(entry.name):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def size() -> tuple[int, int]:
    """How many entries there are, and their bytes. Raises Refused."""
    directory = folder()
    sizes = [status.st_size for _, status in _entries(directory)] if directory else []
    return len(sizes), sum(sizes)


def empty() -> int:
    """Remove all entries and return how many there were; other processes make theirs again. Raises Refused."""
    directory = folder()
    paths = [path for path, _ in _entries(directory)] if directory else []
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(paths)
