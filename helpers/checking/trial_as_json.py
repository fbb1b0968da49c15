"""A trial and what was seen of it as JSON and back: between a process that compares and one that runs a kernel.

What was seen comes from where a kernel ran that nobody has looked at. Every field has a type with bounds, nothing is
evaluated, and what does not have the form that `seen_as_json` gives it is `NotSeen`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import GenericAlias, MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, cast

import msgspec
import numpy as np
from msgspec import Meta

from helpers.checking.recording_as_json import Counts, Key, counters_of, counts_of
from helpers.checking.trial import Blank, Seen, Stopped, Trial
from helpers.checking.values_as_json import LONGEST_WORDS, Count, Number, Record, bounded, plain, read, unplain, written
from vgpu.base import errors
from vgpu.compile.resources import Resources
from vgpu.launch.counters import Counters
from vgpu.launch.shares import Shares
from vgpu.tools.sanitize.findings import Finding
from vgpu.tools.sanitize.kinds import KINDS
from vgpu.tools.steps.dependencies import Chain

LANES = 32
ERRORS: dict[str | None, type[Exception]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.VirtualGPUError)
}


class NotSeen(ValueError):
    """What was read does not say what came of a trial; the message says where."""


# --- a trial ----------------------------------------------------------------------------------------------------------


def trial_as_json(trial: Trial) -> dict:
    return {**written(replace(trial, arguments=())), "arguments": [_argument(each) for each in trial.arguments]}


def _argument(argument: object) -> dict:
    if isinstance(argument, Blank):
        held = None if argument.initial is None else plain(np.asarray(argument.initial))
        return {"blank": [np.dtype(argument.dtype).str, list(argument.shape)], "initial": held}
    return {"given": plain(argument)}


def trial_of(data: Mapping) -> Trial:
    """The trial again, from whoever compares."""
    arguments = tuple(
        Blank(np.dtype(each["blank"][0]), tuple(each["blank"][1]), unplain(each["initial"]))
        if "blank" in each
        else unplain(each["given"])
        for each in data["arguments"]
    )
    return msgspec.convert({**data, "arguments": arguments}, Trial)


# --- what was seen ----------------------------------------------------------------------------------------------------

if TYPE_CHECKING:  # mypy can't read a computed Literal
    _ErrorName = str
    _FindingKind = str
else:
    _ErrorName = Literal[tuple(ERRORS)]
    _FindingKind = Literal[tuple(KINDS)]
_Address = Annotated[int, Meta(ge=-(2**63))]  # 64 bits, signed or not: msgspec has no bound above 63


class _Counters(Counts, frozen=True):
    lines: dict[Count, dict[Key, Count]]
    by_warp: tuple[np.ndarray, np.ndarray]  # instructions, requests


class _Error(Record, frozen=True):
    type: _ErrorName | None  # None: it is no error of the virtual GPU
    words: str
    line: int | None
    thread: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    address: _Address | None


class _Seen(Record, frozen=True):
    output: np.ndarray | None
    error: _Error | None
    counters: _Counters | None
    chain: Chain | None
    findings: tuple[Finding, ...]


_PLACES = _Error.__struct_fields__[2:]
_INDEX = Number | tuple[Number, ...] | None  # negative before the first element
_FINDING = bounded(Finding, kind=_FindingKind, index=_INDEX, address=_Address | None)
_SEEN = bounded(_Seen, findings=GenericAlias(tuple, (_FINDING, ...)))


def seen_as_json(seen: Seen) -> dict:
    error = None if seen.error is None else _of_error(seen.error)
    counters = None if seen.counters is None else _of_counters(seen.counters)
    return written(_Seen(seen.output, error, counters, seen.chain, seen.findings))


def seen_of(data: object) -> Seen:
    """What was seen, from data of unknown origin; raises NotSeen."""
    seen = read(data, _Seen, NotSeen, _SEEN)
    if seen.error is None and (seen.output is None or seen.counters is None):
        raise NotSeen("a launch that ran to its end has an output and counters")
    if seen.chain and any(needed >= at for at, link in enumerate(seen.chain.links) for needed in link.needs):
        raise NotSeen("an instruction waits for a later one")
    return Seen(
        seen.output,
        None if seen.error is None else _raised(seen.error),
        None if seen.counters is None else _counted(seen.counters),
        seen.chain,
        seen.findings,
    )


def error_as_json(error: Exception) -> dict:
    return written(_of_error(error))


def _of_error(error: Exception) -> _Error:
    known = type(error).__name__ if type(error) in ERRORS.values() else None
    words = str(error) if known else f"{type(error).__name__}: {error}"
    places = (getattr(error, name, None) for name in _PLACES)
    return _Error(known, words[:LONGEST_WORDS], *places)


def error_of(data: object) -> Exception:
    """The error again, of one of the virtual GPU's classes or `Stopped`; raises NotSeen."""
    return _raised(read(data, _Error, NotSeen))


def _raised(found: _Error) -> Exception:
    kind = ERRORS.get(found.type, Stopped)
    base = cast("type[Exception]", kind.__base__)  # the one whose fields it has: kind.__new__ may be another base's
    error = base.__new__(kind)
    Exception.__init__(error, found.words)
    vars(error).update((name, getattr(found, name)) for name in _PLACES)
    return error


def resources_as_json(resources: Resources) -> dict:
    return written(resources)


def resources_of(data: object) -> Resources:
    """The compiler's numbers, from data of unknown origin; raises NotSeen."""
    return read(data, Resources, NotSeen)


def _of_counters(counters: Counters) -> _Counters:
    shares = counters.by_warp
    assert shares is not None  # the launch was counted
    held = msgspec.structs.asdict(counts_of(counters))
    lines = {line: dict(counts) for line, counts in counters.lines.items()}
    return _Counters(**held, lines=lines, by_warp=(shares.instructions, shares.requests))


def _counted(found: _Counters) -> Counters:
    wanted = math.prod(found.grid), -(-math.prod(found.block) // LANES)
    if any(each.dtype != np.int64 or each.shape != wanted or (each < 0).any() for each in found.by_warp):
        raise NotSeen("the work of a launch is shared out among other warps than it has")
    lines = {line: MappingProxyType(counts) for line, counts in found.lines.items()}
    return replace(counters_of(found), lines=MappingProxyType(lines), by_warp=Shares(*found.by_warp, found.grid))
