"""A tree in a file: JSON by `streed/tree.schema.json`, lossless, and checked when read.

Numbers are exact: fractions are texts such as "3/958". Labels and categories carry their type, because readers in
other languages do not tell 1 from 1.0 and true.
"""

from __future__ import annotations

import importlib.resources
import json
import math
import numbers
from fractions import Fraction
from typing import Any

import attrs

from streed.binarize import ColumnRecipe
from streed.binarize.raw import Kind
from streed.data import Column
from streed.errors import InputError
from streed.tree import Claims, Reading, Tree, flatten, nest, worth

FORMAT = "streed.tree"
VERSION = 1


def schema() -> dict[str, Any]:
    """The published JSON schema of a saved tree."""
    text = importlib.resources.files("streed").joinpath("tree.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def dump(tree: Tree, indent: int | None = None) -> str:
    """The tree and its claims as JSON; raises InputError for labels, categories or numbers that JSON cannot hold."""
    shown = None if tree.shown is None else iter(tree.shown)
    nodes: list[dict[str, Any]] = []
    for first, second, third in flatten(tree.root):
        if isinstance(second, tuple):
            nodes.append({"column": int(first), "children": list(second), "rows": int(third)})
            continue
        leaf: dict[str, Any] = {"label": int(first), "rows": int(second), "cost": plain_value(worth(tree.unit, third))}
        if shown is not None:
            leaf["shows"] = _typed(next(shown))
        nodes.append(leaf)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "n_columns": tree.n_columns,
        "columns": [
            {
                "index": int(j),
                "name": column.name,
                "categories": [_typed(category) for category in column.categories],
                "multiway": column.multiway,
            }
            for j, column in sorted(tree.columns.items())
        ],
        "labels": [_typed(label) for label in tree.labels],
        "nodes": nodes,
        "claims": None if tree.claims is None else _claims(tree.claims),
    }
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def load(text: str) -> Tree:
    """The tree that `dump` wrote; raises InputError that says where `text` is no such tree."""
    document = _parse(text)
    nodes = document["nodes"]
    columns = {
        entry["index"]: Column(entry["name"], tuple(map(_plain, entry["categories"])), entry["multiway"])
        for entry in document["columns"]
    }
    labels = tuple(map(_plain, document["labels"]))
    if len(columns) < len(document["columns"]):
        raise InputError("tree", "$.columns: two of them have the same index", "give what Tree.to_json wrote")
    _check_structure(nodes, columns, len(labels), document["n_columns"])
    flat: list[Any] = [
        (node["column"], tuple(node["children"]), node["rows"])
        if "column" in node
        else (node["label"], node["rows"], _exact(node["cost"]))
        for node in nodes
    ]
    root = nest(flat)
    shown = None
    if any("shows" in node for node in nodes):
        shown = tuple(_plain(node["shows"]) for node in _leaves_in_order(nodes))
    claims = document["claims"]
    if claims is not None:
        bounds = {name: _exact(claims[name]) for name in ("value", "lower_bound", "upper_bound")}
        claims = Claims(**{**claims, **bounds, "reading": _reading(claims["reading"])})
    return Tree(root, columns, document["n_columns"], labels, 1, shown, claims)


def _parse(text: str) -> dict[str, Any]:
    import jsonschema

    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError("tree", f"it is no JSON ({error})", "give what Tree.to_json wrote") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(document, dict) and document.get("format") == FORMAT and version != VERSION:
        raise InputError("tree", f"its format has version {version!r}", f"this streed reads version {VERSION}")
    worst = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema()).iter_errors(document))
    if worst is not None:
        said = worst.message if len(worst.message) <= 200 else worst.message[:200] + "..."
        raise InputError("tree", f"{worst.json_path}: {said}", "give what Tree.to_json wrote")
    checked: dict[str, Any] = document
    return checked


def _check_structure(nodes: list[dict[str, Any]], columns: dict[int, Column], n_labels: int, n_columns: int) -> None:
    """Raises InputError unless the nodes are one tree, parents first, over these columns and labels."""
    parents = [0] * len(nodes)
    for place, node in enumerate(nodes):
        if "column" not in node:
            if node["label"] >= n_labels:
                raise _broken(place, f"label {node['label']} of {n_labels}")
            continue
        column = columns.get(node["column"])
        if column is None or node["column"] >= n_columns:
            raise _broken(place, f"column {node['column']} is not described")
        if len(node["children"]) != (len(column.categories) if column.multiway else 2):
            raise _broken(place, f"{len(node['children'])} children for column {column.name!r}")
        for child in node["children"]:
            if not place < child < len(nodes):
                raise _broken(place, f"child {child} does not come after it")
            parents[child] += 1
    orphans = [place for place, count in enumerate(parents) if count != (place > 0)]
    if orphans:
        raise _broken(orphans[0], f"it has {parents[orphans[0]]} parents")
    mixed = {"shows" in node for node in nodes if "column" not in node}
    if len(mixed) > 1:
        raise InputError("tree", "some leaves say what they show and some do not", "give what Tree.to_json wrote")


def _leaves_in_order(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    leaves, stack = [], [0]
    while stack:
        node = nodes[stack.pop()]
        if "column" in node:
            stack.extend(reversed(node["children"]))
        else:
            leaves.append(node)
    return leaves


def _broken(place: int, found: str) -> InputError:
    return InputError("tree", f"$.nodes[{place}]: {found}", "give what Tree.to_json wrote")


def _claims(claims: Claims) -> dict[str, Any]:
    held = attrs.asdict(claims, recurse=False)
    held["task"] = claims.describe_task()
    if claims.reading is not None:
        sources = {name: list(map(_typed, values)) for name, values in claims.reading.sources.items()}
        held["reading"] = attrs.asdict(claims.reading, recurse=False) | {
            "categorical": list(claims.reading.categorical),
            "sources": sources,
            "sensitive": list(claims.reading.sensitive),
            "recipes": [_held_recipe(recipe) for recipe in claims.reading.recipes],
        }
        if claims.reading.frequency is None:
            held["reading"].pop("frequency", None)
    for name in ("value", "lower_bound", "upper_bound"):
        held[name] = plain_value(held[name])
    return held


def _reading(held: dict[str, Any] | None) -> Reading | None:
    if held is None:
        return None
    sources = {name: tuple(map(_plain, values)) for name, values in held["sources"].items()}
    listed = {name: tuple(held.get(name, ())) for name in ("categorical", "sensitive")}
    recipes = tuple(_recipe(entry) for entry in held.get("recipes", ()))
    return Reading(**{**held, **listed, "sources": sources, "recipes": recipes})


def _held_recipe(recipe: ColumnRecipe) -> dict[str, Any]:
    categories, usual = [_typed(category) for category in recipe.categories], _typed(recipe.usual)
    held = attrs.asdict(recipe) | {"kind": recipe.kind.value, "categories": categories, "usual": usual}
    return held | {"thresholds": list(recipe.thresholds)}


def _recipe(held: dict[str, Any]) -> ColumnRecipe:
    categories, usual = tuple(_plain(category) for category in held["categories"]), _plain(held["usual"])
    read = {"kind": Kind(held["kind"]), "categories": categories, "usual": usual}
    return ColumnRecipe(**{**held, **read, "thresholds": tuple(held["thresholds"])})


def _typed(value: Any) -> dict[str, Any]:
    """A label or category with its type, as {type: value}."""
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, numbers.Integral):
        return {"int": int(value)}
    if isinstance(value, float) and math.isfinite(value):
        return {"float": float(value)}
    if isinstance(value, str):
        return {"str": str(value)}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    raise InputError(
        "labels", f"{value!r} of type {type(value).__name__} has no JSON form", "use texts, numbers or truth values"
    )


def _plain(typed: dict[str, Any]) -> Any:
    ((kind, value),) = typed.items()
    if kind == "none":
        return None
    if kind == "float":
        return float(value)
    if kind == "int":
        return int(value)
    return Fraction(value) if kind == "fraction" else value


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


def _exact(x: Any) -> Any:
    if isinstance(x, list):
        return tuple(map(_exact, x))
    if not isinstance(x, str):
        return x
    return float(x) if "Infinity" in x else Fraction(x)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
