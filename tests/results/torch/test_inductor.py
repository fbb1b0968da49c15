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
