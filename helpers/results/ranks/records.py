"""What a script on a rank tells the notebook that started it: values, spans of time, and what its collectives carry.

    from helpers import ranks

    ranks.report(loss=loss.item())          # a number, a text, or a list or dictionary of them
    with ranks.span("forward", part=2):     # from when to when this rank was busy with what
        …
    with ranks.traffic() as traffic:        # what is given to collectives meanwhile
        …
    ranks.report(traffic=traffic.as_dict())

Each is a line of JSON in a file of this rank. Without a notebook, as on a cluster, the lines are printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

FOLDER = "WARPBOOK_RANKS"
"""The environment variable that names the folder of the files."""
PAYLOAD = {  # by the operator's name: the argument whose bytes are the collective's message S, and what it is called
    "allreduce_": (0, "all_reduce"),
    "_allgather_base_": (0, "all_gather"),
    "_reduce_scatter_base_": (1, "reduce_scatter"),
    "allgather_": (0, "all_gather"),
    "reduce_scatter_": (1, "reduce_scatter"),
    "allgather_into_tensor_coalesced_": (0, "all_gather"),
    "reduce_scatter_tensor_coalesced_": (1, "reduce_scatter"),
    "broadcast_": (0, "broadcast"),
    "send": (0, "send"),
    "recv_": (0, "recv"),
}
FUNCTIONAL = {  # DTensor's; of an all-gather S is the whole, of which this rank gives one part
    "all_reduce": "all_reduce",
    "all_reduce_": "all_reduce",
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
}


def plain(value: object) -> Any:
    """The value as JSON has it: a tensor or an array as a number or nested lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def _write(kind: str, content: dict) -> None:
    line = json.dumps({kind: content})
    folder = os.environ.get(FOLDER)
    if folder is None:
        print(line, flush=True)
        return
    with open(os.path.join(folder, f"rank-{os.environ.get('RANK', '0')}.jsonl"), "a", encoding="utf-8") as file:
        file.write(line + "\n")


def report(**values: object) -> None:
    """Tell the notebook these values of this rank; one that is told again replaces the earlier one."""
    _write("report", plain(values))


def _now() -> float:
    """Seconds on a clock that all processes of a machine share, once the GPU has done what it was asked for."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.monotonic()


@contextlib.contextmanager
def span(label: str, part: int | None = None) -> Iterator[None]:
    """What happens within is a span of this rank, called `label`; `part` is the number of a micro-batch or step."""
    start = _now()
    yield
    _write("span", {"label": label, "part": part, "start": start, "end": _now()})


@dataclass
class Traffic:
    """By the name of a collective: how often this rank called it, and the bytes of all its messages S."""

    calls: dict[str, int] = field(default_factory=dict)
    nbytes: dict[str, int] = field(default_factory=dict)
    group: dict[str, int] = field(default_factory=dict)
    """Ranks of the group that took part, the largest where they differ."""

    def add(self, name: str, nbytes: int, ranks: int) -> None:
        """Count one call."""
        self.calls[name] = self.calls.get(name, 0) + 1
        self.nbytes[name] = self.nbytes.get(name, 0) + nbytes
        self.group[name] = max(ranks, self.group.get(name, 0))

    def as_dict(self) -> dict:
        """The counts, to report them: {name: [calls, bytes, ranks]}."""
        return {name: [self.calls[name], self.nbytes[name], self.group[name]] for name in self.calls}


def _nbytes(given: torch.Tensor | list | tuple) -> int:
    if isinstance(given, list | tuple):
        return sum(map(_nbytes, given))
    return given.numel() * given.element_size()


@contextlib.contextmanager
def traffic() -> Iterator[Traffic]:
    """Count what this rank gives to collectives, as PyTorch's dispatcher sees every one of them.

    Counted is the message S of each call, as nccl-tests defines it: of an all-reduce the tensor, of an all-gather what
    comes out, of a reduce-scatter what goes in. Which bytes an algorithm then sends for S, `ranks.cost` says. DDP's and
    FSDP's own calls are seen too, since on a CPU the backward pass runs in the thread that asked for it; on a GPU it
    has a thread of its own, and DDP's calls are to be read from a profiler instead.
    """
    import torch.distributed as dist
    from torch.utils._python_dispatch import TorchDispatchMode

    found = Traffic()

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(
            self, operator: torch._ops.OpOverload, types: Sequence[type], args: tuple = (), kwargs: dict | None = None
        ) -> Any:
            space, name = operator.name().split("::")
            name = name.split(".")[0]
            if space == "c10d" and name in PAYLOAD:
                place, called = PAYLOAD[name]
                group = next((_size(each) for each in args if _size(each)), dist.get_world_size())
                found.add(called, _nbytes(args[place]), group)
            elif space == "_c10d_functional" and name in FUNCTIONAL:
                group = dist.distributed_c10d._resolve_process_group(args[-1]).size()
                whole = group if FUNCTIONAL[name] == "all_gather" else 1
                found.add(FUNCTIONAL[name], _nbytes(args[0]) * whole, group)
            return operator(*args, **(kwargs or {}))

    with Counting():
        yield found


def _size(argument: object) -> int:
    """The ranks of a process group in a call's arguments; 0 for another argument."""
    import torch

    if isinstance(argument, torch.ScriptObject):
        with contextlib.suppress(Exception):
            return torch.distributed.ProcessGroup.unbox(argument).size()
    return 0
