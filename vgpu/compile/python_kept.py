"""PTX that Numba compiled from Python kernels, kept on disk where the kernel and its inputs can be described."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from vgpu.base import on_disk, steady
from vgpu.base.ours import ours
from vgpu.compile.python_key import KernelDescription, NotDescribable, of_process, without_process

PACKAGES = ("numba", "numba-cuda", "numpy", "llvmlite", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvrtc")
_PENDING = "of_the_virtual_gpu"


class Kept:
    """The kept texts of kernels; `modules` are Numba's modules by name."""

    def __init__(self, modules: Mapping[str, ModuleType]):
        self._settings = modules["numba.cuda.core.config"]
        self._types, self._dispatcher = modules["numba.cuda.types"], modules["numba.cuda.dispatcher"].CUDADispatcher
        self._registry = modules["numba.cuda.typing.templates"].builtin_registry

    def texts(
        self, function: Any, arguments: Sequence[Any], options: Sequence[Any], make: Callable[[], Sequence[str]]
    ) -> Sequence[str]:
        """The result of `make()` for a kernel, its argument types and options; from the disk where it was kept."""
        description, filename = KernelDescription(self._dispatcher, self._types), function.__code__.co_filename
        made: list[Sequence[str]] = []

        def remade() -> bytes:
            with warnings.catch_warnings(record=True) as caught:
                made.append(make())
            for each in caught:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            if caught:  # kept text would not warn in another process
                raise NotDescribable("a warning")
            return json.dumps([without_process(text, filename) for text in made[0]]).encode()

        try:
            described = description.function(function), description.types(arguments)
            inputs = *described, *options, sys.implementation.cache_tag, self._chosen()
            texts = on_disk.kept("numba", PACKAGES, inputs, remade)
        except NotDescribable:
            return made[0] if made else make()
        if made:
            return made[0]
        for callee in description.device_functions:  # not compiled now, but when a call asks for their signatures
            vars(callee).setdefault(_PENDING, []).append(make)
        return [of_process(text, filename) for text in json.loads(texts)]

    def catch_up(self, function: Any) -> None:
        """Compile the signatures of a device function that kernels from the disk would have compiled."""
        while pending := vars(function).get(_PENDING):
            steady.run_uninterrupted(pending.pop())

    def _chosen(self) -> list[tuple[str, str]]:
        """Numba's configuration. Raises NotDescribable where the user has overloaded names for Numba."""
        for template in (*self._registry.functions, *self._registry.attributes):
            origin = getattr(template, "_overload_func", None) or getattr(template, "_definition_func", template)
            # Attributes of types are of "abc"; the user's own types are not described.
            if not ours(origin.__module__) and origin.__module__.split(".")[0] not in ("numba", "abc"):
                raise NotDescribable("an overload of the user's own")
        settings = vars(self._settings)
        return [(name, repr(settings[name])) for name in sorted(settings) if name.isupper()]
