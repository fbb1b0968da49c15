"""A network layer by layer: parameters, operations, bytes and receptive field, by a run of its traced graph.

Nothing is measured: FLOPs are what `torch.utils.flop_counter` counts, bytes are those of the tensors that a layer needs
and leaves, each once. A tensor on the device "meta" costs no arithmetic, so that networks of any size can be asked.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, overload

from helpers.models.windows import Window
from vgpu.tools.profile_table import text_table

if TYPE_CHECKING:
    import torch

_WINDOWED = ("Conv2d", "MaxPool2d", "AvgPool2d")
_SEES_ALL = ("Linear", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d")


@dataclass(frozen=True)
class Layer:
    """One layer as it ran on a batch.

    `shape`: of its output for one image. `flops`: of the batch, forward, a multiplication and an addition being two.
    `weights`, `moved`: numbers of its parameters, and of what it reads and writes besides. `itemsize`: bytes of each.
    `field`: pixels along a side of the image that one output sees; infinite where it sees all.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    batch: int
    weights: int
    moved: int
    kept: int
    flops: int
    itemsize: int
    field: float
    window: Window | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of weights, inputs and outputs, each once: what no kernel can spare."""
        return (self.weights + self.moved) * self.itemsize

    @property
    def intensity(self) -> float:
        """FLOP for each of these bytes."""
        return self.flops / self.nbytes

    def at(self, batch: int, itemsize: int | None = None) -> Layer:
        """The same layer on another batch, or in numbers of another size: weights stay, all else grows with it."""
        scaled = {name: getattr(self, name) * batch // self.batch for name in ("moved", "kept", "flops")}
        return replace(self, batch=batch, itemsize=itemsize or self.itemsize, **scaled)


@dataclass(frozen=True, repr=False)
class Layers(Sequence):
    """The layers of a network in the order in which they ran."""

    rows: tuple[Layer, ...]

    @overload
    def __getitem__(self, at: int | str) -> Layer: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Layer, ...]: ...

    def __getitem__(self, at: int | str | slice) -> Layer | tuple[Layer, ...]:
        if isinstance(at, str):
            for row in self.rows:
                if row.name == at:
                    return row
            raise KeyError(f"no layer {at!r}; there are {', '.join(row.name for row in self.rows)}")
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Layers) -> Layers:
        return Layers(self.rows + other.rows)

    @property
    def parameters(self) -> int:
        return sum(row.weights for row in self.rows)

    @property
    def flops(self) -> int:
        return sum(row.flops for row in self.rows)

    @property
    def weight_bytes(self) -> int:
        return sum(row.weights * row.itemsize for row in self.rows)

    @property
    def activation_bytes(self) -> int:
        """Bytes of all outputs, which training keeps until the backward pass needs them."""
        return sum(row.kept * row.itemsize for row in self.rows)

    @property
    def receptive_field(self) -> int:
        """Pixels along a side that an output of the last convolution or pooling sees, padding counted in."""
        return int(max((row.field for row in self.rows if math.isfinite(row.field)), default=1))

    @property
    def windows(self) -> list[Window]:
        """The windows of convolutions and poolings, in order: a stack for networks without branches."""
        return [row.window for row in self.rows if row.window]

    def at(self, batch: int, itemsize: int | None = None) -> Layers:
        """All layers on another batch, or in numbers of another size."""
        return Layers(tuple(row.at(batch, itemsize) for row in self.rows))

    def _cells(self) -> list[list[str]]:
        field = lambda row: str(int(row.field)) if math.isfinite(row.field) else "all"
        return [
            [row.name, row.kind, " × ".join(map(str, row.shape)), f"{row.weights:,}", f"{row.flops:,}",
             f"{row.nbytes:,}", f"{row.intensity:.3g}", field(row)]
            for row in self.rows
        ]  # fmt: skip

    _HEADS = ("layer", "kind", "output", "parameters", "FLOP", "bytes", "FLOP/byte", "sees")

    def __repr__(self) -> str:
        return "\n".join(text_table(list(self._HEADS), self._cells(), left=1))

    def _repr_html_(self) -> str:
        heads = "".join(f'<th scope="col">{head}</th>' for head in self._HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self._cells()
        )
        caption = f"{self.parameters:,} parameters, {self.flops:,} FLOP forward (<strong>counted</strong>)"
        return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def layers(network: torch.nn.Module, images: torch.Tensor, name: str = "") -> Layers:
    """The layers of `network` as they run on `images` of shape (batch, channels, height, width).

    network: a module that `torch.fx` can trace, so one whose `forward` asks no question of its values; layers that hold
    no parameters and look at one value at a time (ReLU, dropout, reshaping) are left out, as they belong to the layer
    before them in any good kernel. name: what a network of one layer is called.
    """
    import torch
    from torch import fx, nn
    from torch.utils.flop_counter import FlopCounterMode

    whole = nn.Sequential(network) if not list(network.children()) else network
    rows: list[Layer] = []
    seen: dict[fx.Node, tuple[float, float]] = {}

    class Walk(fx.Interpreter):
        def run_node(self, node: fx.Node) -> Any:
            inputs = [seen[each] for each in node.all_input_nodes if each in seen]
            field, jump = max(inputs, default=(1, 1))
            module = self.module.get_submodule(node.target) if node.op == "call_module" else None
            with FlopCounterMode(display=False) as counter:
                result = super().run_node(node)
            window = window_of(module)
            if window:
                field, jump = field + (window.span - 1) * jump, jump * window.stride
            elif _kind(module, _SEES_ALL):
                field = math.inf
            seen[node] = field, jump
            if module is not None and (window or list(module.parameters()) or counter.get_total_flops()):
                given = sum(self.env[each].numel() for each in node.all_input_nodes)
                rows.append(
                    Layer(
                        name=name or node.target,
                        kind=_said(module, window),
                        shape=tuple(result.shape[1:]),
                        batch=result.shape[0],
                        weights=sum(parameter.numel() for parameter in module.parameters()),
                        moved=given + result.numel(),
                        kept=result.numel(),
                        flops=counter.get_total_flops(),
                        itemsize=result.element_size(),
                        field=field,
                        window=window,
                    )
                )
            return result

    whole = copy.deepcopy(whole).eval().to(images.device)  # the network that was given stays as it is
    with torch.no_grad():
        Walk(fx.symbolic_trace(whole), garbage_collect_values=False).run(images)
    return Layers(tuple(rows))


def _kind(module: torch.nn.Module | None, names: Iterable[str]) -> bool:
    """Whether a module is of one of PyTorch's classes, or made from it."""
    return any(each.__name__ in names for each in type(module).__mro__)


def window_of(module: torch.nn.Module | None) -> Window | None:
    if module is None or not _kind(module, _WINDOWED):
        return None
    one = lambda value: value[0] if isinstance(value, tuple) else value
    dilation = getattr(module, "dilation", 1)
    return Window(*map(one, (module.kernel_size, module.stride, module.padding, dilation)))


def _said(module: torch.nn.Module, window: Window | None) -> str:
    kind = type(module).__name__
    groups = getattr(module, "groups", 1)
    return " ".join([kind, *([str(window)] if window else []), *([f"groups {groups}"] if groups > 1 else [])])
