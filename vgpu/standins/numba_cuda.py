"""The stand-in for `numba.cuda`: `from vgpu import cuda` gives this module where there is no GPU.

What kernels use (`grid`, `threadIdx`, `shared.array`, `atomic`, …) is Numba's own, looked up on demand; what the host
uses (`to_device`, streams, events, devices) is the virtual GPU's. On a machine with a GPU the real module is used
instead, so everything here has to behave as in Numba.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from vgpu.base.errors import Unsupported
from vgpu.standins.numba.array import DeviceNDArray, DeviceRecord, MappedNDArray, is_cuda_ndarray
from vgpu.standins.numba.host import (
    close,
    cuda_error,
    current_context,
    default_stream,
    defer_cleanup,
    detect,
    event,
    event_elapsed_time,
    external_stream,
    get_current_device,
    gpus,
    is_available,
    is_supported_version,
    list_devices,
    per_thread_default_stream,
    pinned,
    profile_start,
    profile_stop,
    profiling,
    select_device,
    stream,
    synchronize,
)
from vgpu.standins.numba.transfer import (
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    is_cuda_array,
    managed_array,
    mapped_array,
    mapped_array_like,
    pinned_array,
    pinned_array_like,
    to_device,
)

legacy_default_stream = default_stream


class _Driver:
    """`cuda.cudadrv`: Numba keeps the classes of arrays there, for `isinstance(x, cuda.cudadrv.devicearray.…)`."""

    devicearray = SimpleNamespace(
        DeviceNDArray=DeviceNDArray,
        DeviceRecord=DeviceRecord,
        MappedNDArray=MappedNDArray,
        is_cuda_ndarray=is_cuda_ndarray,
    )

    def __getattr__(self, name: str) -> Any:
        raise Missing(f"the virtual GPU has no cuda.cudadrv.{name}: it belongs to a real GPU's driver.")


cudadrv = _Driver()
devicearray = cudadrv.devicearray

__all__ = [
    "as_cuda_array", "close", "cuda_error", "cudadrv", "current_context", "default_stream", "defer_cleanup", "detect",
    "device_array", "device_array_like", "event", "event_elapsed_time", "external_stream",
    "from_cuda_array_interface", "get_current_device", "gpus", "is_available", "is_cuda_array",
    "is_supported_version", "legacy_default_stream", "list_devices", "managed_array", "mapped_array",
    "mapped_array_like", "per_thread_default_stream", "pinned", "pinned_array", "pinned_array_like",
    "profile_start", "profile_stop", "profiling", "select_device", "stream", "synchronize", "to_device",
]  # fmt: skip

# These import Numba, which takes a second or two: they are loaded on demand.
_LATE = {
    "jit": "vgpu.standins.numba.jit",
    "compile": "vgpu.standins.numba.jit",
    "compile_ptx": "vgpu.standins.numba.jit",
    "compile_all": "vgpu.standins.numba.jit",
    "compile_for_current_device": "vgpu.standins.numba.jit",
    "compile_ptx_for_current_device": "vgpu.standins.numba.jit",
    "In": "vgpu.standins.numba.args",
    "Out": "vgpu.standins.numba.args",
    "InOut": "vgpu.standins.numba.args",
}

# Numba's own, which launches kernels on the virtual GPU: name → module and the name there ("" for all of it).
_ADOPTED = {
    "random": ("numba.cuda.random", ""),
    "Reduce": ("numba.cuda.kernels.reduction", "Reduce"),
    "reduce": ("numba.cuda.kernels.reduction", "Reduce"),
    "vectorize": ("numba.cuda.np.ufunc.decorators", "vectorize"),
    "guvectorize": ("numba.cuda.np.ufunc.decorators", "guvectorize"),
}


def activate() -> None:
    """Let Numba's own modules that launch kernels launch them here: `numba.cuda.random`, `target="cuda"`."""
    from vgpu.standins.numba import adopted

    adopted.activate()


def replaced() -> list[str]:
    """The names of `numba.cuda` that are other objects here: what the host uses, not what kernels use."""
    return sorted({*__all__, *_LATE, *_ADOPTED} - {"cudadrv"})


# Numba's own, for use inside kernels. Its types (float32, int64[:], …) and vectors (float4) are let through
# too.
KERNEL_SIDE = frozenset({
    "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize",
    "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp",
    "shared", "local", "const", "atomic",
    "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync",
    "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync",
    "activemask", "lanemask_lt", "popc", "brev", "clz", "ffs", "fma", "cbrt", "selp", "nanosleep",
    "threadfence", "threadfence_block", "threadfence_system",
    "ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt",
    "cg", "libdevice", "types", "literal_unroll", "is_float16_supported", "declare_device",
    "CUSource", "PTXSource", "LTOIR", "Cubin", "Fatbin", "Archive", "Object",
})  # fmt: skip

_INSTEAD = {
    "open_ipc_array": "share arrays between threads of one process; there are no handles for other processes",
    "mapped": "use cuda.mapped_array",
}


class Missing(Unsupported, AttributeError):
    """A name of `numba.cuda` that the virtual GPU lacks, or that does not exist at all."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in _ADOPTED:
        from vgpu.standins.numba.adopted import adopted

        module, member = _ADOPTED[name]
        return getattr(adopted(module), member) if member else adopted(module)
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vgpu.compile import numba_adapter

    found = getattr(numba_adapter.cuda, name, None)
    if found is not None and (name in KERNEL_SIDE or numba_adapter.is_type(found)):
        return found
    raise Missing(
        f"the virtual GPU has no cuda.{name}; {_INSTEAD[name]}."
        if name in _INSTEAD
        else f"the virtual GPU has no cuda.{name}, though numba.cuda has: it needs a real GPU's driver."
        if found is not None
        else f"numba.cuda has no {name}. {_nearest(name)}"
    )


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, __dir__(), n=3)
    return f"Did you mean {' or '.join(f'cuda.{other}' for other in near)}?" if near else "See Numba's CUDA reference."


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATE, *_ADOPTED, *KERNEL_SIDE})
