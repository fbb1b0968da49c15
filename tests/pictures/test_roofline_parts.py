"""Pictures around the roofline: they say what was counted and modelled, of one GPU."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import cp, cuda, plots, profile


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    out[i] = np.float32(2) * x[i] + np.float32(1)


def profiled(blocks=64, kind="float32", device="A100"):
    x = cp.zeros(256 * blocks, dtype=kind)
    return profile(scale, blocks, 256, (x, cp.zeros_like(x)), device=device)


def test_the_parts_of_a_roofline():
    picture = plots.roofline_parts({"scale": profiled(65536)})
    assert picture.finding == (
        "A100: the slope meets the flat roof at 9.56 FLOP per byte. scale has 0.25 FLOP per byte, memory-bound."
    )


def test_the_times_of_bytes_and_of_flop():
    found = profiled(4096)
    terms = found.model.terms
    picture = plots.byte_and_flop_times({"scale": found})
    bars = [bar.get_width() for bar in picture.figure.axes[0].patches]
    assert bars == pytest.approx([1e6 * terms["DRAM"], 1e6 * terms["FP32"]])
    assert picture.finding.startswith("scale takes ") and picture.finding.endswith("(modelled on A100).")


def test_a_change_moves_a_mark():
    picture = plots.roofline_moves({"more work": (profiled(4), profiled(4096))})
    assert picture.finding.startswith("more work: from 0.25 to 0.25 FLOP per byte, from ")


@pytest.mark.parametrize("draw", [
    lambda one, other: plots.roofline_parts({"a": one, "b": other}),
    lambda one, other: plots.byte_and_flop_times({"a": one, "b": other}),
    lambda one, other: plots.roofline_moves({"a": (one, other)}),
])  # fmt: skip
def test_two_gpus_have_no_common_roof(draw):
    with pytest.raises(ValueError, match="different GPUs: A100, T4"):
        draw(profiled(), profiled(device="T4"))
