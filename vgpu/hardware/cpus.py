"""The table of CPUs: the figures for comparing one with a GPU of `gpus.py`, each with its source.

Units are plain, as there: hertz, FLOP/s, bytes a second. Add a CPU by adding a row to `_PRODUCTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vgpu.hardware.sources import Source

GIGA = 1e9
KIB, MIB = 2**10, 2**20


@dataclass(frozen=True, repr=False)
class CPU:
    """One processor (one socket) as its documents describe it.

    `vector_lanes`: FP32 numbers that one vector instruction works on. `vector_units`: how many fused multiply-adds of
    that width a core starts in a clock. `clock` is the base clock, which all cores keep up together.
    `vector_registers`: of a core, each as wide as a vector. `l1_bytes` (for data) and `l2_bytes` are a core's own,
    `l3_bytes` is what all cores have together.
    """

    name: str
    product: str
    cores: int
    clock: float
    vector_lanes: int
    vector_units: int
    memory_bandwidth: float
    threads_per_core: int
    vector_registers: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False)

    @property
    def fp32_lanes_per_core(self) -> int:
        """Lanes of all vector units of a core, comparable with an SM's `fp32_lanes_per_sm`."""
        return self.vector_lanes * self.vector_units

    @property
    def vector_register_bytes(self) -> int:
        """Bytes of the vector registers of a core."""
        return 4 * self.vector_lanes * self.vector_registers

    def peak(self, precision: str = "fp32") -> float:
        """Peak FLOP/s of all cores for "fp32" or "fp64", which is half of it; a fused multiply-add is two.

        16-bit numbers are calculated as 32-bit ones: "fp16" gives what "fp32" does.
        """
        lanes = self.fp32_lanes_per_core // (2 if precision == "fp64" else 1)
        return 2 * self.cores * lanes * self.clock

    def __repr__(self) -> str:
        return (
            f"CPU({self.name}: {self.cores} cores at {self.clock / GIGA:.4g} GHz with {self.fp32_lanes_per_core} FP32 "
            f"lanes each, {self.peak() / 1e12:.3g} TFLOP/s FP32, {self.memory_bandwidth / GIGA:.4g} GB/s)"
        )


_ROME = Source(
    "Microway, Detailed Specifications of the AMD EPYC Rome CPUs: 64 cores at 2.25 GHz, two 256-bit FMA units a core, "
    "eight channels of DDR4-3200 (8 x 8 bytes x 3.2 GT/s)",
    "https://www.microway.com/knowledge-center-articles/detailed-specifications-of-the-amd-epyc-rome-cpus/",
)
_ZEN_2 = Source(
    "WikiChip, Zen 2: two threads, 32 KiB of L1 for data and 512 KiB of L2 a core, 16 MiB of L3 for every four cores; "
    "its vector registers are 256 bits wide",
    "https://en.wikichip.org/wiki/amd/microarchitectures/zen_2",
)
_REGISTERS = Source(
    "LLVM's model of Zen 2, after AMD's Software Optimization Guide: 160 vector registers (Zn2FpuPRF, whose comment "
    "still says 128 bits, as in the first Zen)",
    "https://github.com/llvm/llvm-project/blob/main/llvm/lib/Target/X86/X86ScheduleZnver2.td",
)
_DGX = Source(
    "NVIDIA DGX A100 User Guide: two of them stand beside eight A100",
    "https://docs.nvidia.com/dgx/dgxa100-user-guide/introduction-to-dgxa100.html",
)

_PRODUCTS = (
    CPU(
        name="EPYC 7742",
        product="AMD EPYC 7742, one socket",
        cores=64,
        clock=2.25 * GIGA,
        vector_lanes=8,
        vector_units=2,
        memory_bandwidth=204.8 * GIGA,
        threads_per_core=2,
        vector_registers=160,
        l1_bytes=32 * KIB,
        l2_bytes=512 * KIB,
        l3_bytes=256 * MIB,
        sources=MappingProxyType(
            dict.fromkeys(("cores", "clock", "vector_lanes", "vector_units", "memory_bandwidth"), _ROME)
            | dict.fromkeys(("threads_per_core", "l1_bytes", "l2_bytes", "l3_bytes"), _ZEN_2)
            | {"product": _DGX, "vector_registers": _REGISTERS}
        ),
    ),
)
CPUS: Mapping[str, CPU] = MappingProxyType({cpu.name: cpu for cpu in _PRODUCTS})
DEFAULT = "EPYC 7742"


def find(name: str) -> CPU:
    """The row called `name`; KeyError lists the table when there is none."""
    if name not in CPUS:
        raise KeyError(f"no CPU called {name!r}; the table has {', '.join(CPUS)}")
    return CPUS[name]
