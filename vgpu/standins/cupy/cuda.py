"""`cupy.cuda`: devices, streams, events, memory and CUDA's runtime, on the virtual GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from vgpu.base.errors import CompileError, LaunchError, OutOfMemory
from vgpu.standins.cupy import cudart as runtime
from vgpu.standins.cupy import nvtx, texture
from vgpu.standins.cupy import streams as stream
from vgpu.standins.cupy.device import Device
from vgpu.standins.cupy.missing import getter, submodule
from vgpu.standins.cupy.pointer import Memory, MemoryPointer
from vgpu.standins.cupy.pools import (
    MemoryAsyncPool,
    MemoryPool,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_async,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from vgpu.standins.cupy.streams import (
    Event,
    ExternalStream,
    Graph,
    Stream,
    get_current_stream,
    get_elapsed_time,
)

BaseMemory = Memory

__all__ = [
    "BaseMemory",
    "Device",
    "Event",
    "ExternalStream",
    "Graph",
    "Memory",
    "MemoryAsyncPool",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "device",
    "driver",
    "function",
    "get_allocator",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "get_local_runtime_version",
    "graph",
    "is_available",
    "malloc_async",
    "malloc_managed",
    "memory",
    "nvtx",
    "pinned_memory",
    "profile",
    "profiler",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "texture",
    "using_allocator",
]


class UnownedMemory(Memory):
    """Memory of another owner, which is kept alive."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = 0):
        super().__init__(ptr, size, owner)


def is_available() -> bool:
    """True: the virtual GPU is always there."""
    return True


def get_device_id() -> int:
    """0: the virtual GPU."""
    return 0


def get_local_runtime_version() -> int:
    """CUDA's version as 1000 × major + 10 × minor."""
    return runtime.runtimeGetVersion()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """A range for NVIDIA's profilers; ignored here."""
    yield


_MANAGED = dict.fromkeys(("ManagedMemory", "SystemMemory", "malloc_system"), "cp.cuda.alloc, with explicit copies")
_ALLOCATORS = dict.fromkeys(
    ("PythonFunctionAllocator", "CFunctionAllocator"), "cp.cuda.set_allocator with a function that calls cp.cuda.alloc"
)
_LOADING = {"Function": "cp.RawKernel", "Module": "cp.RawModule"}

# The modules in which CuPy keeps these names, for programs that import them from there.
memory = submodule(
    "cuda.memory",
    {
        "BaseMemory": BaseMemory,
        "CUDARuntimeError": runtime.CUDARuntimeError,
        "Memory": Memory,
        "MemoryAsyncPool": MemoryAsyncPool,
        "MemoryPointer": MemoryPointer,
        "MemoryPool": MemoryPool,
        "OutOfMemoryError": OutOfMemory,
        "UnownedMemory": UnownedMemory,
        "alloc": alloc,
        "get_allocator": get_allocator,
        "malloc_async": malloc_async,
        "malloc_managed": malloc_managed,
        "set_allocator": set_allocator,
    },
    _MANAGED | _ALLOCATORS,
)
pinned_memory = submodule(
    "cuda.pinned_memory",
    {
        "PinnedMemoryPointer": PinnedMemoryPointer,
        "PinnedMemoryPool": PinnedMemoryPool,
        "alloc_pinned_memory": alloc_pinned_memory,
        "set_pinned_memory_allocator": set_pinned_memory_allocator,
    },
)
device = submodule(
    "cuda.device",
    {
        "Device": Device,
        "get_compute_capability": lambda: Device(0).compute_capability,
        "get_device_id": get_device_id,
    },
)
graph = submodule("cuda.graph", {"Graph": Graph})
profiler = submodule("cuda.profiler", {"start": runtime.profilerStart, "stop": runtime.profilerStop})
function = submodule("cuda.function", {}, _LOADING)
compiler = submodule(
    "cuda.compiler",
    {"CompileException": CompileError},
    dict.fromkeys(("compile_using_nvrtc", "compile_using_nvcc"), "cp.RawModule(code=…).compile()"),
)
driver = submodule(
    "cuda.driver", {"CUDADriverError": LaunchError, "get_build_version": get_local_runtime_version}, _LOADING
)

__getattr__ = getter(
    "cuda.",
    {
        "cub": "cp.sum, cp.cumsum and the like, or a kernel of your own",
        "cublas": "cp.matmul, or a @ b",
        "cufft": "cp.fft",
        "curand": "cp.random",
        "cusolver": "cp.linalg",
        "cutensor": "cp.einsum",
        "memory_hooks": "cp.get_default_memory_pool().used_bytes()",
        "nccl": "one device: the virtual GPU is the only one",
        "nvrtc": "cp.RawModule(code=…).compile()",
        "thrust": "cp.sort",
        **_MANAGED,
        **_ALLOCATORS,
        **_LOADING,
    },
)
