"""What import hooks share that let the other finders find a module, and then change how it is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Execute = Callable[[ModuleType], None]


def found_by_others(finder: Any, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """The spec of a module from the first finder that has one, `finder` itself left out."""
    others = (each for each in sys.meta_path if each is not finder)
    return next((spec for each in others if (spec := each.find_spec(name, path, target)) is not None), None)


def loaded_by(spec: ModuleSpec | None, change: Callable[[Execute], Execute]) -> ModuleSpec | None:
    """The spec with another `exec_module`: what `change` makes of its loader's."""
    if spec is not None and spec.loader is not None:
        vars(spec.loader)["exec_module"] = change(spec.loader.exec_module)
    return spec
