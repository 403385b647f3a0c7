"""From a raw table to a tree in production: tune, solve fairly, draw, save, export; `python examples/to_production.py`.

It needs pandas and the extras `sklearn` and `onnx`.
"""

import pickle

import pandas as pd
from onnxruntime import InferenceSession
from sklearn.model_selection import GridSearchCV, train_test_split

from streed import Tree
from streed.datasets import load
from streed.estimators import FairTreeClassifier, OptimalTreeClassifier
from streed.export import onnx_inputs, to_json, to_onnx, to_sql
from streed.plot import tree_svg


def main() -> None:
    """Goes all the way, and prints what was found at each step."""
    # 1. A raw table. The tree must be right of women and men alike, and not ask for the gender.
    table = pd.DataFrame(load("berkeley").table)
    y, sex = table.pop("admitted"), table.pop("gender")
    X, X_test, y, y_test, sex, sex_test = train_test_split(table, y, sex, test_size=0.3, random_state=0, stratify=y)

    # 2. How large should the tree be? Depths and prices of a node are compared on rows held out.
    grid = {"max_depth": [1, 2, 3], "cost_complexity": [0, 0.01, 0.03]}
    tuned = GridSearchCV(OptimalTreeClassifier(), grid).fit(X, y)
    print(f"tuned: {tuned.best_params_}, {tuned.score(X_test, y_test):.3f} of the test rows are right")

    # 3. The best tree, with the same parameters, whose rates of errors differ by 5 % at most.
    fair = FairTreeClassifier("error-rate-parity", 0.05, **tuned.best_params_)
    fair.fit(X, y, sensitive_features=sex)
    rates = fair.group_rates(X_test, y_test, sensitive_features=sex_test)["errors"]
    print(f"fair: gap {fair.gap_between_groups_:.3f}, proved optimal: {fair.optimal_}")
    print(f"on the test rows: {fair.score(X_test, y_test):.3f} right, rates {rates}")

    # 4. A picture, a pickle for Python, JSON for everybody else, SQL for a database, ONNX for other runtimes.
    print(f"{tree_svg(fair, title='who is admitted')[:4]} ...\n{to_sql(fair, 'applicants')}")
    expected = fair.predict(X_test)
    assert (pickle.loads(pickle.dumps(fair)).predict(X_test) == expected).all()
    assert (Tree.from_json(to_json(fair)).predict(X_test) == expected).all()
    session = InferenceSession(to_onnx(fair).SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(["prediction"], onnx_inputs(fair, X_test))[0]
    print(f"after pickle, JSON and ONNX the same: {(found == expected).all()}")


if __name__ == "__main__":
    main()
