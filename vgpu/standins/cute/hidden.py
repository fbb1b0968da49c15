"""Frames that CuTe DSL's messages don't point at: it takes the innermost one that isn't its own for the user's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def in_place_of(original: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates what replaces a function of CuTe DSL. A frame of a file in angle brackets is never the user's."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__code__ = function.__code__.replace(co_filename="<vgpu>")
        return functools.wraps(original)(function)

    return decorate
