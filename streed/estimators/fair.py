"""Fair classification: the best tree whose groups' rates differ by no more than a limit, exactly.

>>> from streed.estimators import FairTreeClassifier
>>> X, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, ["f", "m", "m", "m", "f", "f", "m", "m"]
>>> model = FairTreeClassifier(limit=0.1).fit(X, [0, 0, 1, 1] * 2, sensitive_features=sex)
>>> model.value_, model.gap_between_groups_, model.optimal_
(0.5, 0.0, True)
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import numbers
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from streed.data import Dataset
from streed.data.rows import read_row_data
from streed.data.table import Table, read_input
from streed.errors import InputError, argument_names, brief, members
from streed.estimators.classifier import LabelTree, label_task, labels_of
from streed.estimators.reading import FREQUENCY, length, readable, take_rows
from streed.exact import Range
from streed.registry import find_notion
from streed.report import kept
from streed.result import Result
from streed.task import Limit, Task
from streed.task.bounded_sums import integer_weights
from streed.tasks.fairness import Fairness
from streed.tasks.rates import measure, shares
from streed.tasks.support import ROW_DATA


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class FairTreeClassifier(LabelTree):
    """The optimal classification tree under a limit on unfairness; see `OptimalTreeClassifier` for the rest.

    `notion`: "demographic-parity", "equal-opportunity", "predictive-equality", "equalized-odds", "error-rate-parity",
    or as fairlearn writes them ("demographic_parity", "true_positive_rate_parity"), or a notion of `streed.tasks` such
    as `DemographicParity("sex", positive="yes")`. `limit`: the largest gap between the rates of two groups, from 0 to
    1; None is no such limit. `ratio`: the least part of the largest rate that every group's must be, such as 0.8 (the
    four-fifths rule); None is no such limit. `confidence`: tighten `limit` by a margin for the sample, such as 0.9, see
    `streed.estimators.fairness_margin`. The groups are given to `fit` as `sensitive_features`: a column of any kind, or
    a table whose combinations are the groups; or they are the columns of X that `sensitive` names, which then are no
    features.

    A limit on the training rows is no promise on others; `cross_validate_fair` estimates what to expect.

    Fitted: `gap_between_groups_`, `ratio_between_groups_`, `group_rates_` and `group_counts_` of the training rows,
    counted from the raw groups; `limit_` with its margin; `is_constant_`: whether all rows get the same label; and what
    `OptimalTreeClassifier` says.
    """

    notion: Any = dataclasses.field(default="demographic-parity", kw_only=False)
    limit: Any = dataclasses.field(default=0.05, kw_only=False)
    ratio: Any = None
    confidence: float | None = None
    sensitive: Any = None
    task: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None, *, frequency: Any = None
    ) -> Self:
        """Grows and proves the tree; the groups by row, the rest as for `OptimalTreeClassifier`."""
        self._grow(X, y, sample_weight, {ROW_DATA: sensitive_features, FREQUENCY: frequency})
        return self

    def group_rates(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> dict[str, dict[str, float]]:
        """The rate of favourable predictions of every group, by the rows that it is taken over: "all", "positive" ones.

        `y` is needed where rates are of the positive or negative rows, or of errors; groups as for `fit`.
        """
        return shares(self.group_counts(X, y, sensitive_features=sensitive_features))

    def group_counts(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> dict[str, dict[str, Any]]:
        """(favourable predictions, rows) of every group, by the rows that count; arguments as of `group_rates`."""
        groups = self._groups(X, sensitive_features)
        predicted = self.predict(X)
        labels = predicted if y is None else self._labels_of(y, len(predicted))
        data = Dataset.make(np.zeros((len(predicted), 0), np.uint8), labels.tolist(), **{ROW_DATA: groups})
        # The labels at hand may be but some of those that the tree knows.
        places, classes = self._class_places(labels.tolist(), "y"), tuple(self.classes_.tolist())
        data = attrs.evolve(data, class_numbers=places, classes=classes)
        notion = self._notion(data)
        if y is None and notion.rates != ("all",):
            about = "errors" if notion.rates == ("errors",) else "rows of one label"
            raise InputError("y", f"{type(notion).__name__} is about {about}", "give the labels")
        counts = notion.counts(data, np.searchsorted(self.classes_, predicted))
        return {kind: dict(of) for kind, of in counts.items()}

    def _check_classes(self) -> None:
        if len(self.classes_) > 2 and not self._names_favourable():
            # The words that scikit-learn's own checks look for.
            found = "Only binary classification is supported. The type of the target is multiclass."
            raise InputError("y", found, 'or say which is favourable: notion=DemographicParity(positive="yes")')

    def _names_favourable(self) -> bool:
        return getattr(self.notion, "positive", None) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._names_favourable()
        return tags

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        return super()._prepare(X, y, sample_weight, {**row_data, ROW_DATA: self._groups(X, row_data.get(ROW_DATA))})

    def verdict(self) -> str:
        """What was asked for and what holds: limits, favourable label, groups with rates and counts, and how far."""
        check_is_fitted(self)
        margin = "" if self.limit_ == self.limit else f" (tightened from {self.limit} by a margin for the sample)"
        asked = [str(limit) + margin * (" <= " in str(limit)) for limit in self._bounds()]
        asked += [*map(str, members(self.limits)), *([f"min_leaf {self.min_leaf}"] if self.min_leaf > 1 else [])]
        proof = "proved optimal" if self.optimal_ else "stopped early, not proved"
        told = [f"{proof} over {self.searched_over_} under {', '.join(asked) or 'no limit'}"]
        told += map(kept, self.result_.stats.get("limits", ()))
        told.append(f"gap {self.gap_between_groups_:.4f}, ratio {self.ratio_between_groups_:.4f}")
        if self.is_constant_:
            told.append(f"all rows get {self.tree_.shows()[0]!r}: no tree of that size that keeps the limits is better")
        told.append("this holds on the rows of the fit and is no promise on others: see cross_validate_fair")
        return "\n".join(told)

    def _further_limits(self, data: Dataset) -> list[Limit]:
        self.notion_ = self._notion(data)
        self.notion_.positive_class(data)  # that there are two labels is asked before whether there are two groups
        if not hasattr(self, "limit_"):
            self.limit_ = self.limit
            if self.confidence is not None and self.limit is not None:
                nobody = np.full(data.n_rows, -1)
                sizes = [[n for _, n in of.values()] for of in self.notion_.counts(data, nobody).values()]
                self.limit_ = max(0.0, float(self.limit) - max(fairness_margin(of, self.confidence) for of in sizes))
        return self._bounds()

    def _bounds(self) -> list[Limit]:
        """The limits on the gap and on the ratio that were asked for."""
        bounds: list[Limit] = [] if self.limit_ is None else [self.notion_ <= self.limit_]
        with argument_names(limit="ratio"):
            return bounds if self.ratio is None else [*bounds, self.notion_.ratio >= self.ratio]

    def _objective(self, cost_complexity: Any) -> Task:
        return label_task(self.task, cost_complexity)

    def _accept(self, result: Result, data: Dataset) -> None:
        super()._accept(result, data)
        assert result.tree is not None
        self.is_constant_ = len(set(result.tree.shows())) == 1
        counts = self.notion_.counts(data, self._leaf_classes[result.tree.apply(data)])
        self.gap_between_groups_ = float(max(measure("gap", counts, kind) for kind in counts))
        self.ratio_between_groups_ = float(min(measure("ratio", counts, kind) for kind in counts))
        self.group_rates_ = shares(counts)
        unit = float(integer_weights(data)[1])
        self.group_counts_ = {x: {g: (unit * k, unit * n) for g, (k, n) in of.items()} for x, of in counts.items()}

    def _features(self, X: Any, *, fitting: bool) -> Any:
        """X without the columns of the groups, which must be there when the tree is fitted, and may be afterwards."""
        named = _named(self.sensitive)
        if not named:
            return X
        if isinstance(X, Table) or hasattr(X, "columns"):
            table = read_input(X)
            known = {name: table.columns[j] for j, name in enumerate(table.all_names) if name not in named}
            return Table(tuple(known), list(known.values()), table.n_rows)
        array = X if isinstance(X, np.ndarray) or hasattr(X, "tocsr") else np.array(X, object)
        if array.ndim != 2 or not (fitting or array.shape[1] != self.n_features_in_):
            return array
        return array[:, np.delete(np.arange(array.shape[1]), self._placed(array)[1])]

    def _placed(self, X: Any) -> tuple[Table, list[int]]:
        """(X as a table, the places of the groups' columns in it); raises InputError for those that are not there."""
        table, found = read_input(X), []
        width = len(table.columns)
        known = range(-width, width) if table.names is None else table.names
        for given in _named(self.sensitive):
            if np.ndim(given) or given not in known:
                remedy = "give positions, or a table" if table.names is None else "name columns of X"
                raise InputError("sensitive", f"X has no column {brief(given)}", remedy)
            found.append(known.index(given) % width)
        return table, found

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        """The groups of the rows, as `streed.solve` takes them."""
        if sensitive_features is not None:
            return sensitive_features
        if not _named(self.sensitive):
            raise InputError(ROW_DATA, "there are none", "give the group of each row, or name columns: sensitive=")
        X = readable(X)
        if getattr(X, "columns", None) is None and np.shape(X)[1:] == (getattr(self, "n_features_in_", None),):
            found = f"X has only the {np.shape(X)[1]} columns that the tree asks about"
            raise InputError(ROW_DATA, found, "give the group of each row, or X with the columns of the groups")
        table, places = self._placed(X)
        return {table.all_names[j]: table.columns[j] for j in places}

    def _notion(self, data: Dataset) -> Fairness:
        if isinstance(self.notion, Fairness):
            return self.notion
        return find_notion(self.notion).made_by(data.row_data[ROW_DATA].dtype.names)  # type: ignore[no-any-return]


def fairness_margin(sizes: Sequence[float], confidence: float) -> float:
    """What to subtract from a limit on a gap for groups of such sizes, so that a sample of them tells of others.

    z sqrt(1 / (4 a) + 1 / (4 b)), for the two smallest groups, a and b, and the one-sided quantile z of the normal
    distribution: the standard error of a difference of two shares where it is largest, at shares of a half. It is meant
    for a tree that was chosen on other rows; the tree is chosen on these, so that the chance that it keeps the limit is
    below `confidence`, and the more so the larger trees are. `cross_validate_fair` tells.
    """
    Range(0.5, below=1, meaning="a probability").read("confidence", confidence)
    a, b = sorted(sizes)[:2]
    if not a > 0:
        raise InputError("sensitive_features", "a group has no rows over which its rate is taken", "leave it out")
    return statistics.NormalDist().inv_cdf(confidence) * math.sqrt(1 / (4 * a) + 1 / (4 * b))


def cross_validate_fair(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    cv: int = 5,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Bunch:
    """What a fair estimator's limit is worth on rows that it was not fitted on, from `cv` folds by label and group.

    `sensitive_features` are the groups, as for `fit`; None is those of the columns that the estimator names.
    `accuracy` and `gaps` hold a number for each fold. `rates[kind][group]` is (rate, (low, high)) with Wilson's
    interval of the held-out rows of all folds, and `gap` (difference, (low, high)) of the two groups that are furthest
    apart, with Newcombe's. `kept`: in how many folds the held-out gap is within the limit. Intervals treat the folds'
    trees as one and take no account of the choice of the two groups: read them as a lower bound on what is not known.
    """
    X = readable(X)
    labels = labels_of(y, length(X))
    groups = read_row_data({ROW_DATA: estimator._groups(X, sensitive_features)}, len(labels))[ROW_DATA]
    strata = [f"{g} {k}" for g, k in zip(groups.tolist(), labels.tolist(), strict=True)]
    accuracy, counts, own = [], [], sensitive_features is None
    for train, test in StratifiedKFold(cv, shuffle=True, random_state=random_state).split(strata, strata):
        grown, held = (sensitive_features if own else take_rows(sensitive_features, part) for part in (train, test))
        model = clone(estimator).fit(take_rows(X, train), labels[train], sensitive_features=grown)
        accuracy.append(model.score(take_rows(X, test), labels[test]))
        counts.append(model.group_counts(take_rows(X, test), labels[test], sensitive_features=held))
    totals: dict[str, dict[str, tuple[int, int]]] = {}
    for kind in counts[0]:
        names = dict.fromkeys(name for fold in counts for name in fold[kind])
        found = {name: np.sum([fold[kind].get(name, (0, 0)) for fold in counts], axis=0).tolist() for name in names}
        totals[kind] = {name: (int(hits), int(size)) for name, (hits, size) in found.items()}
    pairs = [(kind, a, b) for kind, of in totals.items() for a, b in itertools.permutations(of, 2)]
    kind, a, b = max(pairs, key=lambda each: _share(totals[each[0]][each[1]]) - _share(totals[each[0]][each[2]]))
    shares = [[_share(each) for each in of.values() if each[1]] for fold in counts for of in fold.values()]
    gaps = np.array([max(of) - min(of) for of in shares]).reshape(len(counts), -1).max(axis=1)
    return Bunch(
        accuracy=np.array(accuracy),
        gaps=gaps,
        kept=int((gaps <= (1 if estimator.limit is None else estimator.limit)).sum()),
        rates={k: {name: (_share(n), wilson(n, confidence)) for name, n in of.items()} for k, of in totals.items()},
        gap=difference(totals[kind][a], totals[kind][b], confidence),
        groups=(kind, a, b),
    )


def _share(counts: tuple[int, int]) -> float:
    return counts[0] / counts[1]


def wilson(counts: tuple[int, int], confidence: float) -> tuple[float, float]:
    """Wilson's interval (1927), two-sided, of the share of hits, of (hits, size)."""
    found = binomtest(*counts).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def difference(first: tuple[int, int], second: tuple[int, int], confidence: float) -> tuple[float, tuple[float, float]]:
    """The first share minus the second, of (hits, size), and Newcombe's interval (1998, method 10)."""
    p, q = _share(first), _share(second)
    (low_p, high_p), (low_q, high_q) = wilson(first, confidence), wilson(second, confidence)
    return p - q, (p - q - math.hypot(p - low_p, high_q - q), p - q + math.hypot(high_p - p, q - low_q))


def _named(sensitive: Any) -> list[Any]:
    if not (sensitive is None or isinstance(sensitive, (numbers.Integral, Iterable))):
        raise InputError("sensitive", brief(sensitive), "give the name or position of a column of X, or several")
    return members(sensitive)
