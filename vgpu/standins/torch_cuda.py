"""`torch.cuda` for programs that run on the virtual GPU: tensors "on cuda" are tensors in host memory.

Only where tensors lie is changed. PyTorch's own operators run on the CPU, and nothing is counted for them; kernels in
Triton, CuPy and Numba take these tensors as they take arrays of the virtual GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from vgpu.hardware.device import current
from vgpu.standins.events import Event
from vgpu.storage import memory


def on_host(value: Any) -> Any:
    """A device or a device's name with "cuda" replaced by "cpu"; anything else as it is."""
    if isinstance(value, str):
        return "cpu" if value == "cuda" or value.startswith("cuda:") else value
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "cuda" else value
    return value


class OnTheHost(TorchFunctionMode):
    """While it is entered, functions that are told to use the device "cuda" use the CPU."""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        if func == _IS_CUDA:
            return True
        if func is torch.Tensor.data_ptr and not _asked_by_a_library():
            _adopted(args[0])
        given = {name: on_host(value) if name == "device" else value for name, value in (kwargs or {}).items()}
        if func in (torch.Tensor.to, torch._C._nn._parse_to):  # what Module.to calls
            first = 1 if func is torch.Tensor.to else 0
            number = [isinstance(value, int) and not isinstance(value, bool) for value in args[first : first + 1]]
            args = (*args[:first], *("cpu" for _ in number if _), *map(on_host, args[first + sum(number) :]))
        return func(*args, **given)


_IS_CUDA = torch.Tensor.is_cuda.__get__  # as PyTorch names the getter of a property


class Stream:
    """`torch.cuda.Stream`: work in it has ended when a call returns."""

    cuda_stream = 0

    def __init__(self, *args: object, **kwargs: object):
        self.device = torch.device("cuda", 0)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event that has happened."""
        event = event or Event()
        event.record()
        return event

    wait_event = wait_stream = lambda self, other: None


class Properties:
    """`torch.cuda.get_device_properties()` of the modelled GPU."""

    def __init__(self) -> None:
        gpu = current()
        self.name, (self.major, self.minor) = gpu.name, gpu.compute_capability
        self.multi_processor_count, self.total_memory = gpu.sms, int(gpu.memory_bytes)
        self.warp_size, self.max_threads_per_multi_processor = gpu.warp_size, gpu.threads_per_sm
        self.regs_per_multiprocessor = gpu.registers_per_sm
        self.shared_memory_per_block_optin = gpu.shared_optin_limit


def _interface(tensor: torch.Tensor) -> dict[str, Any]:
    """`__cuda_array_interface__`: other libraries' arrays share a tensor's memory, as they do on a GPU."""
    if tensor.requires_grad:
        raise RuntimeError("a tensor that requires grad has no __cuda_array_interface__: use tensor.detach()")
    host = tensor.numpy()
    _adopted(tensor)
    shape, strides = tuple(tensor.shape), host.strides
    return {
        "shape": shape,
        "typestr": host.dtype.str,
        "data": (tensor.data_ptr(), False),
        "strides": strides,
        "version": 3,
    }


def _adopted(tensor: torch.Tensor) -> None:
    """Let kernels use a tensor's storage by its address, as the program may, for as long as there is the tensor."""
    storage, whole = tensor.untyped_storage(), tensor if tensor._base is None else tensor._base
    if tensor.device.type == "cpu" and storage.nbytes() and not hasattr(whole, _MEMORY):
        held = (ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr())
        setattr(whole, _MEMORY, memory.adopt(np.ctypeslib.as_array(held)))


def _asked_by_a_library() -> bool:
    """Whether it's Triton's launch that calls, or this package, and not the program: they copy a tensor instead."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    return caller.partition(".")[0] in ("triton", "vgpu")


_MEMORY = "_virtual_gpu_memory"


def _nothing() -> Callable[..., None]:
    """A function for what isn't needed here; each name gets another one, since torch.compile tells them apart by it."""
    return lambda *args, **kwargs: None


REPLACED: dict[str, Any] = {
    "Event": Event,
    "Stream": Stream,
    "current_device": lambda: 0,
    "current_stream": lambda device=None: Stream(),
    "default_stream": lambda device=None: Stream(),
    "device": lambda device: contextlib.nullcontext(),
    "device_count": lambda: 1,
    "empty_cache": _nothing(),
    "get_device_capability": lambda device=None: current().compute_capability,
    "get_device_name": lambda device=None: current().name,
    "get_device_properties": lambda device=None: Properties(),
    "init": _nothing(),
    "is_available": lambda: True,
    "is_bf16_supported": lambda *args, **kwargs: True,
    "manual_seed": lambda seed: torch.manual_seed(seed),
    "manual_seed_all": _nothing(),
    "set_device": _nothing(),
    "set_stream": _nothing(),
    "stream": lambda stream: contextlib.nullcontext(stream),
    "synchronize": _nothing(),
}
_mode = OnTheHost()


def activate() -> None:
    """Replace the functions of `torch.cuda` in `REPLACED`, and keep "cuda" tensors in host memory from now on."""
    if torch.cuda.is_available is REPLACED["is_available"]:
        return
    for name, value in REPLACED.items():
        setattr(torch.cuda, name, value)
        if not hasattr(torch.cpu, name):  # where programs look that take the module by `tensor.device.type`
            setattr(torch.cpu, name, value)
    torch.Tensor.__cuda_array_interface__ = property(_interface)
    default = torch.set_default_device
    torch.set_default_device = lambda device: default(on_host(device))
    _mode.__enter__()
