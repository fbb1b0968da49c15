"""The GPUs of the published tables: three of the course's own, two of a chip it knows, three older ones.

The older ones are here only: CUDA 13 compiles for none of them, so registers are those of compute capability 7.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from vgpu.hardware.gpus import GIB, GIGA, GPU, GPUS, KIB, LAUNCH_OVERHEAD, MEMORY_LATENCIES
from vgpu.hardware.sources import Source

_GUIDE_1 = Source(
    "NVIDIA CUDA Programming Guide 1.1, Appendix A and Performance Guidelines (16 banks of 32 bits every two clocks)",
    "https://developer.download.nvidia.com/compute/cuda/1.1/NVIDIA_CUDA_Programming_Guide_1.1.pdf",
)
_GUIDE_5 = Source(
    "NVIDIA CUDA C Programming Guide 5.0, Compute Capabilities and Multiprocessor Level (22 clocks of latency on "
    "compute capability 2.x, 11 on 3.x)",
    "https://docs.nvidia.com/cuda/archive/5.0/cuda-c-programming-guide/index.html",
)
_SHEETS = {
    "8800 GTX": Source(
        "NVIDIA GeForce 8800 GPU Architecture Overview, TB-02787-001",
        "https://www.nvidia.com/content/PDF/Geforce_8800/GeForce_8800_GPU_Architecture_Technical_Brief.pdf",
    ),
    "M2050": Source(
        "NVIDIA Tesla M2050 / M2070 data sheet; Fermi Compute Architecture white paper (L2 of 768 KiB)",
        "https://www.nvidia.com/docs/IO/43395/NV_DS_Tesla_M2050_M2070_Apr10_LowRes.pdf",
    ),
    "K20c": Source(
        "NVIDIA Tesla K20 board specification; Kepler GK110 white paper (L2: 256 KiB a memory controller)",
        "https://www.nvidia.com/content/PDF/kepler/Tesla-K20-Active-BD-06499-001-v03.pdf",
    ),
    "RTX 3080": Source(
        "NVIDIA Ampere GA102 GPU Architecture, V2, GeForce RTX 3080 (10 GB)",
        "https://images.nvidia.com/aem-dam/en-zz/Solutions/geforce/ampere/pdf/NVIDIA-ampere-GA102-GPU-Architecture-"
        "Whitepaper-V1.pdf",
    ),
    "A100 PCIe": Source(
        "NVIDIA A100 40GB PCIe GPU Accelerator Product Brief, PB-10137-001 (base clock 765 MHz, boost 1410 MHz)",
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/A100-PCIE-Prduct-Brief.pdf",
    ),
    "RTX A6000": Source(
        "NVIDIA RTX A6000 data sheet; the chip as in the GA102 white paper",
        "https://www.nvidia.com/content/dam/en-zz/Solutions/design-visualization/quadro-product-literature/"
        "proviz-print-nvidia-rtx-a6000-datasheet-us-nvidia-1454980-r9-web%20(1).pdf",
    ),
}


@dataclass(frozen=True, repr=False)
class Historic(GPU):
    """A GPU from before compute capability 7: `issue` warp instructions start in a clock, whatever the partitions."""

    issue: float = 1.0

    @property
    def issue_per_clock(self) -> float:
        return self.issue


def _historic(
    name: str,
    architecture: str,
    capability: tuple[int, int],
    guide: Source,
    *,
    sms: int,
    ghz: float,
    lanes: int,
    fp64_lanes: int,
    gbs: float,
    gib: float,
    l2_kib: int,
    **limits: float,
) -> Historic:
    peak = 2 * sms * lanes * ghz * GIGA
    figures: dict[str, Any] = {
        "sms": sms,
        "clock": ghz * GIGA,
        "fp32_lanes_per_sm": lanes,
        "fp64_lanes_per_sm": fp64_lanes,
        "fp16_lanes_per_sm": lanes,
        "fp32_flops": peak,
        "fp64_flops": peak * fp64_lanes / lanes,
        **dict.fromkeys(f"{kind}_tensor_flops" for kind in ("fp64", "tf32", "fp16", "fp8", "fp4")),
        **dict.fromkeys(("int8_tensor_ops", "l2_bandwidth")),
        "memory_bytes": int(gib * GIB),
        "memory_bandwidth": gbs * GIGA,
        "l2_bytes": l2_kib * KIB,
        **dict.fromkeys(("host_bandwidth", "nvlink_bandwidth", "l1_bytes", *MEMORY_LATENCIES)),
        "launch_overhead": LAUNCH_OVERHEAD,
        "shared_reserved": 0,
        "registers_per_thread_limit": 255,
        "partitions_per_sm": 1,
        "copy_engines": 1,
        **limits,
    }
    figures["shared_limit"] = figures["shared_optin_limit"] = figures["shared_per_sm"]
    figures["registers_per_block"] = figures["registers_per_sm"]
    figures["threads_per_sm"] = 32 * figures["warps_per_sm"]
    sources: Mapping[str, Source] = MappingProxyType(dict.fromkeys(figures, guide) | {"product": _SHEETS[name]})
    return Historic(
        name=name,
        product=name,
        architecture=architecture,
        compute_capability=capability,
        sources=sources,
        **figures,
    )


_PEAKS = ("fp32_flops", "fp64_flops", "fp16_tensor_flops", "tf32_tensor_flops", "int8_tensor_ops")


def _ga102(name: str, sms: int, ghz: float, gbs: float, gib: int, l2_mib: int) -> GPU:
    base = GPUS["RTX 3090"]
    share = sms * ghz * GIGA / (base.sms * base.clock)
    return replace(
        base,
        name=name,
        product=name,
        sms=sms,
        clock=ghz * GIGA,
        memory_bandwidth=gbs * GIGA,
        memory_bytes=gib * GIB,
        l2_bytes=l2_mib * 2**20,
        **{peak: getattr(base, peak) * share for peak in _PEAKS},
        sources=MappingProxyType(dict(base.sources) | {"product": _SHEETS[name]}),
    )


def _at(base: GPU, name: str, ghz: float, gbs: float, gib: int) -> GPU:
    """A card with the same chip, at another clock and with other memory."""
    slower = ghz * GIGA / base.clock
    return replace(
        base,
        name=name,
        product=name,
        clock=ghz * GIGA,
        memory_bandwidth=gbs * GIGA,
        memory_bytes=gib * GIB,
        l2_bandwidth=base.l2_bandwidth and base.l2_bandwidth * slower,
        **{peak: (found := getattr(base, peak)) and found * slower for peak in _PEAKS},
        sources=MappingProxyType(dict(base.sources) | {"product": _SHEETS[name]}),
    )


HARDWARE: Mapping[str, GPU] = MappingProxyType(
    {
        "8800 GTX": _historic(
            "8800 GTX", "Tesla", (1, 0), _GUIDE_1,
            sms=16, ghz=1.35, lanes=8, fp64_lanes=1, gbs=86.4, gib=0.75, l2_kib=0,
            shared_per_sm=16 * KIB, shared_granularity=512, registers_per_sm=8192,
            register_granularity=256, warps_per_sm=24, blocks_per_sm=8, threads_per_block=512,
            issue=0.25, special_lanes_per_sm=2, shared_bytes_per_clock=32, instruction_latency=24,
        ),
        "M2050": _historic(
            "M2050", "Fermi", (2, 0), _GUIDE_5,
            sms=14, ghz=1.15, lanes=32, fp64_lanes=16, gbs=148, gib=3, l2_kib=768,
            shared_per_sm=48 * KIB, shared_granularity=128, registers_per_sm=32768,
            register_granularity=64, warps_per_sm=48, blocks_per_sm=8, threads_per_block=1024,
            issue=1.0, special_lanes_per_sm=4, shared_bytes_per_clock=64, instruction_latency=22,
        ),
        "K20c": _historic(
            "K20c", "Kepler", (3, 5), _GUIDE_5,
            sms=13, ghz=0.706, lanes=192, fp64_lanes=64, gbs=208, gib=5, l2_kib=1280,
            shared_per_sm=48 * KIB, shared_granularity=256, registers_per_sm=65536,
            register_granularity=256, warps_per_sm=64, blocks_per_sm=16, threads_per_block=1024,
            issue=4.0, special_lanes_per_sm=32, shared_bytes_per_clock=128, instruction_latency=11,
        ),
        "RTX 3080": _ga102("RTX 3080", sms=68, ghz=1.71, gbs=760, gib=10, l2_mib=5),
        "RTX A6000": _ga102("RTX A6000", sms=84, ghz=1.80, gbs=768, gib=48, l2_mib=6),
        "RTX 3090": GPUS["RTX 3090"],
        "A100 PCIe": _at(GPUS["A100"], "A100 PCIe", ghz=0.765, gbs=1555, gib=40),
        "L4": GPUS["L4"],
    }
)  # fmt: skip
