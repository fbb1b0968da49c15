"""The modelled scheduler, against what small chains must give by arithmetic."""

from itertools import pairwise

import numpy as np
import pytest

from helpers import Launch, cp, cuda
from helpers.models.warp_scheduler import DOING, bytes_in_flight, bytes_per_clock, schedule, timeline
from vgpu.hardware.gpus import GPUS, find
from vgpu.hardware.time_model import DRAM_CYCLES
from vgpu.tools.steps.dependencies import Chain, ChainLink

A100 = find("A100")
SUM = ChainLink("add", 1, ())


def load(*needs: int) -> ChainLink:
    return ChainLink("ld", 1, needs, "global", "load", 4)


def ran(*links: ChainLink) -> Chain:
    return Chain("k", links)


def test_one_warp_of_dependent_sums_issues_once_in_four_clocks():
    found = timeline(ran(SUM, *(ChainLink("add", 1, (n,)) for n in range(99))), 1, A100, clocks=400)
    assert found.issued == pytest.approx(100, abs=2)
    assert {span.what for span in found.rows[0]} == {"issue", "wait result"}


@pytest.mark.parametrize("warps", [2, 4, 8])
def test_more_warps_fill_the_gaps_until_every_clock_issues(warps):
    found = timeline(ran(SUM, *(ChainLink("add", 1, (n,)) for n in range(99))), warps, A100, clocks=400)
    assert found.issue_busy == pytest.approx(min(1, warps / A100.instruction_latency), abs=0.03)


def test_independent_sums_do_as_well_as_warps():
    found = timeline(ran(*(SUM,) * 100), 1, A100, clocks=400)
    assert found.issue_busy == 1 and found.finished == 4


def test_of_two_warps_that_are_ready_the_one_that_waited_longer_issues():
    found = timeline(ran(*(SUM,) * 100), 2, A100, clocks=4)
    assert [[(span.start, span.what) for span in row] for row in found.rows] == [
        [(0, "issue"), (1, "queue"), (2, "issue"), (3, "wait memory")],
        [(0, "queue"), (1, "issue"), (2, "queue"), (3, "issue")],
    ]


SERVICE = 128 / bytes_per_clock(A100)


@pytest.mark.parametrize("number", [1, 2, 4, 8])
def test_littles_law_holds_for_warps(number):
    # Once they have queued, warps keep their distance: each has one request under way all the time.
    found = timeline(ran(load(), ChainLink("add", 1, (0,))), number, A100, clocks=60_000)
    assert found.memory_busy == pytest.approx(number * 128 / bytes_in_flight(A100), rel=0.03)


@pytest.mark.parametrize("number", [1, 2, 4, 8])
def test_and_for_loads_of_one_warp_which_queue_each_time(number):
    links = [load() for _ in range(number)] + [ChainLink("add", 1, tuple(range(number)))]
    found = timeline(ran(*links), 1, A100, clocks=60_000)
    assert found.memory_busy == pytest.approx(number * SERVICE / (DRAM_CYCLES + (number - 1) * SERVICE), rel=0.03)


@pytest.mark.parametrize("op", ["load", "store"])
def test_memory_is_never_busier_than_always_and_moves_no_more_than_its_bandwidth(op):
    found = timeline(ran(*(ChainLink("x", 1, (), "global", op, 4) for _ in range(32))), 16, A100, clocks=40_000)
    assert 0.99 < found.memory_busy <= 1
    # Of those that have come to their end the last 16 may still have requests under way.
    assert (found.finished - 16) * 32 * 128 <= 40_000 * bytes_per_clock(A100)


@pytest.mark.parametrize("op", ["load", "atomic"])
def test_a_warp_waits_for_memory_as_long_as_the_model_says(op):
    asks = ChainLink("x", 1, (), "global", op, 4)
    found = timeline(ran(asks, ChainLink("add", 1, (0,))), 1, A100, clocks=DRAM_CYCLES + 2)
    (wait,) = (span for span in found.rows[0] if span.what == "wait memory")
    assert wait.end - wait.start == DRAM_CYCLES - 1


def test_the_next_warp_does_not_wait_until_a_store_has_landed():
    """A warp ends once memory has taken its store; a load's data have to arrive first."""
    clocks = 20 * DRAM_CYCLES
    load, store = (ChainLink("x", 1, (), "global", op, 1) for op in ("load", "store"))
    alone, both, stores = (
        timeline(ran(*c), 1, A100, clocks=clocks).finished for c in ((load,), (load, store), (store,))
    )
    assert alone == pytest.approx(20, abs=1) and both == pytest.approx(20, abs=1)
    assert stores > 10 * alone


@pytest.mark.parametrize("name", GPUS)
def test_every_row_is_full_of_spans_on_every_gpu(name):
    found = timeline(
        ran(load(), ChainLink("add", 1, (0,)), ChainLink("st", 1, (1,), "global", "store", 4)), 3, find(name)
    )
    for row in found.rows:
        assert row[0].start == 0 and row[-1].end == found.clocks
        assert all(a.end == b.start and a.what != b.what for a, b in pairwise(row))
        assert {span.what for span in row} <= set(DOING)


def test_too_many_warps_and_an_empty_chain_are_refused():
    with pytest.raises(ValueError, match="a scheduler of T4 holds 1 to 8 warps, not 9"):
        timeline(ran(SUM), 9, find("T4"))
    with pytest.raises(ValueError, match="no instruction"):
        timeline(ran(), 1, A100)


def test_a_launch_is_run_and_told_of():
    @cuda.jit
    def twice(x, out):
        i = cuda.grid(1)
        out[i] = 2 * x[i]

    x, out = cp.zeros(64, np.float32), cp.zeros(64, np.float32)
    found = schedule(Launch(twice, 1, 64, (x, out)), 2, "H100")
    assert (found.gpu, found.warps, found.chain.loads, found.chain.waits) == ("H100", 2, 1, 1)
    assert repr(found) == (
        "twice: 1 load and 1 wait in a warp (counted); 2 warps on a scheduler of H100 keep memory busy "
        f"{found.memory_busy:.0%} (modelled)"
    )
