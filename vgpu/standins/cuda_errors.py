"""CUDA's names and texts of its errors, from CUDA's own runtime library, which answers these without a driver.

The driver API and the runtime API number their errors alike, and describe them in the same words.
"""

from __future__ import annotations


def name(code: int) -> str:
    """What `cudaGetErrorName` returns."""
    from cuda.bindings import runtime

    return runtime.cudaGetErrorName(code)[1].decode()


def code(message: str, otherwise: int) -> int:
    """The code of the error whose name a message begins with, such as `cudaErrorInvalidPitchValue: …`."""
    from cuda.bindings import runtime

    return int(runtime.cudaError_t.__members__.get(message.partition(":")[0], otherwise))


def text(code: int) -> str:
    """What `cudaGetErrorString` returns, and `cuGetErrorString` for an error that the driver API has."""
    from cuda.bindings import runtime

    return runtime.cudaGetErrorString(code)[1].decode()


def driver_name(code: int) -> str | None:
    """What `cuGetErrorName` returns; None for no error of the driver API."""
    from cuda.bindings import driver

    return driver.CUresult(code).name if code in set(driver.CUresult) else None
