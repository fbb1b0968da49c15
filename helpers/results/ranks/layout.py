"""A layout of GPUs for one transformer: bytes that each of them keeps and sends, the bubble, and modelled seconds.

Of the layout tensor × context × pipeline × data ranks train a model together. Counted are operations, bytes and
bubbles; the seconds are modelled from them, with one number that no data sheet has: the share of a GPU's peak that its
matrix products reach. What overlaps is said at each term.

Activations: Korthikanti and others, "Reducing activation recomputation in large transformer models", 2022
(https://arxiv.org/abs/2205.05198), with sequence parallelism and without the scores, as FlashAttention leaves them out.
Bubble of interleaved stages: Narayanan and others, 2021 (https://arxiv.org/abs/2104.04473), section 2.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from helpers.results.ranks.memory import bytes_per_rank
from vgpu.base.words import plural
from vgpu.hardware import gpus
from vgpu.hardware.interconnects import Link

FP16 = 2
ACTIVATIONS = 34
"""Bytes that a layer keeps for each element of its input where nothing is recomputed (Korthikanti, equation 4)."""
PASSES = {False: 3, True: 4}
"""Forward passes' worth of operations in a step: a backward pass counts as two, recomputing as one more."""


@dataclass(frozen=True)
class Transformer:
    """A decoder. `mlp`: its hidden width, 4 × `width` where None; `gated`: three matrices in an MLP instead of two;
    `kv_heads`: heads of keys and values, as many as `heads` where None."""

    name: str
    layers: int
    width: int
    heads: int
    context: int
    vocabulary: int
    mlp: int | None = None
    gated: bool = False
    kv_heads: int | None = None

    @property
    def kv_width(self) -> int:
        """Width of all keys, or of all values, of one token."""
        return self.width * (self.kv_heads or self.heads) // self.heads

    @property
    def layer_parameters(self) -> int:
        """Weights of the matrices of one layer."""
        mlp = (3 if self.gated else 2) * self.width * (self.mlp or 4 * self.width)
        return 2 * self.width * (self.width + self.kv_width) + mlp

    @property
    def parameters(self) -> int:
        """Weights of all layers and of one embedding, which is the last layer too."""
        return self.layers * self.layer_parameters + self.vocabulary * self.width

    def forward_flops(self, sequences: float = 1) -> float:
        """Operations of a forward pass: 2 for each weight and token, and 4 · context · width in each layer's attention
        (masked scores counted too, as in Megatron-LM's formula)."""
        attention = 4 * self.layers * self.context * self.width
        return sequences * self.context * (2 * self.parameters + attention)


@dataclass(frozen=True)
class Layout:
    """How many ranks share a layer (`tensor`), a sequence (`context`), the layers (`pipeline`) and the batch (`data`).

    `zero`: a stage of `memory.STAGES` among the data ranks. `interleave`: groups of layers of each pipeline rank.
    `micro_batch`: sequences in one pass. `recompute`: whether a backward pass computes its activations again.
    """

    tensor: int = 1
    context: int = 1
    pipeline: int = 1
    data: int = 1
    zero: int = 1
    interleave: int = 1
    micro_batch: int = 1
    recompute: bool = False

    @property
    def gpus(self) -> int:
        """GPUs of the whole layout."""
        return self.tensor * self.context * self.pipeline * self.data

    def micro_batches(self, batch: int) -> int:
        """Passes of each pipeline in one step. ValueError for a batch that cannot be shared out evenly."""
        if batch % (self.data * self.micro_batch):
            raise ValueError(f"{plural(self.data, 'data rank')} can't share {batch} sequences in micro-batches of "
                             f"{self.micro_batch}")  # fmt: skip
        return batch // (self.data * self.micro_batch)

    def __str__(self) -> str:
        sizes = {"tp": self.tensor, "cp": self.context, "pp": self.pipeline, "dp": self.data}
        words = [f"{name}{size}" for name, size in sizes.items() if size > 1] or ["1 GPU"]
        words += [f"ZeRO-{self.zero}"] if self.data * self.context > 1 and self.zero else []
        words += [f"v{self.interleave}"] if self.interleave > 1 else []
        return " ".join(words + (["recompute"] if self.recompute else []))


@dataclass(frozen=True)
class Estimate:
    """One step of a layout on each GPU: bytes kept, bytes sent and modelled seconds, each by what they are for."""

    model: Transformer
    layout: Layout
    batch: int
    memory: dict[str, float]
    sent: dict[str, float]
    seconds: dict[str, float]

    @property
    def bytes_kept(self) -> float:
        """Bytes of the fullest GPU."""
        return sum(self.memory.values())

    @property
    def step(self) -> float:
        """Modelled seconds of a step."""
        return sum(self.seconds.values())

    @property
    def bubble(self) -> float:
        """The share of the step in which a GPU waits for its first or after its last micro-batch."""
        return self.seconds["bubble"] / self.step

    def flops_per_gpu(self, *, recomputed: bool) -> float:
        """Modelled operations a second of each GPU; those of recomputing are counted where `recomputed`."""
        passes = PASSES[recomputed and self.layout.recompute]
        return passes * self.model.forward_flops(self.batch) / self.layout.gpus / self.step


def estimate(
    model: Transformer, layout: Layout, batch: int, gpu: str, *, inside: Link, between: Link, efficiency: float
) -> Estimate:
    """One step of `batch` sequences. Tensor ranks are joined by `inside`, all others by `between`.

    `efficiency`: the share of the peak of `gpu` in FP16 that matrix products reach. Raises ValueError for a layout
    that the model's heads, layers, context or batch cannot be divided by.
    """
    _check(model, layout)
    peak = gpus.find(gpu).fp16_tensor_flops
    assert peak is not None
    passes, count = PASSES[layout.recompute], layout.micro_batches(batch)
    computing = passes * model.forward_flops(batch) / layout.gpus / (peak * efficiency)
    sent = _sent(model, layout, count)
    # No collective of a layer overlaps with computing: the next operation needs its result.
    within = {
        "tensor": sent["tensor"] / inside.bandwidth,
        "context": sent["context"] / between.bandwidth,
        "pipeline": sent["pipeline"] / between.bandwidth,
    }
    bubble = (computing + sum(within.values())) * (layout.pipeline - 1) / (layout.interleave * count)
    # What ZeRO 3 gathers and scatters layer by layer can hide behind computing, the rest is at the end of a step.
    data = sent["data"] / between.bandwidth
    exposed = max(0.0, data - computing) if layout.zero == 3 else data
    seconds = {"computing": computing, **within, "data": exposed, "bubble": bubble}
    return Estimate(model, layout, batch, _memory(model, layout, count), sent, seconds)


def _check(model: Transformer, layout: Layout) -> None:
    chunks = layout.pipeline * layout.interleave
    for size, parts, words in (
        (model.kv_heads or model.heads, layout.tensor, "heads of keys and values among tensor ranks"),
        (model.context, 2 * layout.context if layout.context > 1 else 1, "positions among context ranks"),
    ):
        if size % parts:
            raise ValueError(f"{size} {words} can't be divided by {parts}")
    if chunks > model.layers + 2:  # the embedding and the last layer may have places of their own
        raise ValueError(f"{model.layers} layers can't fill {chunks} stages")


def _memory(model: Transformer, layout: Layout, micro_batches: int) -> dict[str, float]:
    """The first stage keeps the most activations: those of as many micro-batches as there are stages, or a few more."""
    weights = model.parameters / (layout.tensor * layout.pipeline)
    kept = bytes_per_rank(weights, layout.data * layout.context, layout.zero)
    elements = layout.micro_batch * model.context * model.width / (layout.context * layout.tensor)
    per_layer = elements * (FP16 if layout.recompute else ACTIVATIONS)
    groups = layout.pipeline * layout.interleave
    waiting = layout.pipeline * (1 + (layout.pipeline - 1) / groups) if layout.interleave > 1 else layout.pipeline
    activations = per_layer * model.layers / layout.pipeline * min(micro_batches, waiting)
    if layout.recompute:
        activations += elements * ACTIVATIONS  # of the layer that is computed again
    return {**kept, "activations": activations}


def _sent(model: Transformer, layout: Layout, micro_batches: int) -> dict[str, float]:
    """Bytes that each GPU sends in a step; collectives are rings."""
    t, c, p, d = layout.tensor, layout.context, layout.pipeline, layout.data * layout.context
    tokens = layout.micro_batch * model.context / c
    layers = model.layers / p
    activations = FP16 * tokens * model.width
    rounds = 3 if layout.recompute else 2  # passes of a layer that send: forward, backward, forward again
    tensor = micro_batches * layers * rounds * 2 * 2 * (t - 1) / t * activations
    keys_and_values = FP16 * 2 * tokens * model.kv_width / t
    context = micro_batches * layers * (rounds + 1) * (c - 1) * keys_and_values  # backward, their gradients come too
    pipeline = micro_batches * 2 * layout.interleave * activations / t if p > 1 else 0.0
    weights = FP16 * model.parameters / (t * p)
    collectives = 2 if layout.zero < 3 else 3 * (micro_batches if p > 1 else 1)
    return {
        "tensor": tensor,
        "context": context,
        "pipeline": pipeline,
        "data": collectives * (d - 1) / d * weights,
    }


def layouts(
    model: Transformer, count: int, batch: int, *, most_tensor: int = 8, micro_batch: int = 1
) -> Iterator[Layout]:
    """All layouts of so many GPUs whose sizes are powers of two and suit the model and the batch.

    `most_tensor`: GPUs that NVLink joins.
    """
    powers = [2**power for power in range(count.bit_length())]
    for t, c, p in itertools.product(powers, repeat=3):
        if t > most_tensor or count % (t * c * p):
            continue
        for zero, interleave, recompute in itertools.product((1, 3), (1, 2, 4), (False, True)):
            layout = Layout(t, c, p, count // (t * c * p), zero, interleave, micro_batch, recompute)
            try:
                micro_batches = layout.micro_batches(batch)
                _check(model, layout)
            except ValueError:
                continue
            if interleave == 1 or (p > 1 and micro_batches % p == 0):  # interleaving takes them in groups of p
                yield layout


def fastest(
    model: Transformer, count: int, batch: int, gpu: str, *, inside: Link, between: Link, efficiency: float,
    room: float = 0.9, most_tensor: int = 8,
) -> list[Estimate]:  # fmt: skip
    """Of all `layouts` those that fit into `room` of the memory of `gpu`, the shortest modelled step first."""
    found = [
        estimate(model, layout, batch, gpu, inside=inside, between=between, efficiency=efficiency)
        for layout in layouts(model, count, batch, most_tensor=most_tensor)
    ]
    fitting = [each for each in found if each.bytes_kept <= room * gpus.find(gpu).memory_bytes]
    return sorted(fitting, key=lambda each: each.step)
