"""Notebooks in archives, read member by member into memory: nothing is unpacked to disk, no header is believed.

What is read is counted while it is read, so that an archive that lies about its sizes stops at the same limit.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from helpers.grading.untrusted import MOST_BYTES, Refused

NOTEBOOK = ".ipynb"
DIRECTORY_ENTRY = b"PK\x01\x02"  # each member of a zip needs one, so their count bounds the members
LONGEST_NAME = 1_000
LONGEST_HEADER = 4_000
"""Bytes of a tar header that holds names or more: some versions of tarfile read one in the square of its length."""
MOST_ENDS = 3
"""How often the end of a tar archive is met by who reads one that is whole: tarfile would go on for ever."""
UNPACK = "unpack it and hand in the .ipynb file itself"


@dataclass(frozen=True)
class Limits:
    """How much one archive may hold: bytes as it lies there, bytes unpacked, members."""

    packed: int = 20_000_000
    unpacked: int = 50_000_000
    members: int = 1_000


OF_ONE_STUDENT = Limits()
OF_A_CLASS = Limits(packed=2_000_000_000, unpacked=10_000_000_000, members=100_000)


@dataclass(frozen=True)
class Member:
    """One file in an archive: its bytes where it is a notebook that may be read, else why it was left out."""

    path: PurePosixPath
    data: bytes | None = None
    refused: str = ""


PLAIN: Callable = lambda file: file
OPENERS: dict[str, Callable | None] = {
    ".zip": None,  # read in another way: a zip is no stream
    ".tar": PLAIN,
    ".tar.gz": lambda file: gzip.GzipFile(fileobj=file),
    ".tgz": lambda file: gzip.GzipFile(fileobj=file),
    ".tar.bz2": bz2.BZ2File,
    ".tbz2": bz2.BZ2File,
    ".tar.xz": lzma.LZMAFile,
    ".txz": lzma.LZMAFile,
}
"""How names of archives end, and what unpacks the tar inside."""
ABOUT_THE_NEXT = (*tarfile.GNU_TYPES[:2], tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
UNKNOWN_ARCHIVES = (".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".lzma")


def suffix(name: str) -> str | None:
    """How the name of an archive ends, where it is one that can be read here."""
    return next((ending for ending in sorted(OPENERS, key=len, reverse=True) if name.lower().endswith(ending)), None)


def is_archive(name: str) -> bool:
    """Whether a file is called like an archive, readable here or not."""
    return suffix(name) is not None or name.lower().endswith(UNKNOWN_ARCHIVES)


def members(name: str, file: io.BufferedIOBase, size: int, limits: Limits = OF_ONE_STUDENT) -> Iterator[Member]:
    """The files in the archive `file` of `size` bytes, called `name`; raises Refused for the archive as a whole."""
    ending = suffix(name)
    if ending is None:
        raise Refused(f"an archive of this kind is not read: {UNPACK}, or a .zip of it")
    if size > limits.packed:
        raise Refused(f"the archive has more than {limits.packed // 1_000_000} MB: {UNPACK}")
    try:
        yield from _zip(file, limits) if ending == ".zip" else _tar(OPENERS[ending](file), limits)
    except Refused:
        raise
    except (RuntimeError, NotImplementedError, MemoryError):
        # A password, an unknown way of packing, a dictionary of gigabytes.
        raise Refused(f"the archive can not be unpacked (is it encrypted?): {UNPACK}") from None
    except Exception:
        # zipfile, tarfile and what they unpack with raise a dozen kinds of errors at damaged data, not all documented.
        raise Refused(f"the archive is damaged or no archive: {UNPACK}") from None


def safe(name: str) -> PurePosixPath:
    """The path of a member, if it stays where it belongs; raises Refused."""
    parts = name.split("/")
    if len(name) > LONGEST_NAME:
        raise Refused(f"the archive holds a path of more than {LONGEST_NAME:,} characters: {UNPACK}")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        raise Refused(f"the archive holds an absolute path: {UNPACK}")
    if ".." in parts or "\\" in name or "\0" in name:
        raise Refused(f"the archive holds a path with .. or a backslash: {UNPACK}")
    path = PurePosixPath(name)
    if not path.parts:
        raise Refused(f"the archive holds a file without a name: {UNPACK}")
    return path


class _Budget:
    """Counts members and unpacked bytes; raises Refused when there are too many."""

    def __init__(self, limits: Limits):
        self.limits, self.bytes, self.members = limits, 0, 0

    def take(self, count: int) -> None:
        self.bytes += count
        if self.bytes > self.limits.unpacked:
            raise Refused(f"the archive unpacks to more than {self.limits.unpacked // 1_000_000} MB: {UNPACK}")

    def member(self) -> None:
        self.members += 1
        if self.members > self.limits.members:
            raise Refused(f"the archive holds more than {self.limits.members:,} files: {UNPACK}")


def _zip(file: io.BufferedIOBase, limits: Limits) -> Iterator[Member]:
    if _count(file, DIRECTORY_ENTRY, limits.members + 1) > limits.members:
        raise Refused(f"the archive holds more than {limits.members:,} files: {UNPACK}")
    budget = _Budget(limits)
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.member()
            name = info.orig_filename
            mode = info.external_attr >> 16
            path = safe(name)
            if name.endswith("/"):
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise Refused(f"the archive holds a link or a device: {UNPACK}")
            if not _wanted(path):
                yield Member(path)
                continue
            with archive.open(info) as opened:
                yield _read(path, opened, budget)


def _tar(stream: io.BufferedIOBase, limits: Limits) -> Iterator[Member]:
    budget = _Budget(limits)
    with tarfile.open(fileobj=_Counted(stream, budget), mode="r|", errorlevel=2, tarinfo=_header(budget)) as archive:
        while info := archive.next():
            archive.members.clear()  # what has passed is not asked for again
            path = safe(info.name)
            if info.isdir():
                continue
            if not info.isreg() or info.issparse():
                raise Refused(f"the archive holds a link or a device: {UNPACK}")
            if not _wanted(path):
                yield Member(path)
                continue
            yield _read(path, archive.extractfile(info), None)


def _header(budget: _Budget) -> type[tarfile.TarInfo]:
    """What tarfile makes of each header, those that only say more of the next one included: counted, and not long."""

    class Header(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, *arguments) -> tarfile.TarInfo:
            found = super().frombuf(*arguments)
            budget.member()
            if found.size < 0:
                raise ValueError("a size below zero, by which tarfile would go back")
            if found.type in ABOUT_THE_NEXT and found.size > LONGEST_HEADER:
                raise Refused(f"the archive holds a header of more than {LONGEST_HEADER:,} bytes: {UNPACK}")
            return found

    return Header


class _Counted(io.RawIOBase):
    """A stream that counts what is read of it, and does not let what lies beyond its end be asked for again and again.

    A header of a few bytes may say that a file has any number of them, and tarfile skips them block by block.
    """

    def __init__(self, stream: io.BufferedIOBase, budget: _Budget):
        self.stream, self.budget, self.ends = stream, budget, 0

    def read(self, size: int = -1) -> bytes:
        size = size if 0 <= size <= 1 << 20 else 1 << 20
        data = self.stream.read(size)
        self.budget.take(len(data))
        self.ends += not data
        if self.ends > MOST_ENDS:
            raise Refused(f"the archive is cut off: {UNPACK}")
        return data


def _wanted(path: PurePosixPath) -> bool:
    return path.suffix.lower() == NOTEBOOK


def _read(path: PurePosixPath, opened: io.BufferedIOBase, budget: _Budget | None) -> Member:
    data = opened.read(MOST_BYTES + 1)
    if budget:
        budget.take(len(data))
    return Member(path, data)  # one byte too many is enough for untrusted.parse to refuse it


def _count(file: io.BufferedIOBase, word: bytes, enough: int) -> int:
    """How often `word` stands in `file`, counted up to `enough`; leaves the file at its start."""
    found, rest = 0, b""
    while found < enough and (block := file.read(1 << 20)):
        data = rest + block
        found += data.count(word)
        rest = data[-(len(word) - 1) :]
    file.seek(0)
    return found
