"""The recording of a replay as JSON and back: what is needed to order, time and blame it where it is judged.

Queues, events, graphs and kernels are what their numbers say; addresses stay as they were, since only their overlaps
matter. It is made where a program was replayed, never by whoever wrote the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace

from helpers.checking.kernel_as_json import squeezed, unsqueezed
from helpers.checking.stream_program import LONGEST
from helpers.checking.values_as_json import NotPlain, plain, unplain
from vgpu.launch.counters import KEYS, Counters, Footprint
from vgpu.operations import Operation, Queue, Touch
from vgpu.tools.streams.recording import Timeline

KINDS = frozenset((
    "kernel", "H2D", "D2H", "D2D", "memset", "array", "record", "wait", "synchronise", "graph",
    "host function", "host read", "host write",
))  # fmt: skip
_SIMPLE = {"label": str, "nbytes": int, "asynchronous": bool, "waits": bool}


class NotARecording(ValueError):
    """What was read is no recording; the message says what is wrong."""


def as_data(timeline: Timeline) -> dict:
    """Texts, numbers and lists."""
    writer = _Writer()
    operations = [writer.operation(each) for each in timeline.operations]
    return {"queues": writer.queues.data, "kernels": writer.kernels.data, "operations": operations}


def timeline(data: object) -> Timeline:
    """The recording again, from data of unknown origin; raises NotARecording."""
    try:
        return _Reader(data).timeline()
    except (AttributeError, IndexError, KeyError, NotPlain, TypeError, ValueError) as error:
        raise NotARecording(f"this is no recording of stream work: {error}") from None


class _Numbered:
    """Things by number, in the order they are met; `data` has what is written of each."""

    def __init__(self, write=None):
        self._numbers: dict[int, int] = {}
        self._held, self.data, self._write = [], [], write

    def __call__(self, thing) -> int | None:
        if thing is None:
            return None
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self._held)
            self._held.append(thing)  # so that its id stays its own
            if self._write:
                self.data.append(self._write(thing))
        return self._numbers[id(thing)]


class _Writer:
    def __init__(self):
        self.queues = _Numbered(lambda q: {"kind": q.kind, "blocking": q.blocking, "priority": q.priority})
        self.kernels = _Numbered(lambda k: {"name": k.name, "entry": k.entry, "ptx": squeezed(k.ptx)})
        self.events, self.graphs = _Numbered(), _Numbered()

    def operation(self, each: Operation) -> dict:
        return {
            "kind": each.kind,
            **{name: kind(getattr(each, name)) for name, kind in _SIMPLE.items()},
            "pinned": each.pinned,
            "queue": self.queues(each.queue),
            "kernel": self.kernels(each.kernel),
            "counters": None if each.counters is None else counts_as_data(each.counters),
            "event": self.events(each.event),
            "graph": self.graphs(each.graph),
            "accesses": [
                {"starts": plain(a.starts), "ends": plain(a.ends), "writes": a.writes, "name": a.name, "grain": a.grain}
                for a in each.accesses
            ],
            "nodes": [[self.operation(node), list(follows)] for node, follows in each.nodes],
        }


def counts_as_data(counters: Counters) -> dict:
    """The counters of a launch as a whole."""
    return {
        "total": {key: count for key, count in counters.total.items() if count},
        "footprint": [counters.footprint.read_bytes, counters.footprint.written_bytes],
        "grid": list(counters.grid),
        "block": list(counters.block),
        "warps": int(counters.warps),
        "shared_bytes": int(counters.shared_bytes),
    }


class _Reader:
    def __init__(self, data: object):
        self._data = data
        self._queues = [
            Queue(0x1000 + 16 * at, bool(q["blocking"]), _whole(q["priority"], -9), _one_of(q["kind"], _QUEUES))
            for at, q in enumerate(data["queues"])
        ]
        self._kernels = [
            SimpleNamespace(name=_text(k["name"]), entry=_text(k["entry"]), ptx=unsqueezed(k["ptx"]))
            for k in data["kernels"]
        ]
        self._things: dict[tuple[str, int], object] = {}
        self._left = 2 * LONGEST  # with what a replay notes of itself

    def timeline(self) -> Timeline:
        return Timeline([self._operation(each) for each in self._data["operations"]])

    def _operation(self, data: Mapping, depth: int = 0) -> Operation:
        self._left -= 1
        if self._left < 0 or depth > 4:
            raise ValueError("it has too many operations, or graphs within graphs")
        return Operation(
            _one_of(data["kind"], KINDS),
            label=_text(data["label"])[:200],
            nbytes=_whole(data["nbytes"]),
            asynchronous=data["asynchronous"] is True,
            waits=data["waits"] is True,
            pinned=data["pinned"] if data["pinned"] in (True, False) else None,
            queue=_at(self._queues, data["queue"]),
            kernel=_at(self._kernels, data["kernel"]),
            counters=None if data["counters"] is None else counters_of(data["counters"]),
            event=self._thing("event", data["event"]),
            graph=self._thing("graph", data["graph"]),
            accesses=tuple(map(_access, data["accesses"])),
            nodes=tuple((self._operation(node, depth + 1), _steps(after, data)) for node, after in data["nodes"]),
        )

    def _thing(self, kind: str, number: int | None) -> object | None:
        return None if number is None else self._things.setdefault((kind, _whole(number)), object())


_QUEUES = ("stream", "legacy", "per-thread")


def _whole(value, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 2**63:
        raise ValueError(f"{value!r} is no number that fits")
    return value


def _steps(numbers: list, graph: Mapping) -> tuple[int, ...]:
    """Which steps of a graph one of them follows."""
    if any(_whole(number) >= len(graph["nodes"]) for number in numbers):
        raise ValueError("a step of a graph follows one that there is not")
    return tuple(numbers)


def _text(value) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _one_of(value, known) -> str:
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(sorted(known))}")
    return value


def _at(things: list, number: int | None):
    return None if number is None else things[_whole(number)]


def _access(data: Mapping) -> Touch:
    starts, ends = unplain(data["starts"]), unplain(data["ends"])
    if starts.shape != ends.shape or starts.ndim != 1 or not len(starts) or not (starts <= ends).all():
        raise ValueError("an access has as many ends as starts")
    return Touch(starts, ends, data["writes"] is True, _text(data["name"])[:200], _whole(data["grain"], 1))


def counters_of(data: Mapping) -> Counters:
    """The counters again, from data of unknown origin; raises KeyError, TypeError or ValueError."""
    total = dict.fromkeys(KEYS, 0) | {_one_of(key, KEYS): _whole(count) for key, count in data["total"].items()}
    grid, block = (tuple(_whole(n, 1) for n in data[name]) for name in ("grid", "block"))
    read, written = map(_whole, data["footprint"])
    return Counters(
        MappingProxyType({}), MappingProxyType(total), Footprint(read, written), grid, block, _whole(data["warps"]),
        _whole(data["shared_bytes"]),
    )  # fmt: skip
