"""How fast GPUs calculated at each arithmetic intensity, measured and published by others.

One kernel with more and more multiply-adds for the same bytes. Each row is a selection of the published points.
"""

from __future__ import annotations

from dataclasses import dataclass

from vgpu.hardware.gpus import GIGA, TERA
from vgpu.hardware.sources import SOURCES, Source


@dataclass(frozen=True)
class MeasuredRoof:
    """One GPU: `points` are (FLOP a byte, GFLOP/s) in FP32; `peak` and `bandwidth` are its data sheet's."""

    name: str
    peak: float
    bandwidth: float
    points: tuple[tuple[float, float], ...]
    source: Source
    sheet: Source

    @property
    def intensities(self) -> list[float]:
        """FLOP a byte at each point."""
        return [intensity for intensity, _ in self.points]

    @property
    def rates(self) -> list[float]:
        """FLOP/s at each point."""
        return [GIGA * rate for _, rate in self.points]

    def roof(self, intensity: float) -> float:
        """FLOP/s that the data sheet allows."""
        return min(self.peak, intensity * self.bandwidth)


def _source(file: str, card: str) -> Source:
    return Source(
        f"D. Ernst (NHR@FAU), gpu-benches, gpu-roofline: measured on an {card}",
        f"https://github.com/te42kyfo/gpu-benches/blob/master/gpu-roofline/{file}",
    )


MEASURED_ROOFS = (
    MeasuredRoof(
        "A100 40 GB",
        19.5 * TERA,
        1555 * GIGA,
        (
            (0.25, 343), (0.5, 684), (1.25, 1704), (6.25, 8263), (10.25, 13166), (12.25, 15191), (14.25, 16384),
            (18.25, 17074), (24.25, 17554), (34.25, 18131), (46.25, 18635), (60.25, 18718),
        ),
        _source("alex_a100_40.txt", "A100 40 GB"),
        SOURCES["ampere"],
    ),
    MeasuredRoof(
        "H200",
        67 * TERA,
        4800 * GIGA,
        (
            (0.25, 940), (0.5, 1890), (1.25, 4724), (2.25, 8459), (4.25, 15874), (6.25, 22683), (8.25, 26667),
            (10.25, 27571), (12.25, 28456), (14.25, 28920), (16.25, 35812), (20.25, 37227), (30.25, 39404),
            (46.25, 40524), (60.25, 41602), (90.25, 42329),
        ),
        _source("h200.txt", "H200"),
        SOURCES["h200"],
    ),
)  # fmt: skip
