"""A package whose names are imported when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import Any


def members(package: str, modules: Mapping[str, Iterable[str]]) -> dict[str, Callable[[], object]]:
    """Loaders of names, by names, from the modules of a package that define them: {"tools.profile": ("profile",)}."""
    return {name: partial(_member, f"{package}.{module}", name) for module, names in modules.items() for name in names}


def _member(module: str, name: str) -> object:
    return getattr(import_module(module), name)


def late(
    package: str, loaders: Mapping[str, Callable[[], object]], shown: str = "", also: Iterable[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A package's `__all__`, `__getattr__` and `__dir__`. `shown`: what errors call the package, else its name.

    `also`: names that the package has already.
    """
    names = sorted([*loaders, *also])

    def attribute(name: str) -> Any:
        if name not in loaders:
            raise AttributeError(f"{shown or package} has no {name!r}; it has: {', '.join(names)}")
        found = loaders[name]()
        setattr(sys.modules[package], name, found)
        return found

    return names, attribute, lambda: names
