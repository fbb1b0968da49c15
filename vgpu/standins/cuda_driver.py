"""CUDA's driver API under Python's name for it, `cuda.bindings.driver`: types stay, functions answer without a driver.

Programs ask it whether there is a GPU and what it can do, and name streams by its types. What else it has needs a
driver, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from vgpu.base.errors import Unsupported
from vgpu.hardware.device import current
from vgpu.standins import cuda_errors
from vgpu.standins.cupy import cudart


def activate(module: ModuleType) -> None:
    """Replace the functions of `cuda.bindings.driver`; each returns a tuple that begins with a `CUresult`."""
    done, device = module.CUresult.CUDA_SUCCESS, module.CUdevice

    def synchronized(*_: object) -> tuple[Any, ...]:
        cudart.deviceSynchronize()
        return (done,)

    def described(words: Callable[[int], str | None]) -> Callable[..., tuple[Any, ...]]:
        def answer(error: Any) -> tuple[Any, ...]:
            known = cuda_errors.driver_name(int(error)) is not None
            return (
                (done, (words(int(error)) or "").encode())
                if known
                else (module.CUresult.CUDA_ERROR_INVALID_VALUE, None)
            )

        return answer

    answers: dict[str, Callable[..., tuple[Any, ...]]] = {
        "cuInit": lambda flags: (done,),
        "cuGetErrorName": described(cuda_errors.driver_name),
        "cuGetErrorString": described(cuda_errors.text),
        "cuDriverGetVersion": lambda: (done, cudart.runtimeGetVersion()),
        "cuDeviceGetCount": lambda: (done, 1),
        "cuDeviceGet": lambda ordinal: (done, device(ordinal)),
        "cuDeviceGetName": lambda length, which: (done, current().name.encode()[: length - 1]),
        "cuDeviceGetAttribute": lambda attribute, which: (done, cudart.deviceGetAttribute(int(attribute), 0)),
        "cuCtxGetDevice": lambda *context: (done, device(0)),
        "cuStreamSynchronize": synchronized,
        "cuCtxSynchronize": synchronized,
    }
    for name in dir(module):
        if re.match("cu[A-Z]", name) and not isinstance(getattr(module, name), type):
            setattr(module, name, answers.get(name, _missing(name)))


def _missing(name: str) -> Callable[..., Any]:
    def function(*_: Any, **named: Any) -> Any:
        raise Unsupported(
            f"cuda.bindings.driver.{name} needs a driver, and the virtual GPU has none: use PyTorch or CuPy, which run "
            "here, for memory, streams and events."
        )

    function.__name__ = name
    return function
