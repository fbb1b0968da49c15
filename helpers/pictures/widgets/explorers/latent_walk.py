"""A walk from one latent to another, and what a generator makes of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer

STEPS = 20


def latent_walk(
    generator: Callable,
    latents,
    *,
    judge: Callable | None = None,
    names: Sequence[str] = (),
    limits: tuple[float, float] = (-1.0, 1.0),
    first: int = 0,
    last: int = 1,
    step: int = STEPS // 2,
) -> Explorer:
    """Two latents to choose, and a slider along the straight way between them.

    `generator`: a PyTorch module, which is asked in `eval` mode and left in its own, or any function from a batch of
    latents to a batch of grey images. `latents`: two or more, the first axis is theirs. `judge`: a function from a
    batch of images to one row of scores for each; its favourite and that one's share after softmax are told, under
    `names` where there are some. `limits`: the values of a pixel that are black and white. `first`, `last`, `step`: the
    walk to begin with, and where on it.
    """
    checked.called("generator", generator)
    if judge is not None:
        checked.called("judge", judge)
    if not hasattr(latents, "shape") or len(latents) < 2:
        raise ValueError("latents are a batch of two or more, such as torch.randn(6, 16): a walk has two ends")

    @lru_cache
    def walk(first: int, last: int):
        import torch

        begin, end = torch.as_tensor(latents[first]), torch.as_tensor(latents[last])
        way = torch.stack([begin + (end - begin) * k / STEPS for k in range(STEPS + 1)])
        was_training = getattr(generator, "training", False)
        with torch.no_grad():
            if was_training:
                generator.eval()
            try:
                images = generator(way)
            finally:
                if was_training:
                    generator.train()
            shares = torch.softmax(judge(images), 1) if judge is not None else None
        return images, shares

    def draw(first: int, last: int, step: int) -> Picture:
        images, shares = walk(first, last)
        verdict, verdicts = "", []
        if shares is not None:
            verdicts = [names[best] if names else str(best) for best in shares.argmax(1).tolist()]
            verdict = f"judged a {verdicts[step]}, at {float(shares[step].max()):.0%}"
        return plots.walk_frame(images, step, limits=limits, verdict=verdict, verdicts=verdicts)

    every = list(range(len(latents)))
    controls = {
        "first": choice("from latent", first, every),
        "last": choice("to latent", last, every),
        "step": slider("step", step, 0, STEPS),
    }
    return Explorer("latent_walk", draw, controls, height=card_height(caption_lines=3))
