"""The lanes of warps, the rounds of a loop and the orders of blocks, drawn from what kernels wrote."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.pictures import figures, plots


def signed(elements, grid, block, covered):
    """Block and thread of each element where the first `covered` threads sign in rounds, and nobody else."""
    i = np.arange(elements) % (grid * block)
    came = i < covered
    return np.where(came, i // block, -1), np.where(came, i % block, -1)


@pytest.mark.parametrize(
    ("elements", "grid", "block", "said"),
    [
        (130, 3, 48, "3 blocks of 48 threads are 6 warps with 14 threads that the guard stops and 48 lanes without"),
        (64, 1, 64, "1 block of 64 threads are 2 warps with 0 threads that the guard stops and 0 lanes without"),
        (1, 2, 33, "2 blocks of 33 threads are 4 warps with 65 threads that the guard stops and 62 lanes without"),
    ],
)
def test_the_rows_of_warps_count_both_kinds_of_idle_lanes(elements, grid, block, said):
    picture = plots.warp_rows(*signed(elements, grid, block, elements), grid=grid, block=block)
    assert picture.finding.startswith(said)
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_launch_that_does_not_fit_its_signatures_is_refused():
    with pytest.raises(ValueError, match="a signature is beyond them"):
        plots.warp_rows([0, 2], [0, 0], grid=2, block=32)
    with pytest.raises(ValueError, match="17 blocks of 32 have 17"):
        plots.warp_rows([0], [0], grid=17, block=32)


@pytest.mark.parametrize(
    ("elements", "each", "neighbours"),
    [
        (40, "each takes 2 or 3 elements", True),
        (48, "each takes 3 elements", True),
        (5, "each takes 0 or 1 elements", False),
    ],
)
def test_the_rounds_say_how_many_elements_a_thread_takes(elements, each, neighbours):
    finding = plots.round_rows(*signed(elements, 2, 8, 16), grid=2, block=8).finding
    assert finding.startswith(f"{elements} elements, 16 threads: {each}")
    assert ("neighbouring threads take neighbouring elements" in finding) is neighbours


def test_a_run_for_each_thread_is_no_round_of_neighbours():
    i = np.arange(48)
    assert "neighbours do not lie together" in plots.round_rows(i // 24, i // 3 % 8, grid=2, block=8).finding


def test_rounds_refuse_elements_that_were_left_out():
    with pytest.raises(ValueError, match="2 elements were taken by no thread"):
        plots.round_rows(*signed(4, 1, 4, 2), grid=1, block=4)


def test_the_orders_of_blocks_name_those_that_began_first():
    finding = plots.block_orders({"plain": [0, 1, 2, 3], "drawn": [3, 0, 2, 1]}).finding
    assert "plain: 0, 1, 2; drawn: 1, 3, 2." in finding


@pytest.mark.parametrize("orders", [{}, {"a": [0, 1], "b": [0]}, {"a": [0, 0]}, {"a": list(range(41))}])
def test_what_is_no_order_of_blocks_is_refused(orders):
    with pytest.raises(ValueError):
        plots.block_orders(orders)
