"""How the two sides of a sandbox talk: a socket that carries JSON objects, each after its length in four bytes.

The far side may be in a student's hands. So the near side reads a length before it reads a frame, never more than
it may, and never anything but JSON: no number without a value, no text that could not be written to a file.
"""

from __future__ import annotations

import json
import re
import select
import socket
import struct
import time
from typing import Any, NoReturn

DEEPEST = 100  # what reads a message must not run out of stack, and no honest one comes near
LENGTH = struct.Struct(">I")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Ended(Exception):
    """The other side has closed the socket."""


class Late(Exception):
    """Nothing whole has come in the time that was given."""


class Malformed(Exception):
    """What came is no frame; `too_long` says whether that is because of its length."""

    def __init__(self, says: str, too_long: bool = False):
        super().__init__(says)
        self.too_long = too_long


def encode(message: dict) -> bytes:
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode()
    return LENGTH.pack(len(body)) + body


def decode(body: bytes) -> dict:
    """The object in a frame's body; raises Malformed for anything else."""
    try:
        message = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"no JSON: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise Malformed("no JSON object")
    if body.count(b"[") + body.count(b"{") > DEEPEST and _depth(message) > DEEPEST:
        raise Malformed(f"more than {DEEPEST} lists and objects in one another")
    # A lone half of a surrogate pair is a text to Python, but no file can hold it.
    return _writable(message) if b"\\u" in body else message


def _depth(message: dict) -> int:
    """How many lists and objects lie in one another, found level by level."""
    depth, level = 0, list[dict | list]([message])
    while level:
        depth += 1
        items = (item for value in level for item in (value.values() if isinstance(value, dict) else value))
        level = [item for item in items if isinstance(item, dict | list)]
    return depth


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _writable(value: Any) -> Any:
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case list():
            return [_writable(item) for item in value]
        case dict():
            return {_writable(key): _writable(item) for key, item in value.items()}
    return value


class Channel:
    """One end of the socket.

    `longest` is the most bytes that a frame may have to be read. `received` counts the bytes of all frames read.
    """

    def __init__(self, end: socket.socket, longest: int = 1 << 20):
        self.socket, self.longest, self.received = end, longest, 0
        self._have = bytearray()

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: dict, file: int | None = None) -> None:
        """Send an object, and with it an open file; raises Ended when nobody is there to read it."""
        data = encode(message)
        try:
            if file is not None:
                sent = socket.send_fds(self.socket, [data[:1]], [file])
                data = data[sent:]
            self.socket.sendall(data)
        except OSError as error:
            raise Ended(str(error)) from None

    def receive(self, seconds: float | None = None) -> dict:
        """The next object; raises Late after `seconds`, Ended, or Malformed."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            if len(self._have) >= LENGTH.size:
                (length,) = LENGTH.unpack_from(self._have)
                if length > self.longest:
                    raise Malformed(f"a message of {length:,} bytes, where {self.longest:,} are allowed", True)
                whole = LENGTH.size + length
                if len(self._have) >= whole:
                    body = bytes(self._have[LENGTH.size : whole])
                    del self._have[:whole]
                    self.received += whole
                    return decode(body)
            left = None if until is None else max(0.0, until - time.monotonic())
            self._wait(left)
            try:
                data = self.socket.recv(1 << 16)
            except OSError as error:
                raise Ended(str(error)) from None
            if not data:
                raise Ended("closed")
            self._have += data

    def receive_file(self, seconds: float | None) -> tuple[dict, int | None]:
        """The next object and the open file that came with its first byte, or None."""
        self._wait(seconds)
        try:
            data, files, _, _ = socket.recv_fds(self.socket, 1, 1)
        except OSError as error:
            raise Ended(str(error)) from None
        if not data:
            raise Ended("closed")
        self._have += data
        return self.receive(seconds), files[0] if files else None

    def _wait(self, seconds: float | None) -> None:
        # poll, not select: a grader with many kernels has file numbers above select's 1023.
        waiter = select.poll()
        waiter.register(self.socket, select.POLLIN)
        if not waiter.poll(None if seconds is None else int(seconds * 1000 + 0.999)):
            raise Late

    def close(self) -> None:
        self.socket.close()
