"""What a task's methods depend on: the numbers that they read, the functions and constants that they name.

A method stays plain Python. To compile it, a copy is made whose helper functions are compiled too (`generate.py`); to
name its compiled form, a fingerprint covers all that could change its meaning: the bodies of the method and its
helpers, the constants and defaults that they use. The task's own numbers are data, so new values compile nothing.

Generator expressions become loops: numba compiles no generators, and `sum(c * c for c in s.n)` is how sums are written.
`sum`, `any` and `all` of one, and `max` and `min` of one without conditions, become calls of helper functions that
loop. The helper is given the variables that the expression reads, so it is asked when and only when Python would
evaluate the expression. Other generator expressions are refused, with their line.
"""

from __future__ import annotations

import ast
import builtins
import dis
import enum
import functools
import hashlib
import inspect
import linecache
import numbers
import sys
import textwrap
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, final

import attrs
import numpy as np

from streed.errors import TaskError

Function = types.FunctionType


@attrs.frozen(eq=False)
class Number:
    """A number, or an array of numbers, that a task's methods read from `self`."""

    name: str
    kind: str
    """"int", "real", or "ints1", "reals2" ...: arrays with their number of dimensions."""
    value: Any
    """An int, a float, or an int64 or float64 array, C-contiguous."""


def numbers_of(task: Any, functions: Iterable[Callable[..., Any]], named: Collection[str]) -> tuple[Number, ...]:
    """The numbers of the task that the functions name, by name; raises TaskError for what is no number.

    A helper function that is given the task reads it by another name than `self`, so every attribute that is `named`
    anywhere counts if it is a number of the task's.
    """
    found = []
    own = {name for function in functions for name in _attributes_of_first(function.__code__)}
    fields = {field.name for field in attrs.fields(type(task))} if attrs.has(type(task)) else set()
    for name in sorted(own.union(fields.intersection(named))):
        number = _number(name, getattr(task, name, None))
        if number is not None:
            found.append(number)
        elif name in own:
            raise TaskError(
                f"{type(task).__name__}.{name} is {getattr(task, name, None)!r}, which native code cannot read\n"
                "make it a number or an array of numbers; a helper belongs outside the class, as a function"
            )
    return tuple(found)


def names_within(functions: Iterable[Any]) -> set[str]:
    """All names of attributes and globals in functions and in those that they name."""
    found, seen, waiting = set[str](), set[int](), list(functions)
    for each in waiting:  # which grows
        function = each if isinstance(each, Function) else each.py_func if is_dispatcher(each) else None
        if function is not None and id(function) not in seen:
            seen.add(id(function))
            found.update(attributes_of(function.__code__))
            waiting += [value for _, value in dependencies(function) if callable(value)]
    return found


def is_dispatcher(part: Any) -> bool:
    """Whether it is a function that numba compiles; without numba there are none."""
    dispatcher = sys.modules.get("numba.core.dispatcher")
    return dispatcher is not None and isinstance(part, dispatcher.Dispatcher)


@functools.lru_cache(maxsize=4096)
def _attributes_of_first(code: types.CodeType) -> frozenset[str]:
    """The attributes that a method reads from its first argument."""
    return frozenset(_attributes_read(code, code.co_varnames[0] if code.co_argcount else None))


def _attributes_read(code: types.CodeType, own: str | None) -> Iterator[str]:
    """The attributes of the variable that are read in the code and in the expressions within it."""
    before = None
    for instruction in dis.get_instructions(code):
        loaded = None
        if before is not None and before.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
            loaded = before.argval[-1] if isinstance(before.argval, tuple) else before.argval
        if loaded == own and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(instruction.argval)
        before = instruction
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and own in constant.co_freevars:
            yield from _attributes_read(constant, own)


def _names_of(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_of(constant)


def _number(name: str, value: Any) -> Number | None:
    if isinstance(value, numbers.Integral):
        return Number(name, "int", int(value)) if abs(int(value)) < 2**63 else Number(name, "real", float(value))
    if isinstance(value, numbers.Real) or (hasattr(value, "as_integer_ratio") and not isinstance(value, np.ndarray)):
        return Number(name, "real", float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        try:
            array = np.asarray(value)
            array = array.astype(np.int64 if array.dtype.kind in "bui" else np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        if array.ndim in (1, 2):
            kind = "ints" if array.dtype == np.int64 else "reals"
            empty = "" if array.size else " empty"
            return Number(name, f"{kind}{array.ndim}{empty}", np.ascontiguousarray(array))
    return None


# -- fingerprints --------------------------------------------------------------------------------------------------


def fingerprint(parts: Mapping[str, Any]) -> str:
    """A hash of named parts: texts, numbers, and functions with all that they depend on."""
    digest = hashlib.sha256()
    seen: dict[int, int] = {}
    for name, part in parts.items():
        digest.update(f"[{name}]".encode())
        _update(digest, part, seen)
    return digest.hexdigest()[:24]


def _update(digest: Any, part: Any, seen: dict[int, int], names: Collection[str] = ()) -> None:
    """Adds a part; of a module, only what `names`, those of the function that uses it, find there."""
    if isinstance(part, Function):
        if id(part) in seen:
            digest.update(f"again {seen[id(part)]}".encode())
            return
        seen[id(part)] = len(seen)
        digest.update(_digest_of(part.__code__))
        if part.__defaults__ or part.__kwdefaults__:
            _update(digest, (part.__defaults__, *sorted((part.__kwdefaults__ or {}).items())), seen)
        attributes = attributes_of(part.__code__)
        for name, value in dependencies(part):
            digest.update(f"<{name}>".encode())
            _update(digest, value, seen, attributes)
    elif isinstance(part, types.CodeType):
        digest.update(_digest_of(part))
    elif isinstance(part, (tuple, list, frozenset)):
        digest.update(f"{type(part).__name__}{len(part)}".encode())
        for item in sorted(part, key=repr) if isinstance(part, frozenset) else part:
            _update(digest, item, seen)
    elif isinstance(part, np.ndarray):
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    elif isinstance(part, types.ModuleType):
        digest.update(f"module {part.__name__}".encode())
        for name, value in module_parts(part, names):
            digest.update(f"<{name}>".encode())
            _update(digest, value, seen, names)
    elif isinstance(part, enum.EnumMeta):
        members: Any = part.__members__
        digest.update(repr([(name, member.value) for name, member in members.items()]).encode())
    elif not isinstance(part, str) and is_dispatcher(part):
        digest.update(repr(sorted(part.targetoptions.items())).encode())
        _update(digest, part.py_func, seen)
    else:
        digest.update(f"{type(part).__name__} {part!r}".encode())


@functools.lru_cache(maxsize=4096)
def _digest_of(code: types.CodeType) -> bytes:
    digest = hashlib.sha256(code.co_code)
    for field in (code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_flags):
        digest.update(repr(field).encode())
    for constant in code.co_consts:
        _update(digest, constant, {})
    return digest.digest()


@functools.lru_cache(maxsize=4096)
def attributes_of(code: types.CodeType) -> tuple[str, ...]:
    """The names of attributes and globals in some code, sorted."""
    return tuple(sorted({*_names_of(code)}))


def dependencies(function: Function) -> Iterator[tuple[str, Any]]:
    """(name, value) of the globals and of the outer functions' variables that a function names."""
    for name in global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif hasattr(builtins, name):
            yield name, name
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def module_parts(module: types.ModuleType, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a user's module has by these names; numba knows the libraries that it compiles itself."""
    if module.__name__.partition(".")[0] in _KNOWN_MODULES:
        return
    for name in names:
        if name in vars(module):
            yield name, vars(module)[name]


_KNOWN_MODULES = frozenset({"builtins", "cmath", "math", "numba", "numpy", "operator", "random"})


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The globals that some code reads, sorted."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= set(global_names(constant))
    return tuple(sorted(names))


# -- generator expressions --------------------------------------------------------------------------------------------


_HEADS = {"sum": "{t} = {start}", "any": "{t} = False", "all": "{t} = True", "max": "{t}_any = False\n{t} = 0"}
_HEADS["min"] = _HEADS["max"]
_BODIES = {
    "sum": "{t} = {t} + {x}",
    "any": "if {x}:\n    return True",
    "all": "if not {x}:\n    return False",
    "max": "{t}_x = {x}\nif not {t}_any or {t}_x > {t}:\n    {t} = {t}_x\n{t}_any = True",
    "min": "{t}_x = {x}\nif not {t}_any or {t}_x < {t}:\n    {t} = {t}_x\n{t}_any = True",
}


def without_generators(function: Function) -> Function:
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


def _definition(function: Function) -> ast.FunctionDef:
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


def _refuse(function: Function, line: int, why: str) -> NoReturn:
    file = function.__code__.co_filename
    text = linecache.getline(file, line).strip()
    raise TaskError(
        f"{function.__qualname__} has a generator expression that cannot be compiled: {why}; write a loop\n"
        f"  {file}:{line}: {text}"
    )


@final
class _Rewriter(ast.NodeTransformer):
    """Replaces generator expressions by calls of helpers, which it collects."""

    def __init__(self, function: Function, own: set[str]) -> None:
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
    function: Function, arguments: ast.arguments, body: Sequence[Any], helpers: Sequence[ast.stmt]
) -> Function:
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
    rebuilt = Function(code, namespace, function.__name__, function.__defaults__, closure)
    rebuilt.__kwdefaults__ = function.__kwdefaults__
    rebuilt.__qualname__ = function.__qualname__
    return rebuilt
