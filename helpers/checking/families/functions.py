"""What Python functions return in place of the right value; each row holds for every call that is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np

from helpers.checking.examine import Evidence
from helpers.checking.exercise import Form, alike, comparable
from helpers.checking.families.family import UNRECOGNISED, Family, Look, failing

NUMBERS = int | float | np.integer | np.floating


def _calls(evidence: Evidence) -> list[tuple[Any, Any, str]]:
    """(got, wanted, case) of each wrong call, if each returned something; else none."""
    found = failing(evidence)
    if not evidence.exercise.asks_for_a_function or any(o.error is not None for o in found):
        return []
    return [(o.got, o.case.expected, o.case.name) for o in found]


def _numbers(evidence: Evidence) -> list[tuple[float, float, str]]:
    calls = _calls(evidence)
    return calls if all(isinstance(a, NUMBERS) and isinstance(b, NUMBERS) for a, b, _ in calls) else []


def _is(test: Callable[[Any, Any], object], words: Callable[[Any, Any], str] = lambda got, wanted: "") -> Look:
    def look(evidence: Evidence) -> str | None:
        calls = _numbers(evidence)
        return words(*calls[0][:2]) if calls and all(test(got, wanted) for got, wanted, _ in calls) else None

    return look


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)


def _constant(relation: Callable[[float, float], float | None], words: str) -> Look:
    """The same number leads from the right value to the wrong one in every wrong call, and there are two at least."""

    def look(evidence: Evidence) -> str | None:
        calls = _numbers(evidence)
        found = [n for got, wanted, _ in calls if (n := relation(got, wanted)) is not None]
        if len(found) < max(3, len(calls)) or not all(_near(found[0], n) for n in found):
            return None
        return words.format(f"{found[0]:.6g}")

    return look


def _ratio(got: float, wanted: float) -> float | None:
    return got / wanted if wanted and got else None


def _form(evidence: Evidence) -> str | None:
    """What all that is wrong lacks of the form that was asked for, as the first case shows it."""
    calls = _calls(evidence)
    if not calls or not all(isinstance(wanted, Form) for _, wanted, _ in calls):
        return None
    got, wanted, name = calls[0]
    return f"With {name}, it is {wanted.lacks(got)} and should be {wanted}."


def _shape(evidence: Evidence) -> str | None:
    calls = _calls(evidence)
    if not calls or any(not _two_arrays(got, wanted) or got.shape == wanted.shape for got, wanted, _ in calls):
        return None
    got, wanted, name = calls[0]
    return f"With {name}, it has the shape {got.shape} and should have {wanted.shape}."


def _two_arrays(got: object, wanted: object) -> bool:
    return isinstance(got, np.ndarray) and isinstance(wanted, np.ndarray)


def _type(evidence: Evidence) -> str | None:
    calls = _calls(evidence)
    if not calls or any(_sort(got) == _sort(wanted) for got, wanted, _ in calls):
        return None
    got, wanted, name = calls[0]
    return f"With {name}, it is of type {type(got).__name__} and should be {_article(wanted)}."


def _sort(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "bool"
    return "number" if isinstance(value, NUMBERS) else type(value).__name__


def _article(value: object) -> str:
    return {
        "int": "a whole number",
        "float": "a number",
        "str": "a text",
        "bool": "True or False",
        "ndarray": "a NumPy array",
    }.get(type(value).__name__, f"a {type(value).__name__}")


def _pieces(evidence: Evidence) -> list[tuple[tuple, tuple, str]]:
    calls = _calls(evidence)
    return calls if all(isinstance(a, tuple | list) and type(a) is type(b) for a, b, _ in calls) else []


def _length(evidence: Evidence) -> str | None:
    calls = _pieces(evidence)
    if not calls or any(len(got) == len(wanted) for got, wanted, _ in calls):
        return None
    got, wanted, name = calls[0]
    return f"With {name}, there are {len(got)} and should be {len(wanted)}."


def _other_order(evidence: Evidence) -> str | None:
    calls = _pieces(evidence)
    return (
        "" if calls and all(sorted(map(repr, got)) == sorted(map(repr, wanted)) for got, wanted, _ in calls) else None
    )


def _one_piece(evidence: Evidence) -> str | None:
    """In which piece, or piece of a piece, all differences lie, the same in all wrong calls."""
    calls = [(g, w, n) for g, w, n in _pieces(evidence) if len(g) == len(w)]
    if not calls or len(calls) < len(_calls(evidence)):
        return None
    places = [place for got, wanted, _ in calls for place in _differences(got, wanted)]
    common = [f"[{each[0]}]" for each in takewhile(lambda each: len(set(each)) == 1, zip(*places, strict=False))]
    return f"The wrong one is result{''.join(common)}." if common else None


def _differences(got: Any, wanted: Any) -> list[tuple[int, ...]]:
    """Where two values differ: the numbers of the pieces that lead there, the outermost first."""
    if isinstance(got, tuple | list) and type(got) is type(wanted) and len(got) == len(wanted):
        pairs = enumerate(zip(got, wanted, strict=True))
        return [(i, *place) for i, (a, b) in pairs for place in _differences(a, b)]
    same = alike(got, wanted, 1e-4) if comparable(got, wanted) else repr(got) == repr(wanted)
    return [] if same else [()]


def _always(evidence: Evidence) -> str | None:
    calls = _calls(evidence)
    outcomes = [o.got for o in evidence.outcomes]
    if len(calls) < 2 or any(repr(got) != repr(outcomes[0]) for got in outcomes):
        return None
    return f"It returned {outcomes[0]!r} for every input."[:200]


def _each_piece(test: Callable[[float, float], bool]) -> Look:
    """Every piece that is wrong is so in one way, in two calls at least."""

    def look(evidence: Evidence) -> str | None:
        calls = [(g, w) for g, w, _ in _pieces(evidence) if len(g) == len(w)]
        if len(calls) < max(2, len(_calls(evidence))):
            return None
        pairs = [pair for got, wanted in calls for pair in zip(got, wanted, strict=True)]
        if not all(isinstance(piece, NUMBERS) for pair in pairs for piece in pair):
            return None
        if not all(a == b or test(a, b) for a, b in pairs):
            return None
        return f"These are {sum(a != b for a, b in pairs)} of {len(pairs)}."

    return look


def _spelling(evidence: Evidence) -> str | None:
    """The right words, but for capital letters and spaces."""
    calls = _calls(evidence)
    if not calls or not all(isinstance(a, str) and isinstance(b, str) and _bare(a) == _bare(b) for a, b, _ in calls):
        return None
    return f"With {calls[0][2]}, it is {calls[0][0]!r} and should be {calls[0][1]!r}."


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _single(evidence: Evidence) -> str | None:
    """One call alone is wrong, and several are right: it is the case that tells."""
    calls = _calls(evidence)
    alone = (
        len(calls) == 1 and len(evidence.outcomes) > 2 and not _pieces(evidence)
    )  # of pieces, which one is wrong tells
    return f"It is: {calls[0][2]}." if alone else None


def _seen(evidence: Evidence) -> str | None:
    calls = _calls(evidence)
    verb = "is" if len(calls) == 1 else "are"
    return f"{len(calls)} of {len(evidence.outcomes)} cases {verb} wrong." if calls else None


FAMILIES = (
    Family("the wrong form", _form, "The shape, kind and range of what is returned are part of the task."),
    Family("the wrong shape", _shape, "The shape of the returned array is part of the task."),
    Family("the wrong type", _type, "The type of the returned value is part of the task."),
    Family("the wrong number of values", _length, "The number of returned values is part of the task."),
    Family("the values are in the wrong order", _other_order, "The right values are returned in the wrong order."),
    Family("the same for every input", _always, "The returned value doesn't depend on the input."),
    Family(
        "true and false are swapped",
        _is(lambda a, b: isinstance(b, bool) and a == (not b)),
        "The answer is the opposite of the right one in every case that is wrong.",
    ),
    Family("a single case is wrong", _single, "What is special about this input?"),
    Family(
        "off by one: too large",
        _is(lambda a, b: _near(a, b + 1)),
        "The returned value is too large by 1 wherever it is wrong.",
    ),
    Family(
        "off by one: too small",
        _is(lambda a, b: _near(a, b - 1)),
        "The returned value is too small by 1 wherever it is wrong.",
    ),
    Family("the sign is wrong", _is(lambda a, b: _near(a, -b)), "The returned value has the wrong sign."),
    Family(
        "the reciprocal",
        _is(lambda a, b: a and b and _near(a, 1 / b)),
        "The returned value is 1 divided by the right one: a quotient is inverted.",
    ),
    Family(
        "rounded down",
        _is(lambda a, b: a == np.floor(b)),
        "The returned value is rounded down to a whole number. By //, int() or round()?",
    ),
    Family("rounded up", _is(lambda a, b: a == np.ceil(b)), "The returned value is rounded up."),
    Family(
        "rounded",
        _is(lambda a, b: _near(a, b) or any(a == round(b, n) for n in range(7))),
        "The returned value has too few digits.",
    ),
    Family(
        "a multiple of the right value",
        _constant(_ratio, "It is {} times what it should be."),
        "The returned value is off by the same factor in every case that is wrong. Is a unit wrong?",
    ),
    Family(
        "off by the same amount",
        _constant(lambda a, b: a - b, "It is {} too much."),
        "The returned value is off by the same amount in every case that is wrong.",
    ),
    Family(
        "off by one: too large",
        _each_piece(lambda a, b: _near(a, b + 1)),
        "The wrong values are too large by 1.",
    ),
    Family(
        "off by one: too small",
        _each_piece(lambda a, b: _near(a, b - 1)),
        "The wrong values are too small by 1.",
    ),
    Family(
        "rounded down",
        _each_piece(lambda a, b: a == math.floor(b)),
        "The wrong values are rounded down to whole numbers.",
    ),
    Family("spelled differently", _spelling, "Capital letters, spaces and punctuation count, too."),
    Family("one value is wrong", _one_piece, "All returned values but one are right."),
    Family("the value is wrong", _seen, UNRECOGNISED),
)
