"""The table of links between GPUs: latency and bandwidth in one direction, each figure with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vgpu.hardware.gpus import find as gpu
from vgpu.hardware.sources import SOURCES, Source

GIGA, MICRO = 1e9, 1e-6


@dataclass(frozen=True, repr=False)
class Link:
    """A link between two ranks. `latency`: seconds for an empty message; `bandwidth`: bytes a second one way."""

    name: str
    latency: float
    bandwidth: float
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"Link({self.name}: {self.latency / MICRO:.3g} µs, {self.bandwidth / GIGA:.4g} GB/s one way)"


_LATENCY = Source(
    "NVIDIA, NCCL, src/graph/tuning.cc, hwLat: what NCCL itself reckons for one step of a ring (protocol Simple)",
    "https://github.com/NVIDIA/nccl/blob/01afd20a77b5804e0ecf1042509dd9d20ebf9e93/src/graph/tuning.cc",
)
_NDR = Source(
    "NVIDIA, 400 Gb/s transceiver for ConnectX-7 on Quantum-2 InfiniBand: overview",
    "https://docs.nvidia.com/networking/display/mms4x00ns400/overview",
)
_ETHERNET = Source(
    "IEEE 802.3: the name of the link is its rate in bits a second, an eighth of it in bytes",
    "https://www.ieee802.org/3/",
)


def _row(name: str, microseconds: float, bytes_per_second: float | None, source: Source) -> Link:
    assert bytes_per_second is not None, f"the data sheet of {name} gives no bandwidth"
    sources = MappingProxyType({"latency": _LATENCY, "bandwidth": source})
    return Link(name, microseconds * MICRO, bytes_per_second, sources)


_ROWS = (
    _row("NVLink (H100)", 3.4, gpu("H100").nvlink_bandwidth, SOURCES["h100"]),
    _row("NVLink (A100)", 3.4, gpu("A100").nvlink_bandwidth, SOURCES["a100"]),
    _row("PCIe 5", 5.7, gpu("H100").host_bandwidth, SOURCES["h100"]),
    _row("PCIe 4", 5.7, gpu("A100").host_bandwidth, SOURCES["a100"]),
    _row("InfiniBand 400 Gb/s", 9.6, 400e9 / 8, _NDR),
    _row("Ethernet 100 Gb/s", 9.6, 100e9 / 8, _ETHERNET),
    _row("Ethernet 50 Gb/s", 9.6, 50e9 / 8, _ETHERNET),
    _row("Ethernet 10 Gb/s", 9.6, 10e9 / 8, _ETHERNET),
)
LINKS: Mapping[str, Link] = MappingProxyType({link.name: link for link in _ROWS})


def find(name: str) -> Link:
    """The row called `name`; KeyError lists the table when there is none."""
    if name not in LINKS:
        raise KeyError(f"no link called {name!r}; the table has {', '.join(LINKS)}")
    return LINKS[name]
