"""Generator expressions as loops: numba compiles no generators, and `sum(c * c for c in s.n)` is how sums are written.

`sum`, `any` and `all` of a generator expression, and `max` and `min` of one without conditions, become calls of helper
functions that loop. The helper is given the variables that the expression reads, so it is asked when and only when
Python would evaluate the expression. Other generator expressions are refused, with their line.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, final

from streed.errors import TaskError

_HEADS = {"sum": "{t} = {start}", "any": "{t} = False", "all": "{t} = True", "max": "{t}_any = False\n{t} = 0"}
_HEADS["min"] = _HEADS["max"]
_BODIES = {
    "sum": "{t} = {t} + {x}",
    "any": "if {x}:\n    return True",
    "all": "if not {x}:\n    return False",
    "max": "{t}_x = {x}\nif not {t}_any or {t}_x > {t}:\n    {t} = {t}_x\n{t}_any = True",
    "min": "{t}_x = {x}\nif not {t}_any or {t}_x < {t}:\n    {t} = {t}_x\n{t}_any = True",
}


def without_generators(function: types.FunctionType) -> types.FunctionType:
    """The function with loops in place of its generator expressions; itself if it has none.

    Raises TaskError, in two lines of which the second is the function's own, for those that cannot be loops.
    """
    if not _has_generators(function.__code__):
        return function
    definition = _definition(function)
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars, *function.__code__.co_freevars}
    rewriter = _Rewriter(function, own)
    body = [rewriter.visit(statement) for statement in definition.body]
    return _rebuilt(function, definition.args, body, rewriter.helpers)


def _has_generators(code: types.CodeType) -> bool:
    return any(
        isinstance(constant, types.CodeType) and (constant.co_name == "<genexpr>" or _has_generators(constant))
        for constant in code.co_consts
    )


def _definition(function: types.FunctionType) -> ast.FunctionDef:
    """The syntax of the function, its lines numbered as in its file."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        _refuse(function, function.__code__.co_firstlineno, "its source cannot be read")
    ast.increment_lineno(tree, first - 1)
    (found,) = tree.body
    if not isinstance(found, ast.FunctionDef):
        _refuse(function, first, "it is no function of its own")
    return found


def _refuse(function: types.FunctionType, line: int, why: str) -> NoReturn:
    file = function.__code__.co_filename
    text = linecache.getline(file, line).strip()
    raise TaskError(
        f"{function.__qualname__} has a generator expression that cannot be compiled: {why}; write a loop\n"
        f"  {file}:{line}: {text}"
    )


@final
class _Rewriter(ast.NodeTransformer):
    """Replaces generator expressions by calls of helpers, which it collects."""

    def __init__(self, function: types.FunctionType, own: set[str]) -> None:
        self._function = function
        self._own = own
        self.helpers: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        generator = next((part for part in node.args if isinstance(part, ast.GeneratorExp)), None)
        if generator is None:
            return self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in _BODIES or name in self._own or name in self._function.__globals__:
            self._refuse(node, f"only {', '.join(_BODIES)} of one become loops, not {name}")
        start = node.args[1] if name == "sum" and len(node.args) == 2 and not node.keywords else None
        if node.args[0] is not generator or len(node.args) > 1 + (start is not None) or node.keywords:
            self._refuse(node, f"{name} has further arguments")
        if name in ("max", "min") and any(each.ifs for each in generator.generators):
            self._refuse(node, f"{name} of none fails in Python, and a condition may leave none")
        return self._helper(name, generator, start)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        self._refuse(node, "it is no argument of a function")

    def _helper(self, name: str, node: ast.GeneratorExp, start: ast.expr | None) -> ast.AST:
        outer = set(self._own)
        read = sorted({*_names(node), *(() if start is None else _names(start))} & outer)
        targets = {x.id for each in node.generators for x in ast.walk(each.target) if isinstance(x, ast.Name)}
        if targets & outer:
            self._refuse(node, f"{min(targets & outer)} is a variable of the function, too")
        self._own |= targets
        element = ast.unparse(self.visit(node.elt))
        number = len(self.helpers)
        words = {"t": f"_total{number}", "x": f"({element})", "start": "0" if start is None else ast.unparse(start)}
        text = textwrap.indent(_BODIES[name].format(**words), "    ")
        for each in reversed(node.generators):
            for condition in reversed(each.ifs):
                text = f"    if {ast.unparse(self.visit(condition))}:\n{textwrap.indent(text, '    ')}"
            head = f"    for {ast.unparse(each.target)} in {ast.unparse(self.visit(each.iter))}:"
            text = f"{head}\n{textwrap.indent(text, '    ')}"
        self._own = outer
        called = f"_loop{len(self.helpers)}_of_{self._function.__name__}"
        begin = textwrap.indent(_HEADS[name].format(**words), "    ")
        written = f"def {called}({', '.join(read)}):\n{begin}\n{text}\n    return {words['t']}"
        (definition,) = ast.parse(written).body
        for inside in ast.walk(definition):
            if hasattr(inside, "lineno"):
                inside.lineno = inside.end_lineno = node.lineno  # type: ignore[attr-defined]
        self.helpers.append(definition)
        call = ast.parse(f"{called}({', '.join(read)})", mode="eval").body
        return ast.copy_location(ast.fix_missing_locations(ast.copy_location(call, node)), node)

    def _refuse(self, node: ast.expr, why: str) -> NoReturn:
        _refuse(self._function, node.lineno, why)


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _rebuilt(
    function: types.FunctionType, arguments: ast.arguments, body: Sequence[Any], helpers: Sequence[ast.stmt]
) -> types.FunctionType:
    """The function with another body; its globals are those that it had, and the helpers."""
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    inner = ast.FunctionDef(name=function.__name__, args=arguments, body=list(body), decorator_list=[])
    outer_arguments = ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, [])
    outer = ast.FunctionDef(name="_outer", args=outer_arguments, body=[inner], decorator_list=[])
    module = ast.fix_missing_locations(ast.Module(body=[*helpers, outer], type_ignores=[]))
    namespace: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), namespace)
    made: Callable[..., Any] = namespace.pop("_outer")
    for key, value in function.__globals__.items():
        namespace.setdefault(key, value)
    code = next(
        constant
        for constant in made.__code__.co_consts
        if isinstance(constant, types.CodeType) and constant.co_name == function.__name__
    )
    closure = tuple(cells[name] for name in code.co_freevars)
    rebuilt = types.FunctionType(code, namespace, function.__name__, function.__defaults__, closure)
    rebuilt.__kwdefaults__ = function.__kwdefaults__
    rebuilt.__qualname__ = function.__qualname__
    return rebuilt
