"""What Numba has made of Python kernels, kept on disk as far as it can be told by what it would be found again."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

from vgpu.base import on_disk, steady
from vgpu.base.ours import ours
from vgpu.compile.python_key import Description, Unknown, of_process, without_process

PACKAGES = ("numba", "numba-cuda", "numpy", "llvmlite", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvrtc")
_OWED = "of_the_virtual_gpu"


class Kept:
    """The texts of kernels; `modules` are those of Numba's by name."""

    def __init__(self, modules: Mapping[str, ModuleType]):
        self._settings = modules["numba.cuda.core.config"]
        self._types, self._dispatcher = modules["numba.cuda.types"], modules["numba.cuda.dispatcher"].CUDADispatcher
        self._registry = modules["numba.cuda.typing.templates"].builtin_registry

    def texts(self, function, arguments, options: Sequence, make: Callable[[], Sequence[str]]) -> Sequence[str]:
        """What `make()` gives for a kernel, its argument types and its options, where possible from another process."""
        description, made, filename = Description(self._dispatcher, self._types), [], function.__code__.co_filename

        def remade() -> bytes:
            with warnings.catch_warnings(record=True) as said:
                made.append(make())
            for each in said:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            if said:  # else another process would not hear of it
                raise Unknown("a warning")
            return json.dumps([without_process(text, filename) for text in made[0]]).encode()

        try:
            described = description.function(function), description.types(arguments)
            inputs = *described, *options, sys.implementation.cache_tag, self._chosen()
            texts = on_disk.kept("numba", PACKAGES, inputs, remade)
        except Unknown:
            return made[0] if made else make()
        if made:
            return made[0]
        for callee in description.device_functions:  # not compiled now, and to be when they are asked what for
            vars(callee).setdefault(_OWED, []).append(make)
        return [of_process(text, filename) for text in json.loads(texts)]

    def catch_up(self, function) -> None:
        """Compile what kernels that came from the disk would have compiled of a device function."""
        while owed := vars(function).get(_OWED):
            steady.run_uninterrupted(owed.pop())

    def _chosen(self) -> list[tuple[str, str]]:
        """Numba's configuration. Raises Unknown where the user has given foreign names a meaning."""
        for template in (*self._registry.functions, *self._registry.attributes):
            origin = getattr(template, "_overload_func", None) or getattr(template, "_definition_func", template)
            # Attributes of types are of "abc"; the user's own types are not described anyway.
            if not ours(origin.__module__) and origin.__module__.split(".")[0] not in ("numba", "abc"):
                raise Unknown("an overload of the user's own")
        settings = vars(self._settings)
        return [(name, repr(settings[name])) for name in sorted(settings) if name.isupper()]
