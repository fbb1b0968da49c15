"""A watched training loop: what it notes, what an interrupt leaves, what its curves say."""

from __future__ import annotations

import pytest

from helpers import plots, training
from helpers.pictures.training import NOTHING


def trained(title: str, losses, **options) -> training:
    with training(title, steps=len(losses), **options) as run:
        for loss in losses:
            run.step(loss=loss)
    return run


def test_steps_are_counted_and_notes_stand_at_them():
    torch = pytest.importorskip("torch")
    with training("net", steps=3) as run:
        run.step(loss=torch.tensor(2.0, requires_grad=True))
        run.step(loss=1.0)
        run.note(accuracy=0.5)
        run.step(loss=0.5)
    assert (run["loss"].steps, run["loss"].values) == ([1, 2, 3], [2.0, 1.0, 0.5])
    assert run["accuracy"].steps == [2] and run.last("accuracy") == 0.5
    assert repr(run) == "net: step 3, loss 0.5, accuracy 0.5" and not run.interrupted


def test_an_interrupt_ends_the_loop_and_keeps_what_was_trained(capsys):
    with training("net", steps=9) as run:
        run.step(loss=1.0)
        raise KeyboardInterrupt
    assert run.interrupted and run.last("loss") == 1.0
    assert capsys.readouterr().out == "net: stopped after step 1 of 9. What was trained until then is kept.\n"


def test_an_interrupt_before_the_first_step_stops_the_cells_that_wait(capsys):
    with pytest.raises(KeyboardInterrupt), training("net", steps=9):
        raise KeyboardInterrupt
    assert capsys.readouterr().out == ""


def test_any_other_error_is_raised():
    with pytest.raises(ZeroDivisionError), training("net"):
        _ = 1 / 0


class View:
    """What a notebook's display hands out; it keeps what it was given."""

    def __init__(self):
        self.given = []

    def update(self, shown, raw=False):
        self.given.append(shown if raw else shown.alt)


def test_curves_are_drawn_now_and_then_and_at_the_end():
    now, view = [0.0], View()
    drawn = []
    view.update = lambda shown: drawn.append((run.at, shown.alt))
    run = training("net", clock=lambda: now[0])
    with run:
        run._view = view
        for _ in range(30):
            now[0] += 0.25
            run.step(loss=1.0 / (run.at + 1))
    assert [at for at, _ in drawn] == [*range(4, 30, 4), 30]  # not at the first step, of which a chart shows nothing
    assert drawn[-1][1] == "net, 30 steps of training: loss from 1 to 0.0333 (measured)."


def test_a_slow_drawing_puts_off_the_next_unless_it_is_the_first():
    now, drawn = [0.0], []
    view = View()

    def update(shown):
        drawn.append(run.at)
        now[0] += 0.5

    view.update = update
    run = training("net", clock=lambda: now[0])
    with run:
        run._view = view
        for _ in range(40):
            now[0] += 0.5
            run.step(loss=1.0)
    assert drawn == [2, 4, 24, 40]


def test_a_run_that_leaves_nothing_takes_its_curves_away():
    now, view = [0.0], View()
    with training("net", leave=False, clock=lambda: now[0]) as run:
        run._view = view
        now[0] += 1
        run.step(loss=1.0)
    assert view.given == ["net, 1 step of training: loss 1 (measured).", NOTHING] and run.last("loss") == 1.0


def test_the_finding_tells_the_first_step_that_is_not_a_number():
    run = trained("net", [3.0, 2.0, float("nan"), float("inf")])
    assert "loss is nan from step 3" in plots.training_curves({"net": run}).finding


def test_two_runs_are_compared_and_many_steps_are_means():
    runs = {"ours": trained("a", [float(n) for n in range(160)]), "theirs": trained("b", [5.0] * 160)}
    picture = plots.training_curves(runs, "loss")
    assert picture.finding == "160 steps of training: ours: loss from 0.5 to 158; theirs: loss from 5 to 5 (measured)."


def test_losses_share_a_panel_and_a_fourth_is_too_many():
    with training("net") as run:
        run.step(critic_loss=1, generator_loss=2, accuracy=0.5, score=1)
    assert [axes.get_title("left") for axes in plots.training_curves({"net": run}).figure.axes] == [
        "loss",
        "accuracy",
        "score",
    ]
    run.note(rate=1)
    with pytest.raises(ValueError, match="4 panels of curves: name the quantities of at most 3"):
        plots.training_curves({"net": run})
    with pytest.raises(ValueError, match="nobody has noted 'los'; net has noted: critic_loss"):
        plots.training_curves({"net": run}, "los")


def test_counts_have_no_fractions_beside_them():
    counts, shares = trained("a", [0.0, 1.0, 0.0]), trained("a", [0.0, 0.5, 1.0])
    ticks = lambda run: plots.training_curves({"net": run}).figure.axes[0].get_yticks()
    assert all(tick.is_integer() for tick in ticks(counts))
    assert not all(tick.is_integer() for tick in ticks(shares))
