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
    if (value := os.environ.get(f"VGPU_{name}")) is not None:
        return value
    if (value := os.environ.get(FORMER + name)) is not None:
        _warn(name)
    return value


@functools.cache
def _warn(name: str) -> None:
    warnings.warn(f"{FORMER}{name} is now VGPU_{name}; the old name will stop working", FutureWarning, stacklevel=2)


def timeout(given: float | None = None, default: float = SECONDS) -> float:
    """The seconds that a launch may take: as given, else VGPU_TIMEOUT, else the default."""
    return float(setting("TIMEOUT") or default) if given is None else given
