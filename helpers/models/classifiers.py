"""What a trained scikit-learn classifier keeps and computes, counted from its arrays: to stand beside a network's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class ClassifierCost(NamedTuple):
    """`parameters`: numbers kept after training, stored examples included. `flop`: for one example, an addition and a
    multiplication being two, an exponential one."""

    parameters: int
    flop: int


def classifier_cost(model: Any) -> ClassifierCost:
    """Count what a trained classifier keeps, and the FLOP to classify one example.

    model: of scikit-learn, trained: DummyClassifier, KNeighborsClassifier, SVC, MLPClassifier, or any linear model with
    `coef_` and `intercept_`. TypeError for other kinds, whose cost isn't a count of multiplications, such as trees.
    """
    kind = type(model).__name__
    if kind == "DummyClassifier":
        return ClassifierCost(1, 0)
    if kind == "KNeighborsClassifier":
        examples = np.asarray(model._fit_X)
        return ClassifierCost(examples.size + len(examples), 3 * examples.size)
    if kind == "SVC":
        vectors, weights = model.support_vectors_, model.dual_coef_
        kept = vectors.size + weights.size + model.intercept_.size
        return ClassifierCost(kept, 3 * vectors.size + len(vectors) + 2 * weights.size)
    if kind == "MLPClassifier":
        weights = sum(each.size for each in model.coefs_)
        return ClassifierCost(weights + sum(each.size for each in model.intercepts_), 2 * weights)
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return ClassifierCost(model.coef_.size + model.intercept_.size, 2 * model.coef_.size)
    raise TypeError(f"classifier_cost counts linear models, neighbours, SVC and MLPs, and doesn't know a {kind}")
