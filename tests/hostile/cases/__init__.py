"""The table of cases, by what they attack."""

from __future__ import annotations

from dataclasses import dataclass

from tests.hostile.case import Case
from tests.hostile.cases import (
    displays,
    files,
    functions,
    honest,
    kernels,
    machine,
    messages,
    python,
    spies,
    streams,
    walls,
)
from tests.hostile.lab import BOOKS, FUNCTIONS, KERNELS, STREAMS, SUMS, Book

TABLE: dict[str, tuple[Book, tuple[Case, ...]]] = {
    "Honest work that must not lose a mark": (KERNELS, honest.CASES),
    "Kernels that are not what they seem": (SUMS, kernels.CASES),
    "Walls between a kernel and its judge": (SUMS, walls.CASES),
    "Forged evidence": (SUMS, displays.CASES),
    "Values of functions": (FUNCTIONS, functions.CASES),
    "Hidden inputs in feedback": (FUNCTIONS, walls.OF_FUNCTIONS),
    "Programs of stream work": (STREAMS, streams.CASES),
    "Python in the student's kernel": (KERNELS, python.CASES),
    "Looking for what is hidden": (SUMS, spies.CASES),
    "Jupyter's messages": (KERNELS, messages.CASES),
    "The machine": (KERNELS, machine.CASES),
    "Files": (SUMS, files.CASES),
}
"""What a group of cases attacks -> the lab that it is handed in to, and its cases."""


@dataclass(frozen=True)
class Planned:
    """All cases of one lab."""

    book: Book
    cases: tuple[Case, ...]


def attacks() -> dict[str, Planned]:
    """The cases by the names of the books that they are handed in to; books whose lab there is not are left out."""
    return {
        name: Planned(book, tuple(case for of, cases in TABLE.values() if of is book for case in cases))
        for name, book in BOOKS.items()
        if book.found and any(of is book for of, _ in TABLE.values())
    }


WALLS: dict[str, tuple[Book, dict[str, str]]] = {
    "few-two-kernels": (
        KERNELS,
        {
            "cases that are not shown": "kernel-public-cases-only",
            "the bounds of what a kernel touches": "wall-tensor-map",
            "evidence is looked at, not believed": "display-twice",
            "what a judge unpacks": "evidence-bomb",
            "time": "python-endless-deaf",
            "memory": "python-memory",
            "how much may be shown": "python-print-much",
            "which message is whose": "message-results",
            "processes of others": "machine-kill-all",
            "processes that would stay": "machine-detached",
            "files of others": "machine-files-elsewhere",
            "what is hidden": "spy-files",
            "the network": "spy-network",
            "a notebook is read with care": "file-deep",
            "what a terminal obeys": "\x1b[2Jansi",
        },
    ),
    "few-a-function": (FUNCTIONS, {"a value is compared as data": "function-equal", "feedback": "tells-by-words"}),
    "few-stream-work": (STREAMS, {"a program is replayed, not believed": "stream-invented"}),
}
"""A lab, and for each wall that its students are kept behind one case that runs against it."""


def one_for_each_wall() -> dict[str, Planned]:
    """The cases of WALLS."""
    every = {case.name: case for _, cases in TABLE.values() for case in cases}
    return {
        name: Planned(book, tuple(every[case] for case in walls.values()))
        for name, (book, walls) in WALLS.items()
        if book.found
    }
