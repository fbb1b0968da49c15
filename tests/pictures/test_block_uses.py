"""The picture of who uses a block of memory: holders, kernels and clashes are those of the recording."""

import numpy as np
import pytest

from helpers import cp, streams
from helpers.pictures import figures, plots

WORK = r"""
extern "C" __global__ void work(float* x, int rounds) {
    float v = x[threadIdx.x];
    for (int r = 0; r < rounds; ++r)
        v += 1.0f;
    x[threadIdx.x] = v;
}
"""
work = cp.RawKernel(WORK, "work")
TENSORS = ("old", "old", "new")


def reuse(told: bool, waits: bool = False) -> None:
    """A block that two streams use, and a second tensor of the first stream in this block or in another."""
    main, side = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    block, other = (cp.empty(32, "float32") for _ in range(2))
    work((1,), (32,), (block, np.int32(20)), stream=main)
    side.wait_event(main.record())
    work((1,), (32,), (block, np.int32(20_000)), stream=side)
    if waits:
        main.wait_event(side.record())
    work((1,), (32,), (other if told else block, np.int32(20)), stream=main)


def drawn(*given) -> figures.Picture:
    return plots.block_uses({"the program": streams.dry_run(reuse, *given)}, TENSORS)


def test_a_block_that_is_given_out_too_early_has_two_users_at_once():
    picture = drawn(False)
    assert picture.finding.startswith("The program: new gets block 1, and two kernels use it at once for ")
    words = [text.get_text() for text in picture.figure.axes[0].texts]
    assert words.count("asks") == 3 and "del old" in words and "both kernels use block 1" in words
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_block_that_is_kept_back_or_waited_for_has_one_user_at_a_time():
    kept, ordered = drawn(True), drawn(False, True)
    assert "block 1 is kept back until " in kept.finding and "new gets block 2" in kept.finding
    assert ordered.finding.startswith("The program: new gets block 1 (modelled on ")
    assert not any("both" in text.get_text() for picture in (kept, ordered) for text in picture.figure.axes[0].texts)


def test_what_cannot_be_drawn_is_refused():
    program = streams.dry_run(reuse, True)
    with pytest.raises(ValueError, match="one for each of 2 tensors"):
        plots.block_uses({"the program": program}, TENSORS[1:])
    with pytest.raises(ValueError, match="1 or 2 programs, not 0"):
        plots.block_uses({}, TENSORS)
