"""The time model: each term against sums done by hand, and the whole against published measurements."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import cp, profile
from helpers.workbook.authoring.validation import report
from helpers.workbook.authoring.validation.hardware import HARDWARE
from helpers.workbook.authoring.validation.kernels import MATMULS, REDUCTIONS, TRANSPOSES
from helpers.workbook.authoring.validation.ladders import LADDERS
from vgpu.hardware.gpus import GPUS
from vgpu.hardware.occupancy import occupancy
from vgpu.hardware.time_model import SECTOR_BYTES, model_time

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

    @property
    def warps(self):
        return 8 * self.grid[0]


def counts(read=0, written=0, grid=(108 * 8, 1, 1), **total):
    known = dict.fromkeys(KEYS, 0) | total
    return Counts(known, SimpleNamespace(read_bytes=read, written_bytes=written), grid)


FULL = occupancy(32, 0, 256, A100)


def test_dram_term_and_launch():
    # 1 GiB read and as much written, more than L2 holds, each sector asked for once.
    size = 2**30
    sectors = size // SECTOR_BYTES
    model = model_time(counts(size, size, global_load_sectors=sectors, global_store_sectors=sectors), FULL, A100)
    assert model.bound == "DRAM"
    assert model.terms["DRAM"] == pytest.approx(2 * size / (0.83 * 2039e9))
    assert model.terms["L2"] == pytest.approx(2 * size / (5120 * 1.41e9))


def dram_bytes(read, sectors, gpu=A100):
    terms = model_time(counts(read, 0, global_load_sectors=sectors), FULL, gpu).terms
    return terms["DRAM"] * 0.83 * gpu.memory_bandwidth


def test_sectors_asked_for_again_come_from_dram_only_beyond_l2():
    # Inside L2 the footprint once; at four times its size twice the footprint; never more than is asked for.
    assert dram_bytes(2**20, 2**24) == pytest.approx(2**20)
    assert dram_bytes(4 * A100.l2_bytes, 2**30) == pytest.approx(2 * 4 * A100.l2_bytes)
    assert dram_bytes(4 * A100.l2_bytes, 5 * A100.l2_bytes // 32) == pytest.approx(5 * A100.l2_bytes)


def test_the_dram_term_has_no_step_at_the_size_of_l2():
    at = [dram_bytes(A100.l2_bytes + extra, 2**30) for extra in (-32, 0, 32, 64)]
    steps = [after - before for before, after in pairwise(at)]
    assert all(0 < step < 64 for step in steps)


def test_without_an_l2_every_sector_asked_for_comes_from_dram():
    assert dram_bytes(2**20, 2**20, replace(A100, l2_bytes=0)) == pytest.approx(2**25)


def test_scattered_requests_take_a_pass_for_each_line():
    # 32 floats of one line, one pass; 32 floats of 32 lines, nearly a pass each; one float for all lanes, one.
    full = dict(global_load_requests=10**9, global_load_sectors=4 * 10**9, global_load_bytes=128 * 10**9)
    apart = full | {"global_load_sectors": 32 * 10**9}
    same = full | {"global_load_sectors": 10**9}
    one, many, shared = (model_time(counts(**c), None, A100).terms["L1 and shared memory"] for c in (full, apart, same))
    assert one == shared == pytest.approx(10**9 / 108 / 1.41e9)
    assert many / one == pytest.approx(32 * (1 - 0.75 / 8))


def test_turing_moves_half_as_much_in_a_clock():
    work = counts(shared_load_wavefronts=10**9, grid=(40 * 108, 1, 1))
    t4, a100 = (model_time(work, None, GPUS[name]).terms["L1 and shared memory"] for name in ("T4", "A100"))
    assert t4 / a100 == pytest.approx(2 * (108 * 1.41) / (40 * 1.59))


def test_latency_shows_where_few_warps_are_there_to_hide_it():
    # A chain of loads, each waiting for DRAM: Little's law says what a block an SM can draw, and what eight can.
    work = counts(2**30, global_load_requests=6912 * 1000, global_load_sectors=2**25, barriers=6912 * 1000)
    few, many = (model_time(work, occupancy(32, shared, 256, A100), A100) for shared in (160 * 1024, 0))
    assert few.bound == "latency"
    assert few.terms["latency"] == pytest.approx(8 * 1000 * 450 / 1.41e9)
    assert many.terms["latency"] == pytest.approx(few.terms["latency"] / 8)


@pytest.mark.parametrize(("loads", "rounds"), [(1, 1), (2, 1), (4, 1), (8, 2), (100, 25)])
def test_loads_between_barriers_go_abreast(loads, rounds):
    work = counts(2**30, global_load_requests=6912 * loads, global_load_sectors=2**25)
    assert model_time(work, FULL, A100).terms["latency"] == pytest.approx(rounds * 450 / 1.41e9)


def test_times_of_resources_add_as_their_cubes():
    """Two that take equally long take 26 % longer together, and one that takes a tenth shows in no figure."""
    cycles = 108 * 1_410_000  # a millisecond of all SMs
    double, single = (counts(flops_fp32=n * 2 * 64 * cycles, instructions=4 * cycles) for n in (1, 0.1))
    assert model_time(double, None, A100).seconds == pytest.approx(5e-6 + 1e-3 * 2 ** (1 / 3))
    assert model_time(single, None, A100).seconds == pytest.approx(5e-6 + 1e-3 * 1.001 ** (1 / 3))


def test_a_warp_takes_two_clocks_to_pass_a_barrier():
    model = model_time(counts(barriers=108 * 705_000), None, A100)
    assert model.bound == "barriers" and model.seconds == pytest.approx(5e-6 + 1e-3)


def test_tensor_cores_have_a_term_of_their_own():
    model = model_time(counts(flops_tensor_fp16=10**15), None, A100)
    assert model.bound == "tensor FP16"
    assert model.seconds == pytest.approx(5e-6 + 10**15 / 312e12)
    without = model_time(counts(flops_tensor_fp8=10**15), None, A100)
    assert "tensor FP8" not in without.terms
    assert any("A100's tensor cores for FP8" in line for line in without.assumptions)


def test_tensor_cores_without_a_peak_are_named():
    for gpu, key, name in (("T4", "flops_tensor_fp64", "FP64"), ("V100", "ops_tensor_int8", "INT8"),
                           ("A100", "ops_tensor_int4", "INT4")):  # fmt: skip
        model = model_time(counts(**{key: 10**15}), None, GPUS[gpu])
        assert model.bound == "launch" and any(f"tensor cores for {name}" in line for line in model.assumptions)


@pytest.mark.parametrize("key, peak", [("flops_tensor_fp64", 19.5e12), ("ops_tensor_int8", 624e12)])
def test_tensor_cores_of_other_types_have_their_peak(key, peak):
    assert model_time(counts(**{key: 10**16}), None, A100).seconds == pytest.approx(5e-6 + 10**16 / peak)


def test_asynchronous_copies_move_as_much_as_loads_and_stores_do():
    # 128 bytes a request, global to shared: as a load of a whole line and a store without conflicts.
    loads = counts(
        2**30,
        global_load_requests=2**23,
        global_load_sectors=2**25,
        global_load_bytes=2**30,
        shared_store_wavefronts=2**23,
    )
    copies = counts(
        2**30,
        global_copy_requests=2**23,
        global_copy_sectors=2**25,
        async_copy_bytes=2**30,
        shared_copy_wavefronts=2**23,
    )
    one, other = (model_time(work, None, A100).terms for work in (loads, copies))
    assert {**one} == {**other}
    bulk = model_time(counts(2**30, bulk_load_bytes=2**30), None, A100).terms
    assert (bulk["DRAM"], bulk["L2"]) == (one["DRAM"], one["L2"])
    assert bulk["L1 and shared memory"] == one["L1 and shared memory"] / 2


@pytest.mark.parametrize(
    "key, term, per_cycle",
    [
        ("instructions", "issue", 4),
        ("shared_load_wavefronts", "L1 and shared memory", 1),
        ("shared_store_wavefronts", "L1 and shared memory", 1),
        ("flops_fp32", "FP32", 128),
        ("flops_fp64", "FP64", 64),
        ("flops_fp16", "FP16", 512),
    ],
)
def test_terms_of_the_sms(key, term, per_cycle):
    model = model_time(counts(**{key: 10**12}), FULL, A100)
    assert model.bound == term
    assert model.terms[term] == pytest.approx(10**12 / (108 * per_cycle * 1.41e9))


def test_textures_move_sectors_like_loads():
    one, other = (
        model_time(counts(2**30, **{f"{op}_requests": 2**23, f"{op}_sectors": 2**25}), FULL, A100).terms
        for op in ("texture", "surface_load")
    )
    assert {**one} == {**other} and one["L2"] == pytest.approx(2**30 / (5120 * 1.41e9)) and one["latency"] > 0


def test_divisions_of_integers_take_twenty_slots():
    plain, divided = (model_time(counts(instructions=10**9, integer_divisions=n), None, A100) for n in (0, 10**9))
    assert divided.terms["issue"] == pytest.approx(20 * plain.terms["issue"])


def test_special_functions_have_lanes_of_their_own():
    model = model_time(counts(special_functions=10**12), None, A100)
    assert model.bound == "special functions"
    assert model.terms["special functions"] == pytest.approx(10**12 / (108 * 16 * 1.41e9))


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
    assert h200.terms["DRAM"] == pytest.approx(2**30 / (0.83 * 4.8e12))
    assert h200.waves is None


def test_every_model_says_modelled_and_lists_its_assumptions():
    model = model_time(counts(2**20, 2**20), FULL, A100)
    assert repr(model) == "Model(modelled 6.24 µs on A100, bound by launch: launch 5 µs, DRAM 1.24 µs)"
    html = model._repr_html_()
    assert "<strong>modelled</strong>" in html and "Assumptions" in html
    assert len(model.assumptions) >= 6


def test_repr_does_not_depend_on_the_order_of_counters():
    one = counts(2**20, 2**20, instructions=5, flops_fp32=7)
    other = replace(one, total=dict(reversed(one.total.items())))
    assert repr(model_time(one, FULL, A100)) == repr(model_time(other, FULL, A100))


# ---------------------------------------------------------------- against published measurements

NAMED = {ladder.name: ladder for ladder in LADDERS}
# Kendall's tau that the model claims for each ladder of more than two rows; a lower one is a step backwards.
CLAIMED = {
    "transpose, M2050": 0.9,
    "transpose, K20c": 0.5,
    "reduction, 8800 GTX": 1.0,
    "reduction, RTX 3080": 0.9,
    "reduction, A100 PCIe": 1.0,
    "elementwise, A100 PCIe": 1.0,
    "matmul, RTX A6000": 0.9,
    "matmul, RTX 3090": 1.0,
}


@pytest.mark.slow
def test_the_stored_table_is_what_the_code_gives():
    assert report.TABLE.read_text(encoding="utf-8") == report.markdown(), (
        "model or kernel changed: look at the errors, then python -m helpers.workbook.authoring.validation --write"
    )


@pytest.mark.parametrize("name", CLAIMED)
def test_ladders_keep_their_order(name):
    pairs = [(row.published, row.modelled) for row in report.rows(NAMED[name])]
    assert report.kendall(pairs) >= CLAIMED[name]


def test_the_whole_is_as_near_as_the_page_says():
    ratios = [row.ratio for ladder in LADDERS for row in report.rows(ladder)]
    assert report.factor(ratios) < 1.25
    assert min(ratios) > 0.4 and max(ratios) < 1.6


def test_chapters_get_a_ladder_by_its_name():
    first = report.published_ladder("reduction, RTX 3080")[0]
    assert (first.kernel, first.published, first.bound) == ("interleaved, divergent", 1.90648, "issue")
    with pytest.raises(ValueError, match="no published ladder 'reduction'; there are: transpose, M2050"):
        report.published_ladder("reduction")


def test_kendall_of_known_orders():
    assert report.kendall([(1, 1), (2, 2), (3, 3)]) == 1
    assert report.kendall([(1, 3), (2, 2), (3, 1)]) == -1
    assert report.kendall([(1, 1), (2, 3), (3, 2)]) == pytest.approx(1 / 3)
    assert report.kendall([(1, 5), (2, 5)]) == 0


@pytest.mark.parametrize("name", MATMULS)
def test_matmuls_multiply(name):
    source, tile, threads = MATMULS[name]
    side, depth = 2 * tile, 64
    random = np.random.default_rng(7)
    a, b, c = (random.random(s, dtype=np.float32) for s in ((side, depth), (depth, side), (side, side)))
    result = cp.asarray(c)
    ints = tuple(map(np.int32, (side, side, depth)))
    kernel = cp.RawKernel(source, "kernel")
    threads = threads if isinstance(threads, tuple) else (threads,)
    kernel((2, 2), threads, (*ints, np.float32(2), cp.asarray(a), cp.asarray(b), np.float32(3), result))
    np.testing.assert_allclose(result.get(), 2 * a @ b + 3 * c, rtol=1e-5)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("threads", [128, 512])
def test_reductions_add_up(name, threads):
    source, each = REDUCTIONS[name]
    size = 5000
    blocks = -(-size // (threads * (each or 4)))
    values = np.arange(size, dtype=np.int32)
    sums = cp.zeros(blocks, dtype=np.int32)
    kernel = cp.RawKernel(f"#define THREADS {threads}\n" + source, "kernel")
    kernel((blocks,), (threads,), (cp.asarray(values), sums, np.int32(size)))
    assert int(sums.get().sum()) == values.sum()


@pytest.mark.parametrize("name", TRANSPOSES)
def test_transposes_transpose(name):
    image = np.arange(96 * 96, dtype=np.float32).reshape(96, 96)
    out = cp.zeros((96, 96), dtype=np.float32)
    cp.RawKernel(TRANSPOSES[name], "kernel")((3, 3), (32, 8), (out, cp.asarray(image), np.int32(96)))
    assert (out.get() == (image if name.startswith("copy") else image.T)).all()


# A whole problem, counted, against the same multiplied up from a part of it.


@pytest.mark.parametrize("name", MATMULS)
def test_counts_of_a_part_give_those_of_the_whole_product(name):
    source, tile, threads = MATMULS[name]
    size = 256
    matrices = [cp.zeros((size, size), dtype=np.float32) for _ in range(3)]
    args = (*(np.int32(size),) * 3, np.float32(1), *matrices[:2], np.float32(1), matrices[2])
    whole = profile(cp.RawKernel(source, "kernel"), (size // tile,) * 2, threads, args, device=HARDWARE["RTX A6000"])
    ((part, _),) = report.matmul(name, size, "RTX A6000")
    assert dict(whole.total) == part.total
    assert whole.counters.warps == part.warps
    footprint = whole.counters.footprint
    assert (footprint.read_bytes, footprint.written_bytes) == (3 * 4 * size**2, 4 * size**2)


@pytest.mark.parametrize("name", TRANSPOSES)
def test_counts_of_a_part_give_those_of_the_whole_transpose(name):
    size = 512
    args = (cp.zeros((size, size), np.float32), cp.zeros((size, size), np.float32), np.int32(size))
    whole = profile(cp.RawKernel(TRANSPOSES[name], "kernel"), (16, 16), (32, 8), args, device=HARDWARE["K20c"])
    ((part, _),) = report.transpose(name, size, "K20c")
    assert dict(whole.total) == part.total
    assert vars(part.footprint) == {"read_bytes": 4 * size**2, "written_bytes": 4 * size**2}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_counts_of_a_part_give_those_of_the_whole_sum(name):
    source, _ = REDUCTIONS[name]
    size, threads = 2**17, 512
    part, _ = report.reduction(name, size, threads, 0, "RTX 3080")[0]
    args = (cp.zeros(size, np.int32), cp.zeros(part.grid[0], np.int32), np.int32(size))
    kernel = cp.RawKernel(f"#define THREADS {threads}\n" + source, "kernel")
    whole = profile(kernel, part.grid, threads, args, device=HARDWARE["RTX 3080"])
    assert dict(whole.total) == part.total
    assert whole.counters.footprint.read_bytes == part.footprint.read_bytes


@pytest.mark.parametrize("gpu", HARDWARE.values(), ids=HARDWARE)
def test_hardware_of_the_tables_agrees_with_itself(gpu):
    assert gpu.peak("fp32") == pytest.approx(gpu.fp32_flops, rel=0.02)
    assert gpu.threads_per_sm == 32 * gpu.warps_per_sm
    assert gpu.sources["product"].url.startswith("https://")


@pytest.mark.parametrize(
    ("name", "teraflops"), [("8800 GTX", 0.3456), ("M2050", 1.03), ("K20c", 3.52), ("RTX A6000", 38.7)]
)
def test_peaks_of_the_older_gpus_are_those_of_their_sheets(name, teraflops):
    assert HARDWARE[name].fp32_flops / 1e12 == pytest.approx(teraflops, rel=0.01)
