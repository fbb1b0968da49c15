"""CuTe DSL's timing without a GPU: `benchmark` and `autotune_jit` get a modelled time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cutlass.testing
from cutlass.cute import testing

from vgpu.launch import launch
from vgpu.standins import modelled


def benchmark(
    callable: Callable[..., Any],
    *,
    kernel_arguments: Any = None,
    workspace_generator: Callable[[], Any] | None = None,
    **_: Any,
) -> float:
    """`cutlass.cute.testing.benchmark`: the modelled microseconds of one run, summed over the kernels that it launches.

    One counted run gives always the same: iterations, streams and graphs don't matter.
    """
    given = workspace_generator() if workspace_generator is not None else kernel_arguments
    seconds: list[float] = []
    with launch.FINISHED.hearing(lambda done: seconds.append(modelled.seconds(done))):
        callable(*(given.args if given else ()), **(given.kwargs if given else {}))
    return 1e6 * sum(seconds)


def activate() -> None:
    """Let CuTe DSL's modules for tests return modelled times."""
    for module in (testing, cutlass.testing):
        module.benchmark = benchmark
