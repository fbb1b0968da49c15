"""The explorers of how kernels are built: fusion, and pipelines of tiles."""

import numpy as np
import pytest

from helpers import barrier_phases, copy_groups, cp, device, plots, profile, widgets
from helpers.models.pipeline import pipeline
from tests.pictures.widgets.choose import choose
from vgpu.base.words import function_name
from vgpu.tools.steps.arrivals import BarrierEvent, BarrierPhases

CHAIN = ["z = x + bias", "t = tanh(z)", "y = t * z"]


def test_a_cut_costs_what_crosses_it():
    shown = widgets.fusion(CHAIN, vectors=["bias"], rows=(1024,), columns=(256,))
    alt = shown.shown.alt  # 1 MiB an array
    assert alt.startswith("3 operations in 1 kernel move 2.1 MB of DRAM (one kernel each: 3 launches, 7.34 MB")
    assert alt.endswith("moved just these (counted).")
    assert choose(shown, cut_0=True).startswith("3 operations in 2 kernels move 4.2 MB")
    assert choose(shown, cut_1=True).startswith("3 operations in 3 kernels move 7.34 MB")


TWO = r"""
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void two(const float* x, float* out, int tiles) {
    __shared__ float s[2][32];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &x[32 * (i + 1) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(LEFT);
        sum += s[i % 2][t];
    }
    out[t] = sum;
}"""
BULK = r"""
extern "C" __global__ void bulk(const float* x, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long landed;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&landed), to = (unsigned)__cvta_generic_to_shared(s);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 256; }" :: "r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(to), "l"(x), "r"(bar) : "memory");
    }
    __syncthreads();
    int over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(bar) : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}"""
X, OUT = cp.arange(256, dtype=np.float32), cp.zeros(64, np.float32)


def test_the_explorer_tells_the_price_and_refuses_what_does_not_fit():
    shown = widgets.pipeline(stage_bytes=32768, threads=128, registers=128, stages=1, latency=600)
    assert shown.shown.alt.startswith(
        "1 stage: for 78% of the time the SM computes nothing; in the long run a tile takes"
    )
    assert shown.shown.alt.endswith("4 blocks on an SM of A100, 25% occupancy, limited by registers and shared memory.")
    shown.controls["every"].value = True
    assert shown.shown.alt.startswith("1 stage in each of 4 blocks: ") and "set by latency" in shown.shown.alt
    assert "not one block fits on A100" in choose(shown, stages=6)
    with pytest.raises(ValueError, match="registers is a whole number"):
        widgets.pipeline(stage_bytes=8192, threads=128, registers=0)


@pytest.mark.parametrize(
    ("left", "landed", "pending"),
    ((0, [(0, 1), (2,), (3,), ()], ()), (1, [(0,), (1,), (2,), (3,)], ()), (2, [(), (0,), (1,), (2,)], (3,))),
)
def test_groups_land_at_the_wait_that_leaves_fewer(left, landed, pending):
    kernel = cp.RawKernel(TWO, "two", options=(f"-DLEFT={left}",))
    found = copy_groups(kernel, 1, 32, (X, OUT, np.int32(4)), thread=3)
    assert [event.landed for event in found.events if event.kind == "wait"] == landed
    assert found.pending == pending
    alt = plots.copy_groups(found).finding
    assert alt.startswith("two, thread 3: wait") and ("never landed" in alt) == bool(pending)


def test_phases_of_an_mbarrier_as_a_bulk_copy_lands():
    device("H100")
    kernel = cp.RawKernel(BULK, "bulk")
    found = barrier_phases(kernel, 1, 64, (X, OUT))
    states = [event.states["landed"] for event in found.events]
    assert [event.kind for event in found.events] == ["init", "expect", "land"]
    assert [(state.phase, state.arrivals, state.bytes) for state in states] == [(0, 1, 0), (0, 0, 256), (1, 1, 0)]
    assert (
        plots.barrier_phases(found).finding
        == "bulk, 3 changes: landed waits for 1 arrival a phase and ends in phase 1."
    )
    told = plots.copy_paths({"bulk": profile(kernel, 1, 64, (X, OUT))}).finding
    assert told == "bulk moves its tiles by 1 instruction (bulk copy), past the registers and L1 (counted)."


def test_a_producer_and_two_consumers_by_the_clock():
    """Two stages, three tiles: the third has to wait for the first one's stage, and 110 clocks more."""
    stages = {"full[0]": None, "full[1]": None, "empty[0]": None}
    tiles = [BarrierEvent("expect", 8, 1, stages, (f"full[{number % 2}]",)) for number in range(3)]
    released = [BarrierEvent("arrive", warp, 2, stages, ("empty[0]",)) for warp in (0, 4)]
    found = BarrierPhases("divided", tuple(stages), (*tiles[:2], *released, tiles[2]))
    told = (
        "divided: 3 tiles go through 2 stages to 2 warpgroups; the tensor cores wait for 60% of 300 clocks (modelled)."
    )
    assert plots.warp_gantt(found, latency=100, transfer=10, compute=20).finding == told


@pytest.mark.parametrize("name", ["ring", "_Z4ringILi3EEvPf"])
def test_a_template_has_the_name_that_was_written(name):
    assert function_name(name) == "ring"


def test_what_has_no_copies_and_no_mbarriers_is_refused():
    plain = cp.RawKernel('extern "C" __global__ void plain(float* x) { x[threadIdx.x] = 1; }', "plain")
    with pytest.raises(ValueError, match="thread 0 makes no asynchronous copy"):
        copy_groups(plain, 1, 32, (OUT,))
    with pytest.raises(ValueError, match="no mbarrier"):
        barrier_phases(plain, 1, 32, (OUT,))


def test_no_label_of_the_clocks_is_cut():
    from helpers.pictures.plots import pipeline_gantt

    figure = pipeline_gantt(pipeline(stages=2, latency=0, transfer=0, compute=100, tiles=10), until=14000).figure
    figure.draw_without_rendering()
    assert figure.axes[0].get_tightbbox().x1 <= figure.bbox.x1
