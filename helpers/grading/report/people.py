"""Which row of a class list or a gradebook belongs to which student: one way for the roster, Canvas and Moodle."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from helpers.grading.names import platform_number


class HandedIn(Protocol):
    """A student as submissions show them: a name, the files they handed in, and what `also` they are called."""

    @property
    def student(self) -> str: ...
    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def also(self) -> tuple[str, ...]: ...


Whoever = TypeVar("Whoever", bound=HandedIn)


@dataclass(frozen=True)
class Person:
    """A row: `keys` identify the student, the surest first; `name` may be "Last, First"; `number` is the platform's."""

    keys: tuple[str, ...]
    name: str = ""
    number: str = ""


@dataclass(frozen=True)
class Matched(Generic[Whoever]):
    """`rows`: index of a person -> student. `unclear`: students who could be several persons, and how many.
    `claimed`: index of a person -> the several students who would be this person; they get no row."""

    rows: dict[int, Whoever]
    unclear: tuple[tuple[Whoever, int], ...]
    claimed: dict[int, tuple[Whoever, ...]]


def match(people: Sequence[Person], students: Iterable[Whoever]) -> Matched[Whoever]:
    """Each person gets at most one student, and nothing is guessed: what is unclear stays without a row."""
    depth = max((len(person.keys) for person in people), default=0)
    by_key: list[dict[str, set[int]]] = [{} for _ in range(depth)]
    by_name: dict[str, set[int]] = {}
    by_letters: dict[str, set[int]] = {}
    by_number: dict[str, set[int]] = {}
    for index, person in enumerate(people):
        for table, key in zip(by_key, person.keys, strict=False):
            table.setdefault(folded(key), set()).add(index)
        for name in _spellings(person.name):
            by_name.setdefault(name, set()).add(index)
        by_letters.setdefault(_letters(person.name), set()).add(index)
        by_number.setdefault(folded(person.number), set()).add(index)

    def called(name: str) -> set[int]:
        wanted, letters = folded(name), _letters(name)
        rows = next((table[wanted] for table in by_key if wanted and wanted in table), None)
        rows = rows or set().union(*(by_name.get(each, set()) for each in _spellings(name)))
        return rows or (by_letters.get(letters, set()) if letters else set())

    claims: dict[int, list[Whoever]] = {}
    unclear = []
    for student in students:
        names = (student.student, _without_numbers(student), *student.also)
        rows = next(filter(None, map(called, names)), set())
        if len(rows) > 1:  # namesakes, whom the platform's number tells apart
            rows = rows & set().union(*(by_number.get(number, set()) for number in _numbers(student))) or rows
        if len(rows) == 1:
            claims.setdefault(min(rows), []).append(student)
        elif rows:
            unclear.append((student, len(rows)))
    return Matched(
        {index: several[0] for index, several in claims.items() if len(several) == 1},
        tuple(unclear),
        {index: tuple(several) for index, several in sorted(claims.items()) if len(several) > 1},
    )


def _numbers(student: HandedIn) -> set[str]:
    """The numbers that a platform gave to the student, as names of downloaded files have them."""
    return {number for file in student.files if (number := platform_number(file))}


def _without_numbers(student: HandedIn) -> str:
    name = student.student
    for number in _numbers(student):
        name = name.removesuffix(f"_{number}")
    return name


def folded(text: str) -> str:
    """`text` without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _letters(name: str) -> str:
    """The letters and digits of a name, without accents: Canvas drops the rest when it names files."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", name).casefold() if sign.isalnum())


def _spellings(name: str) -> Iterator[str]:
    """A name as it is, and with its two parts in the other order."""
    plain = folded(name)
    if plain:
        yield plain
    last, comma, first = plain.partition(",")
    if comma:
        yield f"{first.strip()} {last.strip()}".strip()
