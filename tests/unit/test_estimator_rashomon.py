"""All near-optimal trees as a classifier: votes, shares, and what a pickle holds."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

from streed.errors import InputError
from streed.estimators import OptimalTreeClassifier, RashomonTreeClassifier
from streed.export import to_json, to_python, to_sklearn, to_sql
from streed.plot import tree_svg
from tests.unit.refusal import refused


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 4))
    return X, np.where((X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.2), "yes", "no")


def test_the_trees_vote() -> None:
    X, y = rows()
    model = RashomonTreeClassifier(max_depth=2, cost_complexity=0.02, epsilon=0.3).fit(X, y)
    trees = list(model.rashomon_)
    assert len(trees) == model.rashomon_.count == len(model.voters_) > 2
    shares = np.mean([tree.predict(X) == "yes" for tree in trees], axis=0)
    assert np.allclose(model.predict_proba(X)[:, 1], shares)
    assert model.predict(X).tolist() == np.where(shares > 0.5, "yes", "no").tolist()
    assert model.tree_ == OptimalTreeClassifier(max_depth=2, cost_complexity=0.02).fit(X, y).tree_


def test_no_form_predicts_what_many_trees_vote() -> None:
    X, y = rows()
    model = RashomonTreeClassifier(max_depth=2, cost_complexity=0.02, epsilon=0.3).fit(X, y)
    for export in (to_sql, to_python, to_json, to_sklearn):
        refused("tree", f"{len(model.voters_)} trees vote", "give its tree_", call=functools.partial(export, model))
        assert export(model.tree_)
    alone = RashomonTreeClassifier(max_depth=1, epsilon=0).fit(X, X[:, 0])
    assert to_sql(alone) == to_sql(alone.tree_)
    assert "<svg" in tree_svg(model)


def test_a_sample_votes_where_there_are_many() -> None:
    X, y = rows()
    model = RashomonTreeClassifier(max_depth=3, cost_complexity=0.01, epsilon=0.5, samples=25).fit(X, y)
    assert model.rashomon_.count > 1000
    assert len(model.voters_) == 25
    again = RashomonTreeClassifier(max_depth=3, cost_complexity=0.01, epsilon=0.5, samples=25).fit(X, y)
    assert again.voters_ == model.voters_
    loaded = pickle.loads(pickle.dumps(model))
    assert not hasattr(loaded, "rashomon_")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_samples_are_a_number() -> None:
    with pytest.raises(InputError, match="samples"):
        RashomonTreeClassifier(samples=0).fit(*rows())
