"""What each operator of a program needs: calls, FLOPs and bytes."""

import pytest
import torch

from helpers import operations


def test_products_have_flops_and_every_tensor_counts_once():
    a, b = torch.ones(8, 4), torch.ones(4, 2)
    row = operations(lambda: a @ b)["mm"]
    assert (row.calls, row.flops, row.nbytes) == (1, 2 * 8 * 4 * 2, 4 * (32 + 8 + 16))
    assert row.intensity == 128 / 224
    assert operations(lambda: a * a)["mul"].nbytes == 4 * (32 + 32)


def test_in_place_reads_and_writes_and_what_is_broadcast_moves_once():
    x, row = torch.ones(8, 4), torch.ones(4)
    assert operations(lambda: x.add_(1))["add_"].nbytes == 4 * (32 + 32)
    assert operations(lambda: x + row.expand(8, 4))["add"].nbytes == 4 * (32 + 4 + 32)


def test_a_backward_pass_on_meta_is_counted_and_costs_nothing():
    weights = torch.empty(1024, 4096, device="meta", requires_grad=True)
    inputs = torch.empty(2**16, 1024, device="meta")
    counted = operations(lambda: (inputs @ weights).sum().backward())
    assert counted["mm"].calls == 2 and counted.flops == 2 * 2 * 2**16 * 1024 * 4096


def test_the_largest_come_first_and_the_rest_is_one_row():
    x = torch.ones(1000)
    counted = operations(lambda: ((x + 1).exp().sum(), torch.ones(2) * 3, torch.ones(2) - 3))
    assert [row.name for row in counted.largest(2)][-1].endswith("others")
    assert counted.largest(2).nbytes == counted.nbytes and counted.largest(50) is counted
    assert "counted" in counted._repr_html_() and "operator" in repr(counted)


def test_a_program_without_operators_and_an_unknown_name_are_told():
    with pytest.raises(ValueError, match="calls no operator"):
        operations(lambda: None)
    with pytest.raises(KeyError, match="there are add"):
        operations(lambda: torch.ones(2).add(1))["mm"]
