"""Functions that run on the GPU, as Numba compiles them for the kernels that call them."""

from __future__ import annotations

import functools
import types

from vgpu.base.errors import LaunchError, Unsupported
from vgpu.compile import numba_adapter
from vgpu.compile import python as compile_numba
from vgpu.hardware import device
from vgpu.standins.numba.rebind import Pending, rebind

NO_MACHINE_CODE = (
    "The virtual GPU runs PTX: it makes no machine code (SASS), and links when it compiles. "
    "inspect_asm() is the PTX that runs, and a kernel's get_regs_per_thread() and similar methods report what NVIDIA's "
    "assembler makes of it."
)


class MissingConfiguration(LaunchError, ValueError):
    """A kernel was called like an ordinary function."""


class Function:
    """The base of kernels and device functions: other kernels may call both."""

    def __init__(self, py_func, options: dict, signatures=None):
        functools.update_wrapper(self, py_func)
        self.py_func, self.targetoptions, self._signatures = py_func, dict(options), signatures
        self._real: dict = {}
        self._pending: dict[tuple, Pending] = {}

    def as_device_function(self, capability):
        """The real Numba device function, compiled for GPUs of this compute capability.

        While it is being compiled, a `Pending`, for functions that call it recursively.
        """
        capability = numba_adapter.target(capability)
        if capability in self._pending:
            return self._pending[capability]
        if capability not in self._real:
            chosen = ("fastmath", "inline", "forceinline", "debug", "opt")
            options = {name: self.targetoptions[name] for name in chosen if name in self.targetoptions}
            pending = self._pending[capability] = Pending()
            try:
                copy = rebind(self.py_func, capability)
                made = numba_adapter.device_function(copy, self._signatures, capability, **options)
            finally:
                del self._pending[capability]
            self._real[capability] = made
            pending.settle(made)
        return self._real[capability]

    def __getattr__(self, name: str):
        of_numba = not name.startswith("__") and hasattr(numba_adapter.Dispatcher, name)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
            + (": it belongs to Numba's own launches, which the virtual GPU does not go through" if of_numba else "")
        )

    def __call__(self, *args, **kwargs):
        raise NotImplementedError  # kernels and device functions say how they are called

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)


class DeviceFunction(Function):
    """A function that only kernels can call, made by `@cuda.jit(device=True)`."""

    def __init__(self, py_func, options, signatures=None):
        super().__init__(py_func, options, signatures)
        if signatures is not None:
            self._made()

    def _made(self):
        made = self.as_device_function(device.current().compute_capability)
        compile_numba.catch_up(made)
        return made

    overloads = property(lambda self: self._made().overloads)
    signatures = nopython_signatures = property(lambda self: list(self.overloads))

    def inspect_asm(self, signature=None):
        """The PTX for a tuple of argument types, or a dictionary of all that kernels have compiled it for."""
        with numba_adapter.modelled(device.current().compute_capability):
            return self._made().inspect_asm(signature)

    def inspect_llvm(self, signature=None):
        """The LLVM IR for a tuple of argument types, or a dictionary of all."""
        return self._made().inspect_llvm(signature)

    def inspect_sass(self, signature=None):
        """Not for device functions, nor on the virtual GPU."""
        raise Unsupported(NO_MACHINE_CODE)

    inspect_sass_cfg = inspect_lto_ptx = inspect_sass

    def __call__(self, *args, **kwargs):
        raise MissingConfiguration(
            f"`{self.__name__}` is a device function: only kernels can call it. To try it on the host, call "
            f"{self.__name__}.py_func(…)."
        )

    def __getitem__(self, configuration):
        raise LaunchError(
            f"`{self.__name__}` is a device function and cannot be launched; write a kernel that calls it, "
            "or leave out device=True."
        )

    def __repr__(self) -> str:
        return f"<device function {self.__name__}>"
