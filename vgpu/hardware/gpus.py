"""The table of GPUs: the figures that a performance model needs, each with its source.

Add a GPU by adding one row to `_PRODUCTS`; what all GPUs of one compute capability share stands in
`_CAPABILITIES`. A figure that no document gives is None, never a guess, and every figure that is there has
an entry in `sources`. Units are plain: bytes, bytes a second, hertz, FLOP/s, seconds.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from html import escape
from types import MappingProxyType
from typing import Any

from vgpu.hardware.sources import SOURCES, Source

KIB, MIB, GIB = 2**10, 2**20, 2**30
TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, repr=False)
class GPU:
    """One NVIDIA GPU as its data sheets describe it.

    Peaks are dense (no structured sparsity). Tensor-core peaks are for 16-bit (or TF32, or FP8) inputs with
    FP32 accumulation. Bandwidths of links are for one direction. `shared_limit` is what a block may have
    without asking, `shared_optin_limit` what it may have when it asks. `shared_bytes_per_clock` is what an SM's
    L1 and shared memory move in a clock; `instruction_latency` counts clocks from an arithmetic instruction to the
    next one that needs its result; `copy_engines` move data between host and device at a time. `l1_bytes` is what L1
    and shared memory have together in an SM. The latencies of memories are clocks from a load to the use of its value
    with nothing else going on, measured by walking a chain of addresses; no data sheet prints them.
    """

    name: str
    product: str
    architecture: str
    compute_capability: tuple[int, int]
    sms: int
    clock: float
    fp32_lanes_per_sm: int
    fp64_lanes_per_sm: int
    fp16_lanes_per_sm: int
    fp32_flops: float
    fp64_flops: float
    fp16_tensor_flops: float | None
    tf32_tensor_flops: float | None
    fp8_tensor_flops: float | None
    fp4_tensor_flops: float | None
    fp64_tensor_flops: float | None
    int8_tensor_ops: float | None
    memory_bytes: int
    memory_bandwidth: float
    l2_bytes: int | None
    l2_bandwidth: float | None
    host_bandwidth: float | None
    nvlink_bandwidth: float | None
    shared_latency: float | None
    l1_latency: float | None
    l2_latency: float | None
    dram_latency: float | None
    launch_overhead: float
    l1_bytes: int | None
    shared_per_sm: int
    shared_limit: int
    shared_optin_limit: int
    shared_granularity: int
    shared_reserved: int
    registers_per_sm: int
    registers_per_block: int
    register_granularity: int
    registers_per_thread_limit: int
    threads_per_sm: int
    warps_per_sm: int
    blocks_per_sm: int
    threads_per_block: int
    partitions_per_sm: int
    special_lanes_per_sm: int
    shared_bytes_per_clock: int
    instruction_latency: int
    copy_engines: int
    warp_size: int = 32
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False)

    @property
    def arch(self) -> str:
        """The name compilers use for this GPU's machine code, such as `sm_80`."""
        return "sm_{}{}".format(*self.compute_capability)

    @property
    def own_arch(self) -> str:
        """The same with the letter that instructions of this architecture alone need: "sm_90a", from Hopper on."""
        return self.arch + "a" * (self.compute_capability >= (9, 0))

    @property
    def issue_per_clock(self) -> float:
        """Warp instructions an SM starts in a clock: one a partition."""
        return self.partitions_per_sm

    def peak(self, precision: str) -> float:
        """Peak FLOP/s of the ordinary (not tensor) units for "fp16", "fp32" or "fp64"; an fma is two."""
        lanes = getattr(self, f"{precision}_lanes_per_sm")
        return 2 * self.sms * lanes * self.clock

    def __repr__(self) -> str:
        major, minor = self.compute_capability
        return (
            f"GPU({self.name}: {self.product}, {self.architecture}, compute capability {major}.{minor}, "
            f"{self.sms} SMs at {self.clock / 1e9:.2f} GHz, {self.fp32_flops / TERA:.4g} TFLOP/s FP32, "
            f"{self.memory_bandwidth / GIGA:.5g} GB/s)"
        )

    def _repr_html_(self) -> str:
        rows = []
        for column in fields(self):
            if column.name in ("name", "sources"):
                continue
            source = self.sources.get(column.name)
            link = f'<a href="{escape(source.url)}">{escape(source.title)}</a>' if source else ""
            value = getattr(self, column.name)
            shown = "not published" if value is None else escape(_shown(value))
            label = column.name.replace("_", " ")
            rows.append(f'<tr><th scope="row">{label}</th><td{_WHOLE}>{shown}</td><td{_LEFT}>{link}</td></tr>')
        head = '<tr><th scope="col">figure</th><th scope="col">value</th>' + f'<th scope="col"{_LEFT}>source</th></tr>'
        caption = f"<caption{_LEFT}>{escape(self.name)}: data-sheet figures and their sources</caption>"
        return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


_LEFT, _WHOLE = ' style="text-align:left"', ' style="white-space:nowrap"'


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# What every CUDA GPU of compute capability 7.0 to 12.0 has in common.
_COMMON = {
    "shared_limit": 48 * KIB,
    "registers_per_sm": 64 * KIB,
    "registers_per_block": 64 * KIB,
    "register_granularity": 256,
    "registers_per_thread_limit": 255,
    "threads_per_block": 1024,
    "partitions_per_sm": 4,
    "special_lanes_per_sm": 16,
    "shared_bytes_per_clock": 128,
    "instruction_latency": 4,
    "copy_engines": 2,
    "warp_size": 32,
}


def _capability(
    l1_kib: int, shared_kib: int, optin_kib: int, warps: int, blocks: int, granularity: int, reserved: int, fp32: int,
    fp64: int, fp16: int,
) -> dict[str, Any]:  # fmt: skip
    return _COMMON | {
        "l1_bytes": l1_kib * KIB,
        "shared_per_sm": shared_kib * KIB,
        "shared_optin_limit": optin_kib * KIB,
        "shared_granularity": granularity,
        "shared_reserved": reserved,
        "warps_per_sm": warps,
        "threads_per_sm": 32 * warps,
        "blocks_per_sm": blocks,
        "fp32_lanes_per_sm": fp32,
        "fp64_lanes_per_sm": fp64,
        "fp16_lanes_per_sm": fp16,
    }


_CAPABILITIES = {
    #            L1 with shared, shared, opt-in KiB, warps, blocks, granularity, reserved, FP32, FP64, FP16 lanes an SM
    (7, 0): _capability(128, 96, 96, 64, 32, 256, 0, 64, 32, 128),
    (7, 5): _capability(96, 64, 64, 32, 16, 256, 0, 64, 2, 128) | {"shared_bytes_per_clock": 64},
    (8, 0): _capability(192, 164, 163, 64, 32, 128, 1024, 64, 32, 256),
    (8, 6): _capability(128, 100, 99, 48, 16, 128, 1024, 128, 2, 128),
    (8, 9): _capability(128, 100, 99, 48, 24, 128, 1024, 128, 2, 128),
    (9, 0): _capability(256, 228, 227, 64, 32, 128, 1024, 128, 64, 256),
    (10, 0): _capability(256, 228, 227, 64, 32, 128, 1024, 128, 64, 256),
    (12, 0): _capability(128, 100, 99, 48, 24, 128, 1024, 128, 2, 128),
}
_SOURCES_OF_CAPABILITY = (
    dict.fromkeys(_CAPABILITIES[8, 0], "limits")
    | dict.fromkeys(("shared_granularity", "register_granularity", "partitions_per_sm", "shared_reserved"), "occupancy")
    | dict.fromkeys((f"{kind}_lanes_per_sm" for kind in ("fp32", "fp64", "fp16", "special")), "throughput")
    | {"compute_capability": "capability", "architecture": "capability", "launch_overhead": "launch"}
    | {
        "l1_bytes": "unified",
        "shared_bytes_per_clock": "banks",
        "instruction_latency": "latencies",
        "copy_engines": "copy_engines",
    }
)
# An order of magnitude, the same for every row: see its source.
LAUNCH_OVERHEAD = 5e-6


def _chip(sms: int, ghz: float) -> dict[str, Any]:
    return {"sms": sms, "clock": ghz * GIGA}


def _peaks(
    fp32: float,
    fp64: float,
    fp16_tensor: float,
    tf32_tensor: float | None = None,
    fp8_tensor: float | None = None,
    fp4_tensor: float | None = None,
    fp64_tensor: float | None = None,
    int8_tensor: float | None = None,
) -> dict[str, Any]:
    """Peaks in TFLOP/s, that of integers in TOP/s."""
    tensor = {
        "fp16_tensor_flops": fp16_tensor,
        "tf32_tensor_flops": tf32_tensor,
        "fp8_tensor_flops": fp8_tensor,
        "fp4_tensor_flops": fp4_tensor,
        "fp64_tensor_flops": fp64_tensor,
        "int8_tensor_ops": int8_tensor,
    }
    scaled = {key: None if value is None else value * TERA for key, value in tensor.items()}
    return {"fp32_flops": fp32 * TERA, "fp64_flops": fp64 * TERA} | scaled


def _memory(
    gib: float, gigabytes_per_second: float, l2_mib: float | None, l2_bytes_per_clock: int | None = None
) -> dict[str, Any]:
    return {
        "memory_bytes": gib * GIB,
        "memory_bandwidth": gigabytes_per_second * GIGA,
        "l2_bytes": None if l2_mib is None else int(l2_mib * MIB),
        "l2_bandwidth": l2_bytes_per_clock,
    }


def _links(host: float, nvlink: float | None = None) -> dict[str, Any]:
    """Bandwidths in GB/s, one direction: half of what data sheets print."""
    return {"host_bandwidth": host * GIGA, "nvlink_bandwidth": None if nvlink is None else nvlink * GIGA}


MEMORY_LATENCIES = ("shared_latency", "l1_latency", "l2_latency", "dram_latency")
"""Measured figures; None in a row without a measurement."""


def _latencies(shared: float, l1: float, l2: float, dram: float) -> dict[str, Any]:
    """Clocks from a load to the use of its value."""
    return dict(zip(MEMORY_LATENCIES, (shared, l1, l2, dram), strict=True))


def _row(
    name: str, product: str, architecture: str, capability: tuple[int, int], source: Any, chip: dict[str, Any],
    peaks: dict[str, Any], memory: dict[str, Any], links: dict[str, Any], /, **other_sources: Any,
) -> GPU:  # fmt: skip
    """One GPU: `source` covers all its own figures but those that `other_sources` names."""
    own = {"product": product} | chip | peaks | memory | links
    own = dict.fromkeys(MEMORY_LATENCIES) | own
    if own["l2_bandwidth"] is not None:
        own["l2_bandwidth"] *= own["clock"]
    titles = dict.fromkeys((key for key, value in own.items() if value is not None), source)
    titles = _SOURCES_OF_CAPABILITY | titles | other_sources
    return GPU(
        name=name,
        architecture=architecture,
        compute_capability=capability,
        launch_overhead=LAUNCH_OVERHEAD,
        sources=MappingProxyType({key: SOURCES[title] for key, title in titles.items()}),
        **own,
        **_CAPABILITIES[capability],
    )


_PRODUCTS = (
    _row(
        *("T4", "Tesla T4 16 GB", "Turing", (7, 5), "turing"),
        _chip(sms=40, ghz=1.590),
        _peaks(fp32=8.1, fp64=0.2544, fp16_tensor=65, int8_tensor=130),
        _memory(gib=16, gigabytes_per_second=320, l2_mib=4),
        _links(host=16),
        fp64_flops="derived",
        host_bandwidth="t4",
    ),
    _row(
        *("V100", "Tesla V100 SXM2 16 GB", "Volta", (7, 0), "volta"),
        _chip(sms=80, ghz=1.530),
        _peaks(fp32=15.7, fp64=7.8, fp16_tensor=125),
        _memory(gib=16, gigabytes_per_second=900, l2_mib=6, l2_bytes_per_clock=2048),
        _links(host=16, nvlink=150) | _latencies(shared=23, l1=30, l2=215, dram=436),
        **dict.fromkeys(MEMORY_LATENCIES[1:], "chase"),
        shared_latency="mt4g_v100",
        l2_bandwidth="ampere_blog",
        host_bandwidth="v100",
    ),
    _row(
        *("A100", "A100 SXM4 80 GB", "Ampere", (8, 0), "ampere"),
        _chip(sms=108, ghz=1.410),
        _peaks(fp32=19.5, fp64=9.7, fp16_tensor=312, tf32_tensor=156, fp64_tensor=19.5, int8_tensor=624),
        _memory(gib=80, gigabytes_per_second=2039, l2_mib=40, l2_bytes_per_clock=5120),
        _links(host=32, nvlink=300) | _latencies(shared=29, l1=36, l2=211, dram=571),
        **dict.fromkeys(MEMORY_LATENCIES[1:], "chase"),
        shared_latency="luo",
        **dict.fromkeys(("product", "memory_bytes", "memory_bandwidth"), "a100"),
        **dict.fromkeys(("host_bandwidth", "nvlink_bandwidth"), "a100"),
        l2_bandwidth="ampere_blog",
    ),
    _row(
        *("RTX 3090", "GeForce RTX 3090 24 GB", "Ampere", (8, 6), "ga102"),
        _chip(sms=82, ghz=1.695),
        _peaks(fp32=35.6, fp64=0.556, fp16_tensor=71, tf32_tensor=35.6, int8_tensor=284),
        _memory(gib=24, gigabytes_per_second=936, l2_mib=6),
        _links(host=32),
        fp64_flops="derived",
    ),
    _row(
        *("RTX 4090", "GeForce RTX 4090 24 GB", "Ada", (8, 9), "ada"),
        _chip(sms=128, ghz=2.520),
        _peaks(fp32=82.6, fp64=1.290, fp16_tensor=165.2, tf32_tensor=82.6, fp8_tensor=330.3, int8_tensor=660.6),
        _memory(gib=24, gigabytes_per_second=1008, l2_mib=72),
        _links(host=32) | _latencies(shared=30.1, l1=43.4, l2=273, dram=541.5),
        **dict.fromkeys(MEMORY_LATENCIES, "luo"),
        fp64_flops="derived",
    ),
    _row(
        *("RTX 5090", "GeForce RTX 5090 32 GB", "Blackwell", (12, 0), "rtx_blackwell"),
        _chip(sms=170, ghz=2.407),
        _peaks(
            fp32=104.8,
            fp64=1.637,
            fp16_tensor=209.5,
            tf32_tensor=104.8,
            fp8_tensor=419,
            fp4_tensor=1676,
            int8_tensor=838,
        ),
        _memory(gib=32, gigabytes_per_second=1792, l2_mib=96),
        _links(host=64),
        fp64_flops="derived",
    ),
    _row(
        *("L4", "L4 24 GB", "Ada", (8, 9), "l4"),
        _chip(sms=58, ghz=2.040),
        _peaks(fp32=30.3, fp64=0.4733, fp16_tensor=121, tf32_tensor=60, fp8_tensor=242.5, int8_tensor=242.5),
        _memory(gib=24, gigabytes_per_second=300, l2_mib=48),
        _links(host=32),
        sms="l4_sms",
        clock="l4_board",
        l2_bytes="ad104",
        fp64_flops="derived",
    ),
    _row(
        *("H100", "H100 SXM5 80 GB", "Hopper", (9, 0), "hopper"),
        _chip(sms=132, ghz=1.980),
        _peaks(
            fp32=66.9,
            fp64=33.5,
            fp16_tensor=989.4,
            tf32_tensor=494.7,
            fp8_tensor=1978.9,
            fp64_tensor=66.9,
            int8_tensor=1978.9,
        ),
        _memory(gib=80, gigabytes_per_second=3350, l2_mib=50),
        _links(host=64, nvlink=450) | _latencies(shared=30, l1=34, l2=266, dram=650),
        **dict.fromkeys(MEMORY_LATENCIES[1:], "chase"),
        shared_latency="mt4g_h100",
        **dict.fromkeys(("memory_bandwidth", "host_bandwidth", "nvlink_bandwidth"), "h100"),
    ),
    _row(
        *("H200", "H200 SXM5 141 GB", "Hopper", (9, 0), "h200"),
        _chip(sms=132, ghz=1.980),
        _peaks(
            fp32=67, fp64=34, fp16_tensor=989.5, tf32_tensor=494.5, fp8_tensor=1979, fp64_tensor=67, int8_tensor=1979
        ),
        _memory(gib=141, gigabytes_per_second=4800, l2_mib=60),
        _links(host=64, nvlink=450),
        **dict.fromkeys(("sms", "clock"), "hopper"),
        l2_bytes="h200_chip",
    ),
    _row(
        *("B200", "B200 180 GB (one of eight in an HGX B200)", "Blackwell", (10, 0), "b200"),
        _chip(sms=148, ghz=1.980),
        _peaks(
            fp32=75,
            fp64=37,
            fp16_tensor=2250,
            tf32_tensor=1125,
            fp8_tensor=4500,
            fp4_tensor=9000,
            fp64_tensor=37,
            int8_tensor=4500,
        ),
        _memory(gib=180, gigabytes_per_second=8000, l2_mib=126.5),
        _links(host=64, nvlink=900),
        **dict.fromkeys(("sms", "l2_bytes"), "b200_chip"),
        clock="b200_clock",
    ),
)

GPUS: Mapping[str, GPU] = MappingProxyType({gpu.name: gpu for gpu in _PRODUCTS})
DEFAULT = "A100"


def _key(name: str) -> str:
    return "".join(ch for ch in name.lower() if ch.isalnum())


@cache
def find(name: str) -> GPU:
    """The row called `name`, whatever its case and spacing; KeyError names the nearest ones."""
    keys = {_key(row): row for row in GPUS}
    wanted = _key(str(name))
    if wanted in keys:
        return GPUS[keys[wanted]]
    near = [keys[key] for key in difflib.get_close_matches(wanted, keys, n=3, cutoff=0.4)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise KeyError(f"no GPU called {name!r} in the table.{hint} The table has {', '.join(GPUS)}.")


def nearest(product_name: str, compute_capability: tuple[int, int]) -> GPU:
    """The row of a product as its driver names it, else the first of its capability, else the default."""
    alike = [gpu for gpu in GPUS.values() if gpu.compute_capability == compute_capability]
    # Whole words: "NVIDIA L40" must not become an L4 on the strength of its first letters.
    named = [gpu for gpu in alike if re.search(rf"\b{gpu.name}\b", product_name, re.IGNORECASE)]
    return (named or alike or [GPUS[DEFAULT]])[0]
