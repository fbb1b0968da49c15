"""The compilers' results, kept on disk from one process to the next: PTX, machine code, the assembler's reports.

An entry is a file named by a hash of everything that the result depends on, so no entry is ever out of date. Processes
share the folder without a lock: an entry is written to a temporary file, which is then renamed. An entry that is
truncated or changed doesn't match its checksum and is made again. Where an entry can't be stored (a full disk, a
read-only folder), the result is used all the same.

`VGPU_CACHE` names another folder; `VGPU_CACHE=off` keeps nothing. A folder that another user may write to is
not used, since machine code is read from it. Students' code, the runner and the judge of the grader keep and read
nothing at all (`grading/sandbox/server.py`).

Libraries for caches were looked at: `joblib` and `diskcache` read pickles, with which a damaged file could do anything,
and the latter needs SQLite's locks, which shared homes often lack.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vgpu.base.settings import setting

OFF = "off"
MOST_BYTES = 512 << 20
NO_COMPILERS = ("bench", "hardware", "tests", "tools")
CHECKSUM_BYTES = hashlib.sha256().digest_size
_NAME = re.compile(r"[a-z]+-[0-9a-f]{64}(\.|$)")
_written: int | None = None  # bytes since this process last measured the folder; None: it hasn't yet


class Refused(ValueError):
    """A folder in which nothing is kept; the message says why, and the fix."""


def kept(
    kind: str,
    packages: Sequence[str],
    inputs: Sequence[object],
    make: Callable[[], bytes],
    valid: Callable[[bytes], bool] = lambda entry: True,
) -> bytes:
    """The result of `make()`, which is called only where no process has kept it yet.

    kind: "ptx" and the like, the beginning of the file's name. packages: the distributions whose versions the result
    depends on; where one is not installed as such, nothing is kept. inputs: all else that it depends on, as JSON can
    hold it; the engine's own sources need not be named. valid: whether an entry still holds, where `make` finds out
    what else it depends on; one that doesn't is replaced. Errors: those of `make`, which are not kept.
    """
    path = _path(kind, packages, inputs)
    if path is None:
        return make()
    if (data := _read(path)) is None or not valid(data):
        data = make()
        _write(path, data)
    return data


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
    except (Refused, importlib.metadata.PackageNotFoundError):
        return None
    if directory is None:
        return None
    key = json.dumps([_engine(), kind, versions, list(inputs)])
    return directory / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()}"


_version = functools.cache(importlib.metadata.version)


@functools.cache
def _engine() -> str:
    """A hash of the sources that decide what compilers are given and what is made of it."""
    engine = Path(__file__).parents[1]
    files = sorted(path for path in engine.rglob("*.py") if path.relative_to(engine).parts[0] not in NO_COMPILERS)
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


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
