"""A tree in a file: JSON by `streed/tree/tree.schema.json`, lossless, and checked when read.

Labels, categories, costs and values are written as parameters of tasks are (`streed.data.strict_json.describe`).
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from streed.data import Column, Cut
from streed.data.column import MOST_CATEGORIES
from streed.data.database import Roles
from streed.data.ordered import Kind
from streed.data.questions import TableRecipe
from streed.data.single_values import FIRST, LAST
from streed.data.strict_json import describe, parse, rebuild
from streed.errors import InputError
from streed.exact import Range
from streed.tree import Tree
from streed.tree.nodes import Claims, FlatBranch, FlatNode, Leaf, depth_of, flatten, nest, walk

FORMAT, VERSION = "streed.tree", 7
DEEPEST = 2_000
"""Levels of a saved tree: as text, a deeper one has more blanks than a file should."""


def schema() -> dict[str, Any]:
    """The published JSON schema of a saved tree."""
    text = importlib.resources.files("streed.tree").joinpath("tree.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def dump(tree: Tree, indent: int | None = None) -> str:
    """The tree and its claims as JSON.

    Raises InputError for labels, categories, names or numbers that JSON cannot hold, and for more than 2,000 levels.
    """
    Range(0, whole=True, optional=True).read("indent", indent)
    if tree.depth > DEEPEST:
        raise InputError("tree", f"it has {tree.depth} levels", f"a file holds trees of up to {DEEPEST:,}")
    shown = None if tree.shown is None else iter(tree.shown)
    nodes: list[dict[str, Any]] = []
    for node in flatten(tree.root):
        if isinstance(node, FlatBranch):
            branch = {"column": int(node.column), "children": list(node.children), "rows": int(node.rows)}
            cut = node.cut
            nodes.append(branch | ({"threshold": describe(cut.threshold), "gaps": cut.gaps} if cut else {}))
            continue
        leaf = {"label": int(node.label), "rows": int(node.rows), "cost": describe(node.cost)}
        nodes.append(leaf | ({} if shown is None else {"shows": describe(next(shown))}))
    document = {
        "format": FORMAT,
        "version": VERSION,
        "n_columns": tree.n_columns,
        "columns": [{"index": int(j), **_held_column(column)} for j, column in sorted(tree.columns.items())],
        "labels": describe(tree.labels),
        "nodes": nodes,
        "claims": None if tree.claims is None else _claims(tree.claims),
    }
    if tree.recipe is not None:
        columns = list(map(_held_column, tree.recipe.columns))
        document["recipe"] = attrs.asdict(tree.recipe, recurse=False) | {"columns": columns}
    text = json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)
    if text != text.encode(errors="ignore").decode():
        raise InputError("labels", "a label or name has half of a character", "use texts of whole characters")
    return text


def load(text: str) -> Tree:
    """The tree that `dump` wrote; raises InputError that says where `text` is no such tree.

    Nothing that the file names is opened or run; `streed.data.strict_json` says what no file may hold.
    """
    document = _parse(text)
    nodes, n_columns, held = document["nodes"], document["n_columns"], document["columns"]
    columns = {entry["index"]: _column_of(entry, f"$.columns[{place}]") for place, entry in enumerate(held)}
    labels = _distinct(document["labels"], "$.labels")
    absent = [j for j in columns if j >= n_columns]
    _refuse(
        "$.columns",
        (len(columns) < len(held), "two of them have the same index"),
        (len({column.name for column in columns.values()}) < len(columns), "two of them have the same name"),
        (absent, f"the index {max(absent, default=0)}, and n_columns is {n_columns}"),
    )
    _check_structure(nodes, columns, len(labels), n_columns)
    flat: list[FlatNode] = [
        FlatBranch(node["column"], tuple(node["children"]), node["rows"], _cut_of(node, columns[node["column"]], where))
        if "column" in node
        else Leaf(node["label"], node["rows"], _exact(node["cost"], where))
        for node, where in ((node, f"$.nodes[{place}]") for place, node in enumerate(nodes))
    ]
    root, shown = nest(flat), None
    _refuse("$.nodes", (depth_of(root) > DEEPEST, f"more than {DEEPEST:,} levels"))
    if any("shows" in node for node in nodes):
        places = nest([attrs.evolve(x, label=at) if isinstance(x, Leaf) else x for at, x in enumerate(flat)])
        leaves = [nodes[leaf.label] for leaf in walk(places) if isinstance(leaf, Leaf)]
        shown = tuple(_exact(leaf["shows"], "$.nodes: shows") for leaf in leaves)
    claims = document["claims"]
    if claims is not None:
        beyond = (claims.get("positive") or 0) >= len(labels)
        _refuse("$.claims.positive", (beyond, f"no number of one of {len(labels)} labels"))
        bounds = {name: _exact(claims[name], f"$.claims.{name}") for name in ("value", "lower_bound", "upper_bound")}
        if roles := claims["roles"]:
            named = {name: x if isinstance(x, str) else tuple(x) for name, x in roles["columns"].items()}
            roles = Roles((), named, tuple(roles["categorical"]))
        claims = Claims(**{**claims, **bounds, "roles": roles})
    recipe = _table_recipe(document["recipe"], columns, n_columns) if "recipe" in document else None
    return Tree(root, columns, n_columns, labels, shown, claims, recipe)


def _parse(text: str) -> dict[str, Any]:
    import jsonschema

    document = parse(text, "tree", REMEDY)
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(document, dict) and document.get("format") == FORMAT and version != VERSION:
        remedy = f"this streed reads version {VERSION}: grow the tree again"
        raise InputError("tree", f"version {version!r}"[:80], remedy)
    # A few errors tell enough of a file that is wrong everywhere.
    worst = jsonschema.exceptions.best_match(itertools.islice(_validator().iter_errors(document), 20))
    if worst is not None:
        said = worst.message if len(worst.message) <= 200 else worst.message[:200] + "..."
        raise _broken(worst.json_path[:200], said)
    checked: dict[str, Any] = document
    return checked


@functools.cache
def _validator() -> Any:
    """Of the schema, for which a whole number is an int: 1.0 is none, though JSON Schema says that it is."""
    import jsonschema

    plain = jsonschema.Draft202012Validator
    types = plain.TYPE_CHECKER.redefine("integer", lambda _, x: isinstance(x, int) and not isinstance(x, bool))
    return jsonschema.validators.extend(plain, type_checker=types)(schema())


def _check_structure(nodes: list[dict[str, Any]], columns: dict[int, Column], n_labels: int, n_columns: int) -> None:
    """Raises InputError unless the nodes are one tree, parents first, over these columns and labels."""
    for place, node in enumerate(nodes):
        here = f"$.nodes[{place}]"
        if "column" not in node:
            _refuse(here, (node["label"] >= n_labels, f"label {node['label']} of {n_labels}"))
            continue
        column, children = columns.get(node["column"]), node["children"]
        if column is None or node["column"] >= n_columns:
            raise _broken(here, f"column {node['column']} is not described")
        wanted = len(column.categories) if column.multiway else 2
        early = [child for child in children if not place < child < len(nodes)]
        _refuse(
            here,
            (len(children) != wanted, f"{len(children)} children for column {column.name[:40]!r}"),
            (early, f"child {max(early, default=0)} does not come after it"),
        )
    parents = Counter(child for node in nodes for child in node.get("children", ()))
    for place in range(len(nodes)):
        _refuse(f"$.nodes[{place}]", (parents[place] != (place > 0), f"it has {parents[place]} parents"))
    mixed = {"shows" in node for node in nodes if "column" not in node}
    _refuse("$.nodes", (len(mixed) > 1, "some leaves say what they show and some do not"))


def _claims(claims: Claims) -> dict[str, Any]:
    task = claims.task if isinstance(claims.task, dict) else describe(claims.task)
    held = attrs.asdict(claims, recurse=False) | {"task": task}
    if claims.roles is not None:
        held["roles"] = attrs.asdict(claims.roles, filter=attrs.filters.exclude("features"))
    return held | {name: describe(held[name]) for name in ("value", "lower_bound", "upper_bound")}


def _table_recipe(held: dict[str, Any], columns: Mapping[int, Column], n_columns: int) -> TableRecipe:
    """The recipe; raises InputError unless it makes the columns that the tree asks about."""
    recipes = tuple(_column_of(entry, f"$.recipe.columns[{j}]") for j, entry in enumerate(held["columns"]))
    for j, column in enumerate(recipes):
        wide = column.one_hot and column.scale is None and len(column.known) >= MOST_CATEGORIES - 1
        named = [output.name for output in column.outputs]
        _refuse(
            f"$.recipe.columns[{j}]",
            (not column.one_hot and column.scale is not None, "an ordered column without questions"),
            (wide, "too many questions"),
            (len(set(named)) < len(named), "two questions of the same name"),
        )
    made = TableRecipe(recipes, held["unseen"])
    outputs, names = made.outputs, {column.name for column in recipes}
    other = len(outputs) != n_columns or any(outputs[j] != column for j, column in columns.items())
    _refuse(
        "$.recipe.columns",
        (len(names) < len(recipes), "two of them are of the same column"),
        (other, "they do not make the columns that the tree asks about"),
    )
    return made


def _exact(x: Any, where: str) -> Any:
    """What `describe` wrote; raises InputError that says where it is no such thing."""
    try:
        return rebuild(x)
    except InputError as error:
        raise _broken(where, error.found) from None


REMEDY = "give what Tree.to_json wrote"
"""For whoever gives another file."""


def _broken(where: str, found: str) -> InputError:
    """The error for a place in the file and what is wrong there."""
    return InputError("tree", f"{where}: {found}", REMEDY)


def _refuse(where: str, *rules: tuple[Any, str]) -> None:
    """Raises InputError by the first rule that is broken: (whether it is, what is wrong)."""
    for is_broken, found in rules:
        if is_broken:
            raise _broken(where, found)


def _distinct(held: list[Any], where: str) -> tuple[Any, ...]:
    """The labels or categories, no two of which are equal (as 1, 1.0 and true are)."""
    found = tuple(each if isinstance(each, int) else _exact(each, where) for each in held)  # of any number of digits
    _refuse(where, (len(set(found)) < len(found), "two of them are equal"))
    return found


SPANS: dict[Any, tuple[float, float]] = {
    Kind.DATE: (FIRST, LAST),
    Kind.TIME: (0, 24 * 3600 * 10**6 - 1),
    Kind.DURATION: (1 - 2**63, 2**63 - 1),
}
"""The microseconds that times may have."""


def _held_column(column: Column) -> dict[str, Any]:
    """What a file says of a column."""
    held = attrs.asdict(column, recurse=False)
    return {name: describe(x) for name, x in held.items() if x or name in ("name", "categories", "multiway")}


def _column_of(entry: Mapping[str, Any], where: str) -> Column:
    """What `_held_column` was given; raises InputError where the entry contradicts itself."""
    categories = _distinct(entry["categories"], f"{where}.categories")
    scale = Kind(entry["scale"]) if "scale" in entry else None
    thresholds = _exact(entry.get("thresholds", []), where)
    held = {name: value for name, value in entry.items() if name != "index"}
    column = Column(**{**held, "categories": categories, "scale": scale, "thresholds": thresholds})
    for threshold in thresholds:
        _check_threshold(threshold, column, where)
    n, falls = len(categories), any(later <= first for first, later in itertools.pairwise(thresholds))
    few = column.usual >= max(n, 1) or (scale is None and column.has_gaps + column.other > n)
    said = "children for gaps or for other values that there are not"
    _refuse(where, (few, said), (falls, "the thresholds do not ascend"))
    return column


def _cut_of(node: Mapping[str, Any], column: Column, where: str) -> Cut | None:
    """The cut of a branch, None of a branch on a column that is not ordered."""
    is_cut = "threshold" in node
    said = f"{'a' if is_cut else 'no'} threshold for column {column.name[:40]!r}"
    _refuse(where, (is_cut != (column.scale is not None), said))
    if not is_cut:
        return None
    threshold = _exact(node["threshold"], f"{where}.threshold")
    if threshold is not None:
        _check_threshold(threshold, column, where)
    return Cut(threshold, node["gaps"])


def _check_threshold(threshold: Any, column: Column, where: str) -> None:
    """Raises InputError for a number that the values of the column are never compared with."""
    spans = {**SPANS, Kind.CATEGORY: (0, len(column.categories) - 1)}
    least, most = spans.get(column.scale, (-math.inf, math.inf))
    number = isinstance(threshold, int) or (column.scale is Kind.NUMBER and isinstance(threshold, float))
    fits = number and least <= threshold <= most
    _refuse(where, (not fits, f"no threshold of the {column.kind.value} column {column.name[:40]!r}"))
