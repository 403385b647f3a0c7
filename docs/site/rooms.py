"""The picture of the packages and their imports, drawn from the sources: `python -m docs.site.rooms`.

Packages stand in rows: each imports only from rows below it. An arrow is drawn where a package imports another one
directly and by no way round. The picture is `docs/pictures/rooms.svg`; the tests check that it is up to date.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 118, 40, 22, 46, 24

Graph = dict[str, set[str]]


def imports() -> Graph:
    """What each package of `streed` imports of the others.

    Modules at the top count as packages of their own; what is imported for type checkers only does not count.
    """
    graph: Graph = defaultdict(set)
    for folder, prefix in ((ROOT / "streed", "streed"), (ROOT / "tasks", "streed.tasks")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if folder.name == "streed" and (parts[0] in ("tasks", "__init__", "__main__")):
                continue
            package = "tasks" if prefix == "streed.tasks" else parts[0]
            tree = ast.parse(path.read_text(encoding="utf-8"))
            graph[package] |= {name for name in _imported(tree) if name != package}
    return {package: {name for name in names if name in graph} for package, names in graph.items()}


def _imported(tree: ast.AST) -> set[str]:
    """The packages of `streed` that a module imports when it runs."""
    found: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "streed":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streed."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("streed.")}
        stack.extend(ast.iter_child_nodes(node))
    return found


def levels(graph: Graph) -> list[list[str]]:
    """The packages by the longest chain of imports below them; raises ValueError where imports go in a circle."""
    height: dict[str, int] = {}
    pending = dict(graph)
    while pending:
        ready = [package for package, names in pending.items() if all(name in height for name in names)]
        if not ready:
            raise ValueError(f"imports go in a circle among {', '.join(sorted(pending))}")
        for package in ready:
            height[package] = max((height[name] + 1 for name in pending.pop(package)), default=0)
    rows: list[list[str]] = [[] for _ in range(max(height.values(), default=-1) + 1)]
    for package in sorted(height):
        rows[height[package]].append(package)
    return rows


def _direct(graph: Graph, rows: list[list[str]]) -> Graph:
    """The graph without arrows that a chain of others replaces."""
    reached: Graph = {}
    for row in rows:
        for package in row:
            reached[package] = set().union(*(reached[name] | {name} for name in graph[package]), set())
    return {
        package: {name for name in names if not any(name in reached[other] for other in names)}
        for package, names in graph.items()
    }


def draw() -> str:
    """The picture as SVG."""
    graph = imports()
    rows = levels(graph)
    arrows = _direct(graph, rows)
    widest = max(map(len, rows))
    width = 2 * _MARGIN + widest * _WIDTH + (widest - 1) * _GAP_X
    height = 2 * _MARGIN + len(rows) * _HEIGHT + (len(rows) - 1) * _GAP_Y
    place: dict[str, tuple[float, float]] = {}
    for level, row in enumerate(rows):
        span = len(row) * _WIDTH + (len(row) - 1) * _GAP_X
        for number, package in enumerate(row):
            x = (width - span) / 2 + number * (_WIDTH + _GAP_X)
            place[package] = (x, height - _MARGIN - _HEIGHT - level * (_HEIGHT + _GAP_Y))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
        'font-family="sans-serif" font-size="13" role="img" aria-label="The packages of streed and their imports">',
        "<style>.room{fill:#eef3f7;stroke:#456}.name{fill:#123;font-weight:bold}.arrow{stroke:#89a;fill:none}</style>",
    ]
    for package, names in sorted(arrows.items()):
        x, y = place[package]
        for name in sorted(names):
            to_x, to_y = place[name]
            begin, end = (x + _WIDTH / 2, y + _HEIGHT), (to_x + _WIDTH / 2, to_y)
            bend = (end[1] - begin[1]) / 2
            parts.append(
                f'<path class="arrow" d="M{begin[0]:g},{begin[1]:g} C{begin[0]:g},{begin[1] + bend:g} '
                f'{end[0]:g},{end[1] - bend:g} {end[0]:g},{end[1]:g}"/>'
            )
    for package, (x, y) in sorted(place.items()):
        parts.append(
            f"<g><title>{escape(package)} imports "
            f"{escape(', '.join(sorted(graph[package])) or 'nothing of streed')}</title>"
            f'<rect class="room" x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/>'
            f'<text class="name" x="{x + _WIDTH / 2:g}" y="{y + 25:g}" text-anchor="middle">'
            f"{escape(package)}</text></g>"
        )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
