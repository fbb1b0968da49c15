"""From a result to a picture: every function takes data that a kernel produced and returns a `Picture` or a `Drawing`.

The sentence of a `Picture` is computed from the same data as its marks, so the two cannot drift apart. Here are the
modules that several chapters share; what one chapter alone uses is in `chapters`. `contents` lists all functions, each
imported when it is first used.
"""

from __future__ import annotations

from helpers.pictures.contents import named
from helpers.pictures.plots.labels import track

_PLOTS = named("plots")
__all__ = sorted([*_PLOTS, track.__name__])


def __getattr__(name: str):
    if name not in _PLOTS:
        raise AttributeError(f"helpers.plots has no {name!r}; it has: {', '.join(__all__)}")
    found = globals()[name] = _PLOTS[name].function()
    return found


def __dir__() -> list[str]:
    return __all__
