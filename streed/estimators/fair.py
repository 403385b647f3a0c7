"""Fair classification: the best tree whose groups' rates differ by no more than a limit, exactly.

>>> from streed.estimators import FairTreeClassifier
>>> X, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, ["f", "m", "m", "m", "f", "f", "m", "m"]
>>> model = FairTreeClassifier(limit=0.1).fit(X, [0, 0, 1, 1] * 2, sensitive_features=sex)
>>> model.value_, model.gap_between_groups_, model.optimal_
(0.5, 0.0, True)
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs
import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from streed.data import Dataset
from streed.data.table import Table
from streed.errors import InputError, brief
from streed.estimators.classifier import LabelTree, label_task, labels_of
from streed.estimators.fair_guidance import fairness_margin, verdict
from streed.estimators.reading import FREQUENCY, argument_names, as_array, readable
from streed.exact import Array
from streed.registry import find_notion
from streed.result import Result
from streed.task import Limit, Task
from streed.task.bounded_sums import integer_weights
from streed.tasks.fairness import Fairness, gap_of, group_counts, ratio_of
from streed.tasks.sensitive_groups import ROW_DATA


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
        counts = self.group_counts(X, y, sensitive_features=sensitive_features)
        return {kind: {name: k / n for name, (k, n) in of.items()} for kind, of in counts.items()}

    def group_counts(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None
    ) -> dict[str, dict[str, tuple[int, int]]]:
        """(favourable predictions, rows) of every group, by the rows that count; arguments as of `group_rates`."""
        groups = self._groups(X, sensitive_features)
        predicted = self.predict(X)
        labels = predicted if y is None else labels_of(y, len(predicted))
        data = Dataset.make(np.zeros((len(predicted), 0), np.uint8), labels.tolist(), **{ROW_DATA: groups})
        # The labels at hand may be but some of those that the tree knows.
        data = attrs.evolve(
            data, class_numbers=np.searchsorted(self.classes_, labels), classes=tuple(self.classes_.tolist())
        )
        notion = self._notion(data)
        if y is None and notion.rates != ("all",):
            about = "errors" if notion.rates == ("errors",) else "rows of one label"
            raise InputError("y", f"{type(notion).__name__} is about {about}", "give the labels")
        counts = group_counts(notion, data, np.searchsorted(self.classes_, predicted))
        return {kind: dict(of) for kind, of in counts.items()}

    def _check_classes(self) -> None:
        if len(self.classes_) > 2 and not self._names_favourable():
            # The words that scikit-learn's own checks look for.
            found = "Only binary classification is supported. The type of the target is multiclass."
            raise InputError("y", found, 'or say which is favourable: notion=DemographicParity(positive="yes")')

    def _names_favourable(self) -> bool:
        return isinstance(self.notion, Fairness) and self.notion.positive is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._names_favourable()
        return tags

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        return super()._prepare(X, y, sample_weight, {**row_data, ROW_DATA: self._groups(X, row_data.get(ROW_DATA))})

    def verdict(self) -> str:
        """What was asked for and what holds: limits, favourable label, groups with rates and counts, and how far."""
        check_is_fitted(self)
        return verdict(self)

    def _further_limits(self, data: Dataset) -> list[Limit]:
        notion = self._notion(data)
        if not hasattr(self, "limit_"):
            self.limit_ = self._limit_with_margin(notion, data)
        bounds: list[Limit] = [] if self.limit_ is None else [notion <= self.limit_]
        if self.ratio is None:
            return bounds
        with argument_names(limit="ratio"):
            return [*bounds, notion.ratio >= self.ratio]

    def _limit_with_margin(self, notion: Fairness, data: Dataset) -> Any:
        """`limit`, tightened by the margin for the sample where `confidence` asks for one."""
        if self.confidence is None or self.limit is None:
            return self.limit
        nobody = np.full(data.n_rows, -1)
        sizes = [[size for _, size in of.values()] for of in group_counts(notion, data, nobody).values()]
        return max(0.0, float(self.limit) - max(fairness_margin(of, self.confidence) for of in sizes))

    def _objective(self, cost_complexity: Any) -> Task:
        return label_task(self.task, cost_complexity)

    def _accept(self, result: Result, data: Dataset) -> None:
        super()._accept(result, data)
        assert result.tree is not None
        labels = self._class_places(result.tree.shows())[result.tree.apply(data)]
        self.is_constant_ = len(set(result.tree.shows())) == 1
        self.notion_ = self._notion(data)
        counts = group_counts(self.notion_, data, labels)
        self.gap_between_groups_ = float(max(gap_of(counts, kind) for kind in counts))
        self.ratio_between_groups_ = float(min(ratio_of(counts, kind) for kind in counts))
        self.group_rates_ = {kind: {name: k / n for name, (k, n) in found.items()} for kind, found in counts.items()}
        unit = integer_weights(data)[1]
        self.group_counts_ = {
            kind: {name: (float(unit * k), float(unit * n)) for name, (k, n) in found.items()}
            for kind, found in counts.items()
        }

    def _features(self, X: Any, *, fitting: bool) -> Any:
        """X without the columns of the groups, which must be there when the tree is fitted, and may be afterwards."""
        named = _listed(self.sensitive)
        if not named:
            return X
        if isinstance(X, Table):
            kept = [place for place, name in enumerate(X.all_names) if name not in named]
            return Table(tuple(X.all_names[j] for j in kept), [X.columns[j] for j in kept], X.n_rows)
        if hasattr(X, "columns"):
            return nw.from_native(X, eager_only=True).drop(named, strict=False).to_native()
        array = _array(X)
        if array.ndim == 2 and (fitting or array.shape[1] != self.n_features_in_):
            return array[:, np.delete(np.arange(array.shape[1]), self._places(array))]
        return array

    def _places(self, array: Array) -> list[int]:
        """The columns of an array (n, p) that hold the groups; raises InputError for those that are not there."""
        places = []
        for given in _listed(self.sensitive):
            if not isinstance(given, numbers.Integral):
                raise InputError(
                    "sensitive", f"X has no column {given!r}: it has no names", "give positions, or a table"
                )
            if not -array.shape[1] <= given < array.shape[1]:
                raise InputError("sensitive", f"X has no column {given}", f"it has {array.shape[1]} columns")
            places.append(int(given) % array.shape[1])
        return places

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        """The groups of the rows, as `streed.solve` takes them."""
        if sensitive_features is not None:
            return sensitive_features
        named = _listed(self.sensitive)
        if not named:
            raise InputError(ROW_DATA, "there are none", "give the group of each row, or name columns: sensitive=")
        X = readable(X)
        if isinstance(X, Table):
            columns: Any = dict(zip(X.all_names, X.columns, strict=True))
        elif hasattr(X, "columns"):
            frame = nw.from_native(X, eager_only=True)
            columns = {name: frame[name] for name in frame.columns}
        else:
            array = _array(X)
            array = array.toarray() if hasattr(array, "toarray") else array
            if array.shape[1:] == (getattr(self, "n_features_in_", None),):
                found = f"X has only the {array.shape[1]} columns that the tree asks about"
                raise InputError(ROW_DATA, found, "give the group of each row, or X with the columns of the groups")
            return {f"x{j}": array[:, j] for j in self._places(array)} if array.ndim == 2 else None
        absent = [name for name in named if name not in columns]
        if absent:
            raise InputError("sensitive", f"X has no column {absent[0]!r}", "name columns of X")
        return {name: columns[name] for name in named}

    def _notion(self, data: Dataset) -> Fairness:
        notion = self.notion
        if isinstance(notion, Fairness):
            return notion
        made: Fairness = find_notion(notion).made_by(data.row_data[ROW_DATA].dtype.names)
        return made


def _listed(sensitive: Any) -> list[Any]:
    if sensitive is None:
        return []
    if isinstance(sensitive, (str, numbers.Integral)):
        return [sensitive]
    if not isinstance(sensitive, Iterable):
        raise InputError("sensitive", brief(sensitive), "give the name or position of a column of X, or several")
    return list(sensitive)


def _array(X: Any) -> Array:
    """X as an array, of nested lists too, or a sparse matrix."""
    return X if isinstance(X, np.ndarray) or hasattr(X, "tocsr") else np.asarray(as_array(X))
