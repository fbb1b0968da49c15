"""What a teacher gives an explorer, checked before anything is drawn: the errors say what was meant to be there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, TypeVar

from vgpu.hardware.gpus import find

MOST_NAMED = 16
Version = TypeVar("Version")
Function = TypeVar("Function")
Option = TypeVar("Option")


def versions(given: Mapping[str, Version] | Version, what: str = "a kernel", kind: Any = object) -> dict[str, Version]:
    """What is chosen from, by name: `given` itself, which then has no name, or a mapping from short names to several.

    `kind`: the class of each of them, or `Callable`. Raises ValueError for a mapping without entries, TypeError for a
    list, for what is of another kind, and for names that are no text.
    """
    found = dict(given) if isinstance(given, Mapping) else {"": given}
    wrong: list[Any] = [each for each in found.values() if not isinstance(each, kind)]
    if isinstance(given, list | tuple | set):
        wrong = [given]
    if wrong:
        raise TypeError(f"this is a {type(wrong[0]).__name__}: give {what}, or a mapping from short names to several")
    if not found:
        raise ValueError(f"this mapping is empty: give {what}, or at least one by its name")
    if unnamed := [name for name in found if not isinstance(name, str)]:
        raise TypeError(f"the names of a mapping are text, and {unnamed[0]!r} is none: {{'first': …, 'second': …}}")
    return found


def arguments(given: object) -> tuple:
    """The arguments of a launch as a tuple. TypeError for what is no tuple and no list, such as one array."""
    if isinstance(given, tuple | list):
        return tuple(given)
    raise TypeError(
        f"arguments are a tuple, such as (x, y), or (x,) for one argument; this is of type {type(given).__name__}"
    )


def called(name: str, given: Function) -> Function:
    """A function, such as `args` of an explorer with controls. TypeError for what cannot be called."""
    if callable(given):
        return given
    raise TypeError(f"{name} is a function; this is of type {type(given).__name__}")


def bounds(name: str, given: object) -> tuple[int, int]:
    """(low, high) of a slider. TypeError for what is no pair of whole numbers, ValueError for high below low."""
    pair = tuple(given) if isinstance(given, tuple | list | range) else ()
    if len(pair) != 2 or not all(isinstance(end, Integral) and not isinstance(end, bool) for end in pair):
        raise TypeError(f"{name} is a pair of whole numbers, (low, high), for a slider between them; got {given!r}")
    low, high = map(int, pair)
    if low > high:
        raise ValueError(f"{name} goes from low to high, and {low} is more than {high}: give ({high}, {low})")
    return low, high


def options(name: str, given: object) -> list:
    """The values of a control. TypeError for what cannot be gone through or is one text, ValueError for none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} is a list of the values to choose from, such as [1, 2, 4]; got {given!r}")
    found = list(given)
    if not found:
        raise ValueError(f"{name} has no values to choose from: give at least one, such as [1]")
    return found


def among(name: str, value: Option, given: Iterable) -> Option:
    """`value`, which is one of the options of a control, each a value or (words, value). ValueError names them all."""
    every = list(given)
    pairs = all(isinstance(each, tuple) and len(each) == 2 for each in every)
    known = [each[1] for each in every] if pairs else every
    if any(value is each or value == each for each in known):
        return value
    near = difflib.get_close_matches(str(value), map(str, known), n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f", … ({len(known)} in all)" if len(known) > MOST_NAMED else ""
    raise ValueError(
        f"{name} cannot be {value!r}: it is one of {', '.join(map(repr, known[:MOST_NAMED]))}{more}.{hint}"
    )


def gpu_name(given: str) -> str:
    """A GPU's name as the table has it, whatever the case; KeyError names the nearest ones."""
    return find(given).name
