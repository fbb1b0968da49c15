"""Published measurements: ladders of kernels on named hardware, each figure as its source prints it.

A ladder's rows stand in its author's order. `unit` is "GB/s", "GFLOP/s" or "ms"; `amount` turns a time into it:
bytes or FLOPs of the whole problem. `checked` says whether the source was read for this table; where it is False the
figures are as they are commonly quoted, and the original page should be compared before they are relied on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vgpu.hardware.sources import Source


@dataclass(frozen=True)
class Ladder:
    """One published table, or part of it: rows of (kernel, figure), for one problem on one GPU."""

    name: str
    family: str  # how `report` runs the kernels: "transpose", "reduction", "reduction, one pass" (its first launch) …
    gpu: str
    size: int  # side of the matrix, or elements
    threads: int  # of a block, where the family leaves it open
    unit: str
    rows: tuple[tuple[str, float], ...]
    source: Source
    note: str = ""
    checked: bool = True
    blocks: int = 0  # of a reduction with many elements a thread; 0: as many as with two elements a thread

    @property
    def amount(self) -> float:
        """Bytes (GB/s) or FLOPs (GFLOP/s) of the problem, as the authors count them; 1 for a time."""
        if self.unit == "ms":
            return 1.0
        return {"transpose": 8.0 * self.size**2, "reduction": 4.0 * self.size, "matmul": 2.0 * self.size**3}[
            self.family
        ]


_TRANSPOSE = Source(
    "Mark Harris, An Efficient Matrix Transpose in CUDA C/C++, NVIDIA technical blog, 2013",
    "https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/",
)
_REDUCTION = Source(
    "Mark Harris, Optimizing Parallel Reduction in CUDA, NVIDIA, 2007",
    "https://developer.download.nvidia.com/assets/cuda/files/reduction.pdf",
)
_NVBENCH = Source(
    "R100001/Programming-Massively-Parallel-Processors, Performance-Tests-NvBench/reduction, BenchResults3080.csv "
    "(2^26 elements, GPU time)",
    "https://github.com/R100001/Programming-Massively-Parallel-Processors",
)
_BBUF = Source(
    "BBuf/how-to-optim-algorithm-in-cuda, cuda-kernels/reduce and cuda-kernels/elementwise, README (times by ncu)",
    "https://github.com/BBuf/how-to-optim-algorithm-in-cuda",
)
_BASE_CLOCK = "ncu locks the base clock, 765 MHz; TIME_MODEL.md says how that was found out."
_BOEHM = Source(
    "Simon Boehm, How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance: a Worklog, 2022, and the table "
    "of siboehm/SGEMM_CUDA",
    "https://siboehm.com/articles/22/CUDA-MMM",
)
_WANG = Source("wangzyon/NVIDIA_SGEMM_PRACTICE, README", "https://github.com/wangzyon/NVIDIA_SGEMM_PRACTICE")
_FERRAZ = Source(
    "rtferraz/cuda-kernel-engineering, profiles/04-tiled-gemm-benchmark.csv",
    "https://huggingface.co/datasets/rtferraz/cuda-kernel-engineering",
)
_STEPS = (
    "interleaved, divergent",
    "interleaved, bank conflicts",
    "sequential",
    "first add while loading",
    "last warp unrolled",
    "all unrolled",
    "many elements a thread",
)
_MOVES = (
    "copy",
    "copy through shared memory",
    "naive transpose",
    "coalesced transpose",
    "conflict-free transpose",
)


def _rows(names: Iterable[str], figures: Iterable[float]) -> tuple[tuple[str, float], ...]:
    return tuple(zip(names, figures, strict=True))


LADDERS: tuple[Ladder, ...] = (
    Ladder(
        *("transpose, M2050", "transpose", "M2050", 1024, 256, "GB/s"),
        _rows(_MOVES, (105.2, 104.6, 18.8, 51.3, 99.5)),
        _TRANSPOSE,
        checked=False,
    ),
    Ladder(
        *("transpose, K20c", "transpose", "K20c", 1024, 256, "GB/s"),
        _rows(_MOVES, (136.0, 152.3, 55.3, 97.6, 144.3)),
        _TRANSPOSE,
        checked=False,
    ),
    Ladder(
        *("reduction, 8800 GTX", "reduction", "8800 GTX", 2**22, 128, "ms"),
        _rows(_STEPS, (8.054, 3.456, 1.722, 0.965, 0.536, 0.381, 0.268)),
        _REDUCTION,
        "Counted with warps of 32 lanes and 32 banks; this GPU serves half-warps from 16 banks.",
        blocks=64,
    ),
    Ladder(
        *("reduction, RTX 3080", "reduction", "RTX 3080", 2**26, 512, "ms"),
        _rows(_STEPS, (1.90648, 1.00586, 0.90964, 0.63018, 0.42386, 0.42287, 0.42959)),
        _NVBENCH,
        "The last step runs with as many blocks as the one before it, so it has nothing more to add.",
    ),
    Ladder(
        *("reduction, A100 PCIe", "reduction, one pass", "A100 PCIe", 2**25, 256, "ms"),
        _rows(_STEPS, (0.99066, 0.47958, 0.46202, 0.24416, 0.1671, 0.15878, 0.10547)),
        _BBUF,
        _BASE_CLOCK,
        blocks=1024,
    ),
    Ladder(
        *("elementwise, A100 PCIe", "elementwise", "A100 PCIe", 2**25, 256, "ms"),
        _rows(("float", "4 floats", "half", "8 halves"), (0.29846, 0.284, 0.23728, 0.14074)),
        _BBUF,
        _BASE_CLOCK,
    ),
    Ladder(
        *("matmul, RTX A6000", "matmul", "RTX A6000", 4096, 0, "GFLOP/s"),
        _rows(
            (
                "naive",
                "coalesced",
                "shared tiles",
                "8 results a thread",
                "8 x 8 results a thread",
                "16-byte accesses",
                "deeper tiles",
                "warp tiles",
            ),
            (309.0, 1986.5, 2980.3, 8474.7, 15971.7, 18237.3, 19721.0, 21779.3),
        ),
        _BOEHM,
        "Deeper tiles stand for the author's tuned parameters. His page says 4092 or 4096; 4096 is taken.",
    ),
    Ladder(
        *("matmul, RTX 3090", "matmul", "RTX 3090", 5120, 0, "GFLOP/s"),
        _rows(
            ("coalesced", "shared tiles", "8 results a thread", "8 x 8 results a thread", "16-byte accesses"),
            (2262.168, 4216.536, 7809.629, 12251.3, 13161.49),
        ),
        _WANG,
        "Compiled by CUDA 10.2 for compute capability 7.0; cuBLAS itself reached 14449 there.",
    ),
    *(
        Ladder(
            *(f"matmul {size}, L4", "matmul", "L4", size, 0, "ms"),
            _rows(("coalesced", "shared tiles"), times),
            _FERRAZ,
        )
        for size, times in (
            (512, (0.15488, 0.13225)),
            (1024, (1.28005, 1.13628)),
            (2048, (12.08494, 8.36475)),
            (4096, (141.39382, 84.64875)),
        )
    ),
)
