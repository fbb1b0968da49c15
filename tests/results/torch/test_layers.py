"""Layers of a network: parameters, FLOPs, bytes and fields by hand, branches too, and the network left as it was."""

import math

import pytest
import torch
from torch import nn

from helpers import layers


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.three = nn.Conv2d(2, 4, 3, padding=1)
        self.five = nn.Conv2d(2, 4, 5, padding=2)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Conv2d(8, 3, 3)

    def forward(self, x):
        return self.last(self.pool(torch.relu(self.norm(torch.cat([self.three(x), self.five(x)], 1)))))


def test_a_convolution_by_hand():
    (row,) = layers(nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.zeros(4, 3, 10, 10), "first")
    assert (row.name, row.shape, row.batch, row.weights) == ("first", (8, 5, 5), 4, 8 * 27 + 8)
    assert row.flops == 2 * 27 * 4 * 8 * 25
    assert row.nbytes == 4 * (8 * 27 + 8 + 4 * 300 + 4 * 200)
    assert row.field == 3 and str(row.window) == "3×3 stride 2 padding 1"


def test_fields_take_the_widest_branch_and_strides_count_from_the_next_layer_on():
    rows = layers(Branches(), torch.zeros(1, 2, 12, 12))
    assert [(row.name, row.field) for row in rows] == [
        ("three", 3), ("five", 5), ("norm", 5), ("pool", 6), ("last", 10),
    ]  # fmt: skip
    assert rows.receptive_field == 10
    assert rows.parameters == sum(p.numel() for p in Branches().parameters())


def test_a_linear_layer_sees_all_and_a_depthwise_one_says_its_groups():
    network = nn.Sequential(nn.Conv2d(6, 6, 3, groups=6), nn.Flatten(), nn.Linear(96, 10))
    rows = layers(network, torch.zeros(1, 6, 6, 6))
    assert rows["0"].flops == 2 * 9 * 6 * 16 and "groups 6" in rows["0"].kind
    assert math.isinf(rows["2"].field) and rows.receptive_field == 3


def test_another_batch_leaves_the_weights_and_is_what_a_run_would_say():
    network = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))
    one, many = layers(network, torch.zeros(1, 2, 8, 8)), layers(network, torch.zeros(16, 2, 8, 8))
    assert one.at(16).rows == many.rows
    assert many.at(16, itemsize=2)[0].nbytes * 2 == many[0].nbytes
    assert many.weight_bytes == one.weight_bytes and many.activation_bytes == 16 * one.activation_bytes


def test_the_network_stays_as_it_was_and_meta_tensors_will_do():
    network = Branches().train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    layers(network, torch.ones(2, 2, 12, 12))
    large = layers(network, torch.empty(256, 2, 512, 512, device="meta"))
    assert large["three"].flops == 2 * 18 * 4 * 256 * 512 * 512
    assert network.training and network.norm.num_batches_tracked == 0
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_a_table_in_words_and_in_html():
    rows = layers(Branches(), torch.zeros(1, 2, 12, 12))
    assert "Conv2d 5×5 padding 2" in repr(rows) and "8 × 6 × 6" in rows._repr_html_()
    assert f"{rows.flops:,} FLOP forward" in rows._repr_html_()
    with pytest.raises(KeyError, match="no layer 'four'; there are three, five"):
        rows["four"]
