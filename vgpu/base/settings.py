"""The environment variables that the engine reads, all named `VGPU_…`; its README lists them."""

from __future__ import annotations

import functools
import os
import warnings

FORMER = "WARPBOOK_"
"""What the names began with before version 0.2; they still work in 0.2, with a warning."""
SECONDS = 60.0
"""How long a launch may take where VGPU_TIMEOUT doesn't say."""


def setting(name: str) -> str | None:
    """The value of VGPU_<name>, or None where it isn't set."""
    if (value := _value(f"VGPU_{name}")) is not None:
        return value
    if (value := _value(FORMER + name)) is not None:
        _warn(name)
    return value


def _value(variable: str) -> str | None:
    """As `os.environ.get`, at a tenth of its time for a variable that isn't set: each launch reads several of them."""
    held = getattr(os.environ, "_data", None)  # CPython's own dictionary, by names in the system's encoding
    if held is not None and _encoded(variable) not in held:
        return None
    return os.environ.get(variable)


@functools.cache
def _encoded(variable: str) -> str | bytes:
    return os.environ.encodekey(variable)


@functools.cache
def _warn(name: str) -> None:
    warnings.warn(f"{FORMER}{name} is now VGPU_{name}; the old name will stop working", FutureWarning, stacklevel=2)


def timeout(given: float | None = None, default: float = SECONDS) -> float:
    """The seconds that a launch may take: as given, else VGPU_TIMEOUT, else the default."""
    return float(setting("TIMEOUT") or default) if given is None else given
