"""A tree in a file: JSON by `streed/tree/tree.schema.json`, lossless, and checked when read.

Numbers are exact: fractions are texts such as "3/958". Labels and categories carry their type, because readers in
other languages do not tell 1 from 1.0 and true.
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
import json
import math
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import attrs

from streed.binarize import ColumnRecipe, TableRecipe
from streed.data import Column, Cut
from streed.data.column import MOST_CATEGORIES
from streed.data.database import Roles
from streed.data.ordered import TIMES, Kind
from streed.data.strict_json import is_finite, parse
from streed.errors import InputError
from streed.tree.claims import Claims
from streed.tree.nodes import flatten, nest, worth
from streed.tree.stored_values import (
    REMEDY,
    broken,
    check_steps,
    column_of,
    cut_of,
    distinct,
    fraction,
    held_column,
    held_cut,
    is_time,
    plain,
    typed,
)
from streed.tree.tree import Tree

FORMAT, VERSION = "streed.tree", 4
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
    if tree.depth > DEEPEST:
        raise InputError("tree", f"it has {tree.depth} levels", f"a file holds trees of up to {DEEPEST:,}")
    shown = None if tree.shown is None else iter(tree.shown)
    nodes: list[dict[str, Any]] = []
    for first, second, third, *cut in flatten(tree.root):
        if isinstance(second, tuple):
            branch = {"column": int(first), "children": list(second), "rows": int(third)}
            nodes.append(branch | held_cut(cut, plain_value))
            continue
        leaf: dict[str, Any] = {"label": int(first), "rows": int(second), "cost": plain_value(worth(tree.unit, third))}
        if shown is not None:
            leaf["shows"] = typed(next(shown))
        nodes.append(leaf)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "n_columns": tree.n_columns,
        "columns": [{"index": int(j), **held_column(column)} for j, column in sorted(tree.columns.items())],
        "labels": [typed(label) for label in tree.labels],
        "nodes": nodes,
        "claims": None if tree.claims is None else _claims(tree.claims),
    }
    if tree.recipe is not None:
        held = [_held_recipe(recipe) for recipe in tree.recipe.columns]
        document["recipe"] = {"named": tree.recipe.named, "unseen": tree.recipe.unseen, "columns": held}
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def load(text: str) -> Tree:
    """The tree that `dump` wrote; raises InputError that says where `text` is no such tree.

    Nothing that the file names is opened or run; `streed.data.strict_json` says what no file may hold.
    """
    document = _parse(text)
    nodes = document["nodes"]
    columns = {
        entry["index"]: column_of(entry, f"$.columns[{place}]") for place, entry in enumerate(document["columns"])
    }
    labels = distinct(document["labels"], "$.labels")
    if len(columns) < len(document["columns"]):
        raise broken("$.columns", "two of them have the same index")
    if len({column.name for column in columns.values()}) < len(columns):
        raise broken("$.columns", "two of them have the same name")
    absent = [j for j in columns if j >= document["n_columns"]]
    if absent:
        raise broken("$.columns", f"the index {absent[0]}, and n_columns is {document['n_columns']}")
    _check_structure(nodes, columns, len(labels), document["n_columns"])
    flat: list[Any] = [
        (node["column"], tuple(node["children"]), node["rows"], *_cut(node, columns, place))
        if "column" in node
        else (node["label"], node["rows"], _exact(node["cost"], f"$.nodes[{place}].cost"))
        for place, node in enumerate(nodes)
    ]
    root = nest(flat)
    shown = None
    if any("shows" in node for node in nodes):
        shown = tuple(plain(node["shows"], "$.nodes: shows") for node in _leaves_in_order(nodes))
    claims = document["claims"]
    if claims is not None:
        bounds = {name: _exact(claims[name], f"$.claims.{name}") for name in ("value", "lower_bound", "upper_bound")}
        claims = Claims(**{**claims, **bounds, "roles": _roles(claims["roles"])})
    recipe = _table_recipe(document["recipe"], columns, document["n_columns"]) if "recipe" in document else None
    return Tree(root, columns, document["n_columns"], labels, 1, shown, claims, recipe)


def _parse(text: str) -> dict[str, Any]:
    import jsonschema

    document = parse(text, "tree", REMEDY)
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(document, dict) and document.get("format") == FORMAT and version != VERSION:
        found = f"its format has version {str(version)[:40]!r}" if isinstance(version, str) else f"version {version!r}"
        raise InputError("tree", found[:80], f"this streed reads version {VERSION}: grow the tree again")
    # A few errors tell enough of a file that is wrong everywhere.
    worst = jsonschema.exceptions.best_match(itertools.islice(_validator().iter_errors(document), 20))
    if worst is not None:
        said = worst.message if len(worst.message) <= 200 else worst.message[:200] + "..."
        raise broken(worst.json_path[:200], said)
    checked: dict[str, Any] = document
    return checked


@functools.cache
def _validator() -> Any:
    """Of the schema, for which a whole number is an int: 1.0 is none, though JSON Schema says that it is."""
    import jsonschema

    def is_whole(checker: Any, thing: Any) -> bool:
        return isinstance(thing, int) and not isinstance(thing, bool)

    plain = jsonschema.Draft202012Validator
    strict: Any = jsonschema.validators.extend(plain, type_checker=plain.TYPE_CHECKER.redefine("integer", is_whole))
    return strict(schema())


def _cut(node: dict[str, Any], columns: dict[int, Column], place: int) -> tuple[Cut, ...]:
    return cut_of(node, columns[node["column"]], f"$.nodes[{place}]")


def _check_structure(nodes: list[dict[str, Any]], columns: dict[int, Column], n_labels: int, n_columns: int) -> None:
    """Raises InputError unless the nodes are one tree, parents first, over these columns and labels."""
    parents, levels = [0] * len(nodes), [0] * len(nodes)
    for place, node in enumerate(nodes):
        if "column" not in node:
            if node["label"] >= n_labels:
                raise broken(f"$.nodes[{place}]", f"label {node['label']} of {n_labels}")
            continue
        here = f"$.nodes[{place}]"
        column = columns.get(node["column"])
        if column is None or node["column"] >= n_columns:
            raise broken(here, f"column {node['column']} is not described")
        if len(node["children"]) != (len(column.categories) if column.multiway else 2):
            raise broken(here, f"{len(node['children'])} children for column {column.name[:40]!r}")
        if levels[place] == DEEPEST:
            raise broken(here, f"it is {DEEPEST:,} levels deep, and has children")
        for child in node["children"]:
            if not place < child < len(nodes):
                raise broken(here, f"child {child} does not come after it")
            parents[child] += 1
            levels[child] = levels[place] + 1
    orphans = [place for place, count in enumerate(parents) if count != (place > 0)]
    if orphans:
        raise broken(f"$.nodes[{orphans[0]}]", f"it has {parents[orphans[0]]} parents")
    mixed = {"shows" in node for node in nodes if "column" not in node}
    if len(mixed) > 1:
        raise broken("$.nodes", "some leaves say what they show and some do not")


def _leaves_in_order(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    leaves, stack = [], [0]
    while stack:
        node = nodes[stack.pop()]
        if "column" in node:
            stack.extend(reversed(node["children"]))
        else:
            leaves.append(node)
    return leaves


def _claims(claims: Claims) -> dict[str, Any]:
    held = attrs.asdict(claims, recurse=False)
    held["task"] = claims.describe_task()
    if claims.roles is not None:
        held["roles"] = {
            "target": claims.roles.target,
            "sample_weight": claims.roles.sample_weight,
            "frequency": claims.roles.frequency,
            "sensitive_features": list(claims.roles.row_data.get("sensitive_features", ())),
            "categorical": list(claims.roles.categorical),
        }
    for name in ("value", "lower_bound", "upper_bound"):
        held[name] = plain_value(held[name])
    return held


def _roles(held: dict[str, Any] | None) -> Roles | None:
    if held is None:
        return None
    groups = tuple(held["sensitive_features"])
    row_data = {"sensitive_features": groups} if groups else {}
    categorical = tuple(held["categorical"])
    return Roles((), held["target"], held["sample_weight"], held["frequency"], row_data, categorical)


def _held_recipe(recipe: ColumnRecipe) -> dict[str, Any]:
    categories, usual = [typed(category) for category in recipe.categories], typed(recipe.usual)
    held = attrs.asdict(recipe) | {"kind": recipe.kind.value, "categories": categories, "usual": usual}
    if recipe.zone is None:
        held.pop("zone")
    return held | {"thresholds": list(map(plain_number, recipe.thresholds))}


def _table_recipe(held: dict[str, Any], columns: Mapping[int, Column], n_columns: int) -> TableRecipe:
    """The recipe; raises InputError unless it makes the columns that the tree asks about."""
    recipes = tuple(_recipe(entry, f"$.recipe.columns[{j}]") for j, entry in enumerate(held["columns"]))
    made = TableRecipe(recipes, held["named"], held["unseen"])
    if len({recipe.name for recipe in recipes}) < len(recipes):
        raise broken("$.recipe.columns", "two of them are of the same column")
    outputs = made.outputs
    if len(outputs) != n_columns or any(outputs[j] != column for j, column in columns.items()):
        raise broken("$.recipe.columns", "they do not make the columns that the tree asks about")
    return made


def _recipe(held: dict[str, Any], where: str) -> ColumnRecipe:
    kind, categories = Kind(held["kind"]), distinct(held["categories"], f"{where}.categories")
    read = {"kind": kind, "categories": categories, "usual": plain(held["usual"], f"{where}.usual")}
    recipe = ColumnRecipe(**{**held, **read, "thresholds": _exact(held["thresholds"], where)})
    cut = kind in (Kind.NUMBER, *TIMES)
    if recipe.is_scale:
        check_steps(recipe, where)
    if (
        (recipe.thresholds and kind is Kind.BOOLEAN)
        or (categories and cut)
        or (recipe.multiway and kind is not Kind.CATEGORY)
    ):
        raise broken(where, f"thresholds, categories or children that a {kind.value} does not have")
    if kind is Kind.BOOLEAN and categories not in ((), (0, 1)):
        raise broken(where, "a boolean has the categories 0 and 1")
    if any(later <= first for first, later in itertools.pairwise(recipe.thresholds)):
        raise broken(where, "the thresholds do not ascend")
    if kind in TIMES and not all(is_time(threshold, kind) for threshold in recipe.thresholds):
        raise broken(where, f"a threshold is no {kind.value} in microseconds")
    if recipe.zone is not None and kind is not Kind.DATE:
        raise broken(where, "a zone of what are no dates")
    if recipe.multiway and not categories:
        raise broken(where, "children of no category")
    if not recipe.is_scale and len(categories) + recipe.other + recipe.missing > MOST_CATEGORIES:
        raise broken(where, f"more than {MOST_CATEGORIES} categories")
    names = [output.name for output in recipe.outputs]
    if len(set(names)) < len(names):
        raise broken(where, "two questions of the same name")
    return recipe


def plain_value(x: Any) -> Any:
    """A value for JSON: a number as by `plain_number`, a tuple of them as a list, None as null."""
    if x is None:
        return None
    return [plain_number(part) for part in x] if isinstance(x, tuple) else plain_number(x)


def plain_number(x: Any) -> int | float | str:
    """An exact number for JSON: an int, a finite float, a fraction as text, or an infinity as text."""
    if isinstance(x, numbers.Integral):
        return int(x)
    if isinstance(x, Fraction):
        return int(x) if x.denominator == 1 else str(x)
    if isinstance(x, numbers.Real) and not math.isnan(x):
        real = float(x)
        return real if math.isfinite(real) else ("Infinity" if real > 0 else "-Infinity")
    raise InputError("tree", f"{x!r} is no number that a file can hold", "use ints, floats or Fractions")


def _exact(x: Any, where: str) -> Any:
    """A value or cost that a file holds, or None: an int, float or Fraction within the range of floats, or a tuple."""
    if isinstance(x, list):
        return tuple(_exact(part, where) for part in x)
    if x is None or x in ("Infinity", "-Infinity"):
        return None if x is None else float(x)
    number = fraction(x, where) if isinstance(x, str) else x
    if not is_finite(number):
        raise broken(where, "a number is too large")
    return number
