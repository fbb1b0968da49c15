"""Triton's driver interface, implemented for the virtual GPU.

Triton's own compiler does all the compiling, its assembler included; a "binary" that it loads is only looked up.
"""

from __future__ import annotations

import re
import threading

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from vgpu.hardware.device import current
from vgpu.standins import modelled
from vgpu.standins.triton import bench
from vgpu.standins.triton.kernel import Launcher


class VirtualDriver(DriverBase):
    """Triton's driver for the virtual GPU; the modelled GPU says which architecture is compiled for."""

    def __init__(self):
        super().__init__()
        self.utils = Utilities()

    def launcher_cls(self, src, metadata) -> Launcher:
        """What launches a compiled kernel. Triton calls it right before it loads the binary."""
        self.utils.loading.launcher = Launcher(src, metadata)
        return self.utils.loading.launcher

    @classmethod
    def is_active(cls) -> bool:
        """False: only `activate()` chooses this driver."""
        return False

    def get_current_device(self) -> str:
        """The modelled GPU's name: limits differ between GPUs, so each counts as a separate device."""
        return current().name

    def set_current_device(self, device) -> None:
        """The modelled GPU is chosen with `vgpu.device("…")`, not here."""

    def get_current_stream(self, device=None) -> int:
        """The default stream."""
        return 0

    def get_device_capability(self, device=None) -> tuple[int, int]:
        """The compute capability that is compiled for."""
        return divmod(self.get_current_target().arch, 10)

    def get_current_target(self) -> GPUTarget:
        """What to compile for: the modelled GPU.

        TRITON_OVERRIDE_ARCH, such as "sm90", takes precedence.
        """
        # Triton itself overrides the first steps of compiling only, and LLVM ends the process at the contradiction.
        if override := re.fullmatch(r"sm(\d+)", knobs.runtime.override_arch or ""):
            return GPUTarget("cuda", int(override[1]), 32)
        major, minor = current().compute_capability
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_active_torch_device(self):
        """Where tensors for kernels are to be made: in host memory."""
        import torch

        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of a kernel's argument, as for CUDA."""
        from triton.backends.nvidia.driver import ty_to_cpp

        return ty_to_cpp(ty)

    def assemble_tensormap_to_arg(self, tensormaps_info, args):
        return args

    def get_device_interface(self):
        """What programs take events from."""
        return bench.Interface

    def get_benchmarker(self):
        """What `triton.autotune` compares configurations with."""
        return bench.do_bench

    def get_empty_cache_for_benchmark(self):
        """Nothing: the virtual GPU has no cache that keeps data from one launch to the next."""

    def clear_cache(self, cache) -> None:
        """Nothing to clear."""


class Utilities:
    """The part of the driver for binaries and limits."""

    def __init__(self):
        self.loading = threading.local()  # its `launcher`: the one whose binary this thread is about to load

    def get_device_properties(self, device=None) -> dict[str, int]:
        """The modelled GPU's limits under Triton's names."""
        gpu = current()
        return {
            "max_shared_mem": gpu.shared_optin_limit,
            "max_num_regs": gpu.registers_per_block,
            "multiprocessor_count": gpu.sms,
            "warpSize": gpu.warp_size,
            "sm_clock_rate": round(gpu.clock / 1000),
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device) -> tuple:
        """(module, function, registers, words spilled, threads at most); what runs is the launcher's PTX."""
        needs = modelled.needed(self.loading.launcher.kernel)
        return None, name, needs.registers, needs.local_bytes // 4, current().threads_per_block
