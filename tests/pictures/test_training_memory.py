"""Pictures of training memory: what it is for, what checkpoints save, how it grows with the batch."""

import torch
from torch.profiler import record_function as phase

from helpers.pictures.figures import show
from helpers.pictures.plots import batch_line, checkpoint_curve, memory_kinds
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
    assert shown.alt.startswith("The peak of 7.0 MiB comes at allocation ")
    assert shown.alt.endswith("consists, in MiB, of parameters 1.0, activations 2.0, temporary 4.0 (counted).")
    assert len(shown.html()) < 150_000 and "forward" in shown.html(inline=True)


def test_checkpoints_name_the_least():
    shown = show(checkpoint_curve([1, 2, 4], [8 * MIB, 5 * MIB, 6 * MIB], [130, 131, 132], (9 * MIB, 100)))
    assert "In 2 segments it is least, 5.0 MiB, for 1.31 times the FLOPs" in shown.alt


def test_two_batches_tell_the_largest():
    peaks = {2: 14 * MIB, 4: 18 * MIB, 8: 26 * MIB}
    assert "10.0 MiB and 2.000 MiB more" in show(batch_line(peaks, 31 * MIB)).alt
    assert show(batch_line(peaks, 31 * MIB)).alt.endswith("at a batch of 10.")
