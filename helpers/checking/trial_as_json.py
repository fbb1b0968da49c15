"""A trial and what was seen of it as JSON and back: between a process that compares and one that runs a kernel.

What was seen comes from where a kernel ran that nobody has looked at. Every field is checked, nothing is evaluated, and
what does not have the form that `seen_as_json` gives it is `NotSeen`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from helpers.checking.recording_as_json import counters_of, counts_as_data
from helpers.checking.trial import Blank, Seen, Stopped, Trial
from helpers.checking.values_as_json import NotPlain, plain, unplain
from vgpu.base import errors
from vgpu.compile.resources import Resources
from vgpu.launch.counters import KEYS, Counters
from vgpu.launch.shares import Shares
from vgpu.tools.sanitize.findings import Finding
from vgpu.tools.sanitize.kinds import KINDS
from vgpu.tools.steps.dependencies import Chain, ChainLink

LONGEST_WORDS = 4_000
LANES = 32
MOST = 100_000  # of lines, links and findings
ERRORS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.VirtualGPUError)
}


class NotSeen(ValueError):
    """What was read does not say what came of a trial; the message says where."""


# --- a trial ----------------------------------------------------------------------------------------------------------


def trial_as_json(trial: Trial) -> dict:
    return {
        "arguments": [_argument(argument) for argument in trial.arguments],
        "grid": list(trial.grid),
        "block": list(trial.block),
        "watch": trial.watch,
        "follow": None if trial.follow is None else list(trial.follow),
    }


def _argument(argument) -> dict:
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
    follow = None if data["follow"] is None else tuple(data["follow"])
    return Trial(arguments, tuple(data["grid"]), tuple(data["block"]), data["watch"], follow)


# --- what was seen ----------------------------------------------------------------------------------------------------


def seen_as_json(seen: Seen) -> dict:
    return {
        "output": None if seen.output is None else plain(seen.output),
        "error": None if seen.error is None else error_as_json(seen.error),
        "counters": None if seen.counters is None else _counters_as_json(seen.counters),
        "chain": None if seen.chain is None else _chain_as_json(seen.chain),
        "findings": [{name: getattr(each, name) for name in _FINDING} for each in seen.findings],
    }


def seen_of(data: object) -> Seen:
    """What was seen, from data of unknown origin; raises NotSeen."""
    try:
        return Seen(
            _array(data["output"]),
            None if data["error"] is None else error_of(data["error"]),
            None if data["counters"] is None else _counters_of(data["counters"]),
            None if data["chain"] is None else _chain_of(data["chain"]),
            tuple(Finding(**_fields(each, _FINDING)) for each in _list(data["findings"])),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, NotPlain) as error:
        raise NotSeen(f"this does not say what came of a launch: {type(error).__name__}: {error}"[:300]) from None


def _array(data: object) -> np.ndarray | None:
    found = unplain(data)
    if not isinstance(found, np.ndarray | None):
        raise NotSeen("an output is no array")
    return found


def error_as_json(error: Exception) -> dict:
    known = type(error).__name__ if type(error) in ERRORS.values() else None
    words = str(error) if known else f"{type(error).__name__}: {error}"
    places = {name: getattr(error, name, None) for name in ("line", "thread", "block", "address")}
    return {"type": known, "words": words[:LONGEST_WORDS], **places}


def error_of(data: object) -> Exception:
    """The error again, of one of the virtual GPU's classes or `Stopped`; raises NotSeen."""
    kind = ERRORS.get(data["type"], Stopped)
    error = kind.__new__(kind)
    Exception.__init__(error, _words(data["words"]))
    for name, read in (("line", _number), ("address", _number), ("thread", _index), ("block", _index)):
        setattr(error, name, _or_none(read)(data[name]))
    return error


def resources_as_json(resources: Resources) -> dict:
    return dict(vars(resources))


def resources_of(data: object) -> Resources:
    """The compiler's numbers, from data of unknown origin; raises NotSeen."""
    try:
        return Resources(**_fields(data, _RESOURCES))
    except (AttributeError, KeyError, TypeError) as error:
        raise NotSeen(f"these are no numbers of the compiler: {error}"[:300]) from None


def _counters_as_json(counters: Counters) -> dict:
    lines = {str(line): dict(counts) for line, counts in counters.lines.items()}
    shares = counters.by_warp
    return {
        **counts_as_data(counters),
        "lines": lines,
        "by_warp": [plain(shares.instructions), plain(shares.requests)],
    }


def _chain_as_json(chain: Chain) -> dict:
    return {"kernel": chain.kernel, "links": [[getattr(link, name) for name in _LINK] for link in chain.links]}


# --- what may stand where ---------------------------------------------------------------------------------------------


def _number(value) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise NotSeen(f"{str(value)[:40]!r} is no number that fits")
    return value


def _count(value) -> int:
    if _number(value) < 0:
        raise NotSeen("a count is less than nothing")
    return value


def _truth(value) -> bool:
    if not isinstance(value, bool):
        raise NotSeen("neither true nor false")
    return value


def _words(value) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_WORDS:
        raise NotSeen("no text, or one that is too long")
    return value


def _list(value) -> list:
    if not isinstance(value, list) or len(value) > MOST:
        raise NotSeen("no list, or one that is too long")
    return value


def _index(value) -> tuple[int, ...]:
    return tuple(map(_number, _list(value)[:4]))


def _or_none(read: Callable) -> Callable:
    return lambda value: None if value is None else read(value)


def _kind(value) -> str:
    if value not in KINDS:
        raise NotSeen("the sanitizer has no such finding")
    return value


def _fields(data: Mapping, table: Mapping[str, Callable]) -> dict:
    if set(data) != set(table):
        raise NotSeen(f"the fields are {', '.join(table)}")
    return {name: read(data[name]) for name, read in table.items()}


_FINDING = {
    "kind": _kind,
    "line": _or_none(_number),
    "source": _words,
    "what": _words,
    "cure": _words,
    "count": _count,
    "other_line": _or_none(_number),
    "other_source": _words,
    "thread": _or_none(_index),
    "block": _or_none(_index),
    "other_thread": _or_none(_index),
    "other_block": _or_none(_index),
    "array": _or_none(_words),
    "index": _or_none(lambda value: _index(value) if isinstance(value, list) else _number(value)),
    "space": _words,
    "address": _or_none(_number),
    "spans": lambda value: tuple(map(_words, _list(value))),
    "overwrites": _truth,
}
_RESOURCES = {
    "registers": _count,
    "shared_bytes": _count,
    "local_bytes": _count,
    "spill_store_bytes": _count,
    "spill_load_bytes": _count,
    "constant_bytes": _count,
    "arch": _words,
}


def _counts(data: Mapping) -> Mapping[str, int]:
    if not set(data) <= set(KEYS):
        raise NotSeen("a counter that there is not")
    return MappingProxyType({key: _count(count) for key, count in data.items()})


def _counters_of(data: Mapping) -> Counters:
    counters = counters_of(data)
    lines = {int(line): _counts(counts) for line, counts in data["lines"].items()}
    shares = [unplain(each) for each in data["by_warp"]]
    wanted = math.prod(counters.grid), -(-math.prod(counters.block) // LANES)
    for each in shares:
        if not isinstance(each, np.ndarray) or each.dtype != np.int64 or each.shape != wanted or (each < 0).any():
            raise NotSeen("the work of a launch is shared out among other warps than it has")
    return replace(counters, lines=MappingProxyType(lines), by_warp=Shares(*shares, counters.grid))


_LINK = {
    "opcode": _words,
    "line": _or_none(_number),
    "needs": lambda value: tuple(map(_count, _list(value))),
    "space": _words,
    "op": _words,
    "sectors": _count,
}


def _chain_of(data: Mapping) -> Chain:
    links = tuple(
        ChainLink(*(read(value) for read, value in zip(_LINK.values(), each, strict=True)))
        for each in _list(data["links"])
    )
    if any(needed >= at for at, link in enumerate(links) for needed in link.needs):
        raise NotSeen("an instruction waits for a later one")
    return Chain(_words(data["kernel"]), links)
