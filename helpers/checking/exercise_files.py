"""The folder of an exercise, as its author writes it: read, checked and handed over as it stands.

`exercise.toml` holds the words, the limits and the patches; `solution.py` or `solution.cu` the solution, of a lab it
lies in the lab's source; `wrong/` and `right/` whole programs that `exercise.toml` names; `cases.py` what has to be
Python: data, launches, measures. Line breaks in words are spaces, so that paragraphs can be wrapped.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

SHEET = "exercise.toml"
Patch = tuple[str, str]
WrittenWay = str | list[str | Patch]
"""What is written for a way: the name of a program, ["old", "new"], or a list of such pairs."""
Way = str | Patch | tuple[Patch, ...]
"""The same to be worked with: the text of a program, a patch of the solution, or several."""


class BadExercise(ValueError):
    """A folder that isn't an exercise; the message names the file, the key and what to write there."""


class NoWay(ValueError):
    """A patch that doesn't fit the solution; the message says why."""


class _Table(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Unknown keys are errors."""


class BudgetTable(_Table):
    """`[[budgets]]`: words and a limit, whose measure is in `MEASURES` of `cases.py` by its label.

    `shared`: the name of a `Budget` in the book's `budgets.py` or in `helpers/checking/budgets.py`, which has all that
    is left out here.
    """

    shared: str = ""
    label: str | None = None
    at_most: int | float | None = None
    teach: str | None = None
    line_by: str | None = None
    of: Literal["launch", "warp", "warps", "machine code", "answer"] | None = None


class MistakeTable(_Table):
    """`[[mistakes]]`: a name, the words that help, and the ways to make it; programs are in `wrong/`."""

    name: str
    teach: str
    ways: list[WrittenWay]


class EquivalentTable(_Table):
    """`[[equivalent]]`: changes of the solution that leave it right, and why they do."""

    why: str
    patches: list[Patch]


class RightTable(_Table):
    """`[[right]]`: a right answer by another route; a program is in `right/`."""

    name: str
    way: WrittenWay


class Sheet(_Table):
    """What `exercise.toml` holds; `Exercise` says what each key means."""

    title: str
    language: Literal["numba", "cuda", "python", "tensors", "streams"]
    name: str
    hints: tuple[str, str, str]
    why: str
    stretch: str
    tolerance: float = 1e-5
    sanitize: bool = False
    shared_out: bool = False
    also_wrong: tuple[str, ...] = ()
    patience: int | float = 1.0
    gpu: str = ""
    options: tuple[str, ...] = ()
    budgets: list[BudgetTable] = []
    mistakes: list[MistakeTable] = []
    equivalent: list[EquivalentTable] = []
    right: list[RightTable] = []

    @property
    def suffix(self) -> str:
        """The ending of programs in its language."""
        return ".cu" if self.language == "cuda" else ".py"


class Folder:
    """An exercise's folder, read: the `sheet`, the `solution` ("" for a lab's), and ways as texts and patches."""

    def __init__(self, path: Path):
        self.path = path
        self.sheet = _sheet(path / SHEET)
        solution = path / f"solution{self.sheet.suffix}"
        self.solution = solution.read_text(encoding="utf-8") if solution.exists() else ""
        for place, patches in self._patches() if self.solution else ():
            try:
                replaced(self.solution, patches)
            except NoWay as error:
                raise self._bad(place, f"{solution.name} {error}: copy the part to be replaced from there") from None

    def way(self, written: WrittenWay, folder: str, place: str) -> Way:
        """A way of the sheet; `place`, the key it stands at, is for messages."""
        if not isinstance(written, str):
            patches = _pairs(written, lambda words: self._bad(place, words))
            return patches[0] if len(patches) == 1 else patches
        program = self.path / folder / written
        if not program.is_file():
            raise self._bad(place, f"there is no {folder}/{written}: write that program, or a patch [old, new]")
        return program.read_text(encoding="utf-8")

    def _patches(self) -> Iterable[tuple[str, Iterable[Patch]]]:
        """Where patches of the solution stand in the sheet, and those patches."""
        ways = [
            *(((f"mistakes {each.name!r}, way {n}"), way)
              for each in self.sheet.mistakes for n, way in enumerate(each.ways, 1)),
            *((f"right {each.name!r}", each.way) for each in self.sheet.right),
            *((f"equivalent {each.why!r}", patch) for each in self.sheet.equivalent for patch in each.patches),
        ]  # fmt: skip
        for place, way in ways:
            if not isinstance(way, str):
                yield place, _pairs(way, lambda words, place=place: self._bad(place, words))

    def _bad(self, place: str, words: str) -> BadExercise:
        return BadExercise(f"{self.path / SHEET}: {place}: {words}")


def replaced(text: str, patches: Iterable[Patch]) -> str:
    """A text with patches applied one after another: every `old` becomes `new`. NoWay where one doesn't fit."""
    changed = text
    for old, new in patches:
        if old not in changed:
            raise NoWay(f"has no {old!r}")
        changed = changed.replace(old, new)
    if changed == text:
        raise NoWay(f"stays as it is: {tuple(patches)!r} changes nothing")
    return changed


def one_line(words: str) -> str:
    """Words as they are shown: line breaks are spaces."""
    return " ".join(words.split())


def _pairs(written: Sequence[Any], bad: Callable[..., BadExercise]) -> tuple[Patch, ...]:
    """A patch or a list of patches, as patches."""
    patches = (tuple(written),) if all(isinstance(part, str) for part in written) else tuple(written)
    if not patches or any(isinstance(patch, str) or len(patch) != 2 for patch in patches):
        raise bad(f'a patch is ["old", "new"], several are a list of such pairs, not {written!r}')
    return patches


def _sheet(path: Path) -> Sheet:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Sheet)
    except FileNotFoundError:
        raise BadExercise(f"{path}: there is no such file; `warpbook new exercise` writes one") from None
    except tomllib.TOMLDecodeError as error:
        raise BadExercise(f"{path}: {error}") from None
    except msgspec.ValidationError as error:
        tables = (Sheet, BudgetTable, MistakeTable, EquivalentTable, RightTable)
        names = ("at the top", "[[budgets]]", "[[mistakes]]", "[[equivalent]]", "[[right]]")
        keys = "\n".join(f"  {name}: {', '.join(table.__struct_fields__)}"
                         for name, table in zip(names, tables, strict=True))  # fmt: skip
        raise BadExercise(f"{path}: {error}\nThe keys are\n{keys}") from None
