"""Which operators of PyTorch a program calls that compute something: each is at least one launch on a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vgpu.tools.profile_table import text_table

if TYPE_CHECKING:
    import torch

NO_WORK = ("detach", "alias", "empty", "set_", "resize_", "_local_scalar_dense", "profiler::")
"""Operators that no schema shows to be mere views, and that compute nothing all the same."""


@dataclass(frozen=True, repr=False)
class Dispatched:
    """How often each operator was called, most often first."""

    counts: dict[str, int]

    @property
    def calls(self) -> int:
        """All calls together."""
        return sum(self.counts.values())

    def __getitem__(self, name: str) -> int:
        return self.counts.get(name, 0)

    def __repr__(self) -> str:
        most = list(self.counts.items())[:8]
        rest = self.calls - sum(count for _, count in most)
        rows = [[name, f"{count:,}"] for name, count in [*most, *([("others", rest)] if rest else [])]]
        return f"{self.calls:,} operators that compute (counted)\n" + "\n".join(
            text_table(["operator", "calls"], rows, left=0)
        )


def dispatched(program: Callable[[], object]) -> Dispatched:
    """Run `program()` and count the operators that reach PyTorch's dispatcher, those of backward passes among them.

    Views and allocations are left out. On a GPU one call may be several launches, and one of the `_foreach` operators
    does the work of many.
    """
    found: Counter[str] = Counter()
    listen(program, lambda name, *_: found.update([name]))
    return Dispatched(dict(found.most_common()))


def listen(program: Callable[[], object], hear: Callable) -> None:
    """Run `program()`, and call `hear(name, function, args, kwargs, result)` after each operator that computes."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: torch._ops.OpOverload, types: Sequence[type], args: tuple = (), kwargs: dict | None = None
        ) -> Any:
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            name = function._schema.name.removeprefix("aten::")
            views = any(each.alias_info and not each.alias_info.is_write for each in function._schema.returns)
            if not views and not name.startswith(NO_WORK):
                hear(name, function, args, kwargs, result)
            return result

    with Listening():
        program()
