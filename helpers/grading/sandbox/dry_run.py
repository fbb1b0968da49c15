"""Jobs that go wrong on purpose, each in one way, to try a sandbox out with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable


def echo(request: dict) -> dict:
    return request


def _hog(request: dict) -> dict:
    held = []
    while True:
        held.append(bytes(range(256)) * 4096)


def _wait(request: dict) -> dict:
    time.sleep(request["seconds"])
    return {}


WAYS: dict[str, Callable[[dict], dict]] = {
    "wait": _wait,
    "exit": lambda request: os._exit(3),
    "abort": lambda request: os.abort(),
    "raise": lambda request: WAYS["nothing"](request),
    "hog": _hog,
    "too long": lambda request: {"text": "x" * (2 << 20)},
}


def dry_run(request: dict) -> dict:
    """Go wrong in the way that `request["way"]` names."""
    return WAYS[request["way"]](request)
