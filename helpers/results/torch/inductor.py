"""The Triton kernels that `torch.compile` would make of a function for a GPU: generated here, with or without one.

Nothing is compiled or run. The function is traced with tensors that have a shape and a device and no elements, and
Inductor, PyTorch's compiler, writes its source for the GPU that `device("…")` has chosen. On a GPU the same text comes
from `TORCH_LOGS=output_code python script.py`, which is the documented way; what is asked of PyTorch here is internal
to the pinned version, and `tests/results/torch/test_inductor.py` says when that changes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest import mock

from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPU

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, repr=False)
class Generated:
    """What Inductor wrote: the source of each Triton kernel by name, and what `call` launches, line by line."""

    kernels: dict[str, str]
    launches: tuple[str, ...]

    def __repr__(self) -> str:
        parts = [*self.kernels.values(), "# launched by:\n" + "\n".join(self.launches)]
        return "\n\n".join(parts)


def inductor(function: Callable[..., object], *tensors: torch.Tensor) -> Generated:
    """The kernels that `torch.compile(function)` would launch for CUDA tensors of these shapes and dtypes.

    function: of tensors alone, without gradients. Raises what PyTorch raises for a function that it cannot trace, and
    ImportError where Triton is not installed.
    """
    import torch
    import triton  # noqa: F401  # Inductor would silently write none
    from torch._inductor.debug import DebugContext
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with _as_if_on(current()), FakeTensorMode() as fake:
        inputs = [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device="cuda") for each in tensors]
        traced = make_fx(function, decomposition_table=select_decomp_table())(*inputs)
        graph = GraphLowering(traced, is_inference=True)
        with V.set_graph_handler(graph), V.set_fake_mode(fake), V.set_debug_handler(DebugContext()):
            graph.run(*inputs)
            source = graph.codegen()[0].value
    found = re.findall(r"(@triton\.jit\ndef (\w+)\(.*?)\n''', device_str", source, flags=re.DOTALL)
    calls = re.findall(rf"^ +({_LAUNCH}\(.*\))$", source, flags=re.MULTILINE)
    return Generated({name: text for text, name in found}, tuple(calls))


_LAUNCH = r"(?:\w+ = torch\.ops\.[\w.]+|extern_kernels\.\w+|\w+\.run)"
"""An operator that Inductor doesn't know, a library's product, or a Triton kernel, its own or the program's."""


@contextlib.contextmanager
def _as_if_on(gpu: GPU) -> Iterator[None]:
    """Let Inductor find the chosen GPU, whatever this machine has."""
    import torch
    from torch._dynamo.device_interface import CudaInterface

    major, minor = gpu.compute_capability
    properties = SimpleNamespace(
        name=gpu.name,
        major=major,
        minor=minor,
        multi_processor_count=gpu.sms,
        regs_per_multiprocessor=gpu.registers_per_sm,
        max_threads_per_multi_processor=gpu.threads_per_sm,
        max_threads_per_block=gpu.threads_per_block,
        shared_memory_per_block=gpu.shared_limit,
        shared_memory_per_block_optin=gpu.shared_optin_limit,
        total_memory=gpu.memory_bytes,
        L2_cache_size=gpu.l2_bytes,
        warp_size=32,
        gcnArchName="",
    )
    answers: dict[str, Callable[..., object]] = {
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: (major, minor),
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "is_available": lambda: True,
    }
    capability = staticmethod(lambda *_: 10 * major + minor)
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        for name in ("get_device_properties", "is_available"):
            stack.enter_context(mock.patch.object(CudaInterface, name, staticmethod(answers[name])))
        stack.enter_context(mock.patch.object(CudaInterface, "get_compute_capability", capability))
        stack.enter_context(mock.patch("torch.utils._triton.triton_hash_with_backend", lambda: ""))
        stack.enter_context(mock.patch("torch._inductor.scheduler.has_triton", lambda: True))  # it may have been asked
        yield
