"""From a raw CSV file to a tree in production: read, tune, solve fairly, draw, save and load.

Run it with `python examples/from_csv_to_production.py [FOLDER]`; its files go to the folder, or to a temporary one. It
needs pandas and the extra `sklearn` (`pip install pandas 'streed[sklearn]'`), and says so where they are missing.
"""

from __future__ import annotations

import csv
import importlib.util
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS = 600


def write_loans(path: Path) -> None:
    """A made-up table of loans: numbers, texts, a date, and gaps; older debts and missing incomes are repaid less."""
    rng = np.random.default_rng(2024)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["applicant", "sex", "age", "income", "job", "debts", "since", "repaid"])
        for number in range(ROWS):
            sex = str(rng.choice(["f", "m"]))
            age = int(rng.integers(20, 75))
            income = round(float(rng.lognormal(3.4 if sex == "m" else 3.2, 0.4)), 1)
            known = rng.random() > 0.15
            job = str(rng.choice(["clerk", "farmer", "nurse", "smith"], p=[0.4, 0.2, 0.25, 0.15]))
            debts = int(rng.poisson(1.2))
            since = f"20{rng.integers(10, 25)}-{rng.integers(1, 13):02}-{rng.integers(1, 28):02}"
            chance = 0.15 + 0.7 * (income > 24) - 0.4 * (debts > 2) - 0.2 * (not known) + 0.1 * (job == "nurse")
            repaid = "yes" if rng.random() < np.clip(chance, 0.03, 0.97) else "no"
            rows.writerow([f"A{number:04}", sex, age, income if known else "", job, debts, since, repaid])


def main(folder: Path) -> None:
    """Goes all the way, and prints what was found at each step."""
    import pandas as pd
    from sklearn.model_selection import GridSearchCV, train_test_split

    from streed import Tree
    from streed.estimators import FairTreeClassifier, OptimalTreeClassifier
    from streed.export import onnx_inputs, to_json, to_onnx, to_sql
    from streed.plot import tree_svg

    # 1. A raw file. The tree must treat the sexes alike, and must not ask about them.
    write_loans(folder / "loans.csv")
    table = pd.read_csv(folder / "loans.csv")
    y, sex = table.pop("repaid"), table.pop("sex")
    X, X_test, y, y_test, sex, sex_test = train_test_split(table, y, sex, test_size=0.3, random_state=0, stratify=y)

    # 2. How large should the tree be? Depths and prices of a node are compared on rows held out.
    grid = {"max_depth": [1, 2, 3], "cost_complexity": [0, 0.01, 0.03]}
    tuned = GridSearchCV(OptimalTreeClassifier(cuts=6), grid).fit(X, y)
    print(f"\ntuned: {tuned.best_params_}, {tuned.score(X_test, y_test):.3f} of the test rows are right")
    print(tuned.best_estimator_.to_text())

    # 3. The best tree, with the same parameters, whose rates of favourable answers differ by 2 % at most.
    fair = FairTreeClassifier(limit=0.02, cuts=6, **tuned.best_params_)
    fair.fit(X, y, sensitive_features=sex)
    rates = fair.group_rates(X_test, sensitive_features=sex_test)["all"]
    print(f"\nfair: gap {fair.gap_between_groups_:.3f}, proved optimal: {fair.optimal_}")
    shown = ", ".join(f"{group} {rate:.3f}" for group, rate in rates.items())
    print(f"on the test rows: {fair.score(X_test, y_test):.3f} right, rates {shown}")
    print(fair.to_text())

    # 4. Pictures: the tree, as a file that any browser shows.
    (folder / "tree.svg").write_text(tree_svg(fair, title="who gets a loan"), encoding="utf-8")

    # 5. Into production: a pickle for Python, JSON for everybody else, SQL for a database.
    (folder / "tree.pickle").write_bytes(pickle.dumps(fair))
    (folder / "tree.json").write_text(to_json(fair, indent=1), encoding="utf-8")
    sql = to_sql(fair, "loans")
    (folder / "tree.sql").write_text(sql + "\n", encoding="utf-8")
    expected = fair.predict(X_test)
    again = pickle.loads((folder / "tree.pickle").read_bytes())
    read = Tree.from_json((folder / "tree.json").read_text(encoding="utf-8"))
    print(f"\npredictions after pickle are the same: {(again.predict(X_test) == expected).all()}")
    print(f"after JSON: {(read.predict(X_test) == expected).all()}")
    print(f"in SQL:\n{sql}")

    # 6. ONNX, for runtimes in other languages: to a model and back.
    if any(importlib.util.find_spec(needed) is None for needed in ("onnx", "onnxruntime")):
        print("skipped: ONNX needs pip install 'streed[onnx]' onnxruntime")
        return
    import onnxruntime

    (folder / "tree.onnx").write_bytes(to_onnx(fair).SerializeToString())
    session = onnxruntime.InferenceSession(folder / "tree.onnx", providers=["CPUExecutionProvider"])
    found = session.run(["prediction"], onnx_inputs(fair, X_test))[0]
    print(f"after ONNX: {(found == expected).all()}")


if __name__ == "__main__":
    if any(importlib.util.find_spec(needed) is None for needed in ("sklearn", "pandas")):
        print("skipped: it needs pandas and scikit-learn, pip install pandas 'streed[sklearn]'")
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
