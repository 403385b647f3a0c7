"""Two checkouts beside each other: the same instances of every family, solved by each in processes that take turns.

    python -m tests.benchmarks.versions ../old .

A checkout is a folder with `streed` in it, such as a worktree of an older commit. Of every instance the least processor
time of all processes of a version counts; a family shows the geometric mean of new / old, the most memory that a
process held, and the seconds until its first answer (the first instance of the family, with imports). Both versions
begin with an empty folder of compiled code in `--cache`, so the first process of a family compiles what the earlier
ones had not; `--cache FOLDER` keeps it for another run, whose first processes then compile nothing.

The exit code is 1 if an answer differs, or a family is more than 5 % slower by the geometric mean.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks import harness

SCRIPT = Path(__file__).with_name("versions_solves.py")

FAMILIES = (
    "accuracy, depth 3", "accuracy, depth 4", "accuracy, depth 5", "F1", "fairness", "fronts", "costs", "sparse",
    "tasks of one's own", "small calls",
)  # fmt: skip
"""Those of `versions_solves`, which is not imported here: it is for either checkout's streed."""

MOST = 1.05
"""New / old, the geometric mean of a family."""


def main(arguments: list[str] | None = None) -> int:
    """1 if an answer differs or a family is slower than it may be, else 0."""
    parser = harness.parser("versions", __doc__)
    parser.add_argument("old", type=Path, help="a folder with streed in it")
    parser.add_argument("new", type=Path, help="another")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, metavar="NAME", default=list(FAMILIES))
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="processes of each (default: 3)")
    parser.add_argument("--budget", type=float, default=0.1, metavar="S", help="of an instance (default: 0.1)")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="of compiled code (default: a temporary one)")
    options = parser.parse_args(arguments)
    folders = {"old": options.old.resolve(), "new": options.new.resolve()}
    for folder in folders.values():
        if not (folder / "streed").is_dir():
            harness.fail(f"there is no folder {folder / 'streed'}")
    record: harness.Record = {"benchmark": "versions", "machine": harness.start(options), "rows": []}
    record["commits"] = {version: harness.commit(folder) for version, folder in folders.items()}
    with tempfile.TemporaryDirectory() as own:
        for family in options.families:
            runs: dict[str, list[Any]] = {version: [] for version in folders}
            for turn in range(options.rounds + 1):  # the first one compiles
                order = list(folders) if turn % 2 else list(folders)[::-1]
                for version in order:
                    cache = (options.cache or Path(own)) / version
                    runs[version].append(_run(folders[version], cache, family, options))
            record["rows"].append(row_of(family, runs))
            harness.note(f"{family}: new / old {record['rows'][-1]['ratio']:.3f}")
            if options.json is not None:  # a long run that is stopped leaves what it has
                options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def _run(folder: Path, cache: Path, family: str, options: Any) -> Any:
    """What a process with the streed of a folder says of a family."""
    cache.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-P", str(SCRIPT), family, str(options.data.resolve()), str(options.budget)],
        env={**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache.resolve())},
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    if done.returncode:
        harness.fail(f"{family}, {folder}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def row_of(family: str, runs: dict[str, list[Any]]) -> harness.Record:
    """What was found of a family: of each version its first process, and the least of the others."""
    row: harness.Record = {"family": family, "solves": {}}
    for name in runs["old"][0]["solves"]:
        least = {
            version: {key: min(run["solves"][name][key] for run in found[1:]) for key in ("cpu", "wall")}
            for version, found in runs.items()
        }
        said = {version: sorted({run["solves"][name]["answer"] for run in found}) for version, found in runs.items()}
        statuses = {version: found[-1]["solves"][name]["status"] for version, found in runs.items()}
        row["solves"][name] = {"least": least, "answers": said, "statuses": statuses}
    solves = row["solves"].values()
    for key, where in (("ratio", "cpu"), ("wall_ratio", "wall")):
        row[key] = harness.geometric_mean(
            [each["least"]["new"][where] / each["least"]["old"][where] for each in solves]
        )
    row["largest"] = max(each["least"]["new"]["cpu"] / each["least"]["old"]["cpu"] for each in solves)
    row["peak"] = {version: min(run["peak"] for run in found[1:]) for version, found in runs.items()}
    row["first"] = {version: found[0]["first_cpu"] for version, found in runs.items()}
    row["later"] = {version: min(run["first_cpu"] for run in found[1:]) for version, found in runs.items()}
    row["differs"] = [name for name, each in row["solves"].items() if len(set().union(*each["answers"].values())) > 1]
    row["holds"] = not row["differs"] and row["ratio"] <= MOST
    return row


def render(record: harness.Record) -> str:
    """The table, and the answers that differ."""
    heads = ["family", "solves", "CPU new / old", "largest", "wall new / old", "peak MB old", "new"]
    heads += ["first process CPU s old", "new", "later old", "new", "same answers"]
    lines = []
    for row in record["rows"]:
        cells = [row["family"], len(row["solves"]), f"{row['ratio']:.3f}", f"{row['largest']:.2f}"]
        cells += [f"{row['wall_ratio']:.3f}"]
        cells += [harness.megabytes(row["peak"][version]) for version in ("old", "new")]
        cells += [f"{row[key][version]:.2f}" for key in ("first", "later") for version in ("old", "new")]
        lines.append([*cells, harness.verdict(not row["differs"])])
    text = [f"Old: {record['commits']['old']}; new: {record['commits']['new']}.", harness.table(heads, lines)]
    for row in record["rows"]:
        text += [f"{row['family']}, {name}: {row['solves'][name]['answers']}" for name in row["differs"]]
    missed = [row["family"] for row in record["rows"] if row["ratio"] > MOST]
    return "\n\n".join([*text, *([f"Slower: {', '.join(missed)}."] if missed else [])])


if __name__ == "__main__":
    sys.exit(main())
