"""Layouts of GPUs: parameters, bytes and bubbles counted by hand, published runs within the stated error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import ranks
from helpers.results.ranks.layout import layouts
from helpers.results.ranks.pipeline import bubble
from helpers.results.ranks.published import MEGATRON, PUBLISHED, modelled
from vgpu.hardware.interconnects import Link

SMALL = ranks.Transformer("small", layers=4, width=8, heads=4, context=16, vocabulary=10)
LINK = Link("round numbers", 0.0, 1.0)


def found(layout: ranks.Layout, batch: int = 8, model: ranks.Transformer = SMALL):
    return ranks.estimate(model, layout, batch, "H100", inside=LINK, between=LINK, efficiency=0.5)


def test_parameters_and_operations():
    assert SMALL.parameters == 4 * 12 * 8 * 8 + 10 * 8
    assert SMALL.forward_flops() == 16 * (2 * SMALL.parameters + 4 * 4 * 16 * 8)
    gated = replace(SMALL, mlp=20, gated=True, kv_heads=1)
    assert gated.layer_parameters == 2 * 8 * 8 + 2 * 8 * 2 + 3 * 8 * 20
    for row in PUBLISHED:
        assert row.model.parameters / 1e9 == pytest.approx(float(row.model.name.split()[0]), abs=1.3), row.model


def test_bytes_that_each_form_of_parallelism_sends():
    elements = 16 * 8
    assert found(ranks.Layout(tensor=4)).sent["tensor"] == 8 * 4 * 2 * 2 * 2 * 3 / 4 * 2 * elements
    assert found(ranks.Layout(data=4, zero=0)).sent["data"] == 2 * 3 / 4 * 2 * SMALL.parameters
    assert found(ranks.Layout(data=4, zero=3)).sent["data"] == 3 * 3 / 4 * 2 * SMALL.parameters
    assert found(ranks.Layout(pipeline=2, interleave=2)).sent["pipeline"] == 8 * 2 * 2 * 2 * elements
    # keys and values once forward, and with their gradients backward: three passes of n - 1 steps
    assert found(ranks.Layout(context=2)).sent["context"] == 8 * 4 * 3 * 1 * 2 * 2 * elements / 2


def test_the_bubble_is_that_of_the_formula_and_of_the_schedule():
    for v, expected in ((1, 1 / 5), (2, 1 / 9)):
        layout = ranks.Layout(pipeline=2, interleave=v)
        step = ranks.estimate(
            SMALL, layout, 4, "H100", inside=LINK, between=replace(LINK, bandwidth=1e30), efficiency=1
        )
        assert step.bubble == pytest.approx(expected)
    plan = {0: ["0F0", "0F1", "0B0", "0B1"], 1: ["1F0", "1B0", "1F1", "1B1"]}
    assert bubble(ranks.planned_spans(plan)) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="wait for one another for ever"):
        ranks.planned_spans({0: ["0B0", "0F0"], 1: ["1F0", "1B0"]})


def test_memory_is_shared_by_what_shares_it():
    whole = found(ranks.Layout())
    assert whole.memory["activations"] == 4 * 34 * 16 * 8
    assert whole.bytes_kept == 16 * SMALL.parameters + whole.memory["activations"]
    assert found(ranks.Layout(tensor=2, data=2, zero=3)).bytes_kept == pytest.approx(
        16 * SMALL.parameters / 4 + whole.memory["activations"] / 2
    )
    assert found(ranks.Layout(recompute=True)).memory["activations"] == (4 * 2 + 34) * 16 * 8


def test_published_runs_are_within_fifteen_per_cent():
    for row in PUBLISHED:
        tflops = modelled(row, 0.55).flops_per_gpu(recomputed=row.source == MEGATRON) / 1e12
        assert abs(tflops / row.tflops - 1) < 0.155, row
    assert "3,072 A100" in repr(ranks.published_table(0.55))


def test_the_search_gives_what_fits_and_suits_the_model():
    for layout in layouts(SMALL, 8, 8):
        assert layout.gpus == 8 and layout.tensor <= 4 and layout.micro_batches(8) >= 1
    best = ranks.fastest(SMALL, 8, 8, "H100", inside=LINK, between=LINK, efficiency=0.5)
    assert [each.step for each in best] == sorted(each.step for each in best)
    assert str(best[0].layout) in repr(ranks.layout_table(best))
    with pytest.raises(ValueError, match="3 data ranks can't share 8 sequences"):
        found(ranks.Layout(data=3))
    with pytest.raises(ValueError, match="can't be divided by 8"):
        found(ranks.Layout(tensor=8))
    with pytest.raises(ValueError, match="4 layers can't fill 8 stages"):
        found(ranks.Layout(pipeline=8))
