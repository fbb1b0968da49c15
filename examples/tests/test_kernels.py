"""Results, and budgets: what the kernels may do to memory."""

import numpy as np
import pytest
from kernels import total, transpose, transpose_rows, transpose_tiles

X = np.random.default_rng(0).random((96, 64), dtype=np.float32)


@pytest.mark.parametrize("kernel", [transpose_rows, transpose_tiles])
def test_both_transposes_are_right(kernel):
    assert np.array_equal(transpose(X, kernel), X.T)


@pytest.mark.vgpu(max_sectors_per_request=4, max_shared_load_conflicts=0, no_races=True)
def test_tiles_read_and_write_whole_sectors():
    transpose(X)


def test_rows_write_a_sector_for_each_thread(vgpu):
    transpose(X, transpose_rows)
    assert vgpu.profile("transpose_rows")["sectors_per_store_request"] == 32


@pytest.mark.vgpu(kernel="block_sums", max_barriers=4 * 8 * 9, no_races=True, min_occupancy=0.9)
def test_a_sum_of_any_size():
    assert total(np.ones(1000, np.float32)) == 1000
