"""Published measurements of the bandwidth of repeated reads, as a function of the bytes read.

Each row is a selection of the published points. Units: KiB of data, GB/s read.
"""

from __future__ import annotations

from dataclasses import dataclass

from vgpu.hardware.gpus import KIB, MIB
from vgpu.hardware.sources import Source


@dataclass(frozen=True)
class RereadBandwidth:
    """One GPU: `points` are (KiB that are read repeatedly, GB/s), `l2_bytes` the size of its L2."""

    name: str
    l2_bytes: int
    points: tuple[tuple[int, float], ...]
    source: Source

    @property
    def nbytes(self) -> list[int]:
        """Bytes of data at each point."""
        return [KIB * kib for kib, _ in self.points]

    @property
    def rates(self) -> list[float]:
        """Bytes a second at each point."""
        return [1e9 * rate for _, rate in self.points]


def _source(file: str, card: str) -> Source:
    return Source(
        f"D. Ernst (NHR@FAU), gpu-benches, gpu-l2-cache: measured on an {card}",
        f"https://github.com/te42kyfo/gpu-benches/blob/master/gpu-l2-cache/{file}",
    )


REREAD = (
    RereadBandwidth(
        "A100 80 GB",
        40 * MIB,
        (
            (2048, 5481.9), (4096, 5466.9), (8192, 5436.5), (16896, 5447.7), (25600, 5376.2), (28160, 5170.5),
            (30720, 3999.5), (33792, 3621.8), (36864, 3004.0), (40448, 2462.0), (44032, 2188.0), (48128, 2026.5),
            (52736, 1945.5), (63488, 1894.6), (100352, 1866.9), (211968, 1850.8), (497664, 1779.5), (1064448, 1727.5),
        ),
        _source("a100_80.txt", "A100 80 GB"),
    ),
    RereadBandwidth(
        "H100 PCIe",
        50 * MIB,
        (
            (2048, 7381.1), (4096, 7121.5), (8192, 7034.2), (16896, 6912.2), (25600, 6892.2), (33792, 6925.4),
            (36864, 6847.1), (40448, 5728.6), (44032, 4253.2), (48128, 3452.7), (52736, 2775.3), (57856, 2244.2),
            (63488, 2077.4), (76288, 2000.0), (100352, 1989.8), (211968, 1988.0), (497664, 1989.1), (1064448, 1988.9),
        ),
        _source("h100_pcie.txt", "H100 PCIe"),
    ),
)  # fmt: skip
