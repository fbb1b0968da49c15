"""Pictures of memory in training: what it is for, when outputs are held, who uses a block, who waits for whom."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.profiler import record_function as phase
from torch.utils.checkpoint import checkpoint

from helpers import cp, plots, streams
from helpers.pictures import figures
from helpers.pictures.figures import show
from helpers.pictures.plots import batch_line, checkpoint_curve, layer_lives, memory_kinds, segment_rows
from helpers.results.torch.lives import AGAIN, DROPPED, KEPT, lives
from helpers.results.torch.memory import MIB, memory_line


def test_the_peak_is_told_by_what_it_consists_of():
    def run():
        with phase("build"):
            weights = torch.ones(MIB // 4)
        with phase("forward"):
            kept = torch.ones(MIB // 2)
            for _ in range(400):  # more changes than points of the picture
                torch.ones(MIB).sum()
        return weights, kept

    shown = show(memory_kinds(memory_line(run), {"build": "parameters", "forward": "activations"}))
    assert shown.alt.startswith("The peak of 7.0 MiB comes at allocation 4 of ")  # the sum of the first large one
    assert shown.alt.endswith("consists, in MiB, of parameters 1.0, activations 2.0, temporary 4.0 (counted).")
    assert len(shown.html()) < 150_000 and "forward" in shown.html(inline=True)


def test_checkpoints_name_the_least():
    shown = show(checkpoint_curve([1, 2, 4], [8 * MIB, 5 * MIB, 6 * MIB], [130, 131, 132], (9 * MIB, 100)))
    assert "2 segments keep the least, 5.0 MiB, for 1.31 times the FLOPs" in shown.alt


def test_two_batches_tell_the_largest():
    peaks = {2: 14 * MIB, 4: 18 * MIB, 8: 26 * MIB}
    assert "10.0 MiB and 2.000 MiB more" in show(batch_line(peaks, 31 * MIB)).alt
    assert show(batch_line(peaks, 31 * MIB)).alt.endswith("at a batch of 10.")


def forward(stack, segment: int):
    """Nothing outside keeps an output of a layer alive, as in a network's forward function."""
    x = torch.ones(64, 8, requires_grad=True)
    for first in range(0, len(stack), segment or len(stack)):
        part = nn.Sequential(*stack[first : first + (segment or len(stack))])
        x = checkpoint(part, x, use_reentrant=False) if segment else part(x)
    return x.square().sum()


def recorded(layers: int, segment: int):
    def step():
        stack = [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(layers)]
        with phase("forward"):
            loss = forward(stack, segment)
        with phase("backward"):
            loss.backward()

    return memory_line(step)


def test_without_checkpoints_all_are_kept_and_the_last_goes_first():
    found = lives(recorded(4, 0), "aten::tanh")
    assert [each.kind for each in found.outputs] == [KEPT] * 4 and max(found.held) == 4
    assert [each.layer for each in sorted(found.outputs, key=lambda each: each.last)] == [4, 3, 2, 1]
    assert all(each.first < found.turn < each.last for each in found.outputs)


def test_with_checkpoints_segments_come_again_from_the_last_to_the_first():
    found = lives(recorded(4, 2), "aten::tanh")
    assert [each.layer for each in found.outputs if each.kind == DROPPED] == [1, 3]
    again = sorted((each for each in found.outputs if each.kind == AGAIN), key=lambda each: each.first)
    assert [each.layer for each in again] == [3, 4, 1, 2]
    told = layer_lives({"all": recorded(4, 0), "2 segments": recorded(4, 2)}, "aten::tanh").finding
    assert told == (
        "all: of 4 layers at most 4 outputs are held at once; 2 segments: of 4 layers at most 3 outputs are held at "
        "once, and 4 are recomputed (counted)."
    )


def test_what_the_recording_does_not_tell_is_said():
    with pytest.raises(ValueError, match="no output of aten::relu"):
        lives(recorded(2, 0), "aten::relu")
    with pytest.raises(ValueError, match="mark the parts"):
        lives(memory_line(lambda: torch.ones(9)), "aten::tanh")
    with pytest.raises(ValueError, match="1 to 3 steps"):
        layer_lives({}, "aten::tanh")


def test_the_end_and_what_was_refused_are_told():
    blocks = [{"size": 512, "owner": None}, {"size": 1024, "owner": "b"}, {"size": 2048, "owner": None}]
    picture = segment_rows({"at first": [{"size": 3584, "owner": None}], "c": blocks}, refused={"c": 2560})
    assert picture.finding == (
        "At the end, after “c”, the segment holds b 1,024 and has 2,560 bytes free, in pieces of at most 2,048; "
        "“c” needed 2,560 bytes in one piece and failed."
    )
    assert "2,560 wanted" in picture.svg and "b: 1,024" in picture.svg


def test_segments_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="1 to 20 moments"):
        segment_rows({})
    with pytest.raises(ValueError, match="no bytes"):
        segment_rows({"at first": []})


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
    with pytest.raises(ValueError, match="1 to 2 programs, not 0"):
        plots.block_uses({}, TENSORS)


ADD = cp.RawKernel(
    'extern "C" __global__ void add(float* x, const float* y) { x[threadIdx.x] += y[threadIdx.x]; }', "add"
)


def joined(ordered: bool, further: int = 0) -> None:
    """A kernel in each of two streams, then one in the first that reads what the second has made."""
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    a, b, c = (cp.empty(32, "float32") for _ in range(3))
    ADD((1,), (32,), (a, c), stream=one)
    ADD((1,), (32,), (b, c), stream=two)
    if ordered:
        one.wait_event(two.record())
    for _ in range(1 + further):
        ADD((1,), (32,), (a, b), stream=one)
    one.synchronize()


def test_an_order_that_is_missing_is_named_and_an_event_becomes_an_arrow():
    loose, tied = (plots.stream_order(streams.dry_run(joined, ordered)) for ordered in (False, True))
    waits = "the host waits for add in stream 1"
    assert loose.finding == (
        f"4 operations in 2 streams. Across streams: {waits}. Unordered conflicts: add in stream 2 and add in stream 1."
    )
    assert tied.finding == (
        f"4 operations in 2 streams. Across streams: add in stream 1 waits for add in stream 2; {waits}. "
        "No unordered conflicts."
    )
    rows = [text.get_text() for text in tied.figure.axes[0].texts]
    assert rows[:3] == ["the host", "stream 1", "stream 2"]
    assert len(figures.svg(tied.figure)) < figures.LARGEST_SVG


def test_more_than_fits_is_refused():
    with pytest.raises(ValueError, match="1 to 12 operations, not 14"):
        plots.stream_order(streams.dry_run(joined, True, further=10))
    with pytest.raises(ValueError, match="operations, not 0"):
        plots.stream_order(streams.dry_run(lambda: None))
