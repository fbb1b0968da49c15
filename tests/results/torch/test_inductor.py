"""What Inductor writes for a GPU, without one: says when the pinned PyTorch writes other text than chapter 14 shows."""

import sys

import pytest
import torch

from helpers import inductor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Triton exists for Linux")


def test_a_chain_is_one_kernel_with_two_loads_and_a_store():
    def bias_gelu(x, bias):
        return torch.nn.functional.gelu(x + bias, approximate="tanh")

    found = inductor(bias_gelu, torch.empty(128, 1024), torch.empty(1024))
    (source,) = found.kernels.values()
    assert source.startswith("@triton.jit\ndef triton_poi_fused_0(")
    assert (source.count("tl.load("), source.count("tl.store("), source.count("libdevice.tanh")) == (2, 1, 1)
    assert len(found.launches) == 1


def test_a_product_is_the_librarys_and_a_softmax_behind_it_one_kernel():
    def head(x, weight):
        return torch.softmax(x @ weight, dim=1)

    found = inductor(head, torch.empty(128, 64), torch.empty(64, 256))
    assert [name.split("(")[0] for name in found.launches] == ["extern_kernels.mm", "triton_per_fused_0.run"]


def test_an_operator_that_it_does_not_know_stands_among_the_launches():
    name = "course_test::opaque"
    operator = torch.library.custom_op(name, lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor")
    operator.register_fake(torch.empty_like)
    found = inductor(lambda x: operator(x + 1) * 2, torch.empty(64, 64))
    assert [launch.split("(")[0] for launch in found.launches] == [
        "triton_poi_fused_0.run", "buf1 = torch.ops.course_test.opaque.default", "triton_poi_fused_1.run"
    ]  # fmt: skip


def test_it_finds_triton_though_pytorch_was_told_that_no_gpu_has_it(monkeypatch):
    monkeypatch.setattr("torch._inductor.scheduler.has_triton", lambda: False)
    assert len(inductor(lambda x: x + 1, torch.empty(64)).launches) == 1
