"""Stream work as a program: what a function issues, as data that `stream_replay` executes on other inputs.

    {"buffers": […], "kernels": […], "queues": […], "graphs": […], "steps": […]}

A step names its kind, its queue and what it needs to run again: a kernel's parameters, or the views that a copy goes
between. An address is a buffer's number and an offset. Results and counts are not in it. What the host itself writes is
found by comparing memory with what the program so far would have left there: bytes that lie in memory of the host
already become a copy from there, others stand in the program as they are.
"""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.kernel_as_json import squeezed
from helpers.checking.values_as_json import NotPlain, plain
from vgpu.launch.launch import Kernel
from vgpu.operations import KernelLaunch, NumPyCall, Operation, Queue
from vgpu.storage import memory

HOST = ("pinned", "pageable")
LONGEST = 20_000
"""Operations of one program, those of a graph counted at each of its launches."""
_KEY = 16  # bytes by which a copy's source is found
_APART = 64  # bytes that stay the same between two pieces that the host has written
_PIECES = 1_000
MOST_MADE_UP = 2 << 20
"""Characters of data that the host has computed, compressed and in base64, in one program."""
_MISSES = 200  # writes that are no copies, after which no more copies are looked for: the host computes


class NotReplayable(Exception):
    """Something was issued that no program can hold; the message says what."""


class Written(list):
    """A list for `operations.listening` that writes a program of what it hears. `arguments`: those of the function."""

    def __init__(self, arguments: list):
        super().__init__()
        self._memory = _Memory(arguments)
        self._tables: dict[str, list] = {"kernels": [], "queues": [], "graphs": []}
        self._numbers: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._held: list = []  # what has a number, so that its id stays its own
        self._steps: list[dict] = []
        self._unsettled: tuple[dict, np.ndarray] | None = None
        self._left = LONGEST

    def append(self, operation: Operation) -> None:
        super().append(operation)
        self._left -= 1 + len(operation.nodes)
        if self._left < 0:
            raise NotReplayable(f"it issues more than {LONGEST:,} operations")
        inner = [node for node, _ in operation.nodes]
        for each in (operation, *inner):  # what a copy has just brought back is not the host's own work
            if each.kind == "D2H":
                assert isinstance(each.does, NumPyCall)
                self._memory.learn(each.does.outputs[0])
        self._settle()
        for each in (operation, *inner):
            if each.kind == "H2D":
                assert isinstance(each.does, NumPyCall)
                self._host_wrote(each.does.inputs[0])
        self._steps.append(self._step(operation))
        self._memory.forget_passing()

    def program(self, outputs: list[np.ndarray]) -> dict:
        """The program, once the function has returned. `outputs`: arrays of the host that hold its results."""
        self._settle()
        for each in outputs:
            self._host_wrote(each)
        return {"buffers": self._memory.buffers, **self._tables, "steps": self._steps}

    # -- what the host writes

    def _settle(self) -> None:
        """A noted write of the host has happened by the time that the next operation is issued."""
        if self._unsettled is not None:
            step, array = self._unsettled
            self._unsettled = None
            step["pieces"] += self._memory.settle(array)

    def _host_wrote(self, array: np.ndarray) -> None:
        """Add a write of the host, if there was one that was not noted."""
        if pieces := self._memory.settle(array):
            self._steps.append(
                {"kind": "host write", "queue": None, "view": self._memory.view(array), "pieces": pieces}
            )

    # -- steps

    def _step(self, each: Operation) -> dict:
        step: dict[str, Any] = {"kind": each.kind, "queue": self._number("queues", each.queue, _queue)}
        if each.kind in ("host read", "host write"):
            ends = [(int(piece.starts[0]), int(piece.ends[-1])) for piece in each.accesses]
            array = _of_bytes(*(ends or [(0, 0)])[0])
            if each.kind == "host write":
                step["pieces"] = []
                self._unsettled = step, array
            return step | {"view": self._memory.view(array)}
        if each.kind in ("record", "wait", "synchronise"):
            return step | {"event": self._number("events", each.event)}
        if each.kind == "graph":
            return step | {"graph": self._number("graphs", each.graph, lambda _: self._nodes(each))}
        if each.kind == "host function":
            return step
        if isinstance(each.does, KernelLaunch):
            return step | self._launch(each.kernel, each.does)
        if isinstance(each.does, NumPyCall):
            return step | {"asynchronous": each.asynchronous} | self._call(each, each.does)
        raise NotReplayable(f"{each.label} can't be replayed: use a kernel, a copy, or a plain function of CuPy")

    def _nodes(self, each: Operation) -> list:
        return [[self._step(node), list(follows)] for node, follows in each.nodes]

    def _launch(self, kernel: Kernel | None, does: KernelLaunch) -> dict:
        return {
            "kernel": self._number("kernels", kernel, _kernel),
            "grid": list(does.grid),
            "block": list(does.block),
            "shared_bytes": int(does.shared_bytes),
            "cooperative": does.cooperative,
            "parameters": [self._parameter(bytes(each)) for each in does.params],
            "arrays": [
                [info.name, *self._memory.place(info.address, info.nbytes), info.nbytes]
                for info in does.arrays
                if info.nbytes
            ],
        }

    def _parameter(self, data: bytes) -> list:
        """A parameter's bytes, and which of its words are pointers, as [where, buffer, offset]."""
        words = np.frombuffer(data[: len(data) // 8 * 8], np.uint64).tolist()
        pointers = [[8 * at, *place] for at, word in enumerate(words) if (place := self._memory.pointer(word))]
        return [data.hex(), pointers]

    def _call(self, each: Operation, does: NumPyCall) -> dict:
        try:
            copied = each.kind != "array" and isinstance(does.inputs[0], np.ndarray)
            inputs = [{"view": self._memory.view(does.inputs[0])}] if copied else self._value(does.inputs)
            named = self._value(does.named)
        except NotPlain:
            raise NotReplayable(f"{each.label} can't be replayed with these arguments") from None
        return {
            "function": does.name,
            "inputs": inputs,
            "named": named,
            "outputs": [self._memory.view(each) for each in does.outputs],
        }

    def _value(self, value: object) -> object:
        """Arguments of a function as JSON: arrays on the device as views, the rest as what they hold."""
        if isinstance(value, dict):
            return {key: self._value(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(each) for each in value]
        if isinstance(value, np.ndarray) and memory.owner(value) is not None:
            return {"view": self._memory.view(value)}
        if isinstance(value, np.dtype | type):
            return {"dtype": np.dtype(value).str}
        return {"value": plain(value)}

    def _number(self, table: str, thing: object, written: Callable[[Any], object] | None = None) -> int | None:
        if thing is None:
            return None
        numbers = self._numbers[table]
        if id(thing) not in numbers:
            numbers[id(thing)] = len(numbers)
            self._held.append(thing)
            if written:
                self._tables[table].append(written(thing))
        return numbers[id(thing)]


def _queue(queue: Queue) -> dict:
    return {"kind": queue.kind, "blocking": queue.blocking, "priority": queue.priority}


def _kernel(kernel: Kernel) -> dict:
    return {"name": kernel.name, "entry": kernel.entry, "language": kernel.language, "ptx": squeezed(kernel.ptx)}


def _of_bytes(start: int, end: int) -> np.ndarray:
    """The bytes between two addresses."""
    return np.asarray(_Bytes(start, end - start))


class _Bytes:
    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


class _Memory:
    """The buffers of a program, and what it leaves in those of the host."""

    def __init__(self, arguments: list):
        self.buffers: list[dict] = []
        self._allocated: dict[int, int] = {}  # serial number of an allocation -> buffer
        self._pageable: list[tuple[int, int, int]] = []  # first address, one past the last, buffer
        self._holds: dict[int, bytearray] = {}  # buffer of the host -> what the program has left there
        self._misses_left, self._made_up = _MISSES, 0
        for number, value in enumerate(arguments):
            array = getattr(value, "_host", value)
            if isinstance(array, np.ndarray) and array.nbytes:
                start, end = np.lib.array_utils.byte_bounds(array)
                buffer, _ = self.place(start, end - start, argument=number)
                if buffer in self._holds:
                    self._holds[buffer][:] = _of_bytes(start, end).tobytes()

    def place(self, address: int, nbytes: int, argument: int | None = None) -> tuple[int, int]:
        """The buffer that memory belongs to, and the offset in it."""
        found = memory.describe(address)
        if found.allocation is not None and found.offset < found.allocation.nbytes:
            kind = "pinned" if found.allocation.kind == "pinned" else "device"
            serial = found.allocation.serial
            if serial not in self._allocated:
                self._allocated[serial] = self._new(kind, found.allocation.nbytes, argument)
            return self._allocated[serial], found.offset
        known = next((each for each in self._pageable if each[0] <= address and address + nbytes <= each[1]), None)
        if known is not None:
            return known[2], address - known[0]
        buffer = self._new("pageable", nbytes, argument)
        self._pageable.append((address, address + nbytes, buffer))
        return buffer, 0

    def forget_passing(self) -> None:
        """By the next operation other memory of the host than the arguments' may have been freed, and used again."""
        self._pageable = [each for each in self._pageable if "argument" in self.buffers[each[2]]]

    def _new(self, kind: str, nbytes: int, argument: int | None) -> int:
        about = {"kind": kind, "nbytes": int(nbytes)} if argument is None else {"argument": argument}
        self.buffers.append(about)
        if kind in HOST:
            self._holds[len(self.buffers) - 1] = bytearray(b"\xff" * int(nbytes))
        return len(self.buffers) - 1

    def pointer(self, word: int) -> tuple[int, int] | None:
        found = memory.describe(word)
        live = found.allocation is not None and not found.freed and found.offset < found.allocation.nbytes
        return self.place(word, 1) if live else None

    def view(self, array: np.ndarray) -> list:
        """[buffer, offset, dtype, shape, strides]; the buffer of an empty array is None."""
        layout = [array.dtype.str, list(array.shape), list(array.strides)]
        if not array.size:
            return [None, 0, *layout]
        start, end = np.lib.array_utils.byte_bounds(array)
        buffer, offset = self.place(start, end - start)
        return [buffer, offset + array.ctypes.data - start, *layout]

    # -- what is in memory of the host

    def learn(self, array: np.ndarray) -> None:
        """A copy has brought this to the host."""
        if array.size:
            buffer, start, data = self._now(array)
            self._holds[buffer][start : start + len(data)] = data

    def settle(self, array: np.ndarray) -> list:
        """The pieces that the host has written in an array since the program last knew what it holds."""
        if not array.size:
            return []
        buffer, start, data = self._now(array)
        held = self._holds[buffer]
        changed = np.flatnonzero(np.frombuffer(data, np.uint8) != np.frombuffer(held, np.uint8, len(data), start))
        if not len(changed):
            return []
        breaks = np.flatnonzero(np.diff(changed) > _APART)
        firsts = np.concatenate((changed[:1], changed[breaks + 1])) // 4 * 4  # whole words, as most elements are
        pasts = np.minimum(-(-(np.concatenate((changed[breaks], changed[-1:])) + 1) // 4) * 4, len(data))
        if len(firsts) > _PIECES:
            firsts, pasts = np.array([0]), np.array([len(data)])
        found = [
            piece
            for first, past in zip(firsts, pasts, strict=True)
            for piece in self._traced(buffer, start + int(first), data[int(first) : int(past)])
        ]
        held[start : start + len(data)] = data
        return found

    def _now(self, array: np.ndarray) -> tuple[int, int, bytes]:
        """The buffer of a host array, where in it the array begins, and all bytes from there to its end."""
        start, end = np.lib.array_utils.byte_bounds(array)
        buffer, offset = self.place(start, end - start)
        return buffer, offset, _of_bytes(start, end).tobytes()

    def _traced(self, buffer: int, at: int, data: bytes) -> list:
        """What the host has written, as [buffer, offset, length, source, its offset], or […, the bytes themselves]."""
        pieces, done = list[list](), 0
        while done < len(data) and len(pieces) < _PIECES and self._misses_left:
            found = next(
                ((number, place) for number, held in self._holds.items()
                 if (place := held.find(data[done : done + _KEY])) >= 0),
                None,
            )  # fmt: skip
            if found is None:
                self._misses_left -= 1
                break
            number, place = found
            length = _alike(data, done, self._holds[number], place)
            pieces.append([buffer, at + done, length, number, place])
            done += length
        if done < len(data):
            rest = base64.b64encode(zlib.compress(data[done:])).decode()
            self._made_up += len(rest)
            if self._made_up > MOST_MADE_UP:
                raise NotReplayable("the host writes too much data that it has computed: let kernels calculate it")
            pieces.append([buffer, at + done, len(data) - done, rest])
        return pieces


def _alike(one: bytes, at: int, other: bytearray, there: int) -> int:
    """For how many bytes two pieces of memory are the same."""
    length = min(len(one) - at, len(other) - there)
    same = np.frombuffer(one, np.uint8, length, at) == np.frombuffer(other, np.uint8, length, there)
    return length if same.all() else int(same.argmin())
