"""The one device there is: the virtual GPU, which takes its limits and its name from the modelled GPU."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vgpu import operations
from vgpu.storage import memory

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU


def modelled() -> GPU:
    """The row of the GPU that is being modelled (vgpu.hardware.gpus.GPU)."""
    # Imported by name at each call, so that the GPU chosen last counts.
    return importlib.import_module("vgpu.hardware.device").current()


class Device:
    """Device 0, the virtual GPU; `with Device(0):` and `.use()` change nothing, as it is the only one."""

    def __init__(self, device: Any = None):
        number = getattr(device, "id", device)
        self.id = 0 if number is None else int(number)

    def _check(self) -> None:
        if self.id != 0:
            from vgpu.standins.cupy.cudart import CUDARuntimeError

            raise CUDARuntimeError(
                f"cudaErrorInvalidDevice: device {self.id} was requested, and the virtual GPU, device 0, "
                "is the only one"
            )

    def use(self) -> None:
        """Make this device the current one."""
        self._check()

    def synchronize(self) -> None:
        """Wait for the device; launches on the virtual GPU have ended when they return."""
        self._check()
        operations.synchronise()

    def __enter__(self) -> Device:
        self._check()
        return self

    def __exit__(self, *error: object) -> None:
        return None

    @property
    def compute_capability(self) -> str:
        """The modelled GPU's compute capability, as CuPy writes it: "80" for 8.0."""
        return "".join(map(str, modelled().compute_capability))

    @property
    def name(self) -> str:
        """The name, which says that the GPU is virtual."""
        return f"virtual GPU (modelled: {modelled().product})"

    @property
    def mem_info(self) -> tuple[int, int]:
        """(free, total) bytes: the modelled GPU's memory, less what is in use."""
        total = modelled().memory_bytes
        return max(total - memory.usage()[0], 0), total

    @property
    def pci_bus_id(self) -> str:
        return "0000:00:00.0"

    @cached_property
    def attributes(self) -> dict[str, int]:
        """CUDA's attributes by name, from the modelled GPU's row."""
        gpu = modelled()
        return {
            "ClockRate": int(gpu.clock / 1e3),
            "ComputeCapabilityMajor": gpu.compute_capability[0],
            "ComputeCapabilityMinor": gpu.compute_capability[1],
            "ConcurrentKernels": 1,
            "CooperativeLaunch": 1,
            "MaxBlockDimX": 1024,
            "MaxBlockDimY": 1024,
            "MaxBlockDimZ": 64,
            "MaxBlocksPerMultiprocessor": gpu.blocks_per_sm,
            "MaxGridDimX": 2**31 - 1,
            "MaxGridDimY": 65535,
            "MaxGridDimZ": 65535,
            "MaxRegistersPerBlock": gpu.registers_per_block,
            "MaxRegistersPerMultiprocessor": gpu.registers_per_sm,
            "MaxSharedMemoryPerBlock": gpu.shared_limit,
            "MaxSharedMemoryPerBlockOptin": gpu.shared_optin_limit,
            "MaxSharedMemoryPerMultiprocessor": gpu.shared_per_sm,
            "MaxThreadsPerBlock": gpu.threads_per_block,
            "MaxThreadsPerMultiProcessor": gpu.threads_per_sm,
            "MultiProcessorCount": gpu.sms,
            "UnifiedAddressing": 1,
            "WarpSize": gpu.warp_size,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash((Device, self.id))

    def __int__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"
