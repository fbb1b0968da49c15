"""A network with one's own convolution: its labels of new images, computed with its author's kernel and weights."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.exercises.lab13 import shared

HELD_OUT, AT_MOST = 300, 18
"""The solution from 16 seeds, on nine draws of 320 images each: 7.1 of 100 wrong on average, 13.1 at most."""


def _drawn(dice: np.random.Generator) -> list[Case]:
    few, many = (int(seed) for seed in dice.integers(10**6, 10**9, 2))
    return [shared.images(int(dice.integers(2, 9)), few), shared.images(int(dice.integers(301, 340)), many)]


EXERCISE = Exercise(
    key="lab13.lenet",
    title="a small LeNet that reads digits",
    language="tensors",
    name="classify",
    cases=lambda: [shared.images(1, 1), shared.images(7, 2), shared.images(HELD_OUT, 3)],
    drawn=_drawn,
    patience=4,
    budgets=(
        Budget(
            "wrong labels of 100",
            shared.wrong_of_100,
            AT_MOST,
            "Kernels come first: if `check` finds anything in exercises 1 to 4, fix that. Then print the loss as you "
            "train. It should fall below 0.4. Are old gradients cleared in every step?",
            of="answer",
        ),
    ),
    hints=(
        "A step has four lines: the loss of a batch, clear the old gradients, backward, and the optimiser's step.",
        "cross_entropy(network(train_images[batch]), train_labels[batch]) is the loss. classify prepares its "
        "pixels like the training images, runs the network without gradients, and takes the largest of ten "
        "scores.",
        "scores = network(prepared(pixels)) within torch.no_grad(), then scores.argmax(1).cpu().numpy().",
    ),
    why="Nothing in the training loop knows that a convolution is yours: loss.backward() calls your backward as it "
    "calls any other. Every image has its own light, size, slant and place, so no two of one digit have much in "
    "common pixel by pixel. On the same training images, 36 of 100 labels of a logistic regression are wrong, 40 of a "
    "support vector machine's and 67 of the nearest neighbour's. A filter finds a stroke wherever it is, and pooling "
    "lets it move.",
    stretch="draw new training images for every epoch. How many labels are wrong then?",
    mistakes=(
        Mistake(
            "scores in place of labels",
            "The network gives ten scores for each image. The label is the index of the largest: argmax(1).",
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
    ),
)  # fmt: skip
