"""Spans of what a real GPU did, read from the trace that PyTorch's profiler exports.

PyTorch's profiler (Kineto) has CUPTI write a record of every kernel, copy and memset of the process, whichever library
issued it, and of the API calls. Format: Kineto, `output_json.cpp` and `CuptiActivity.cpp`; Google, Trace Event Format,
complete events ("ph": "X", "ts" and "dur" in microseconds). Their "args" hold device, stream, correlation (the number
of the call), for kernels grid and block, for copies bytes; a copy's direction and the kinds of memory are in its name.
This module takes the trace as text and doesn't depend on a profiler.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from vgpu.storage.host import size_text
from vgpu.tools.streams.listing import ListedOperation
from vgpu.tools.streams.spans import Schedule, Span

# Names of the two marks that a recording leaves in its trace: the program's part, and one memset in the legacy default
# stream before it, which shows that stream's number and whether CUPTI delivers anything at all.
PROGRAM = "warpbook: the program"
DEFAULT_STREAM = "warpbook: the default stream"

NOTES = (
    "Start and end of each span on the GPU are CUPTI's activity records, on one clock; the zero is the first span's "
    "start.",
    "Recording costs the host a few microseconds a call, so gaps between short kernels come out longer than without.",
    "A span on the SMs is a kernel's time from its first block to its last: kernels side by side are spans side by "
    "side.",
    "D2D (copies within the device) and memset have separate rows: the record does not say whether the SMs or a "
    "copy engine did the work.",
    "Streams are numbered in the order the program first used them; a per-thread default stream is one of them.",
)

_ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
_CALLS = ("cuda_runtime", "cuda_driver")
# Waits, and events recorded, also those of calls that are not traced (the driver's).
_SYNC, _RECORD = "cuda_sync", "cuda_event"
_STREAM_WAITS = "Stream Wait Event"  # a wait of a stream, and not of the host
_NO_STREAM = -1
# Copies to and from CUDA arrays (A), which textures read, cross the same link as others.
_ENGINES = {"HtoD": "H2D", "HtoA": "H2D", "DtoH": "D2H", "AtoH": "D2H", "PtoP": "P2P", "HtoH": "H2H"}
_COPY = re.compile(r"Memcpy (\S+)(?: \((.*) -> (.*)\))?")
_WAITS = re.compile(r"^cu(da)?Memcpy(?!.*Async)")


class RecordingError(RuntimeError):
    """A real GPU's work could not be recorded; the message says why and what to do."""


@dataclass(frozen=True)
class Exported:
    """A trace's schedule, and its operations in the order they were issued."""

    schedule: Schedule
    rows: tuple[ListedOperation, ...]


@dataclass(frozen=True)
class _Event:
    """One complete event of the trace; times in exact microseconds."""

    category: str
    name: str
    start: Decimal
    end: Decimal
    args: Mapping
    pid: object
    tid: object

    @property
    def call(self) -> int | None:
        return _whole(self.args.get("correlation"))

    @property
    def device(self) -> int | None:
        """The GPU it ran on; None where the trace doesn't say."""
        found = (_whole(self.args.get(name)) for name in ("device", "inDevice"))
        return next((number for number in found if number is not None), _whole(self.pid))


def read(text: str | bytes, gpu: str, device: int = 0) -> Exported:
    """The measured schedule of one GPU, number `device` as CUDA counts, in a trace (JSON text).

    `gpu` is its name. Times are seconds from the first span. Raises `RecordingError` for text that is no trace, and
    for a trace without work of that GPU, saying why there is none.
    """
    events = _events(text)
    before, program = _mark(events, DEFAULT_STREAM), _mark(events, PROGRAM)
    calls = [event for event in events if event.category in _CALLS and _within(event, program)]
    marked = {event.call for event in events if before and event.category in _CALLS and _within(event, before)} - {None}
    everywhere = [event for event in events if event.category in _ON_GPU]
    work = [event for event in everywhere if event.call is None or event.call not in marked]
    here = [event for event in work if event.device in (device, None)]
    if not here:
        raise RecordingError(_why_empty(everywhere, work, calls, device, gpu, before is not None))
    default = {_stream(event) for event in everywhere if event.call in marked and event.device in (device, None)}
    known = {event.call for event in calls} - {None}
    syncs = [
        event for event in events
        if event.category == _SYNC and event.device in (device, None) and _within(event, program)
    ]  # fmt: skip
    waits = [event for event in syncs if event.name != _STREAM_WAITS and event.call not in known]
    # Not every version gives the records of events a time, so the call's number decides which are the program's.
    first = max((call for call in marked if call is not None), default=-1)
    records = [
        event for event in events
        if event.category == _RECORD and event.device in (device, None) and event.call is not None
        and event.call > first
    ]  # fmt: skip
    host = sorted(calls + waits, key=lambda event: event.start)
    return _recording(_in_order(here), host, syncs + records, default, gpu)


def _recording(work: list[_Event], host: list[_Event], points: list[_Event], default: set, gpu: str) -> Exported:
    """The schedule of the GPU's work; `points` are operations of streams without work: events recorded, and waits."""
    zero = min(event.start for event in (*work, *host))
    numbers: dict = {}
    for event in _in_order(work + points) if all(event.call is not None for event in work) else work + points:
        if _stream(event) not in default and _stream(event) != _NO_STREAM:
            numbers.setdefault(_stream(event), len(numbers) + 1)

    def named(event: _Event) -> str:
        number = numbers.get(_stream(event))
        return "the default stream" if number is None else f"stream {number}"

    spans = [_span(event, named(event), zero) for event in work]
    issued: dict[int | None, list[Span]] = {}  # by the number of the call
    for span in spans:
        issued.setdefault(span.call, []).append(span)
    calls = [_host_span(event, issued.get(event.call, ()), zero) for event in host]
    rows = _rows(spans, host, [(event, named(event)) for event in points], issued)
    spans.sort(key=lambda span: (span.start, span.engine))
    end = max(span.end for span in (*spans, *calls))
    return Exported(Schedule(gpu, tuple(spans), end, NOTES, "measured", tuple(calls)), tuple(rows))


def _span(event: _Event, stream: str, zero: Decimal) -> Span:
    span = Span("SMs", stream, *_seconds(event, zero), "", "measured", call=event.call)
    if event.category == "kernel":
        grid, block = _sizes(event.args.get("grid")), _sizes(event.args.get("block"))
        label = kernel_name(event.name)
        if grid:
            shown = grid[: max((at + 1 for at, size in enumerate(grid) if size != 1), default=1)]
            label += f" ({'×'.join(map(str, shown))} blocks)"
        return replace(span, label=label, grid=grid, block=block)
    nbytes = _whole(event.args.get("bytes"))
    engine, pinned = ("memset", None) if event.category == "gpu_memset" else _copy(event.name)
    label = engine if nbytes is None else f"{engine} {size_text(nbytes)}"
    return replace(span, engine=engine, label=label, nbytes=nbytes, pinned=pinned)


def _copy(name: str) -> tuple[str, bool | None]:
    """Engine and whether the host's memory is pinned, from "Memcpy HtoD (Pageable -> Device)"."""
    found = _COPY.match(name)
    if not found:
        return "copy", None
    way, *kinds = found.groups()
    engine = _ENGINES.get(way, "D2D" if re.fullmatch("[AD]to[AD]", way) else "copy")
    host = {"Pinned", "Pageable"} & {str(kind).capitalize() for kind in kinds}
    return engine, host == {"Pinned"} if engine in ("H2D", "D2H") and host else None


def _host_span(event: _Event, issued: Iterable[Span], zero: Decimal) -> Span:
    spans = list(issued) if event.call is not None else []
    what = f": {spans[0].label}, {spans[0].stream}" if len(spans) == 1 else f": {len(spans)} operations"
    label = event.name + (what if spans else "")
    return Span("host", "the host", *_seconds(event, zero), label, "measured", call=event.call)


def _rows(
    spans: list[Span], host: list[_Event], points: list[tuple[_Event, str]], issued: Mapping[int | None, list[Span]]
) -> list[ListedOperation]:
    """The GPU's work in the order it was issued, with the events and the waits in between."""
    names = {event.call: event.name for event in host if event.call is not None}
    rows: list[tuple[int | None, Decimal | float, ListedOperation]] = []
    for event, stream in points:
        if event.call is None or event.call not in issued:
            rows.append((event.call, event.start, _point(event, stream)))
    listed = {event.call for event, _ in points} - {None}
    for event in host:
        if event.category in _CALLS and event.call not in {*issued, *listed} and "Synchronize" in event.name:
            rows.append((event.call, event.start, ListedOperation("the host", "synchronise", "", True)))
    for span in spans:
        kind = "kernel" if span.engine == "SMs" else span.engine
        with_host = span.engine in ("H2D", "D2H", "H2H")
        call = "" if span.call is None else names.get(span.call, "")
        waits = span.pinned is False or (with_host and bool(_WAITS.search(call)))
        rows.append((span.call, span.start, ListedOperation(span.stream, kind, span.label, waits)))
    # CUPTI numbers calls as they are made; a graph's work shares one number.
    numbered = all(number is not None for number, _, _ in rows)
    rows.sort(key=lambda row: (row[0] or 0 if numbered else 0, row[1]))
    return [row for _, _, row in rows]


def _point(event: _Event, stream: str) -> ListedOperation:
    if event.category == _RECORD:
        return ListedOperation(stream, "record", "event")
    if event.name == _STREAM_WAITS:
        return ListedOperation(stream, "wait", "wait for an event")
    return ListedOperation(stream if event.name == "Stream Sync" else "the host", "synchronise", "", True)


def kernel_name(name: str) -> str:
    """A kernel's plain name: that of `void at::native::fill<4, float>(int, float*)` is "fill"."""
    kept, depth = [], 0
    for character in name:
        if character in "<([{":
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif not depth:
            kept.append(character)
        if depth < 0:
            return name
    words = "".join(kept).removesuffix(" const").rsplit("::", 1)[-1].split()
    return name if depth or not words or words[-1].startswith("operator") else words[-1]


# ---------------------------------------------------------------- the trace


def _events(text: str | bytes) -> list[_Event]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    try:
        # Times have up to 19 digits, more than a double holds; a kernel's name may contain control characters.
        trace = json.JSONDecoder(parse_float=Decimal, strict=False).decode(text)
    except json.JSONDecodeError as error:
        raise RecordingError(f"the profiler's trace is not JSON: {error}") from error
    entries = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(entries, list):
        raise RecordingError("the profiler's trace has no list `traceEvents`: it is no Chrome trace")
    found = []
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("ph") != "X":
            continue
        start, length = _number(entry.get("ts")), _number(entry.get("dur"))
        if start is not None:
            args = entry.get("args")
            end = start + max(length or Decimal(0), Decimal(0))
            found.append(
                _Event(str(entry.get("cat", "")).lower(), str(entry.get("name", "")), start, end,
                       args if isinstance(args, dict) else {}, entry.get("pid"), entry.get("tid"))
            )  # fmt: skip
    return found


def _in_order(work: list[_Event]) -> list[_Event]:
    """The work in the order the program issued it; by start where the trace doesn't say."""
    work = sorted(work, key=lambda event: event.start)
    return work if any(event.call is None for event in work) else sorted(work, key=lambda event: event.call or 0)


def _mark(events: list[_Event], name: str) -> _Event | None:
    return next((event for event in events if event.category == "user_annotation" and event.name == name), None)


def _within(event: _Event, mark: _Event | None) -> bool:
    return mark is None or mark.start <= event.start <= mark.end


def _stream(event: _Event) -> object:
    number = _whole(event.args.get("stream"))
    return event.tid if number is None else number


def _seconds(event: _Event, zero: Decimal) -> tuple[float, float]:
    return float((event.start - zero) / 1_000_000), float((event.end - zero) / 1_000_000)


def _number(value: object) -> Decimal | None:
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _whole(value: object) -> int | None:
    number = None if isinstance(value, bool) else _number(value)
    return None if number is None or number != number.to_integral_value() else int(number)


def _sizes(value: object) -> tuple[int, ...] | None:
    sizes = [_whole(size) for size in value] if isinstance(value, list) else []
    found = tuple(size for size in sizes if size is not None)
    return found if found and len(found) == len(sizes) and math.prod(found) > 0 else None


def _why_empty(
    everywhere: list[_Event], work: list[_Event], calls: list[_Event], device: int, gpu: str, marked: bool
) -> str:
    elsewhere = sorted({event.device for event in work if event.device is not None})
    if elsewhere:
        numbers = ", ".join(map(str, elsewhere))
        return (
            f"all the GPU work of this recording ran on device {numbers}, and it is device {device} ({gpu}) that is "
            "recorded, the current one when the recording began: choose the device before (cp.cuda.Device(1).use(), "
            "torch.cuda.set_device(1))."
        )
    if not everywhere and (calls or marked):
        called = f"CUDA was called {len(calls)} times" if calls else "A memset was issued"
        return (
            f"{called}, but CUPTI recorded no work of the GPU. Only one tool at a time may use CUPTI: end other "
            "profilers (Nsight Systems, Nsight Compute, another torch.profiler, CUDA_INJECTION64_PATH). It also "
            "stays silent under WSL without current drivers, on virtual machines that forbid profiling, and where "
            "libcupti does not fit the driver; KINETO_LOG_LEVEL=0, set before Python starts, shows its own words. "
            "VGPU_BACKEND=virtual models the schedule instead."
        )
    return (
        "nothing in the with block ran on the GPU: the recording holds no kernel, copy or memset. Put the launches "
        "and copies inside it, and compile kernels before, with one launch."
    )
