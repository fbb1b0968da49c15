"""Notebooks in zip files, read member by member into memory: nothing is unpacked to disk, no header is believed.

What is read is counted while it is read, so that an archive that lies about its sizes stops at the same limit. Other
archives are refused in words: whoever hands in unpacks them, or makes a zip file of the same.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from helpers.grading.untrusted import MOST_BYTES, Refused

NOTEBOOK = ".ipynb"
ZIP = ".zip"
ENDINGS = re.compile(r"\.(zip|7z|rar|tgz|tbz2|txz|tar|(tar\.)?(gz|bz2|xz|zst|lzma))$", re.IGNORECASE)
"""How names of archives end, readable here or not."""
DIRECTORY_ENTRY = b"PK\x01\x02"  # each member of a zip needs one, so their count bounds the members
LONGEST_NAME = 1_000
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


def ending(name: str) -> str:
    """How a name ends that is an archive's, as it is written; "" for others."""
    found = ENDINGS.search(name)
    return found.group() if found else ""


def is_zip(name: str) -> bool:
    """Whether a file is called like an archive that can be read here."""
    return name.lower().endswith(ZIP)


def members(name: str, file: io.BufferedIOBase, size: int, limits: Limits = OF_ONE_STUDENT) -> Iterator[Member]:
    """The files in the archive `file` of `size` bytes, called `name`; raises Refused for the archive as a whole."""
    if not is_zip(name):
        raise Refused(f"only .zip archives can be read: {UNPACK}")
    if size > limits.packed:
        raise Refused(f"the archive has more than {limits.packed // 1_000_000} MB: {UNPACK}")
    try:
        yield from _zip(file, limits)
    except Refused:
        raise
    except (RuntimeError, NotImplementedError, MemoryError):
        # A password, an unknown way of packing, a dictionary of gigabytes.
        raise Refused(f"the archive can't be unpacked (is it encrypted?): {UNPACK}") from None
    except Exception:
        # zipfile and what it unpacks with raise a dozen kinds of errors at damaged data, not all documented.
        raise Refused(f"the archive is damaged, or isn't an archive: {UNPACK}") from None


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


def _zip(file: io.BufferedIOBase, limits: Limits) -> Iterator[Member]:
    too_many = Refused(f"the archive holds more than {limits.members:,} files: {UNPACK}")
    if _count(file, DIRECTORY_ENTRY, limits.members + 1) > limits.members:
        raise too_many  # before a list of them all is made
    unpacked = 0
    with zipfile.ZipFile(file) as archive:
        for number, info in enumerate(archive.infolist()):
            if number == limits.members:
                raise too_many
            name = info.orig_filename
            path = safe(name)
            if name.endswith("/"):
                continue
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise Refused(f"the archive holds a link or a device: {UNPACK}")
            if path.suffix.lower() != NOTEBOOK:
                yield Member(path)
                continue
            with archive.open(info) as opened:
                data = opened.read(MOST_BYTES + 1)  # one byte too many is enough for untrusted.parse to refuse it
            unpacked += len(data)
            if unpacked > limits.unpacked:
                raise Refused(f"the archive unpacks to more than {limits.unpacked // 1_000_000} MB: {UNPACK}")
            yield Member(path, data)


def _count(file: io.BufferedIOBase, word: bytes, enough: int) -> int:
    """How often `word` stands in `file`, counted up to `enough`; leaves the file at its start."""
    found, rest = 0, b""
    while found < enough and (block := file.read(1 << 20)):
        data = rest + block
        found += data.count(word)
        rest = data[-(len(word) - 1) :]
    file.seek(0)
    return found
