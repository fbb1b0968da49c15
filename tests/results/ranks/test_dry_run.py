"""Programs of ranks without processes: what is recorded, and what comes of it."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from helpers.results.ranks import dry_run
from helpers.results.ranks.buckets import bucket_ends, least_end
from helpers.results.ranks.collectives import ring_steps
from helpers.results.ranks.dry_run import messages
from helpers.results.ranks.recording import recorded
from helpers.results.ranks.training import OutOfMemory, Task, gradient, one_process, trained

SHARES = np.array([[1, 2, 3], [10, 20, 30]])
FIRST, REST, ALL = slice(0, 1), slice(1, 3), slice(0, 3)


def test_the_ring_of_the_explorer_sums_and_sends_what_the_formula_says():
    def ring(rank, elements):
        length = elements // rank.size
        for sends in ring_steps(rank.size):
            goes = next(each for each in sends if each.source == rank.number)
            comes = next(each for each in sends if each.target == rank.number)
            there, here = (slice(each.chunk * length, (each.chunk + 1) * length) for each in (goes, comes))
            rank.exchange(to=goes.target, send=there, source=comes.source, receive=here, add=comes.adds)

    shares = np.random.default_rng(0).integers(-9, 9, (5, 15))
    done = messages(recorded(ring, 5, 15), shares)
    assert (done.held == shares.sum(0)).all()
    assert (done.steps, done.longest, done.sent, done.messages) == (8, 24, (24,) * 5, (8,) * 5)


def test_messages_of_one_step_carry_what_was_there_before_it():
    def swap(rank):
        rank.exchange(to=1 - rank.number, send=FIRST, source=1 - rank.number, receive=slice(2, 3))

    assert messages(recorded(swap, 2), SHARES).held.tolist() == [[1, 2, 10], [10, 20, 1]]


def test_a_chain_takes_a_step_for_each_rank():
    def chain(rank):
        if rank.number > 0:
            rank.receive(rank.number - 1, ALL, add=True)
        if rank.number < rank.size - 1:
            rank.send(rank.number + 1, ALL)

    done = messages(recorded(chain, 4), np.ones((4, 3), int))
    assert done.steps == 3 and done.held[:, 0].tolist() == [1, 2, 3, 4]


def both_send(rank):
    rank.send(1 - rank.number, FIRST)
    rank.receive(1 - rank.number, FIRST)


def one_is_gone(rank):
    if rank.number == 0:
        rank.receive(1, FIRST)


def other_lengths(rank):
    if rank.number == 0:
        rank.send(1, REST)
    else:
        rank.receive(0, FIRST)


def into_what_goes(rank):
    rank.exchange(to=1 - rank.number, send=ALL, source=1 - rank.number, receive=REST, add=True)


def to_nobody(rank):
    rank.send(2, FIRST)


def too_far(rank):
    rank.send(1 - rank.number, slice(2, 4))


@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        (both_send, dry_run.Stuck, "rank 0 waits for rank 1 to take its message; rank 1 waits for rank 0 to take"),
        (one_is_gone, dry_run.Stuck, "rank 0 waits for rank 1 to send. Ended: rank 1"),
        (other_lengths, dry_run.OtherLength, "rank 0 sends 2 elements, and rank 1 receives 1"),
        (into_what_goes, dry_run.Overwritten, "rank 0 receives into elements 1 to 2 while it sends 0 to 2"),
        (to_nobody, dry_run.Outside, "rank 0 exchanges with rank 2"),
        (too_far, dry_run.Outside, "elements 2 to 4, and there are 3"),
    ],
)
def test_what_cannot_be_done_is_named(program, kind, words):
    with pytest.raises(kind, match=words):
        messages(recorded(program, 2), SHARES)


@pytest.mark.parametrize(
    "forged",
    [None, [[]], [[], [], []], [[1], []], [[["step", None, None]], []], [[["step", [1, 0], None]], []],
     [[["step", [True, 0, 1], None]], []], [[["held", 1, 2]], []], [[["step", [1, 0, 1.0], None]], []]],
)  # fmt: skip
def test_a_recording_of_another_origin_is_refused(forged):
    with pytest.raises(dry_run.NotCarriedOut):
        messages(forged, SHARES)


def test_a_part_needs_both_ends():
    with pytest.raises(TypeError, match="a part is a slice"):
        recorded(lambda rank: rank.send(0, slice(None, 3)), 1)


# -- training


def task(size: int = 2, samples: int = 6, fits: int = 3) -> Task:
    dice = np.random.default_rng(1)
    return Task(dice.normal(size=(size, 8)), dice.normal(size=(samples, 3)), dice.normal(size=samples), fits)


def test_the_gradient_is_that_of_the_loss():
    given = task()

    def loss(weights):
        return np.mean((np.tanh(given.x @ weights[:6].reshape(3, 2)) @ weights[6:] - given.y) ** 2)

    found, steps = gradient(given.weights[0], given.x, given.y), 1e-6 * np.eye(8)
    slopes = [(loss(given.weights[0] + each) - loss(given.weights[0] - each)) / 2e-6 for each in steps]
    assert np.allclose(found, slopes, rtol=1e-6, atol=1e-8)


def test_two_ranks_with_halves_train_as_one_process():
    def program(rank):
        rank.broadcast(0)
        for _ in range(3):
            rank.clear()
            rank.backward(range(3 * rank.number, 3 * rank.number + 3), 1)
            rank.all_reduce()
            rank.update()

    given = task()
    done = trained(recorded(program, 2), given)
    assert np.allclose(done.weights, one_process(given, [np.arange(6)] * 3), rtol=1e-12)
    assert (done.all_reduces, done.broadcasts, done.busiest) == (3, 1, 9)


def test_a_collective_that_one_rank_leaves_out_is_named():
    with pytest.raises(dry_run.Stuck, match="rank 0 has ended, rank 1 waits in all_reduce"):
        trained(recorded(lambda rank: rank.all_reduce() if rank.number else None, 2), task())


def test_more_samples_than_fit_are_named():
    with pytest.raises(OutOfMemory, match="rank 0 takes 4 samples at once, and 3 fit"):
        trained(recorded(lambda rank: rank.backward(range(4), 1), 2), task())


@pytest.mark.parametrize("forged", [[[["backward", [0.0], 1.0]], []], [[["weights"]], []], [[["broadcast", 7]]] * 2])
def test_training_of_another_origin_is_refused(forged):
    with pytest.raises(dry_run.NotCarriedOut):
        trained(forged, task())


# -- buckets


def test_a_bucket_waits_for_its_last_gradient_and_for_the_link():
    assert bucket_ends([[2, 1], [0]], [10, 20, 30], [9, 4, 2], 1, 10) == [10.0, 12.0]


def test_no_buckets_in_the_order_of_finding_are_done_before_the_least_end():
    dice = np.random.default_rng(3)
    nbytes, found = dice.integers(1, 50, 6).tolist(), np.sort(dice.integers(0, 30, 6))[::-1].tolist()
    order = sorted(range(6), key=lambda gradient: found[gradient])
    ends = []
    for count in range(6):
        for cuts in combinations(range(1, 6), count):
            bounds = [0, *cuts, 6]
            made = [order[a:b] for a, b in pairwise(bounds)]
            ends.append(bucket_ends(made, nbytes, found, 2, 5)[-1])
    assert least_end(nbytes, found, 2, 5) == pytest.approx(min(ends))
