"""The runtime API as the host's half of a program calls it: each call by its name, on the virtual GPU."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vgpu import compile as compilers
from vgpu import operations
from vgpu.base.errors import (
    CompileError,
    DeviceAssert,
    KernelError,
    KernelTimeout,
    LaunchError,
    Misaligned,
    OutOfMemory,
    Unsupported,
)
from vgpu.hardware.device import current
from vgpu.hardware.occupancy import most_threads, occupancy
from vgpu.launch.launch import Kernel
from vgpu.operations import CUDARuntimeError
from vgpu.programs.cuda_c.blas import Blas
from vgpu.programs.cuda_c.driver import Driver
from vgpu.programs.cuda_c.fft import Fft
from vgpu.programs.cuda_c.graphs import Graphs
from vgpu.programs.cuda_c.handles import Handles
from vgpu.programs.cuda_c.operands import live
from vgpu.programs.cuda_c.random import Random
from vgpu.programs.cuda_c.textures import Textures
from vgpu.standins import cuda_errors
from vgpu.standins.cupy import cudart, streams
from vgpu.standins.cupy.signature import CParameter, parameters
from vgpu.storage import memory
from vgpu.storage.memory import ArrayInfo

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONFIGURATION = 0, 1, 2, 9
INVALID_SYMBOL, ILLEGAL_ADDRESS, TIMEOUT, ASSERT, MISALIGNED, NOT_SUPPORTED = 13, 700, 702, 710, 716, 801
LAUNCHES = (b"launch", b"graph_launch")
HANDLER = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_long))


@dataclass(frozen=True)
class Device:
    """The device half of a file: its kernels by the symbols of their stubs, and its text."""

    kernels: Mapping[str, Kernel]
    source: str


class Host:
    """Answers the calls of a program: `call` is the function for its library. `devices` by the number of their files.

    A kernel's error is printed when it occurs; as on a GPU, all later calls return its code.
    """

    def __init__(self, devices: Mapping[int, Device]):
        self.kernels = {symbol: kernel for each in devices.values() for symbol, kernel in each.kernels.items()}
        self._sources = {kernel: each.source for each in devices.values() for kernel in each.kernels.values()}
        self.managed: list[tuple[int, int, int]] = []  # of each managed variable: both addresses, and its bytes
        self._modules = {
            at: kernel.module for at, each in devices.items() for kernel in each.kernels.values()
        }  # a file's kernels share one
        self._fault = SUCCESS
        self._streams: dict[int, streams.Stream] = {}
        self._events: dict[int, streams.Event] = {}
        self._pinned: dict[int, memory.Allocation] = {}
        self._texts: dict[int, ctypes.Array] = {}
        self._shared: dict[str, int] = {}
        handles = Handles()
        self._parts = (
            self,
            Textures(handles),
            Graphs(handles, self._queue),
            Blas(self._queue),
            Fft(handles, self._queue),
            Random(handles),
            Driver(),
        )
        self._context, self._thread = contextvars.copy_context(), threading.get_ident()
        self.call = HANDLER(self._call)

    def _call(self, name: bytes, count: int, given: ctypes._Pointer) -> int:
        if threading.get_ident() == self._thread:
            return self._answer(name, count, given)
        # A thread that C++ started has none of the listeners, nor the modelled GPU.
        return self._context.copy().run(self._answer, name, count, given)

    def _answer(self, name: bytes, count: int, given: ctypes._Pointer) -> int:
        try:
            if self._fault and not name.startswith(b"error_"):
                return self._fault
            answer = f"do_{name.decode()}"
            part = next(part for part in self._parts if hasattr(part, answer))
            with self._managed_variables() if name in LAUNCHES else contextlib.nullcontext():
                return getattr(part, answer)(*given[:count]) or SUCCESS
        except OutOfMemory:
            return OUT_OF_MEMORY
        except KernelError as error:
            self._fault = _code(error)
            return self._report(error, self._fault)
        except (LaunchError, CUDARuntimeError) as error:
            for listener in operations.REFUSED:
                listener(error)
            refused = INVALID_CONFIGURATION if isinstance(error, LaunchError) else INVALID_VALUE
            return self._report(error, cuda_errors.code(str(error), refused))
        except (Unsupported, CompileError) as error:
            return self._report(error, NOT_SUPPORTED if isinstance(error, Unsupported) else INVALID_VALUE)
        except BaseException as error:  # it must not cross into compiled code
            return self._report(error, NOT_SUPPORTED)

    @contextlib.contextmanager
    def _managed_variables(self) -> Iterator[None]:
        """Managed variables, which the host's half and the device's half each have, are the same where kernels run."""
        for on_host, on_device, nbytes in self.managed:
            ctypes.memmove(on_device, on_host, nbytes)
        yield
        for on_host, on_device, nbytes in self.managed:
            ctypes.memmove(on_host, on_device, nbytes)

    def _report(self, error: BaseException, code: int) -> int:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return code

    def share(self, library: ctypes.CDLL, at: int, names: Collection[str]) -> None:
        """Let the halves of file number `at` share its managed variables, which have these names in C++."""
        module = self._modules.get(at)
        if module is None:
            return
        for symbol in module.variables.addresses:
            if any(symbol == name or symbol.endswith(f"{len(name)}{name}E") for name in names):  # E ends a namespace
                address = ctypes.addressof(ctypes.c_char.in_dll(library, f"{symbol}.{at}"))
                self.managed.append((address, module.address(symbol), module.nbytes(symbol)))

    # -- kernels

    def do_launch(
        self, symbol: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int,
        addresses: int, sizes: int, count: int, cx: int, cy: int, cz: int, cooperative: int, dependent: int,
    ) -> None:  # fmt: skip
        kernel = self._kernel(symbol)
        wanted = [parameter.nbytes for parameter in kernel.parameters]
        if count >= 0:
            given = list((ctypes.c_size_t * count).from_address(sizes)) if count else []
            if given != wanted:
                raise LaunchError(f"{kernel.name} was given arguments of {given} bytes, and takes {wanted}")
        places = list((ctypes.c_size_t * len(wanted)).from_address(addresses)) if wanted else []
        params = [ctypes.string_at(place, nbytes) for place, nbytes in zip(places, wanted, strict=True)]
        allowed = self._shared.get(kernel.entry, 48 * 1024)
        if shared > allowed:
            raise LaunchError(
                f"{kernel.name}: {shared} bytes of dynamic shared memory requested, and a launch may have {allowed}. "
                "Above 48 KiB a kernel has to opt in: cudaFuncSetAttribute(kernel, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)."
            )
        arrays = arrays_of(kernel, params, self._sources[kernel])
        if cx & _U32:
            kernel = kernel.in_clusters((cx & _U32, cy & _U32, cz & _U32))
        options: dict[str, Any] = {"cooperative": True} if cooperative else {}
        options |= {"dependent": True} if dependent else {}
        grid, block = (gx & _U32, gy & _U32, gz & _U32), (bx & _U32, by & _U32, bz & _U32)
        try:
            operations.kernel(self._queue(stream), kernel, grid, block, params, arrays, shared, **options)
        except LaunchError as error:
            raise error if kernel.name in str(error) else LaunchError(f"{kernel.name}: {error}") from None

    def _kernel(self, symbol: int) -> Kernel:
        name = ctypes.string_at(symbol).decode()
        if name not in self.kernels:
            raise LaunchError(f"there is no kernel {name!r}; there are: {', '.join(self.kernels) or 'none'}")
        return self.kernels[name]

    def do_function_set(self, symbol: int, attribute: int, value: int) -> int:
        kernel = self._kernel(symbol)
        if attribute == 8:  # cudaFuncAttributeMaxDynamicSharedMemorySize
            if value > current().shared_optin_limit:
                return INVALID_VALUE
            self._shared[kernel.entry] = max(value, 48 * 1024)
        if attribute == 14 and value:  # cudaFuncAttributeNonPortableClusterSizeAllowed
            self._sources[kernel.in_large_clusters] = self._sources[kernel]
            self.kernels = {
                stub: each.in_large_clusters if each is kernel else each for stub, each in self.kernels.items()
            }
        return SUCCESS

    def do_function_get(self, symbol: int, values: int) -> None:
        found = _resources(self._kernel(symbol))
        threads = most_threads(found.registers, current())
        _put(values, [found.registers, found.shared_bytes, found.local_bytes, found.constant_bytes, threads])

    def do_occupancy(self, blocks: int, symbol: int, threads: int, shared: int) -> None:
        found = _resources(self._kernel(symbol))
        held = occupancy(found.registers, found.shared_bytes + shared, threads, current())
        ctypes.c_int.from_address(blocks).value = held.blocks_per_sm

    def do_occupancy_clusters(self, clusters: int, symbol: int, threads: int, shared: int, size: int) -> None:
        """As many as the SMs hold: how these form groups that a cluster can't cross isn't modelled."""
        self.do_occupancy(clusters, symbol, threads, shared)
        held = ctypes.c_int.from_address(clusters)
        held.value = held.value * current().sms // max(1, size)

    def do_occupancy_shared(self, nbytes: int, symbol: int, blocks: int, threads: int) -> None:
        found, gpu = _resources(self._kernel(symbol)), current()
        fits = (
            shared for shared in range(gpu.shared_optin_limit - found.shared_bytes, -1, -128)
            if occupancy(found.registers, found.shared_bytes + shared, threads, gpu).blocks_per_sm >= blocks
        )  # fmt: skip
        ctypes.c_size_t.from_address(nbytes).value = next(fits, 0)

    # -- memory

    def do_malloc(self, target: int, nbytes: int) -> None:
        ctypes.c_size_t.from_address(target).value = cudart.malloc(nbytes)

    def do_free(self, address: int) -> None:
        cudart.free(address)

    def do_malloc_host(self, target: int, nbytes: int) -> None:
        found = memory.allocate(nbytes, kind="pinned")
        self._pinned[found.address] = found
        ctypes.c_size_t.from_address(target).value = found.address

    def do_free_host(self, address: int) -> int:
        found = self._pinned.pop(address, None)
        if found is None:
            return INVALID_VALUE
        found.free()
        return SUCCESS

    def do_memcpy(
        self, target: int, target_pitch: int, source: int, source_pitch: int, width: int, height: int, kind: int,
        stream: int, asynchronous: int,
    ) -> None:  # fmt: skip
        given = target, target_pitch, source, source_pitch, width, height, kind
        if asynchronous:
            cudart.memcpy2DAsync(*given, self._queue(stream).handle)
        else:
            cudart.memcpy2D(*given)

    def do_memset(self, address: int, pitch: int, value: int, width: int, height: int, stream: int) -> None:
        cudart.memset_rows(address, pitch, value, width, height, self._queue(stream).handle)

    def do_pointer(self, target: int, address: int) -> None:
        found = live(address)
        ctypes.c_long.from_address(target).value = 0 if found is None else 1 if found.kind == "pinned" else 2

    def do_range(self, address: int, nbytes: int) -> int:
        return SUCCESS if live(address, nbytes) is not None else ILLEGAL_ADDRESS

    def do_mem_info(self, available: int, total: int) -> None:
        found = cudart.memGetInfo()
        for place, value in zip((available, total), found, strict=True):
            ctypes.c_size_t.from_address(place).value = value

    def do_symbol(self, target: int, symbol: int, nbytes: int) -> int:
        name, _, at = ctypes.string_at(symbol).decode().rpartition(".")
        module = self._modules.get(int(at or -1))
        if module is None or name not in module.variables.addresses:
            return INVALID_SYMBOL
        if target:
            ctypes.c_size_t.from_address(target).value = module.address(name)
        if nbytes:
            ctypes.c_size_t.from_address(nbytes).value = module.nbytes(name)
        return SUCCESS

    # -- the device

    def do_properties(self, name: int, room: int, values: int, device: int) -> int:
        if device != 0:
            return 101
        found, gpu = cudart.getDeviceProperties(), current()
        text = found["name"][: room - 1] + b"\0"
        ctypes.memmove(name, text, len(text))
        keys = (
            "totalGlobalMem", "sharedMemPerBlock", "sharedMemPerBlockOptin", "sharedMemPerMultiprocessor",
            "reservedSharedMemPerBlock", "regsPerBlock", "regsPerMultiprocessor", "warpSize", "maxThreadsPerBlock",
            "maxThreadsPerMultiProcessor", "maxBlocksPerMultiProcessor", "totalConstMem", "major", "minor",
            "multiProcessorCount",
        )  # fmt: skip
        _put(values, [*(int(found[key]) for key in keys), gpu.l2_bytes or 0, 0])
        return SUCCESS

    def do_attribute(self, target: int, attribute: int) -> None:
        try:
            found = cudart.deviceGetAttribute(attribute)
        except CUDARuntimeError:
            found = int(attribute == 115)  # cudaDevAttrMemoryPoolsSupported; others are features that aren't there
        ctypes.c_int.from_address(target).value = found

    def do_set_limit(self, limit: int, value: int) -> None:
        if limit == cudart.cudaLimitMallocHeapSize:  # the others are never too small here
            cudart.deviceSetLimit(limit, value)

    def do_get_limit(self, target: int, limit: int) -> None:
        ctypes.c_size_t.from_address(target).value = cudart.deviceGetLimit(limit)

    def do_error_string(self, target: int, code: int) -> None:
        self._text(target, cuda_errors.text(code))

    def do_error_name(self, target: int, code: int) -> None:
        self._text(target, cuda_errors.name(code))

    def do_error_string_of_driver(self, target: int, code: int) -> None:
        if cuda_errors.driver_name(code) is not None:
            self._text(target, cuda_errors.text(code))

    def do_error_name_of_driver(self, target: int, code: int) -> None:
        if (name := cuda_errors.driver_name(code)) is not None:
            self._text(target, name)

    def _text(self, target: int, text: str) -> None:
        kept = self._texts.setdefault(hash(text), ctypes.create_string_buffer(text.encode()))
        ctypes.c_size_t.from_address(target).value = ctypes.addressof(kept)

    # -- streams and events

    def _queue(self, stream: int) -> operations.Queue:
        return self._streams[stream].queue if stream in self._streams else operations.find_queue(stream)

    def do_stream_create(self, target: int, flags: int, priority: int) -> None:
        made = streams.Stream(non_blocking=bool(flags & cudart.streamNonBlocking), priority=priority)
        self._streams[made.ptr] = made
        ctypes.c_size_t.from_address(target).value = made.ptr

    def do_stream_info(self, stream: int, flags: int, priority: int) -> None:
        found = self._queue(stream)
        ctypes.c_uint.from_address(flags).value = 0 if found.blocking else cudart.streamNonBlocking
        ctypes.c_int.from_address(priority).value = found.priority

    def do_host_function(self, stream: int, function: int, data: int) -> None:
        operations.submit(self._queue(stream), *host_function(function, data))

    def do_stream_destroy(self, stream: int) -> None:
        self._streams.pop(stream, None)

    def do_synchronize(self, stream: int) -> None:
        operations.synchronise(self._queue(stream) if stream else None)

    def do_event_create(self, target: int) -> None:
        made = streams.Event()
        self._events[id(made)] = made
        ctypes.c_size_t.from_address(target).value = id(made)

    def do_event_destroy(self, event: int) -> None:
        self._events.pop(event, None)

    def do_event_record(self, event: int, stream: int) -> None:
        self._events[event].record(self._streams.get(stream))

    def do_event_synchronize(self, event: int) -> None:
        self._events[event].synchronize()

    def do_event_elapsed(self, target: int, start: int, end: int) -> None:
        found = streams.get_elapsed_time(self._events[start], self._events[end])
        ctypes.c_float.from_address(target).value = found

    def do_stream_wait(self, stream: int, event: int) -> None:
        (self._streams.get(stream) or streams.Stream(null=True)).wait_event(self._events[event])


_U32 = 0xFFFFFFFF


def host_function(function: int, data: int) -> tuple[operations.Operation, Callable[[], None]]:
    """A call of a program's function in a stream: the operation, and what runs it."""
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)
    return operations.Operation("host function", label="a host function", asynchronous=True), lambda: call(data)


def _put(address: int, values: list[int]) -> None:
    """Write the numbers that a call returns."""
    ctypes.memmove(address, (ctypes.c_long * len(values))(*values), ctypes.sizeof(ctypes.c_long) * len(values))


def arrays_of(kernel: Kernel, params: Sequence[bytes], source: str) -> list[ArrayInfo]:
    """The arrays that a kernel's pointers lead to, with the names of its parameters."""
    declared: Sequence[CParameter | None] = parameters(source, kernel.name.partition("<")[0].rpartition("::")[2]) or ()
    if len(declared) != len(params):
        declared = [None] * len(params)
    found = []
    for position, (data, parameter) in enumerate(zip(params, declared, strict=True), 1):
        if len(data) != 8 or (parameter is not None and not parameter.pointer):
            continue
        address = int.from_bytes(data, "little")
        allocation = live(address)
        if allocation is None:
            continue
        dtype = np.dtype(parameter.dtype if parameter is not None and parameter.dtype is not None else np.uint8)
        nbytes = allocation.address + allocation.nbytes - address
        name = parameter.name if parameter is not None else f"argument {position}"
        shape = (nbytes // dtype.itemsize,)
        found.append(ArrayInfo(name, address, nbytes, dtype.name, shape, (dtype.itemsize,)))
    return found


def _resources(kernel: Kernel) -> compilers.Resources:
    arch = compilers.architecture(current().compute_capability).replace("compute_", "sm_")
    return compilers.resources(kernel.ptx, "ptx", arch, kernel.entry)


CODES = ((KernelTimeout, TIMEOUT), (DeviceAssert, ASSERT), (Misaligned, MISALIGNED), (KernelError, ILLEGAL_ADDRESS))


def _code(error: KernelError) -> int:
    return next(code for kind, code in CODES if isinstance(error, kind))
