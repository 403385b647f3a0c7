"""Credit: a small tree for German credit that finds good payers among men and women at alike rates.

Data: H. Hofmann, Statlog (German Credit Data), UCI Machine Learning Repository, CC BY 4.0; `fairness/german-credit-*`
of the benchmarks, or `credit-g` of OpenML.
"""

from __future__ import annotations

from typing import Any

import streed
from examples.gallery.case import Absent, Options, read_names, read_numbers, read_options
from streed import plot
from streed.tasks import Accuracy, EqualOpportunity


def read(options: Options) -> streed.Dataset:
    """Applicants as 0/1 columns, whether they paid, and their sex."""
    try:
        rows = read_numbers(options.find("fairness/german-credit-binarized.csv")).astype(int)
    except Absent:
        return from_openml()
    names = read_names(options.find("fairness/german-credit-binarized-names.txt"))[1:]
    sex = ["male" if man else "female" for man in rows[:, 1]]
    paid = ["good" if good else "bad" for good in rows[:, 0]]
    return streed.Dataset.make(dict(zip(names, rows[:, 2:].T, strict=True)), paid, sensitive_features=sex)


def from_openml() -> streed.Dataset:
    """The same applicants from OpenML, binarised here, so that the numbers differ; raises Absent where offline."""
    try:
        from sklearn.datasets import fetch_openml

        found: Any = fetch_openml("credit-g", version=1, as_frame=True)
    except (ImportError, OSError) as reason:
        raise Absent(f"OpenML's credit-g cannot be had: {reason}") from None
    from streed.estimators import Binarizer

    sex = found.data["personal_status"].str.contains("female").map({True: "female", False: "male"})
    binarizer = Binarizer(n_thresholds=3)
    columns = binarizer.fit_transform(found.data.drop(columns="personal_status"))
    names = binarizer.get_feature_names_out().tolist()
    return streed.Dataset.make(columns, found.target.astype(str), names=names, sensitive_features=sex.tolist())


def run(options: Options) -> list[streed.Result]:
    """The optimal trees without and with a limit on the gap between true positive rates."""
    data = read(options)
    results = []
    for task in (Accuracy(), Accuracy().subject_to(EqualOpportunity() <= 0.01)):
        result = streed.solve(task, data, max_depth=3, time_limit=300)
        results.append(result)
        print(f"{result.value} of {data.n_rows} rows wrong, {result.status}")
    options.save("credit-tree.svg", plot.tree_svg(results[-1], data, title="Equal opportunity within 0.01"))
    options.save("credit-rates.svg", plot.rates_svg(plot.rates_of(results[-1], data)))
    return results


if __name__ == "__main__":
    run(read_options(__doc__))
