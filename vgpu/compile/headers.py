"""The headers that a source includes, found without the compiler: a kept result is valid while none has changed.

Headers of NVIDIA's packages change with the packages' versions only, and are not opened. Where the others lie is
remembered from one process to the next, and looked up again when one of them or of the folders searched has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from vgpu.base import on_disk

_INCLUDE = re.compile(r"(?:(?:#|%:)\s*include|__has_include)(?:_next)?\b(.*)")
_NAME = re.compile(r'[\s(]*(?:"([^"]+)"|<([^>]+)>)')
_MENTIONED = re.compile(r"(?:#|%:)\s*ifn?def\s+__has_include|defined\s*\(?\s*__has_include")  # but not called
_TIME = re.compile(r"__(?:DATE|TIME)__")
_FOLDERS = ("-I", "--include-path")
_FILES = ("-include", "--pre-include")


class UnknownHeaders(ValueError):
    """What a compilation depends on can't be found from its text."""


def stamp(folders: Sequence[str]) -> list[str]:
    """The folders, and the names and versions of the packages that their headers belong to."""
    found = set(folders)
    parents = {parent for folder in folders for parent in Path(folder).parents}
    for directory in (parent for parent in parents if parent.name.endswith("-packages")):
        found |= {name for name in os.listdir(directory) if name.startswith("nvidia") and name.endswith(".dist-info")}
    return sorted(found)


def own(source: str, options: Sequence[str], packaged: Sequence[str], name: str = "") -> list[tuple[str, str]]:
    """Path and hash of every header that the source may include, and that lies in none of the folders `packaged`.

    name: of the source, in whose folder the compiler looks as well. It searches every folder that may have a header,
    and all branches of the preprocessor: the result may contain too many headers, never too few. Raises UnknownHeaders
    for an include whose name is made by a macro, and for a text that asks for the date or time.
    """
    search = _Search(options, packaged, name)
    _refuse_time(" ".join(options))
    first = search.named(source, search.files)
    if not any(map(os.path.isfile, first)):
        return []
    key = search.folders, hashlib.sha256(source.encode()).hexdigest(), list(options), os.getcwd()
    found = on_disk.remembered("headers", key, lambda: (json.dumps(search.all(first)).encode(), search.seen()))
    return [(path, digest) for path, digest in json.loads(found)]


class _Search:
    """Where headers may lie: `folders`, which are searched for each, and the `files` that options include."""

    def __init__(self, options: Sequence[str], packaged: Sequence[str], name: str):
        folders, self.files = _of_options(options)
        wanted = (os.path.dirname(name) or os.curdir, os.curdir, *folders)
        self.folders = list(dict.fromkeys(folder for folder in wanted if folder not in packaged))
        self.tried: set[str] = set()

    def all(self, first: Sequence[str]) -> list[tuple[str, str]]:
        """Path and hash of the files among `first`, and of all that they may include."""
        found: dict[str, str] = {}
        waiting = list(first)
        while waiting:
            path = os.path.abspath(waiting.pop())
            if path in self.tried:
                continue
            self.tried.add(path)
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            found[path] = hashlib.sha256(data).hexdigest()
            waiting += self.named(data.decode(errors="replace"), around=os.path.dirname(path))
        return sorted(found.items())

    def named(self, text: str, given: Sequence[str] = (), around: str | None = None) -> list[str]:
        """Where the headers that a text names may lie; `around` is its folder. `given` are names besides."""
        folders = self.folders if around is None else [around, *self.folders]
        _refuse_time(text)
        return [os.path.join(folder, name) for name in (*given, *_included(text)) for folder in folders]

    def seen(self) -> set[str]:
        """The files that were found, and for the others the nearest folders there are."""
        seen: set[str] = set()
        for path in self.tried:
            while path not in seen and not os.path.exists(path):
                path = os.path.dirname(path)
            seen.add(path)
        return seen


def _refuse_time(text: str) -> None:
    if _TIME.search(text):
        raise UnknownHeaders("the text asks for the date or time")


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
    text = _MENTIONED.sub("", text.replace("\\\n", ""))
    for match in _INCLUDE.finditer(text):
        named = _NAME.match(match[1])
        if named is None:
            if "//" in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]:
                continue
            raise UnknownHeaders(f"the name of a header is made by a macro: {match[0].strip()}")
        yield named[1] or named[2]
