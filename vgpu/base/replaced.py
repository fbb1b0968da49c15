"""An attribute of another library, replaced for as long as it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Replaced:
    """While one or more threads are in its `with` block, an attribute is what `replacement(original)` returns.

    The last one out puts the original back. Where another library has wrapped ours meanwhile, ours stays below and has
    to do what the original does.
    """

    def __init__(self, owner: Any, name: str, replacement: Callable[[Any], Any]) -> None:
        self._owner, self._name, self._replacement = owner, name, replacement
        self._guard, self._users = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._guard:
            self._users += 1
            if self._users == 1:
                self._original = getattr(self._owner, self._name)
                self._ours = self._replacement(self._original)
                setattr(self._owner, self._name, self._ours)

    def __exit__(self, *error: object) -> None:
        with self._guard:
            self._users -= 1
            if not self._users and getattr(self._owner, self._name) is self._ours:
                setattr(self._owner, self._name, self._original)
