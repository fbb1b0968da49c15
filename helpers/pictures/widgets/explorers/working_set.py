"""Which requests of a kernel a cache can answer, as the array, the cache and the version of the kernel change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from helpers.models.cache_model import KIB, requests
from helpers.pictures.figures import Picture
from helpers.pictures.plots.working_set import cache_requests
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools.steps.trace import trace


def working_set(
    kernel,
    args: Callable[[int], tuple],
    *,
    array: Iterable[int],
    cache: Iterable[int],
    start: tuple[int, int] | None = None,
    grid=1,
    block=32,
) -> Explorer:
    """Each load of a kernel's first block over time, found in a modelled cache or not.

    kernel: one kernel, or a mapping from short names to several, which a slider chooses from; `args(kib)` gives the
    arguments of its launch for an array of so many KiB; `array` and `cache`: the sizes, in KiB, that two sliders
    offer; start: the sizes to begin with (the first ones otherwise). ValueError for a kernel that loads nothing from
    global memory.
    """
    versions = checked.versions(kernel)
    make, sizes, caches = checked.called("args", args), checked.options("array", array), checked.options("cache", cache)
    first, kept = start or (sizes[0], caches[0])
    controls = {"array": choice("array, KiB", first, sizes), "cache": choice("cache, KiB", kept, caches)}
    name = next(iter(versions))
    if len(versions) > 1:
        controls = {"version": choice("version", name, versions), **controls}

    @lru_cache(maxsize=64)
    def traced(version: str, array: int):
        return trace(versions[version], grid, block, checked.arguments(make(array)))

    def draw(array: int, cache: int, version: str = name) -> Picture:
        asked = requests(traced(version, array), cache * KIB)
        words = f"{version}, {array} KiB" if version else f"{array} KiB"
        return cache_requests({words: asked}, cache * KIB)

    return Explorer("working_set", draw, controls)
