"""The operators that a program of PyTorch calls: how often, with how many FLOPs, and how many bytes they need.

Nothing is measured: FLOPs are what `torch.utils.flop_counter` counts, bytes are those of the tensors that an operator
takes and leaves, each once. Tensors on the device "meta" cost neither arithmetic nor memory, so that a step of any size
can be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, overload

from helpers.results.torch.dispatched import listen
from vgpu.tools.profile_table import text_table

if TYPE_CHECKING:
    import torch

_VIEW = "_unsafe_view"  # its schema does not say so, and it moves nothing


@dataclass(frozen=True)
class Operation:
    """One operator, all its calls together. FLOPs: products only, a multiplication and an addition being two."""

    name: str
    calls: int
    flops: int
    nbytes: int

    @property
    def intensity(self) -> float:
        """FLOP a byte."""
        return self.flops / self.nbytes


@dataclass(frozen=True, repr=False)
class Operations(Sequence):
    """The operators of a program, those that need most bytes first."""

    rows: tuple[Operation, ...]

    @overload
    def __getitem__(self, at: int | str) -> Operation: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Operation, ...]: ...

    def __getitem__(self, at: int | str | slice) -> Operation | tuple[Operation, ...]:
        if isinstance(at, str):
            for row in self.rows:
                if row.name == at:
                    return row
            raise KeyError(f"no operator {at!r}; there are {', '.join(row.name for row in self.rows)}")
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def flops(self) -> int:
        return sum(row.flops for row in self.rows)

    @property
    def nbytes(self) -> int:
        return sum(row.nbytes for row in self.rows)

    def largest(self, count: int) -> Operations:
        """The first `count` operators, and all others as one row."""
        first, rest = self.rows[:count], self.rows[count:]
        if len(rest) < 2:
            return self
        total = [sum(getattr(row, key) for row in rest) for key in ("calls", "flops", "nbytes")]
        return Operations((*first, Operation(f"{len(rest)} others", *total)))

    _HEADS = ("operator", "calls", "FLOP", "bytes", "FLOP/byte")

    def _cells(self) -> list[list[str]]:
        return [
            [row.name, f"{row.calls:,}", f"{row.flops:,}" if row.flops else "–", f"{row.nbytes:,}",
             f"{row.intensity:.3g}" if row.flops else "–"]
            for row in self.rows
        ]  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join(text_table(list(self._HEADS), self._cells(), left=0))

    def _repr_html_(self) -> str:
        heads = "".join(f'<th scope="col">{head}</th>' for head in self._HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self._cells()
        )
        caption = f"{self.flops:,} FLOP, {self.nbytes:,} bytes (<strong>counted</strong>)"
        return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def operations(program: Callable[[], object]) -> Operations:
    """Run `program()` and count what its operators need, those of backward passes among them.

    Views and allocations are left out. An operator that changes a tensor in place reads and writes it. Raises
    ValueError for a program that calls no operator.
    """
    from torch.utils.flop_counter import flop_registry

    found: dict[str, Operation] = {}

    def add(name: str, function: torch._ops.OpOverload, args: tuple, kwargs: dict, result: object) -> None:
        if name.startswith(_VIEW):
            return
        count = flop_registry.get(function.overloadpacket)
        flops = count(*args, **kwargs, out_val=result) if count else 0
        old = found.get(name, Operation(name, 0, 0, 0))
        nbytes = old.nbytes + _nbytes((args, kwargs)) + _nbytes(result)
        found[name] = replace(old, calls=old.calls + 1, flops=old.flops + flops, nbytes=nbytes)

    listen(program, add)
    if not found:
        raise ValueError("the program calls no operator of PyTorch that computes something")
    return Operations(tuple(sorted(found.values(), key=lambda row: -row.nbytes)))


def _nbytes(given: object) -> int:
    """Bytes of all distinct tensors in a nest of tuples, lists and dictionaries; what is broadcast counts once."""
    import torch
    from torch.utils._pytree import tree_leaves

    seen = {}
    for each in tree_leaves(given):
        if isinstance(each, torch.Tensor):
            elements = 1
            for size, stride in zip(each.shape, each.stride(), strict=True):
                elements *= size if stride else 1
            place = (each.untyped_storage()._cdata, each.storage_offset(), each.shape, each.stride())
            seen[place] = elements * each.element_size()
    return sum(seen.values())
