"""What CuTe DSL asks the driver about the GPU, answered from the modelled GPU's row."""

from __future__ import annotations

from typing import Any

from cutlass.cutlass_dsl.cuda_jit_executor import CudaDialectJitCompiledFunction
from cutlass.utils import HardwareInfo

from vgpu.hardware.device import current


def _clusters(self: Any, cluster_size: int, stream: object = None) -> int:
    """How many clusters run at a time, with one block on each SM."""
    if not 1 <= cluster_size <= 32:
        raise ValueError(f"a cluster has 1 to 32 blocks, not {cluster_size}")
    return current().sms // cluster_size


def activate() -> None:
    """Replace `cutlass.utils.HardwareInfo`'s methods, and say that there is one device."""
    methods = {
        "__init__": lambda self, device_id=0: None,
        "get_max_active_clusters": _clusters,
        "get_l2_cache_size_in_bytes": lambda self: current().l2_bytes or 0,
        "get_device_multiprocessor_count": lambda self: current().sms,
    }
    for name, method in methods.items():
        setattr(HardwareInfo, name, method)
    CudaDialectJitCompiledFunction.num_devices = 1
