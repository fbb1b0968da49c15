"""Ways through the matrix of scores: what a block meets, in order, and what its picture says of it."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, plots, walked

LENGTH, HELD, COMES = 12, 4, 3


@cuda.jit
def along(q, k, out):
    tile = cuda.shared.array((3, 2), np.float32)
    row, own = cuda.grid(1), cuda.shared.array((4, 2), np.float32)
    for d in range(2):
        own[cuda.threadIdx.x, d] = q[row, d]
    cuda.syncthreads()
    query, total = own[cuda.threadIdx.x, 0], np.float32(0)
    for start in range(0, k.shape[0], 3):
        if cuda.threadIdx.x < 3:
            for d in range(2):
                tile[cuda.threadIdx.x, d] = k[start + cuda.threadIdx.x, d]
        cuda.syncthreads()
        for j in range(3):
            total += query * tile[j, 0] * tile[j, 1]
        cuda.syncthreads()
    out[row, 0] = total


def launch(**names) -> Launch:
    q, k, out = cp.zeros((3, LENGTH, 2), dtype=np.float32)
    return Launch(along, LENGTH // HELD, HELD, (q, k, out), **names)


def test_a_block_that_holds_queries_goes_along_the_keys():
    found = walked(launch(), block_index=1)
    assert found.tiles == tuple((range(4, 8), range(start, start + COMES)) for start in range(0, LENGTH, COMES))
    assert found.stored == {"out": range(4, 8)} and found.shape == (LENGTH, LENGTH)


def test_its_picture_tells_what_stays_and_what_comes_either_way_round():
    one, other = walked(launch(), block_index=1), walked(launch(), down="k", across="q", block_index=1)
    picture = plots.walked_tiles([one, other])
    words = (
        "Block 1 of along holds rows 4 to 7 of q, meets rows 0 to 11 of k in 4 tiles, and stores the same rows of out."
    )
    assert picture.finding == f"{words} {words}"
    assert other.tiles == tuple(tile[::-1] for tile in one.tiles)


def test_what_does_not_fit_is_said():
    with pytest.raises(TypeError, match="takes a Launch"):
        walked(along)
    with pytest.raises(KeyError, match="no 2-D argument is called 'keys'; there are: q, k, out"):
        walked(launch(), across="keys")
    with pytest.raises(ValueError, match="never has rows of both q and out"):
        walked(launch(), across="out")
    with pytest.raises(ValueError, match="one or two kernels"):
        plots.walked_tiles([])
