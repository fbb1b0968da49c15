"""Leaks: device memory that was allocated within a `with` block and is alive at its end, by the user's line."""

from __future__ import annotations

import contextlib
import gc
import html
import linecache
import re
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from vgpu.base.ours import ours
from vgpu.storage import heap, heap_words, memory
from vgpu.storage.host import size_text

_INSTALLED = re.compile(r"[/\\](site-packages|dist-packages)[/\\]|^<frozen|[/\\]lib[/\\]python3")
# Files that allocate for launches and modules: none of that is an array of the user's.
_OWN = {"layout.py", "grid.py", "machine.py"}
_NAMES = {"cupy": "array", "pinned": "pinned memory", "cuda array": "CUDA array", "device": "device memory"}


@dataclass(frozen=True)
class Leak:
    """What one line allocated and the program didn't free: `count` allocations of `nbytes` bytes in all.

    file is the base name of the user's file, or "<notebook>" for a cell; line, source: where it was allocated;
    what: the kind of memory, or its label.
    """

    file: str
    line: int
    source: str
    what: str
    count: int
    nbytes: int

    def __str__(self) -> str:
        many = f"{self.count} × {self.what}" if self.count > 1 else self.what
        return f"leak: {many}, {size_text(self.nbytes)}\n  {self.file}, line {self.line}: {self.source}".rstrip(": ")


class Leaks:
    """The leaks of a `with` block, filled at its end: a sequence that is true where there are some."""

    def __init__(self) -> None:
        self.found: tuple[Leak, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all that was allocated has been freed."""
        return not self.found

    @property
    def nbytes(self) -> int:
        """Bytes of all leaks."""
        return sum(leak.nbytes for leak in self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Leak]:
        return iter(self.found)

    def __getitem__(self, at: int) -> Leak:
        return self.found[at]

    @property
    def title(self) -> str:
        if not self.found:
            return "leaks: none"
        many = sum(leak.count for leak in self.found)
        return f"leaks: {many} allocation{'' if many == 1 else 's'} still alive, {size_text(self.nbytes)}"

    def __repr__(self) -> str:
        if not self.found:
            return self.title
        fix = "  Usual fix: free what malloc gave; let no list, dictionary or global name keep arrays of old rounds."
        return "\n\n".join([self.title, *map(str, self.found)]) + "\n" + fix

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


@contextlib.contextmanager
def leaks() -> Iterator[Leaks]:
    """`with leaks() as found:` lists the device memory that was allocated in the block and is alive at its end.

    Arrays count, and so do `cp.cuda.alloc`, `runtime.malloc`, pinned memory, `cuda.device_array`, and memory that
    kernels took from their heap with malloc or new. Memory that is meant to outlive the block counts too: allocate it
    before. Pools keep nothing here, so every leak is held by a name, a container or a pointer that wasn't freed.
    """
    found = Leaks()
    noted: list[_Noted] = []
    launches: set[heap.LaunchRecord] = set()

    def note(allocation: memory.Allocation) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename == memory.__file__:
            frame = frame.f_back
        if frame is None or Path(frame.f_code.co_filename).name in _OWN:
            return
        noted.append((weakref.ref(allocation._block), *_user_line(frame), allocation.label, allocation.kind))

    try:
        with memory.ALLOCATED.hearing(note), heap.LAUNCHES.hearing(launches.add):
            yield found
    finally:
        gc.collect()
        memory.usage()  # takes off the books what the collector has freed
        found.found = _grouped(noted) + _in_heap(launches)


def _in_heap(launches: set[heap.LaunchRecord]) -> tuple[Leak, ...]:
    """What kernels have allocated in these launches and not freed, by the line of the kernel."""
    area = heap.current()
    groups: dict[tuple, list[heap.HeapAllocation]] = {}
    for piece in area.live() if area is not None and launches else ():
        launch, site, _, _ = piece.caller
        if launch in launches:
            groups.setdefault((launch.kernel, launch.line(site)), []).append(piece)
    found = []
    for (kernel, line), pieces in groups.items():
        # By number, since blocks run in whatever order they find a core.
        first, _ = heap_words.caller_text(min(pieces, key=lambda piece: piece.caller[2:]).caller)
        what = f"memory that kernel {kernel.name} allocated, first {first}"
        file, source = getattr(kernel, "filename", ""), kernel.line_text(line) if hasattr(kernel, "line_text") else ""
        cell = "ipykernel" in file or file.startswith("<")
        name = "<notebook>" if cell else Path(file).name
        found.append(Leak(name, line or 0, source, what, len(pieces), sum(piece.nbytes for piece in pieces)))
    return tuple(sorted(found, key=lambda leak: (leak.file, leak.line)))


def _user_line(innermost: FrameType) -> tuple[str, int]:
    """File and line of the innermost frame that is neither ours nor an installed package's."""
    frame: FrameType | None = innermost
    while frame is not None:
        name = frame.f_code.co_filename
        if not ours(frame.f_globals.get("__name__", "")) and not _INSTALLED.search(name):
            return name, frame.f_lineno
        frame = frame.f_back
    return innermost.f_code.co_filename, innermost.f_lineno


_Noted = tuple[weakref.ref, str, int, str, str]  # the allocation's block, file, line, label, kind


def _grouped(noted: list[_Noted]) -> tuple[Leak, ...]:
    groups: dict[tuple, list[int]] = {}
    for block, file, line, label, kind in noted:
        alive = block()
        if alive is not None and not alive.freed:
            groups.setdefault((file, line, label or _NAMES.get(kind, kind)), []).append(alive.nbytes)
    found = []
    for (file, line, what), sizes in groups.items():
        source = linecache.getline(file, line).strip()
        cell = "ipykernel" in file or file.startswith("<")
        found.append(Leak("<notebook>" if cell else Path(file).name, line, source, what, len(sizes), sum(sizes)))
    return tuple(sorted(found, key=lambda leak: (leak.file, leak.line, leak.what)))
