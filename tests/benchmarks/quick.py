"""What small solves cost, nearly all of which is what is done beside the search: 150 rows of 12 columns.

Processor time, the median of many calls, each after one of its kind. `--against` names a folder with another streed in
it, such as a worktree of an older commit: the two take turns, a process each, and must give the same values, else the
exit code is 1. Whether a library of prebuilt code is used is as ever, by what lies where (`python -m streed.prebuild`).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks import harness


def main(arguments: list[str] | None = None) -> int:
    """1 if the two give different values, else 0."""
    parser = harness.parser("quick", __doc__, data=False)
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="where another streed is")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="processes of each (default: 3)")
    parser.add_argument("--turns", type=int, default=20, metavar="N", help="of five calls in a process (default: 20)")
    options = parser.parse_args(arguments)
    if options.against is not None and not (options.against / "streed").is_dir():
        harness.fail(f"--against: there is no folder {options.against / 'streed'}")
    record: harness.Record = {"benchmark": "quick", "machine": harness.start(options)}
    folders = {"before": options.against, "now": harness.ROOT}
    said: dict[str, list[Any]] = {name: [] for name, folder in folders.items() if folder is not None}
    for _ in range(options.rounds):
        for name, found in said.items():
            found.append(_run(folders[name], options.turns))
    record["prebuilt"] = not any(each["compiled"] for each in said["now"])
    record["rows"] = [_row(name, said) for name in said["now"][0]["solves"]]
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["agrees"] for row in record["rows"]) else harness.MISSED


def _run(folder: Path, turns: int) -> Any:
    """What a process with the streed of a folder says."""
    script = Path(__file__).with_name("quick_solves.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(turns)],
        env={**os.environ, "PYTHONPATH": str(folder.resolve())},
        stdout=subprocess.PIPE,
        check=True,
        timeout=3600,
    )
    return json.loads(done.stdout)


def _row(name: str, said: dict[str, list[Any]]) -> harness.Record:
    """What was found of a solve."""
    runs = {version: [each["solves"][name] for each in found] for version, found in said.items()}
    answers = {run["answer"] for found in runs.values() for run in found}
    seconds = {version: min(statistics.median(run["seconds"]) for run in found) for version, found in runs.items()}
    return {"solve": name, "seconds": seconds, "answers": sorted(answers), "agrees": len(answers) == 1}


def render(record: harness.Record) -> str:
    """The table, and what it comes to."""
    body = []
    for row in record["rows"]:
        before, now = row["seconds"].get("before"), row["seconds"]["now"]
        ratio = "-" if before is None else f"{before / now:.2f}"
        value = row["answers"][0] if row["agrees"] else f"MISMATCH {row['answers']}"
        body.append([row["solve"], value, _shown(before), _shown(now), ratio])
    code = "Prebuilt code." if record["prebuilt"] else "Compiled code."
    return f"{code}\n\n{harness.table(['solve', 'value', 'before ms', 'now ms', 'ratio'], body)}"


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.3f}"


if __name__ == "__main__":
    sys.exit(main())
