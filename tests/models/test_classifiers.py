"""What classifiers keep and compute, against counts by hand."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from helpers import classifier_cost

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 3


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (DummyClassifier(), (1, 0)),
        (KNeighborsClassifier(1), (60 * 4 + 60, 3 * 60 * 4)),
        (LogisticRegression(), (3 * 4 + 3, 2 * 3 * 4)),
        (MLPClassifier((5,), max_iter=1), (4 * 5 + 5 * 3 + 5 + 3, 2 * (4 * 5 + 5 * 3))),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_counts_are_those_by_hand(model, wanted):
    assert classifier_cost(model.fit(X, Y)) == wanted


def test_a_support_vector_machine_keeps_its_vectors():
    model = SVC().fit(X, Y)
    vectors = len(model.support_vectors_)
    assert classifier_cost(model) == (vectors * 4 + 2 * vectors + 3, 3 * 4 * vectors + vectors + 4 * vectors)


def test_a_tree_is_no_count_of_multiplications():
    with pytest.raises(TypeError, match="DecisionTreeClassifier"):
        classifier_cost(DecisionTreeClassifier().fit(X, Y))
