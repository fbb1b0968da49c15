"""Trainings whose layout and speed were published, beside what `layout` models for them.

Narayanan and others, "Efficient large-scale language model training on GPU clusters using Megatron-LM", 2021, table 1
(https://arxiv.org/abs/2104.04473): A100s with 8 InfiniBand cards of 200 Gb/s in each machine; operations of recomputing
are counted. Its micro-batches and interleaving are not in the table: 1 sequence, and no interleaving, are assumed.
Meta, "The Llama 3 herd of models", 2024, tables 3 and 4 (https://arxiv.org/abs/2407.21783): H100s, 400 Gb/s; nothing is
recomputed. 8 groups of layers in each stage are assumed, as 126 layers and 16 stages suggest.
"""

from __future__ import annotations

from dataclasses import dataclass

from helpers.results.ranks.layout import Estimate, Layout, Transformer, estimate
from helpers.results.ranks.table import ParallelTable
from vgpu.hardware.interconnects import Link, find

MEGATRON, LLAMA = "Megatron-LM", "Llama 3"


@dataclass(frozen=True)
class Published:
    """One training: who, what, on which GPU, and its published operations a second of each GPU, in TFLOP/s."""

    source: str
    model: Transformer
    layout: Layout
    batch: int
    gpu: str
    tflops: float


def _megatron(name: str, layers: int, width: int, heads: int, layout: tuple, batch: int, tflops: float) -> Published:
    tensor, pipeline, gpus = layout
    shared = Layout(tensor, pipeline=pipeline, data=gpus // (tensor * pipeline), zero=0, recompute=True)
    return Published(MEGATRON, Transformer(name, layers, width, heads, 2048, 51_200), shared, batch, "A100", tflops)


def _llama(context: int, layout: tuple, batch: int, tflops: float) -> Published:
    model = Transformer("405 B", 126, 16_384, 128, context, 128_256, mlp=53_248, gated=True, kv_heads=8)
    tensor, parts, pipeline, data = layout
    return Published(LLAMA, model, Layout(tensor, parts, pipeline, data, interleave=8), batch, "H100", tflops)


PUBLISHED = (
    _megatron("1.7 B", 24, 2304, 24, (1, 1, 32), 512, 137),
    _megatron("3.6 B", 30, 3072, 32, (2, 1, 64), 512, 138),
    _megatron("7.5 B", 36, 4096, 32, (4, 1, 128), 512, 142),
    _megatron("18.4 B", 40, 6144, 48, (8, 1, 256), 1024, 135),
    _megatron("39.1 B", 48, 8192, 64, (8, 2, 512), 1536, 138),
    _megatron("76.1 B", 60, 10_240, 80, (8, 4, 1024), 1792, 140),
    _megatron("145.6 B", 80, 12_288, 96, (8, 8, 1536), 2304, 148),
    _megatron("310.1 B", 96, 16_384, 128, (8, 16, 1920), 2160, 155),
    _megatron("529.6 B", 105, 20_480, 128, (8, 35, 2520), 2520, 163),
    _megatron("1008.0 B", 128, 25_600, 160, (8, 64, 3072), 3072, 163),
    _llama(8192, (8, 1, 16, 64), 2048, 430),
    _llama(8192, (8, 1, 16, 128), 2048, 400),
    _llama(131_072, (8, 16, 16, 8), 128, 380),
)
_SELENE = Link("InfiniBand 200 Gb/s", find("InfiniBand 400 Gb/s").latency, 200e9 / 8)
_BETWEEN = {"A100": _SELENE, "H100": find("InfiniBand 400 Gb/s")}


def modelled(row: Published, efficiency: float) -> Estimate:
    """The estimate for a published training."""
    inside = find(f"NVLink ({row.gpu})")
    return estimate(
        row.model, row.layout, row.batch, row.gpu, inside=inside, between=_BETWEEN[row.gpu], efficiency=efficiency
    )


def published_table(efficiency: float) -> ParallelTable:
    """A row for each published training: its layout, its published speed, and the modelled one with its error."""
    head = ["training", "GPUs", "layout", "published", "modelled", "off by", "bubble", "GiB a GPU"]
    rows = []
    for row in PUBLISHED:
        found = modelled(row, efficiency)
        tflops = found.flops_per_gpu(recomputed=row.source == MEGATRON) / 1e12
        rows.append([
            f"{row.source}, {row.model.name}", f"{row.layout.gpus:,} {row.gpu}", str(row.layout), f"{row.tflops:g}",
            f"{tflops:.0f}", f"{tflops / row.tflops - 1:+.0%}", f"{found.bubble:.0%}",
            f"{found.bytes_kept / 2**30:.0f}",
        ])  # fmt: skip
    return ParallelTable(head, rows)


def layout_table(found: list[Estimate], most: int = 6) -> ParallelTable:
    """The first estimates of a list: seconds of a step, its bubble, what a GPU keeps, and what it sends for what."""
    head = ["layout", "step", "bubble", "GiB a GPU", "GB sent: tensor", "context", "pipeline", "data"]
    rows = []
    for each in found[:most]:
        sent = [f"{nbytes / 1e9:,.3g}" for nbytes in each.sent.values()]
        rows.append([str(each.layout), f"{each.step:.1f} s", f"{each.bubble:.0%}", f"{each.bytes_kept / 2**30:.0f}",
                     *sent])  # fmt: skip
    return ParallelTable(head, rows)
