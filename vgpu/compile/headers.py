"""The headers that a source includes, found without the compiler: a kept result is valid while none has changed.

Headers of NVIDIA's packages change with the packages' versions only, and are not opened.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_INCLUDE = re.compile(r"(?:(?:#|%:)\s*include|__has_include)(?:_next)?\b(.*)")
_NAME = re.compile(r'[\s(]*(?:"([^"]+)"|<([^>]+)>)')
_FOLDERS = ("-I", "--include-path")
_FILES = ("-include", "--pre-include")


class UnknownHeaders(ValueError):
    """A source's headers can't be found from its text."""


def stamp(folders: Sequence[str]) -> list[str]:
    """The folders, and the names and versions of the packages that their headers belong to."""
    found = set(folders)
    parents = {parent for folder in folders for parent in Path(folder).parents}
    for directory in (parent for parent in parents if parent.name.endswith("-packages")):
        found |= {name for name in os.listdir(directory) if name.startswith("nvidia") and name.endswith(".dist-info")}
    return sorted(found)


def own(source: str, options: Sequence[str], packaged: Sequence[str]) -> list[tuple[str, str]]:
    """Path and hash of every header that the source may include, and that lies in none of the folders `packaged`.

    It searches every folder that may have a header, and all branches of the preprocessor: the result may contain too
    many headers, never too few. Raises UnknownHeaders for an include whose name is made by a macro.
    """
    folders, first = _of_options(options)
    folders = [os.curdir, *(folder for folder in folders if folder not in packaged)]
    found: dict[str, str] = {}
    waiting = [os.path.join(folder, name) for folder in folders for name in (*first, *_included(source))]
    while waiting:
        path = os.path.abspath(waiting.pop())
        if path in found:
            continue
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        found[path] = hashlib.sha256(data).hexdigest()
        around = [os.path.dirname(path), *folders]
        waiting += [
            os.path.join(folder, name) for name in _included(data.decode(errors="replace")) for folder in around
        ]
    return sorted(found.items())


def _of_options(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folders and the files that NVRTC's options name: as `-Ifolder`, `--include-path=folder` or two words."""
    taken: dict[tuple[str, ...], list[str]] = {_FOLDERS: [], _FILES: []}
    words = iter(options)
    for word in words:
        for names, values in taken.items():
            if (name := next((name for name in names if word.startswith(name)), None)) is not None:
                values.append(word.removeprefix(name).lstrip("=").strip() or next(words, ""))
                break
    return taken[_FOLDERS], taken[_FILES]


def _included(text: str) -> Iterator[str]:
    """The names of headers in a text, in comments and in branches that are left out, too."""
    for match in _INCLUDE.finditer(text.replace("\\\n", "")):
        named = _NAME.match(match[1])
        if named is None:
            raise UnknownHeaders(f"the name of a header is made by a macro: {match[0].strip()}")
        yield named[1] or named[2]
