"""From a result to a picture: every function takes data that a kernel produced and returns a `Picture` or a `Drawing`.

The sentence of a `Picture` is computed from the same data as its marks, so the two cannot drift apart. Here are the
modules that several chapters share; what one chapter alone uses is in `chapters`. `contents` lists all functions, each
imported when it is first used.
"""

from __future__ import annotations

from helpers.pictures.contents import named
from helpers.pictures.plots.labels import track
from vgpu.base.late import late

__all__, __getattr__, __dir__ = late(
    __name__,
    {name: entry.function for name, entry in named("plots").items()},
    "helpers.plots",
    also=[track.__name__],
)
