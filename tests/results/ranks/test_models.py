"""Collectives, pipelines, memory and scaling as models: what is counted by hand, to the last step."""

from __future__ import annotations

import math

import pytest

from helpers import ranks
from helpers.results.ranks.collectives import Send, after, ring_steps, star_steps
from helpers.results.ranks.cost import SENT, seconds, sent_bytes, sent_messages
from helpers.results.ranks.pipeline import bubble, most_kept, pipeline_spans
from vgpu.hardware.interconnects import LINKS, Link, find

LINK = Link("round numbers", 1.0, 2.0)


@pytest.mark.parametrize("count", [2, 3, 4, 7])
@pytest.mark.parametrize("make", [ring_steps, star_steps])
def test_at_the_end_every_rank_holds_every_sum(make, count):
    end = after(make(count), count, len(make(count)))
    assert all(held == frozenset(range(count)) for row in end.held for held in row)


def test_a_ring_sends_what_the_formula_says_and_a_star_overloads_one():
    ring, star = after(ring_steps(4), 4, 99), after(star_steps(4), 4, 99)
    assert ring.sent == ring.received == (6,) * 4 and SENT["all_reduce"](4) * 4 == 6
    assert star.sent == (12, 4, 4, 4) and star.received == (12, 4, 4, 4)


def test_halfway_each_rank_has_one_whole_chunk():
    middle = after(ring_steps(4), 4, 3)
    assert [[len(held) for held in row].index(4) for row in middle.held] == [1, 2, 3, 0]


def test_a_sum_that_counts_a_rank_twice_is_refused():
    with pytest.raises(ValueError, match="chunk 0 of rank 1 would count rank 0 twice"):
        after([[Send(0, 1, 0, True)]] * 2, 2, 2)
    with pytest.raises(ValueError, match="ranks and chunks 0 to 1"):
        after([[Send(0, 2, 0, True)]], 2, 1)


def test_seconds_of_all_reduces():
    assert ranks.ring_seconds(8, 4, LINK) == 6 * (1 + 2 / 2)
    assert ranks.star_seconds(8, 4, LINK) == 6 * (1 + 8 / 2)
    assert ranks.tree_seconds(8, 4, LINK) == 2 * 2 * 1 + 2 * 8 / 2
    assert ranks.all_gather_seconds(8, 4, LINK) == 3 * (1 + 2 / 2)
    assert ranks.ring_seconds(8, 1, LINK) == ranks.tree_seconds(8, 1, LINK) == 0


def test_counted_traffic_becomes_bytes_messages_and_seconds():
    traffic = {"all_gather": (2, 80, 4), "reduce_scatter": (1, 40, 4), "send": (3, 6, 2), "recv": (1, 99, 2)}
    assert sent_bytes(traffic) == 60 + 30 + 6
    assert sent_messages(traffic) == 6 + 3 + 3
    assert seconds(traffic, LINK) == 12 + 96 / 2


def test_every_link_says_where_its_figures_come_from():
    for link in LINKS.values():
        assert set(link.sources) == {"latency", "bandwidth"} and all(
            s.url.startswith("https") for s in link.sources.values()
        )
    assert find("NVLink (A100)").bandwidth == 300e9 and find("Ethernet 10 Gb/s").bandwidth == 1.25e9
    with pytest.raises(KeyError, match="no link called"):
        find("string")


@pytest.mark.parametrize("order", ["GPipe", "1F1B"])
@pytest.mark.parametrize(("stages", "parts"), [(2, 1), (4, 4), (4, 12), (6, 8)])
def test_the_bubble_is_what_the_formula_says(order, stages, parts):
    assert math.isclose(bubble(pipeline_spans(stages, parts, order)), (stages - 1) / (parts + stages - 1))


def test_gpipe_keeps_all_micro_batches_and_1f1b_as_many_as_stages_below():
    assert most_kept(pipeline_spans(4, 12, "GPipe")) == [12] * 4
    assert most_kept(pipeline_spans(4, 12, "1F1B")) == [4, 3, 2, 1]


def test_an_order_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="wait for one another for ever"):
        pipeline_spans(2, 1, lambda stage, stages, parts: [("backward", 0), ("forward", 0)])


def test_a_rank_keeps_sixteen_bytes_a_parameter_less_what_is_sharded():
    totals = [sum(ranks.bytes_per_rank(1000, 4, stage).values()) for stage in range(4)]
    assert totals == [16_000, 4000 + 3000, 2000 + 500 + 3000, 4000]
    assert sum(ranks.bytes_per_rank(1000, 4, 0, mixed=False).values()) == 16_000
    with pytest.raises(ValueError, match="stage is one of 0, 1, 2, 3, not 4"):
        ranks.bytes_per_rank(1, 1, 4)


def test_all_wait_for_the_slowest():
    spans = ranks.training_spans([[1, 1, 3], [3, 1, 1]], communication=1)
    assert max(each.end for each in spans) == 8
    assert ranks.waiting(spans) == [1 - 4 / 8, 1 - 2 / 8, 1 - 4 / 8]


def test_efficiency_falls_with_what_cannot_overlap():
    work = ranks.Workload("w", seconds=12, nbytes=8)
    assert ranks.efficiency(work, 1, LINK) == 1
    assert ranks.efficiency(work, 4, LINK) == 12 / (12 + 12)
    assert ranks.efficiency(work, 4, LINK, strong=True) == 12 / (3 + 12) / 4
    hidden = ranks.Workload("w", seconds=12, nbytes=8, overlap=0.5)
    assert ranks.efficiency(hidden, 4, LINK) == 12 / (12 + 6)
    assert math.isclose(ranks.efficiency(work, 4, LINK, strong=True, serial=12), 24 / (12 + 3 + 12) / 4)
