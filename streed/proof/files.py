"""The files of a proof that a solve is to write: decided on before the search, written behind it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, final

import attrs

from streed.data import Dataset
from streed.errors import InputError
from streed.progress import reporter
from streed.proof.proving import prove_statement
from streed.proof.statement import Statement
from streed.task import Task
from streed.tree import Tree


@final
@attrs.frozen(eq=False)
class ProofFiles:
    """Where a proof is to be written, and what it says of whichever tree is found."""

    proof: Path
    table: Path
    """Beside it, of the same name with `.csv`."""
    statement: Statement
    time_limit: float | None
    """Seconds for the prover."""

    @classmethod
    def of(
        cls, path: Any, task: Task, data: Dataset, limits: tuple[int | None, int, int | None], time_limit: float | None
    ) -> ProofFiles:
        """Files of a path; `limits` are max_depth, min_leaf and max_nodes.

        Raises InputError where they cannot be written, InputError or TaskError where nothing could be proved: before
        anything is searched.
        """
        if not isinstance(path, (str, Path)):
            raise InputError("proof", f"a {type(path).__name__} is no path", "give the name of a file")
        proof = Path(path)
        if not proof.parent.is_dir():
            raise InputError("proof", f"there is no directory {str(proof.parent)!r}", "make it first")
        if proof.is_dir() or proof.suffix == ".csv":
            raise InputError("proof", f"{str(proof)!r} is a directory, or a table by its name", "use the suffix .proof")
        return cls(proof, proof.with_suffix(".csv"), Statement.of(task, data, *limits), time_limit)

    def write(self, tree: Tree) -> dict[str, Any]:
        """Proves the tree and writes both files; what `stats` have of it."""
        made = prove_statement(self.statement, tree, self.time_limit, time.monotonic(), reporter(None))
        made.save(self.proof, self.table)
        command = ["streed", "check-proof", str(self.proof), str(self.table), *made.arguments]
        numbers = {"bound": made.bound, "cost": made.cost, "claims": made.claims, "bytes": len(made.data)}
        return {"optimal": made.optimal, **numbers, "seconds": made.seconds, "check": command}
