"""The explorers of generators: any function or module of a teacher, checked, and left as it was."""

import pytest
import torch
from torch import nn

from helpers import widgets
from helpers.workbook.run import unnamed_pictures


def bright(latents):
    """Images as bright as the first number of the latent."""
    return latents[:, 0, None, None].expand(-1, 4, 4)


def moment(step: int, **more) -> dict:
    return {"step": step, "samples": torch.zeros(4, 1, 2, 2), "score": step / 10, "D": 1.0, "G": 0.5} | more


def test_a_walk_is_the_straight_way_between_two_latents():
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0], [0.5]]))
    assert "step 10 of 20." in shown.shown.alt and "from end to end by 1.00" in shown.shown.alt
    shown.controls["last"].value = 2
    assert "from end to end by 0.50" in shown.shown.alt
    assert unnamed_pictures(shown.view.value) == []


def test_the_judge_is_asked_for_this_very_image():
    judge = lambda images: 100 * torch.stack([0.5 - images.mean((1, 2)), images.mean((1, 2)) - 0.5], 1)
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0]]), judge=judge, names=("dark", "light"))
    shown.controls["step"].value = 20
    assert "judged a light, at 100%" in shown.shown.alt
    shown.controls["step"].value = 0
    assert "judged a dark, at 100%; all along it: dark (11 steps), light (10 steps)." in shown.shown.alt


def test_a_walk_begins_where_it_is_told():
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0], [0.5]]), first=2, last=1, step=3)
    assert "step 3 of 20." in shown.shown.alt and "from end to end by 0.50" in shown.shown.alt
    with pytest.raises(ValueError):
        widgets.latent_walk(bright, torch.tensor([[0.0], [1.0]]), last=2)


def test_a_module_is_asked_in_eval_mode_and_left_in_its_own():
    module = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 4), nn.Unflatten(1, (2, 2)))
    mean = module[0].running_mean.clone()
    widgets.latent_walk(module, torch.tensor([[3.0], [5.0]]))
    assert module.training and torch.equal(module[0].running_mean, mean)


def test_what_is_no_generator_or_no_walk_is_refused():
    with pytest.raises(TypeError, match="generator is a function"):
        widgets.latent_walk("bright", torch.zeros(2, 1))
    with pytest.raises(ValueError, match="two or more"):
        widgets.latent_walk(bright, torch.zeros(1, 1))


def test_moments_of_several_runs():
    shown = widgets.samples_over_training({"long": [moment(1), moment(2), moment(3)], "short": [moment(7)]})
    assert shown.shown.alt.startswith("Step 3: losses D 1.00, G 0.50; score 0.30")
    shown.controls["moment"].value = 0
    assert shown.shown.alt.startswith("Step 1: ")
    shown.controls["run"].value = "short"
    assert shown.shown.alt.startswith("Step 7: ")


def test_what_is_no_moment_is_refused():
    with pytest.raises(ValueError, match="step, samples, score"):
        widgets.samples_over_training([{"step": 1}])
    with pytest.raises(ValueError, match="same losses"):
        widgets.samples_over_training([moment(1), moment(2, other=1.0)])
    with pytest.raises(ValueError, match="no runs"):
        widgets.samples_over_training({})
