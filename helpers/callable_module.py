"""A module that is called as its function of the same name.

`from helpers import device` is meant to give the function `device`. Yet once anything has imported the module
`helpers.hardware.device`, Python itself puts that module under this name. Making the module callable lets
`device("A100")` and `device.current()` work either way.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Callable(ModuleType):
    def __call__(self, *args, **kwargs):
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def callable_module(name: str) -> None:
    """Make the module called `name` (a module passes its `__name__`) callable as its own namesake."""
    sys.modules[name].__class__ = _Callable
