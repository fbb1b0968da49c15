"""Pictures of several ranks: what their sentences say is what their data hold, and what cannot be drawn is refused."""

from __future__ import annotations

from itertools import product

import pytest

from helpers import plots, ranks, show, widgets
from helpers.pictures.plots.ranks import SHADES
from helpers.results.ranks.collectives import ring_steps, star_steps
from helpers.results.ranks.pipeline import pipeline_spans
from helpers.results.ranks.weak import efficiency
from vgpu.hardware.interconnects import LINKS


def test_a_collective_says_what_is_whole_and_who_has_sent_what():
    halfway = show(plots.collective_moment(ring_steps(4), 4, 3, name="ring"))
    assert halfway.alt == (
        "ring, after step 3 of 6: 4 of 16 chunks hold the complete sum; each rank has sent 3 chunks, and the tensor "
        "has 4 chunks."
    )
    assert (
        "rank 0 has sent 12 chunks and the least busy rank 4" in show(plots.collective_moment(star_steps(4), 4, 6)).alt
    )
    begun = plots.collective_moment(ring_steps(4), 4, 0).svg
    assert [begun.count(f'"{shade}"') for shade in SHADES[:4]] == [5] * 4  # in each of its rank's chunks and in the key
    with pytest.raises(ValueError, match="2 to 8 ranks can be drawn, not 9"):
        plots.collective_moment(ring_steps(9), 9, 0)


def test_a_gantt_says_how_long_ranks_are_not_at_work():
    spans = ranks.training_spans([[0.1, 0.3]], communication=0.1)
    picture = plots.rank_gantt(spans, name="run", kind="modelled")
    alt, axes = show(picture).alt, picture.figure.axes[0]
    assert [text.get_text() for text in axes.texts] == [f"{span.part}" for span in spans if span.part is not None]
    ticks = axes.get_xticks()
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"{1000 * tick:g}" for tick in ticks]
    assert axes.get_xlabel() == "ms (modelled)"
    assert alt == "run: 2 ranks in 400 ms (modelled). A rank is idle for between 25% and 75% of that time."
    with pytest.raises(ValueError, match="there is no span to draw"):
        plots.rank_gantt([])


def test_a_pipeline_says_its_bubble_and_what_is_kept():
    alt = show(plots.schedule_gantt(pipeline_spans(4, 4, "1F1B"), name="1F1B")).alt
    assert "the bubble is 42.9% of the time, and a stage keeps the activations of at most 4 micro-batches" in alt


def test_memory_says_from_which_stage_on_there_is_room():
    picture = plots.rank_memory_bars(1e9, 2, capacity=12 * 2**30, gpu="A")
    assert [text.get_text().strip() for text in picture.figure.axes[0].texts] == ["14.9", "9.31", "8.38", "7.45"]
    alt = show(picture).alt
    assert alt == (
        "1 billion parameters on 2 ranks take 14.9, 9.31, 8.38, 7.45 GiB each at stages 0 to 3. On A they fit "
        "from stage 1 on."
    )
    alt = show(plots.rank_memory_bars(1e12, 1, capacity=1e9, gpu="A")).alt
    assert "on 1 rank take 14,901, 14,901, " in alt and "fit at no stage" in alt


def test_controls_are_named_and_curves_are_those_of_the_model():
    sizes = widgets.rank_memory().controls["parameters"].options
    assert sizes[2] == ("7 billion", 7e9)
    work = ranks.Workload("w", 1.0, 1e9)
    explorer = widgets.scaling(work, ranks=(1, 8, 64))
    (axes,) = explorer.draw(**explorer.values).figure.axes
    link = LINKS[explorer.values["link"]]
    for line, (kind, how) in zip(axes.lines, product(("weak", "strong"), ("ring", "tree")), strict=False):
        wanted = [efficiency(work, n, link, algorithm=how, strong=kind == "strong") for n in (1, 8, 64)]
        assert line.get_label() == f"{kind}, {how}" and line.get_ydata() == pytest.approx(wanted)


def test_what_a_teacher_gives_is_checked():
    with pytest.raises(TypeError, match="give a range for each argument"):
        widgets.rank_gantt(lambda slow: [])
    with pytest.raises(TypeError, match="give a Workload"):
        widgets.scaling("fast")
    with pytest.raises(ValueError, match="ranks goes from 2 to 8"):
        widgets.collective(ranks=(1, 4))
    with pytest.raises(ValueError, match="no kind called 'expert'"):
        plots.parallel_kinds(("expert",))


def test_runs_of_real_ranks_share_one_axis_of_time():
    runs = {name: ranks.training_spans([[seconds, 1]], 0) for name, seconds in (("fast", 1), ("slow", 4))}
    explorer = widgets.rank_gantt(runs, kind="measured")
    assert "fast: 2 ranks in 1 s (measured)" in repr(explorer)


def test_published_points_stand_beside_their_own_workload_only():
    work = {name: ranks.Workload(name, 1.0, 1e9) for name in ("one", "two")}
    explorer = widgets.scaling(work, ranks=(1, 8), published={"one": {"somebody": (8, 0.9)}})
    assert "Published: somebody: 90% at 8." in show(explorer.draw(**explorer.values)).alt
    assert "Published" not in show(explorer.draw(**{**explorer.values, "workload": "two"})).alt


def test_curves_of_parallel_runs_say_how_far_they_are_apart():
    reference = [3.0, 2.0, 1.5]
    picture = plots.curve_panels({"DDP": ([3.0, 2.0, 1.5004], reference), "FSDP": (reference, reference)})
    assert "No loss differs by 1e-3 or more" in show(picture).alt
    assert [axes.get_title("left") for axes in picture.figure.axes] == [
        "DDP\nless than 1e-3 apart",
        "FSDP\nequal",
    ]
    alt = show(plots.restarted_curve(reference, {"attempt 0": (0, [3.0, 2.0]), "attempt 1": (1, [2.0, 1.5])})).alt
    assert "attempt 0: steps 0 to 1; attempt 1: steps 1 to 2" in alt
    with pytest.raises(ValueError, match="1 to 8 runs"):
        plots.curve_panels({})


def test_buckets_say_what_the_backward_pass_hides():
    picture = plots.bucket_timeline([("a", 0.01), ("b", 0.02)], [("bucket 0", 0.01, 0.02), ("bucket 1", 0.02, 0.03)])
    assert "2 buckets: 50% of the time" in show(picture).alt


def test_layouts_say_seconds_and_memory():
    model = ranks.Transformer("m", 4, 1024, 8, 1024, 1000)
    link = LINKS["PCIe 4"]
    found = [
        ranks.estimate(model, ranks.Layout(data=count), 8, "A100", inside=link, between=link, efficiency=0.5)
        for count in (1, 8)
    ]
    picture = plots.layout_bars(found, room=found[1].bytes_kept)
    texts = [text.get_text() for text in picture.figure.axes[0].texts]
    assert "too much" in texts[0] and "too much" not in texts[1]
    assert "1 GPU: " in show(picture).alt
