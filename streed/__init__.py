"""Provably optimal decision trees for the objective that you declare.

The public names are loaded when first used, so that `import streed` costs next to nothing: the engine compiles, and
tables need their libraries, only when a solve asks for them.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streed.cluster import Distributed
    from streed.data import Dataset
    from streed.drivers import Branches, DepthFirst
    from streed.errors import InputError, MismatchError, NotSeparableError, StreedError, TaskError
    from streed.estimators.binarizer import Binarizer
    from streed.rashomon import RashomonSet, rashomon
    from streed.result import Progress, Result
    from streed.solve import improve, solve
    from streed.task import GeneralTask, Limit, RowCostTask, State, Task
    from streed.task.algebra import maximize, minimize
    from streed.task.analysis.facts import explain
    from streed.tree import Tree

__version__ = "0.1.0"

__all__ = ["Binarizer", "Branches", "Dataset", "DepthFirst", "Distributed", "GeneralTask", "InputError", "Limit"]
__all__ += ["MismatchError", "NotSeparableError", "Progress", "RashomonSet", "Result", "RowCostTask", "State"]
__all__ += ["StreedError", "Task", "TaskError", "Tree", "__version__", "explain", "improve", "maximize", "minimize"]
__all__ += ["rashomon", "solve"]

_FILES = {
    "estimators": "Binarizer",
    "drivers": "Branches DepthFirst",
    "data": "Dataset",
    "cluster": "Distributed",
    "task": "GeneralTask Limit RowCostTask State Task",
    "errors": "InputError MismatchError NotSeparableError StreedError TaskError",
    "rashomon": "RashomonSet rashomon",
    "result": "Progress Result",
    "tree": "Tree",
    "task.analysis.facts": "explain",
    "solve": "improve solve",
    "task.algebra": "maximize minimize",
}
_HOMES = {name: f"streed.{file}" for file, names in _FILES.items() for name in names.split()}

_SUBMODULES = ("datasets", "errors", "estimators", "export", "plot", "proof", "report", "tasks", "testing")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = found
        return found
    if name in _SUBMODULES:
        return importlib.import_module(f"streed.{name}")
    raise AttributeError(f"module 'streed' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})


class _Package(types.ModuleType):
    """The package as a module on which `streed.solve` and `streed.rashomon` stay the functions.

    Importing the submodule `streed.solve` makes Python assign that module to the package's attribute `solve`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("rashomon", "solve") and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name, so that functions that use the package reach workers: cloudpickle knows plain modules only."""
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
