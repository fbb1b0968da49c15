"""A network trained with one's own convolution, graded by its labels of images that nobody has seen."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.exercises.lab13 import shared

HELD_OUT, AT_MOST = 300, 18
"""The solution from 16 seeds, on nine draws of 300 images or more each: 8.0 of 100 wrong on average, 14.0 at most."""


def _drawn(dice: np.random.Generator) -> list[Case]:
    few, many = (int(seed) for seed in dice.integers(10**6, 10**9, 2))
    return [shared.images(int(dice.integers(2, 9)), few), shared.images(int(dice.integers(301, 340)), many)]


EXERCISE = Exercise(
    key="lab13.lenet",
    title="a LeNet that knows digits",
    language="python",
    name="classify",
    cases=lambda: [shared.images(1, 1), shared.images(7, 2), shared.images(HELD_OUT, 3)],
    drawn=_drawn,
    patience=4,
    budgets=(
        Budget(
            "wrong labels of 100",
            shared.wrong_of_100,
            AT_MOST,
            "Print the loss as you train: it should fall well below 0.3. And give the network at the end what it was "
            "trained on: images with the same mean and spread.",
            of="answer",
        ),
    ),
    hints=(
        "A step has four lines: the loss of a batch, clear the old gradients, backward, and the optimiser's step.",
        "cross_entropy(network(train_images[batch]), train_labels[batch]) is the loss. classify does to its pixels "
        "what was done to the training images, runs the network without gradients, and takes the greatest of ten "
        "scores.",
        "scores = network(prepared(pixels)) within torch.no_grad(), then scores.argmax(1).cpu().numpy().",
    ),
    why="Nothing in the training loop knows that a convolution is yours: loss.backward() calls your backward as it "
    "calls any other. What counts in the end is what the network says of images that it has never seen. They were "
    "turned, moved and lit a little, and noise was added. A network that only remembered its training images would "
    "do worse on them.",
    stretch="turn, move and light the training images, too. How many labels are wrong then?",
    mistakes=(
        Mistake(
            "scores in place of labels",
            "The network gives ten scores for each image. The label is the place of the greatest: argmax(1).",
            ((".argmax(1)", ""), (".argmax(1)", ".softmax(1)"), (".argmax(1)", ".amax(1)")),
        ),
        Mistake(
            "the best image for each digit",
            "Row i of the scores belongs to image i. argmax(0) goes down a column: it finds the image that looks "
            "most like a digit.",
            ((".argmax(1)", ".argmax(0)"),),
        ),
        Mistake(
            "a tensor in place of an array",
            "What is asked for is a NumPy array: .cpu().numpy() makes one of a tensor.",
            ((".cpu().numpy()", ""),),
        ),
        Mistake(
            "nothing was learned",
            "The labels are no better than chance. Is optimiser.step() called, after loss.backward()? Are images and "
            "labels those of the same batch?",
            (("        optimiser.step()\n", ""), ("train_labels[batch]", "train_labels[:len(batch)]")),
        ),
        Mistake(
            "labels of another digit",
            "Most images get the digit next to theirs. Labels count from 0, as the scores do.",
            (("train_labels[batch]", "(train_labels[batch] + 1) % 10"),),
        ),
        Mistake(
            "pixels as they come",
            "The network was trained on images with a mean near 0 and a spread near 1. classify gets pixels from 0 "
            "to 16: prepared(pixels) does to them what was done to the training images.",
            (("prepared(pixels)", "torch.from_numpy(pixels)[:, None].to(device)"),),
        ),
    ),
)  # fmt: skip
