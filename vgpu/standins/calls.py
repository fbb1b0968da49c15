"""Launch a kernel of either language, and explain what was passed in place of one."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from vgpu.base import own

LAUNCHED: own.Listeners[Any] = own.Listeners()
"""Called as listener(kernel, grid, block, arguments, shared_bytes) before a program launches a kernel."""


def is_numba(kernel: object) -> bool:
    """True for what `@cuda.jit` makes, which is launched as `kernel[grid, block](*arguments)`."""
    return hasattr(kernel, "py_func") and not _of_the_cpu(kernel)  # a RawKernel has square brackets too


def is_cute(kernel: object) -> bool:
    """True for a `@cute.jit` function, and for an object whose `__call__` is one: they launch kernels themselves."""
    return any(hasattr(each, "set_name_prefix") for each in (kernel, type(kernel).__call__))


def launch(kernel: Any, grid: Any, block: Any, arguments: Sequence, *, shared_bytes: int = 0) -> None:
    """Launch a Numba kernel or a CuPy RawKernel. Raises TypeError, with the fix, for anything else."""
    if (words := in_place_of_a_kernel(kernel)) is not None:
        raise TypeError(words)
    if is_numba(kernel):
        kernel[grid, block, 0, shared_bytes](*arguments)
    else:
        triple = [tuple(n) if isinstance(n, (tuple, list)) else (n,) for n in (grid, block)]
        kernel(*triple, tuple(arguments), shared_mem=shared_bytes)


def _of_the_cpu(given: object) -> bool:
    return type(given).__name__ == "CPUDispatcher"  # Numba's name for it, without importing Numba


def _named(given: object) -> str:
    return f"`{getattr(given, '__name__', 'it')}`"


_INSTEAD = (
    (lambda given: given is None, lambda given: "this is None, as a launch returns it: pass the kernel itself"),
    (
        lambda given: hasattr(given, "dispatcher"),
        lambda given: "this is a kernel with its [grid, block]: pass the kernel itself, without them",
    ),
    (
        lambda given: isinstance(given, str),
        lambda given: 'this is a text: make a kernel of it by cp.RawKernel(text, "name")',
    ),
    (
        lambda given: hasattr(given, "get_function"),
        lambda given: 'this is a module: take the kernel out of it by module.get_function("name")',
    ),
    (
        _of_the_cpu,
        lambda given: f"{_named(given)} is compiled for the CPU: write @cuda.jit on the line above its def",
    ),
    (
        lambda given: inspect.isfunction(given) or inspect.isbuiltin(given),
        lambda given: (
            f"{_named(given)} is a plain Python function, which no GPU runs: write @cuda.jit on the line above its def"
        ),
    ),
)
"""What is often passed in place of a kernel, and the fix."""


def in_place_of_a_kernel(given: object) -> str | None:
    """What `given` is instead of a kernel, and the fix, in words; None for a kernel and for unknown objects."""
    return next((words(given) for sort, words in _INSTEAD if sort(given)), None)
