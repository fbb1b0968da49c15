"""Rooflines and modelled times against sums done by hand on the data sheet's figures."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from helpers.gpus import GPUS
from helpers.occupancy import occupancy
from helpers.roofline import SECTOR_BYTES, model_time, peak_flops, roofline, seconds_text

A100 = GPUS["A100"]
KEYS = (
    "instructions",
    *(f"global_{op}_sectors" for op in ("load", "store", "atomic")),
    *(f"local_{op}_sectors" for op in ("load", "store")),
    *(f"shared_{op}_wavefronts" for op in ("load", "store", "atomic")),
    *(f"flops_{precision}" for precision in ("fp16", "fp32", "fp64")),
)


@dataclass(frozen=True)
class Counts:
    """Counters as a launch returns them, with only what a test states."""

    total: dict
    footprint: SimpleNamespace
    grid: tuple = (108 * 8, 1, 1)


def counts(read=0, written=0, grid=(108 * 8, 1, 1), **total):
    known = dict.fromkeys(KEYS, 0) | total
    return Counts(known, SimpleNamespace(read_bytes=read, written_bytes=written), grid)


FULL = occupancy(32, 0, 256, A100)


def test_left_of_the_ridge_is_memory_bound():
    # saxpy: 2 FLOPs for 12 bytes.
    point = roofline(2e9, 12e9, A100)
    assert point.intensity == pytest.approx(1 / 6)
    assert point.attainable == pytest.approx(2039e9 / 6)
    assert point.bound == "memory"
    assert repr(point).startswith("Point(modelled on A100: 0.167 FLOP/byte")


def test_right_of_the_ridge_is_compute_bound():
    point = roofline(1e12, 1e9, A100)
    assert (point.attainable, point.bound) == (A100.peak("fp32"), "compute")
    assert roofline(point.ridge * 1e9, 1e9, A100).bound == "compute"


def test_tensor_units_have_their_own_roof():
    assert peak_flops(A100, "fp16_tensor") == 312e12
    with pytest.raises(ValueError, match="A100 has no published peak for 'fp8_tensor'"):
        peak_flops(A100, "fp8_tensor")
    with pytest.raises(ValueError, match="0 bytes have no intensity"):
        roofline(1, 0, A100)


def test_dram_term_and_launch():
    # 1 GiB read and as much written, more than L2 holds, each sector asked for once.
    size = 2**30
    sectors = size // SECTOR_BYTES
    model = model_time(counts(size, size, global_load_sectors=sectors, global_store_sectors=sectors), FULL, A100)
    assert model.bound == "DRAM"
    assert model.seconds == pytest.approx(5e-6 + 2 * size / 2039e9)
    assert model.terms["L2"] == pytest.approx(2 * size / (5120 * 1.41e9))


def test_sectors_asked_for_again_come_from_dram_only_beyond_l2():
    inside = counts(2**20, 0, global_load_sectors=2**20)
    assert model_time(inside, FULL, A100).terms["DRAM"] == pytest.approx(2**20 / 2039e9)
    beyond = counts(2**26, 0, global_load_sectors=2**26)
    assert model_time(beyond, FULL, A100).terms["DRAM"] == pytest.approx(2**26 * 32 / 2039e9)


@pytest.mark.parametrize(
    "key, term, per_cycle",
    [
        ("instructions", "issue", 4),
        ("shared_load_wavefronts", "shared memory", 1),
        ("shared_store_wavefronts", "shared memory", 1),
        ("flops_fp32", "FP32", 128),
        ("flops_fp64", "FP64", 64),
        ("flops_fp16", "FP16", 512),
    ],
)
def test_terms_of_the_sms(key, term, per_cycle):
    model = model_time(counts(**{key: 10**12}), FULL, A100)
    assert model.bound == term
    assert model.terms[term] == pytest.approx(10**12 / (108 * per_cycle * 1.41e9))


def test_one_block_uses_one_sm():
    model = model_time(counts(instructions=4 * 1_410_000, grid=(1, 1, 1)), FULL, A100)
    assert model.terms["issue"] == pytest.approx(1e-3)
    assert model.waves == pytest.approx(1 / (8 * 108))


def test_one_block_too_many_costs_a_round():
    # 109 equal blocks on 108 SMs: one SM runs two of them.
    even = model_time(counts(instructions=108 * 10**6, grid=(108, 1, 1)), FULL, A100)
    uneven = model_time(counts(instructions=109 * 10**6, grid=(109, 1, 1)), FULL, A100)
    assert uneven.terms["issue"] == pytest.approx(2 * even.terms["issue"])


def test_a_tiny_kernel_is_bound_by_its_launch():
    assert model_time(counts(instructions=10), FULL, A100).bound == "launch"


def test_a_kernel_that_does_not_fit_takes_for_ever():
    model = model_time(counts(instructions=10), occupancy(255, 0, 1024, A100), A100)
    assert math.isinf(model.seconds)
    assert model.bound == "registers: the kernel does not fit"


def test_what_no_document_gives_is_left_out_and_said():
    row = replace(GPUS["H200"], l2_bytes=None)
    h200 = model_time(counts(2**30, global_load_sectors=2**26), None, row)
    assert "L2" not in h200.terms
    assert any("L2 bandwidth of H200" in line for line in h200.assumptions)
    assert any("L2 size of H200" in line for line in h200.assumptions)
    assert h200.terms["DRAM"] == pytest.approx(2**30 / 4.8e12)
    assert h200.waves is None


def test_every_model_says_modelled_and_lists_its_assumptions():
    model = model_time(counts(2**20, 2**20), FULL, A100)
    assert repr(model) == "Model(modelled 6.03 µs on A100, bound by launch: launch 5 µs, DRAM 1.03 µs)"
    html = model._repr_html_()
    assert "<strong>modelled</strong>" in html and "Assumptions" in html
    assert len(model.assumptions) >= 6


def test_repr_does_not_depend_on_the_order_of_counters():
    one = counts(2**20, 2**20, instructions=5, flops_fp32=7)
    other = replace(one, total=dict(reversed(one.total.items())))
    assert repr(model_time(one, FULL, A100)) == repr(model_time(other, FULL, A100))


@pytest.mark.parametrize(
    "seconds, text", [(2, "2 s"), (0.0123, "12.3 ms"), (5e-6, "5 µs"), (1e-9, "1 ns"), (0, "0 ns")]
)
def test_units_of_time(seconds, text):
    assert seconds_text(seconds) == text
