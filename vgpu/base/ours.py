"""Which modules are the engine's, or belong to a tool built on it; the frames of all others are the user's."""

from __future__ import annotations

_PACKAGES = {"vgpu"}


def belongs(package: str) -> None:
    """Count a top-level package as part of the engine: warnings, tracebacks and leak reports skip its frames."""
    _PACKAGES.add(package)


def ours(module: object) -> bool:
    """Whether a module of this name is the engine's or a tool's; the engine's tests act as its users."""
    package, _, rest = str(module).partition(".")
    return package in _PACKAGES and rest.partition(".")[0] != "tests"
