"""What an answer does on the public cases, small enough to keep: two that do the same made the same mistake.

A fingerprint is JSON: `cases` says of each how it came out, `found` the sanitizer's errors, `over` what exceeds its
budget, `alone` who does most of the work, and `asked` what stream work consists of. Nothing in it depends on how an
answer is written. Those of the ways to make a mistake are kept beside the exercises (`renew` writes them), so that no
learner's machine computes them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from helpers.checking.bounds import out_of
from helpers.checking.examine import Evidence, Outcome
from helpers.checking.exercise import Exercise, Form, Mistake, book_folder
from helpers.checking.stream_work import Unordered
from vgpu.base.errors import CompileError, KernelTimeout
from vgpu.tools.sanitize.findings import Finding

KEPT = "fingerprints.json"
RIGHT = "right"
_SHARED = re.compile(r"byte -?\d+ of the \w+'s \w+ memory")
FEW = 24
"""Operations of stream work that are told in their order."""
NEAR = 32
"""Elements by which an index may leave its array and still be told by it: beyond, it depends on what lies there."""
FAR = "OutOfBounds far"
"""A stop far outside every array. What lies there decides which thread stops first, and whether it happens to be near
another array: a kept one is the same as any OutOfBounds."""


def public(evidence: Evidence) -> Evidence:
    """The evidence without anything that was seen in a hidden case."""
    found = not (evidence.watched is not None and evidence.watched.hidden)
    return replace(
        evidence,
        outcomes=tuple(o for o in evidence.outcomes if not o.case.hidden),
        budgets=tuple(spent for spent in evidence.budgets if not spent.hidden),
        findings=evidence.findings if found else (),
        hints=evidence.hints if found else (),
    )


def of(evidence: Evidence) -> dict | None:
    """The fingerprint of what was seen in public cases; None of an answer that did not compile, or did not end."""
    seen = public(evidence)
    if any(isinstance(o.error, CompileError | KernelTimeout) for o in seen.outcomes):
        return None
    told = sorted({_found(f) for f in seen.findings}) if seen.exercise.sanitize else []
    racing = any(each.startswith("race") and each.endswith("global") for each in told)
    judged = {each.label for each in seen.exercise.budgets if each.of == "answer"}  # trained: no two machines agree
    parts = {
        "cases": [_raced(o) if racing else _case(o) for o in seen.outcomes],
        "found": told,
        "over": {each.label: 0 if each.label in judged else _short(each.value) for each in seen.budgets if not each.ok},
        "alone": next((each.alone for each in seen.budgets if each.alone), ""),
        "asked": _asked(seen),
    }
    return {name: part for name, part in parts.items() if part} if _tells(parts, seen) else None


def _found(finding: Finding | Unordered) -> str:
    """A kind of finding and where; of stream work, which two operations."""
    return finding.title if finding.space == "streams" else f"{finding.kind} {finding.space}".strip()


def _tells(parts: dict, seen: Evidence) -> bool:
    """Whether there is more to know an answer by than that the first thread stopped somewhere.

    At an address that isn't aligned it stops in some cases only, and by those it is known.
    """
    stops = [case for case, o in zip(parts["cases"], seen.outcomes, strict=True) if o.error is not None]
    return (
        any(o.error is None and not o.ok for o in seen.outcomes)
        or any(parts[part] for part in ("found", "over"))
        or any(re.search(r"\[|[1-9]|Deadlock|Misaligned|^\w+$", stop) for stop in stops)
    )


def same(kept: dict, found: dict) -> bool:
    """Whether a kept fingerprint is that of another answer: exactly, but for rounding and one part in 100 of costs."""
    return (
        all(kept.get(part) == found.get(part) for part in ("found", "alone", "asked"))
        and len(kept.get("cases", ())) == len(found.get("cases", ()))
        and all(map(_same_case, kept.get("cases", ()), found.get("cases", ())))
        and kept.get("over", {}).keys() == found.get("over", {}).keys()
        and all(_close(value, found["over"][label]) for label, value in kept.get("over", {}).items())
    )


def told(evidence: Evidence) -> Mistake | None:
    """The exercise's own mistake of which a way does just what was seen."""
    found, task = of(evidence), evidence.exercise
    if found is None:
        return None
    names = (name for name, prints in kept(task).items() if any(same(each, found) for each in prints))
    name = next(names, None)
    return next((mistake for mistake in task.mistakes if mistake.name == name), None)


def kept(task: Exercise) -> dict[str, list[dict]]:
    """The kept fingerprints of an exercise: name of a mistake -> those of its ways."""
    book, name = task.key.split(".")
    return _read(book_folder(book) / KEPT).get(name, {})


def forget() -> None:
    """Read the kept fingerprints again the next time."""
    _read.cache_clear()


@cache
def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


# --- one case ---------------------------------------------------------------------------------------------------------


def _case(o: Outcome) -> str | dict | list:
    if o.error is not None:
        return _stop(o.error)
    if isinstance(o.case.expected, Form):
        form = o.case.expected
        return (form.tell(o.got, form.truth) or RIGHT) if o.ok else form.lacks(o.got)
    if o.ok:
        return RIGHT
    if pieces := o.pieces:
        return [_case(each) for each in pieces]
    element_by_element = isinstance(o.got, np.ndarray) and o.wrong.shape == o.got.shape == np.shape(o.case.out.expected)
    return _result(o) if element_by_element else _value(o.got)


def _raced(o: Outcome) -> str | dict:
    """What does not depend on who came first: where it stopped, or which elements were written."""
    if o.error is not None:
        return _stop(o.error)
    return {"masks": zlib.crc32(np.packbits(o.untouched).tobytes())}


def _stop(error: Exception) -> str:
    kind = type(error).__name__
    if kind == "Raised":  # told by another process, as "type: words"
        kind = str(error).partition(":")[0]
    left, where = out_of(error), []
    if left is not None and -NEAR <= left.at < left.size + NEAR:
        where = [f"{left.array}[{left.at}]"]
    elif shared := _SHARED.search(str(error)):
        where = [shared.group()]
    elif kind == "OutOfBounds":
        return FAR
    where += [str(index) for index in (getattr(error, "block", None), getattr(error, "thread", None)) if index]
    return " ".join([kind, *where])


def _result(o: Outcome) -> dict:
    """How many elements are wrong, which were never written or are no numbers, and what is wrong, projected.

    A projection is the sum of what an element is too large by, times a weight of its own; beside it is the sum of all
    amounts, by which two projections are compared.
    """
    got, wanted = (np.asarray(a).astype(np.complex128 if np.iscomplexobj(a) else np.float64).ravel()
                   for a in (o.got, o.case.out.expected))  # fmt: skip
    got, wanted = (a.view(np.float64) for a in (got, wanted))
    masks = b"".join(np.packbits(m).tobytes() for m in (o.untouched, np.isnan(got), got == np.inf, got == -np.inf))
    if o.got.dtype.kind in "iu":  # nothing to round: another number is another mistake, however near
        masks += np.ascontiguousarray(o.got).tobytes()
    wrong, untouched = (np.repeat(m.ravel(), got.size // m.size) for m in (o.wrong, o.untouched))
    use = wrong & ~untouched & np.isfinite(got) & np.isfinite(wanted)
    amounts = np.where(use, got, 0) - np.where(use, wanted, 0)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, (2, got.size))
    found = {
        "wrong": int(o.wrong.sum()),
        "masks": zlib.crc32(masks),
        "by": [_short(float(n)) for n in (*(weights @ amounts), np.abs(amounts).sum())],
    }
    if o.untouched.any() and o.seen is not None and o.seen.counters is not None:
        found["stored"] = o.seen.counters.footprint.written_bytes  # NaN and a number is what was there
    return found


def _value(got: object) -> str:
    """A returned value in words, numbers to six digits."""
    if isinstance(got, tuple | list):
        return f"{type(got).__name__}({', '.join(map(_value, got))})"
    if isinstance(got, float | np.floating):
        return f"{float(got):.6g}." if float(got).is_integer() else f"{float(got):.6g}"
    if isinstance(got, np.ndarray):
        return f"{got.dtype} of shape {got.shape}"
    return f"{type(got).__name__} {got!r}"[:200]


def _same_case(kept: object, found: object) -> bool:
    if isinstance(kept, list) and isinstance(found, list):  # several pieces that were returned
        return len(kept) == len(found) and all(map(_same_case, kept, found))
    if not isinstance(kept, dict) or not isinstance(found, dict):
        return kept == found or (kept == FAR and isinstance(found, str) and found.startswith("OutOfBounds"))
    if any(kept.get(part) != found.get(part) for part in ("wrong", "masks", "stored")):
        return False
    pairs = list(zip(kept.get("by", ()), found.get("by", ()), strict=False))
    size = max((max(pair) for pair in pairs[-1:]), default=0)
    return all(abs(a - b) <= 2e-4 * size for a, b in pairs)


# --- all of an answer -------------------------------------------------------------------------------------------------


def _asked(seen: Evidence) -> str | dict:
    """Of stream work in the last case: its operations and the streams they are in, by first use; of many, how many of
    each kind. Behind an operation for whose end the host waits stands a "!"."""
    timeline = seen.outcomes[-1].timeline if seen.outcomes else None
    if timeline is None:
        return ""
    numbers: dict[int, int] = {}
    for each in (each.queue for each in timeline.operations if each.queue is not None and each.queue.kind == "stream"):
        numbers.setdefault(id(each), len(numbers) + 1)
    steps = [f"{o.kind} {numbers.get(id(o.queue), '')}{'!' * o.waits}" for o in timeline.operations]
    if len(steps) <= FEW:
        return ", ".join(step.replace(" ", "") for step in steps)
    return dict(sorted(Counter(o.kind + "!" * o.waits for o in timeline.operations).items()))


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 0.01 * max(abs(a), abs(b))
