"""A tree as an ONNX model that reads raw columns: numbers, texts, dates and gaps.

The graph finds the number of each row's leaf from the leaves up, where a question chooses among the leaves of its
children, and looks up what that leaf shows. Comparisons of numbers are in double precision.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data.column import numbers_like, raw_columns
from streed.data.ordered import TIMES, Kind
from streed.data.reading import Values
from streed.data.table import read_input
from streed.errors import InputError, MissingPackageError
from streed.exact import Array, as_objects
from streed.export.questions import AT_MOST, GAP, ONE_OF, PRESENT, Case, Question, plan
from streed.tree import Seen, told, tree_of

if TYPE_CHECKING:
    from onnx import ModelProto

NO_DATE = -(2**63)
"""A date or duration that is missing, as numpy's NaT."""

MOST_WHOLE = 2**53
"""Whole numbers from here on are not all doubles, and may be rounded to this one."""

_TIMES = tuple(kind.value for kind in TIMES)
_OPSET, _ML_OPSET, _IR = 17, 3, 8


def to_onnx(model: Any) -> ModelProto:
    """The graph of what the tree of `model` predicts: a tree, a result or a fitted estimator.

    Inputs are the columns of the raw table that the tree asks about, each (m, 1) under its name: numbers and truth
    values as double, NaN for a gap; texts as string, the empty text for a gap; dates as int64 microseconds since 1970
    (of UTC, where they have a zone), clock times and durations as int64 microseconds, -2**63 for a gap; a tree that
    asks nothing has one input, `X` (m, 1) double. Outputs: `prediction` (m,) and `leaf` (m,) int64, the leaf's number
    from left to right, or `prediction_` and `leaf_` beside a column of that name. A graph cannot refuse: a value that
    the tree has no answer to takes the branch of no, and where empty texts are a category, a gap is one of them. Raises
    InputError for labels that ONNX has no type for, and MissingPackageError without onnx.
    """
    try:
        import onnx
    except ModuleNotFoundError:
        raise MissingPackageError('to_onnx needs onnx: pip install "streed[onnx]"') from None
    tree = tree_of(model, "model")
    questions, graph = plan(tree), _Graph(onnx)
    asked = {question.place: question for question in questions.values()}
    inputs = {place: graph.input(question.column.name, _kind(question)) for place, question in asked.items()}
    # a leaf alone has to know how many rows there are
    leaf = _leaf(told(tree), questions, inputs or {0: graph.input("X", "number")}, graph)
    table = _labels(tree.shows())
    taken = {each.name for each in graph.inputs}
    shown, number = (name + "_" * (name in taken) for name in ("prediction", "leaf"))
    graph.add("Gather", [graph.constant(table), leaf], name=shown, axis=0)
    graph.add("Identity", [leaf], name=number)
    kind = onnx.helper.np_dtype_to_tensor_dtype(table.dtype) if table.dtype != object else onnx.TensorProto.STRING
    kinds = {shown: kind, number: onnx.TensorProto.INT64}
    outputs = [onnx.helper.make_tensor_value_info(name, each, [None]) for name, each in kinds.items()]
    made = onnx.helper.make_graph(graph.nodes, "streed", graph.inputs, outputs, graph.constants)
    versions = [onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    built: ModelProto = onnx.helper.make_model(made, opset_imports=versions, producer_name="streed", ir_version=_IR)
    onnx.checker.check_model(built)
    return built


def onnx_inputs(model: Any, X: Any) -> dict[str, Array]:
    """The inputs of `to_onnx(model)` for the rows of a raw table, by name, as arrays of their types.

    Raises InputError for columns that are not there and for values of other types.
    """
    tree = tree_of(model, "model")
    asked = {question.place: question for question in plan(tree).values()}
    if not asked:
        return {"X": np.zeros((read_input(X).shape[0], 1))}
    recipe = tree.recipe
    names = [f"x{j}" for j in range(tree.n_columns if recipe is None else len(recipe.columns))]
    for place, question in asked.items():
        names[place] = question.column.name
    _, read = raw_columns(X, names, asked)
    return {question.column.name: _held(question, read(place))[:, None] for place, question in asked.items()}


def _held(question: Question, raw: Values) -> Array:
    """(m,) a raw column as the graph takes it."""
    kind = _kind(question)
    if kind == "text":
        return as_objects(["" if value is None else str(value) for value in raw.as_categories()])
    if raw.kind is Kind.CATEGORY and not any(isinstance(value, str) for value in raw.order or ("",)):
        raw = Values(Kind.NUMBER, np.array([0.0 if value is None else value for value in raw.values]), raw.gaps)
    numbers = numbers_like(question.column.name, Kind(kind), raw, question.column.zone)
    if kind in _TIMES:
        return np.where(raw.missing, NO_DATE, numbers.astype(np.int64))
    return np.where(raw.missing, np.nan, numbers).astype(np.float64)


class _Graph:
    """The nodes and constants of a graph that is being built; equal ones are there once."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self._made: dict[Any, str] = {}

    def add(self, operator: str, given: Sequence[str], *, name: str | None = None, **attributes: Any) -> str:
        """The name of the operator's result."""
        key = (operator, *given, name, str(attributes))
        if key not in self._made:
            self._made[key] = f"/{operator}_{len(self.nodes)}" if name is None else name
            domain = "ai.onnx.ml" if operator == "LabelEncoder" else ""
            made = [self._made[key]]
            self.nodes.append(self.onnx.helper.make_node(operator, list(given), made, domain=domain, **attributes))
        return self._made[key]

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of a constant."""
        held = np.asarray(value, dtype=dtype)
        key = (str(held.tolist()), str(held.dtype))
        if key not in self._made:
            name = self._made[key] = f"/constant_{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(held, name))
        return self._made[key]

    def input(self, name: str, kind: str) -> str:
        """The name of an input (m, 1)."""
        types = self.onnx.TensorProto
        held = {"number": types.DOUBLE, "text": types.STRING, **dict.fromkeys(_TIMES, types.INT64)}[kind]
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, held, [None, 1]))
        return name


def _kind(question: Question) -> str:
    """Whether the column's values are numbers, texts, dates or durations."""
    if question.column.kind in TIMES:
        return question.column.kind.value
    if question.column.kind in (Kind.NUMBER, Kind.BOOLEAN):
        return "number"
    values = question.column.known
    if values and all(isinstance(value, numbers.Real) for value in values):
        return "number"
    if all(isinstance(value, str) for value in values):
        return "text"
    types = ", ".join(sorted({type(value).__name__ for value in values}))
    found = f"column {question.column.name!r} has values of the types {types}"
    raise InputError("tree", found, "use texts or numbers alone")


def _leaf(nodes: list[Seen], questions: Mapping[int, Question], inputs: dict[int, str], graph: _Graph) -> str:
    """The number of each row's leaf, (m,) int64: from the leaves up, what a question chooses of its children's."""
    found: dict[int, str] = {}

    def child(place: int) -> str:
        return found[place] if place in found else graph.constant([nodes[place].leaves])

    asked: dict[int, Question] = {}  # those that rows come to
    reached = {0}
    for place, question in questions.items():
        if place in reached:
            asked[place], below = question, nodes[place].children
            reached |= {below[question.rest], *(below[each.child] for each in question.order)}
    for place, question in reversed(asked.items()):
        if _kind(question) == "text":
            _check_gaps(question)
        values, below = inputs[question.place], nodes[place].children
        chosen = child(below[question.rest])
        for case in reversed(question.order):  # what is looked up last stands
            chosen = graph.add("Where", [_holds(question, case, values, graph), child(below[case.child]), chosen])
        found[place] = chosen
    (some, *_) = inputs.values()
    rows = graph.add("Slice", [graph.add("Shape", [some]), *map(graph.constant, ([0], [1]))])
    flat = graph.add("Reshape", [child(0), graph.constant([-1])])
    return graph.add("Expand", [flat, rows])  # without a question, or a case, there is one leaf for all


def _holds(question: Question, case: Case, values: str, graph: _Graph) -> str:
    """Whether the case holds, (m, 1) bool."""
    kind = _kind(question)
    if case.relation == PRESENT:
        return graph.add("Not", [_holds(question, Case(0, GAP), values, graph)])
    if kind == "text":
        texts = [""] if case.relation == GAP else list(case.values)
        known: dict[str, Any] = {"keys_strings": texts, "values_int64s": [1] * len(texts), "default_int64": 0}
        return graph.add("Equal", [graph.add("LabelEncoder", [values], **known), graph.constant([[1]])])
    dtype = np.int64 if kind in _TIMES else np.float64
    large = [value for value in case.values if isinstance(value, int) and abs(value) >= MOST_WHOLE]
    if large and kind == "number":
        found = f"it asks about {large[0]}, which is not below 2**53"
        raise InputError("tree", found, "ONNX compares in double precision: give smaller numbers")
    if case.relation == GAP:
        if kind == "number":
            return graph.add("IsNaN", [values])
        return graph.add("Equal", [values, graph.constant([[NO_DATE]], np.int64)])
    if case.relation == ONE_OF:
        either, *others = (graph.add("Equal", [values, graph.constant([[each]], dtype)]) for each in case.values)
        for other in others:
            either = graph.add("Or", [either, other])
        return either
    limit = graph.constant([case.values], dtype)
    if case.relation != AT_MOST:
        return graph.add("Greater", [values, limit])
    below = graph.add("LessOrEqual", [values, limit])
    # A date that is missing is the least number.
    return below if kind == "number" else graph.add("And", [below, _holds(question, Case(0, PRESENT), values, graph)])


def _check_gaps(question: Question) -> None:
    """Raises InputError where a gap and the empty text, which stands for it, go to different children."""
    texts = {value: case.child for case in question.cases if case.relation == ONE_OF for value in case.values}
    gap = next((case.child for case in question.cases if case.relation == GAP), None)
    if any(case.relation == PRESENT for case in question.cases):
        gap = question.rest
    if gap is not None and texts.get("", gap) != gap:
        found = f"column {question.column.name!r} has gaps and empty texts, which go to different children"
        raise InputError("tree", found, "ONNX knows no gap among texts: give the empty ones another name")


def _labels(shows: Sequence[Any]) -> Array:
    """(leaves,) what the leaves show: int64, double, bool, or texts as objects."""
    kinds = [str if isinstance(each, str) else bool if isinstance(each, bool) else numbers.Number for each in shows]
    if set(kinds) == {str}:
        return as_objects(shows)
    if set(kinds) == {bool}:
        return np.array(shows)
    if bool not in kinds and all(isinstance(shown, numbers.Real) for shown in shows):
        whole = all(isinstance(shown, numbers.Integral) for shown in shows)
        return np.array(shows, dtype=np.int64) if whole else np.array([float(shown) for shown in shows])
    found = ", ".join(sorted({type(shown).__name__ for shown in shows}))
    raise InputError("tree", f"its labels are of the types {found}", "ONNX wants texts, numbers or truth values alone")
