"""One way to launch a kernel of either language, and words for what is given in place of one."""

from __future__ import annotations

import inspect

from vgpu.base import own

LAUNCHED = own.Listeners()
"""Called as f(kernel, grid, block, arguments, shared bytes) before a program's launch of a kernel."""


def is_numba(kernel) -> bool:
    """True for what `@cuda.jit` makes, which is launched as `kernel[grid, block](*arguments)`."""
    return hasattr(kernel, "py_func") and not _of_the_cpu(kernel)  # a RawKernel has square brackets too


def launch(kernel, grid, block, arguments, *, shared_bytes: int = 0) -> None:
    """Launch a Numba kernel or a CuPy RawKernel with the same grid, block, arguments and dynamic shared
    memory. Raises TypeError, with what to do, for what is no kernel."""
    if (words := in_place_of_a_kernel(kernel)) is not None:
        raise TypeError(words)
    if is_numba(kernel):
        kernel[grid, block, 0, shared_bytes](*arguments)
    else:
        triple = [tuple(n) if isinstance(n, (tuple, list)) else (n,) for n in (grid, block)]
        kernel(*triple, tuple(arguments), shared_mem=shared_bytes)


def _of_the_cpu(given) -> bool:
    return type(given).__name__ == "CPUDispatcher"  # Numba's name for it; asking imports nothing


def _named(given) -> str:
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
"""What is often given in place of a kernel, and what to do."""


def in_place_of_a_kernel(given) -> str | None:
    """What `given` is instead of a kernel and what to do, in words; None for a kernel, and for what nobody knows."""
    return next((words(given) for sort, words in _INSTEAD if sort(given)), None)
