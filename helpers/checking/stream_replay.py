"""Executes a program of stream work (`stream_program`) on a case's own arrays, and records what that comes to.

The result, the counts, the order and every byte touched are those of this run. A program comes from whoever answers:
every number in it is checked before use, and what does not have the form that `stream_program` writes is
`NotAProgram`. Memory is pinned, pageable or on the device as the case says, or as a buffer of the program was
allocated; which way a copy goes, and whether the host waits for it, follows from that.
"""

from __future__ import annotations

import base64
import ctypes
import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from helpers.checking.kernel_as_json import MOST_PTX, unsqueezed
from helpers.checking.stream_program import LONGEST
from helpers.checking.values_as_json import NotPlain, unplain
from vgpu import operations
from vgpu.base.errors import VirtualGPUError
from vgpu.base.schedule import scheduled
from vgpu.launch import launch
from vgpu.operations import Operation, Queue, graphs
from vgpu.storage import heap, layout, memory
from vgpu.storage.host import size_text
from vgpu.tools.streams.recording import Timeline

_T = TypeVar("_T")
MOST_MEMORY = 1 << 28
"""Bytes that the buffers of a program may have together."""
MOST_OF = 10_000  # buffers, kernels, queues, graphs, each
OWN_FILE = "answer"
_NAMES = """
    absolute add arccos arcsin arctan arctan2 bitwise_and bitwise_or bitwise_xor ceil cos cosh divide equal exp exp2
    expm1 floor floor_divide fmax fmin greater greater_equal hypot invert isfinite isinf isnan left_shift less
    less_equal log log10 log1p log2 logical_and logical_not logical_or logical_xor maximum minimum multiply
    negative not_equal positive power reciprocal remainder right_shift rint sign sin sinh sqrt square subtract tan tanh
    trunc all any argmax argmin clip concatenate cumsum flip hstack max mean min prod roll stack std sum
    transpose var vstack where
"""
FUNCTIONS = {"copy": lambda value: value} | {name: getattr(np, name) for name in _NAMES.split()}
"""What a program may call: NumPy's functions, which do here what CuPy's do on a device."""


class NotAProgram(ValueError):
    """What was read is no program of stream work for this case; the message says what is wrong."""


def replay(program: Any, arguments: list, output: object) -> tuple[np.ndarray, Timeline]:
    """The output once the device is done, and the recording of all that was issued.

    arguments: those of the case, placed; output: the one that holds the result. Kernels run block after block, so that
    a race among blocks gives one result, by which a mistake is known again. Raises NotAProgram, and what a launch does.
    """
    try:
        steps = _Steps(program, arguments)
        with scheduled("sequential"), operations.listening() as heard:
            for step in _list(program["steps"], LONGEST):
                steps.run(step)
        _keep_off_the_host(heard)
    except (NotAProgram, VirtualGPUError):
        raise
    except (ArithmeticError, AttributeError, LookupError, NotPlain, TypeError, ValueError, zlib.error) as error:
        raise NotAProgram(f"this is no program of stream work: {type(error).__name__}: {error}"[:300]) from None
    return np.array(getattr(output, "_host", output)), Timeline(heard)


def _keep_off_the_host(heard: list[Operation]) -> None:
    """Kernels that go to memory of the host themselves would do so at the pace of the device's."""
    for each in (step for operation in heard for step in (operation, *(node for node, _ in operation.nodes))):
        places = [memory.describe(int(piece.starts[0])) for piece in each.accesses] if each.kind == "kernel" else []
        if any(place.allocation is not None and place.allocation.kind == "pinned" for place in places):
            raise NotAProgram(f"{each.label} works in memory of the host: copy to the device and back")


class _Steps:
    def __init__(self, program: dict, arguments: list):
        self._memory = _Memory(_list(program["buffers"]), arguments)
        self._kernels = [_kernel(each) for each in _list(program["kernels"])]
        self._queues = [_queue(each) for each in _list(program["queues"])]
        self._graphs: list = [None] * len(_list(program["graphs"]))
        self._nodes = program["graphs"]
        self._events: dict[int, object] = {}
        self._left = LONGEST
        heap.reset()

    def run(self, step: dict) -> None:
        queue: Any = None if step["queue"] is None else _at(self._queues, step["queue"])
        _RUN[step["kind"]](self, step, queue)

    def _count(self, operations_: int) -> None:
        self._left -= operations_
        if self._left < 0:
            raise NotAProgram(f"it issues more than {LONGEST:,} operations")

    def _launch(self, step: dict, queue: Queue) -> None:
        self._count(1)
        kernel = _at(self._kernels, step["kernel"])
        params = [self._parameter(*each) for each in _list(step["parameters"])]
        if [len(each) for each in params] != [parameter.nbytes for parameter in kernel.parameters]:
            raise NotAProgram(f"`{kernel.name}` takes other parameters")
        arrays = [self._array(*each) for each in _list(step["arrays"])]
        grid, block = (tuple(_whole(n) for n in _list(step[name], 3)) for name in ("grid", "block"))
        shared_bytes, cooperative = _whole(step["shared_bytes"]), step["cooperative"] is True
        operations.kernel(queue, kernel, grid, block, params, arrays, shared_bytes, cooperative=cooperative)

    def _parameter(self, data: str, pointers: list) -> bytes:
        found = bytearray.fromhex(data)
        for at, buffer, offset in _list(pointers):
            at = _whole(at)
            if at + 8 > len(found):
                raise NotAProgram("a pointer lies outside its parameter")
            found[at : at + 8] = self._memory.address(buffer, offset).to_bytes(8, "little")
        return bytes(found)

    def _array(self, name: str, buffer: int, offset: int, nbytes: int) -> memory.ArrayInfo:
        address, nbytes = self._memory.address(buffer, offset), _whole(nbytes)
        if _whole(offset) + nbytes > self._memory.nbytes(buffer):
            raise NotAProgram("an array reaches past its buffer")
        return memory.ArrayInfo(_text(name), address, nbytes, "uint8", (nbytes,), (1,))

    def _call(self, step: dict, queue: Queue) -> None:
        """A copy, or work that NumPy does here and the device elsewhere."""
        self._count(1)
        inputs, named = self._value(step["inputs"]), self._value(step["named"])
        outputs = [self._memory.view(each) for each in _list(step["outputs"])]
        if step["function"] not in FUNCTIONS:
            raise NotAProgram(f"{_text(step['function'])} can't be replayed: use a kernel, or a plain function of CuPy")
        function = FUNCTIONS[step["function"]]

        def run() -> None:
            with np.errstate(all="ignore"):
                results = function(*inputs, **named)
                for array, result in zip(outputs, results if len(outputs) > 1 else [results], strict=True):
                    np.copyto(array, np.asarray(result).reshape(_fit(result, array)), casting="unsafe")

        if step["kind"] != "array":
            self._copy(queue, inputs[0], outputs[0], step, run)
            return
        read = [each for each in _flat(inputs) if isinstance(each, np.ndarray)]
        if any(self._memory.on_host(each) for each in (*read, *outputs)):
            raise NotAProgram("work on the device takes an array of the host")
        run()
        touched = [piece for each in read for piece in operations.access(each, False)]
        touched += [piece for each in outputs for piece in operations.access(each, True)]
        nbytes = sum(each.nbytes for each in (*read, *outputs))
        label = f"cupy.{step['function']}"
        operations.note(Operation("array", queue, label, nbytes, asynchronous=True, accesses=tuple(touched)))

    def _copy(self, queue: Queue, source: object, target: np.ndarray, step: dict, run: Callable[[], None]) -> None:
        """Which way it goes is said by where its ends lie."""
        ends = isinstance(source, np.ndarray) and self._memory.on_host(source), self._memory.on_host(target)
        if not isinstance(source, np.ndarray) and not ends[1]:
            operations.copy(queue, "memset", None, target, run, asynchronous=True, value=_whole(source))
            return
        if all(ends) or not isinstance(source, np.ndarray):
            raise NotAProgram("what the host copies or sets in its own memory is no work of a stream: use NumPy")
        if not any(ends):
            operations.device_copy(queue, f"D2D {size_text(target.nbytes)}", source, target, run)
            return
        kind, host, device = ("H2D", source, target) if ends[0] else ("D2H", target, source)
        operations.copy(queue, kind, host, device, run, asynchronous=step["asynchronous"] is True)

    def _graph(self, step: dict, queue: Queue) -> None:
        number = _whole(step["graph"])
        if self._graphs[number] is None:
            self._graphs[number] = self._captured(_list(self._nodes[number], LONGEST), queue)
        self._count(1 + len(self._graphs[number]))
        self._graphs[number].run(queue)

    def _captured(self, nodes: list, origin: Queue) -> graphs.Graph:
        capture = graphs.Capture(origin, "relaxed")
        for step, follows in nodes:
            if step["kind"] not in ("kernel", "host function", *_COPIES):
                raise NotAProgram("a graph holds kernels, copies and functions of the host")
            if any(_whole(number) >= len(capture.nodes) for number in _list(follows, LONGEST)):
                raise NotAProgram("a step of a graph follows one that there is not")
            queue = _at(self._queues, step["queue"])
            capture.ends[queue], queue.capture = frozenset(follows), capture
            try:
                self.run(step)
            finally:
                queue.capture = None
        return graphs.Graph(tuple(capture.nodes))

    def _host_function(self, _step: dict, queue: Queue) -> None:
        self._count(1)
        operations.submit(queue, Operation("host function", label="a host function", asynchronous=True), lambda: None)

    def _event(self, step: dict, queue: Queue) -> None:
        self._count(1)
        event = self._events.setdefault(_whole(step["event"]), object())
        label = {"record": "event", "wait": "wait for an event"}[step["kind"]]
        operations.note(Operation(step["kind"], queue, label=label, event=event))

    def _synchronise(self, step: dict, queue: Queue | None) -> None:
        self._count(1)
        event = None if step["event"] is None else self._events.setdefault(_whole(step["event"]), object())
        operations.synchronise(queue, event)

    def _host(self, step: dict, _queue: Queue | None) -> None:
        """The host reads, or writes: what it copies, and what it makes up, by which `nbytes` is known."""
        self._count(1)
        array, writes = self._memory.view(step["view"]), step["kind"] == "host write"
        if not self._memory.on_host(array):
            raise NotAProgram("the host looks at memory of the device")
        pieces = [self._memory.piece(*each) for each in _list(step["pieces"], LONGEST)] if writes else []
        low, high = np.lib.array_utils.byte_bounds(array)
        if any(to.ctypes.data < low or to.ctypes.data + len(to) > high for to, _, _ in pieces):
            raise NotAProgram("the host writes more than it says")
        touched = operations.access(array, writes, "the host's buffer")
        label = f"{step['kind']} of {size_text(array.nbytes)}"
        made_up = sum(len(data) for _, data, copied in pieces if not copied)
        operations.note(Operation(step["kind"], label=label, nbytes=made_up, accesses=touched))
        for to, data, _ in pieces:
            to[:] = data

    def _value(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self._value(each) for each in data]
        if "view" in data:
            return self._memory.view(data["view"])
        if "value" in data:
            return unplain(data["value"])
        if "dtype" in data:
            return _dtype(data["dtype"])
        return {_text(key): self._value(each) for key, each in data.items()}


_COPIES = ("H2D", "D2H", "D2D", "memset")
_RUN = {
    "kernel": _Steps._launch,
    **dict.fromkeys((*_COPIES, "array"), _Steps._call),
    "graph": _Steps._graph,
    "host function": _Steps._host_function,
    "record": _Steps._event,
    "wait": _Steps._event,
    "synchronise": _Steps._synchronise,
    "host read": _Steps._host,
    "host write": _Steps._host,
}


class _Memory:
    """The buffers of a program: those of the arguments, and fresh ones, made when they are first used."""

    def __init__(self, buffers: list, arguments: list):
        self._about, self._arguments = buffers, arguments
        self._made: list[tuple[bool, np.ndarray] | None] = [None] * len(buffers)
        self._left = MOST_MEMORY

    def _buffer(self, number: int) -> tuple[bool, np.ndarray]:
        """Whether a buffer is the host's, and its bytes."""
        made = self._made[_whole(number)]
        if made is None:
            made = self._made[number] = self._make(self._about[number])
        return made

    def _make(self, about: dict) -> tuple[bool, np.ndarray]:
        if "argument" in about:
            value = self._arguments[_whole(about["argument"])]
            array = getattr(value, "_host", value)
            if not isinstance(array, np.ndarray):
                raise NotAProgram("an argument that is no array is taken for one")
            return array is value, array.view(np.ndarray).reshape(-1).view(np.uint8)
        nbytes = _whole(about["nbytes"])
        self._left -= nbytes
        if self._left < 0:
            raise NotAProgram(f"it uses more than {size_text(MOST_MEMORY)} of memory")
        if about["kind"] not in ("pageable", "pinned", "device"):
            raise NotAProgram("memory is pageable, pinned, or on the device")
        if about["kind"] == "pageable":
            return True, np.full(nbytes, memory.FRESH, np.uint8)
        return about["kind"] == "pinned", np.asarray(memory.allocate(nbytes, kind=about["kind"]))

    def nbytes(self, number: int) -> int:
        return len(self._buffer(number)[1])

    def address(self, number: int, offset: int) -> int:
        if _whole(offset) > self.nbytes(number):
            raise NotAProgram("an address lies outside its buffer")
        return self._buffer(number)[1].ctypes.data + offset

    def view(self, data: list) -> np.ndarray:
        number, offset, dtype, shape, strides = data
        shape = tuple(_whole(n) for n in _list(shape, 32))
        strides = tuple(_whole(n, -(2**40)) for n in _list(strides, 32))
        if number is None or not math.prod(shape):
            return np.empty(shape if not math.prod(shape) else (0,), _dtype(dtype))
        if math.prod(shape) * _dtype(dtype).itemsize > MOST_MEMORY:
            raise NotAProgram(f"an array has more than {size_text(MOST_MEMORY)}")
        try:
            return np.ndarray(shape, _dtype(dtype), self._buffer(number)[1], _whole(offset), strides)
        except ValueError as error:
            raise NotAProgram(f"an array that does not lie in its buffer: {error}") from None

    def on_host(self, array: np.ndarray) -> bool:
        """Whether an array lies in memory of the host."""
        found = memory.describe(array.ctypes.data)
        if found.allocation is None or found.freed or found.offset >= found.allocation.nbytes:
            return True
        return found.allocation.kind == "pinned"

    def piece(
        self, buffer: int, offset: int, nbytes: int, source: Any, start: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """What the host writes to: the bytes there, those that come there, and whether it copies them."""
        to = self._bytes(buffer, offset, nbytes)
        if start is not None:
            if not self._buffer(source)[0]:
                raise NotAProgram("the host reads memory of the device")
            return to, self._bytes(source, start, nbytes).copy(), True
        data = zlib.decompressobj().decompress(base64.b64decode(_text(source), validate=True), len(to) + 1)
        if len(data) != len(to):
            raise NotAProgram("the host writes other bytes than it says")
        return to, np.frombuffer(data, np.uint8), False

    def _bytes(self, buffer: int, offset: int, nbytes: int) -> np.ndarray:
        found = self._buffer(buffer)[1][_whole(offset) : offset + _whole(nbytes)]
        if len(found) != nbytes:
            raise NotAProgram("the host reaches past a buffer")
        return found


def _fit(result: Any, array: np.ndarray) -> tuple[int, ...]:
    """The shape in which a result goes into an array: its own, where that can be broadcast."""
    return array.shape if np.size(result) == array.size else np.shape(result)


def _flat(values: Iterable) -> list:
    return [each for value in values for each in (_flat(value) if isinstance(value, list) else [value])]


def _kernel(data: dict) -> launch.Kernel:
    """The kernel, with its module's variables as the PTX gives them."""
    if len(_text(data["ptx"])) > MOST_PTX or data["language"] not in ("cuda", "numba"):
        raise NotAProgram("a kernel is PTX, of CUDA C or of Numba")
    kernels = launch.load(
        unsqueezed(data["ptx"]), language=data["language"], name=_text(data["name"]), filename=OWN_FILE
    )
    if data["entry"] not in kernels:
        raise NotAProgram("the PTX has no such kernel")
    kernel = kernels[data["entry"]]
    variables, fresh = kernel.module.variables, layout.load_variables(kernel.module.module)
    for name, address in variables.addresses.items():
        ctypes.memmove(address, fresh.addresses[name], variables.nbytes[name])
    return kernel


def _queue(data: dict) -> Queue:
    if data["kind"] == "legacy":
        return operations.LEGACY
    if data["kind"] == "per-thread":
        return replace(operations.find_queue(2), capture=None)
    if data["kind"] != "stream":
        raise NotAProgram("a stream is one of the default ones, or one that was made")
    return operations.new_queue(data["blocking"] is True, _whole(data["priority"], -9))


def _dtype(text: str) -> np.dtype:
    if not isinstance(text, str) or len(text) > 4 or np.dtype(text).kind not in "biufc":
        raise NotAProgram("an array holds numbers")
    return np.dtype(text)


def _list(value: object, most: int = MOST_OF) -> list:
    if not isinstance(value, list) or len(value) > most:
        raise NotAProgram("no list, or one that is too long")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise NotAProgram("no text")
    return value


def _whole(value: object, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 2**48:
        raise NotAProgram("no number that fits")
    return value


def _at(things: list[_T], number: object) -> _T:
    return things[_whole(number)]
