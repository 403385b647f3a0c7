"""What a command was asked, by the options that several have, the saved tree it is about, and how it ends."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click import option

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.data.database import Roles
    from streed.datasets import Table
    from streed.result import Result
    from streed.task import Task
    from streed.tree import Tree


FINE, MISMATCH, BAD_INPUT, STOPPED, INFEASIBLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_LONGEST = 1_000

CODES = """\b
Exit codes:
  0    fine; for solve: the tree is proved optimal
  1    a claim does not hold: of a saved tree (verify), a task (check), or the tree just found
  2    bad input; the reason is on standard error
  3    solve: stopped early (time, memory, Ctrl-C), with the best tree so far if there is one, its bounds and gap;
       prove, check-proof: a lower bound is proved, but not that the tree is the best
  4    solve: no tree meets the limits
  130  interrupted (Ctrl-C, SIGTERM) before there was a tree"""


def code_of(result: Result) -> int:
    """The exit code for what a solve found."""
    if result.status == "unknown":
        return INTERRUPTED if result.stats.get("stopped") == "interrupt" else STOPPED
    return {"optimal": FINE, "feasible": STOPPED}.get(result.status, INFEASIBLE)


@contextlib.contextmanager
def errors(interrupted: str) -> Iterator[None]:
    """Turns errors, whosever they are, and Ctrl-C, into a line and an exit code; warnings into lines."""
    from streed.errors import MismatchError, StreedError, argument_names

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {one_line(str(message))}", err=True)
            with argument_names(sample_weight="weights"):
                yield
    except MismatchError as error:
        click.echo(f"error: {one_line(str(error))}", err=True)
        sys.exit(MISMATCH)
    except StreedError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader has had enough, as in `streed ... | head`; Python shall not try to write the rest at exit.
        _drop_output()
        sys.exit(FINE)
    except OSError as error:
        if error.filename is None:
            # what could not be written cannot be written at exit either, of which Python would tell in lines of its own
            _drop_output()
        fail(f"{error.filename or 'output'}: cannot be read or written ({error.strerror or error})")
    except MemoryError:
        fail("memory: not enough memory; give fewer rows or columns, or a smaller tree")
    except KeyboardInterrupt:
        click.echo(f"interrupted: {interrupted}", err=True)
        sys.exit(INTERRUPTED)


def fail(message: str) -> NoReturn:
    """Ends the command: the input is bad, for this reason."""
    click.echo(f"error: {one_line(message)}", err=True)
    sys.exit(BAD_INPUT)


def one_line(message: str) -> str:
    """The message in one line of no more than a screen, whatever names and values it quotes."""
    from streed.errors import visible

    shown = visible(re.sub(r"\n +", "; ", message))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} ... {shown[-_LONGEST // 2 :]}"


def _drop_output() -> None:
    """Sends what is still to be written nowhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(path: Path, data: str | bytes) -> None:
    """Writes a file, or ends the command with the reason why not."""
    try:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    except UnicodeEncodeError:
        fail(f"out: the text has half of a character, which {str(path)!r} cannot hold; rename the column or label")
    except OSError as error:
        fail(f"out: {str(path)!r} cannot be written ({error.strerror})")


def check_folder(name: str, out: Path | None) -> None:
    """Ends the command where a file cannot be written: before the search, not after it."""
    if out is not None and not out.parent.is_dir():
        fail(f"{name}: there is no folder {str(out.parent)!r}")
    if out is not None and out.is_dir():
        fail(f"{name}: {str(out)!r} is a folder")


def counted(count: int, what: str) -> str:
    """How many rows, columns or classes: `3 rows`, `1 column`."""
    return f"{count:,} {what.removesuffix('es' if what == 'classes' else 's') if count == 1 else what}"


def brief(value: Any) -> str:
    """A number in three digits, anything else as it is."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def positive(result: Result) -> list[str]:
    """Which class the task calls positive, if it calls one so, in a line."""
    from streed.errors import visible

    return [] if result.positive_class is None else [visible(f"positive class: {result.positive_class}")]


def show(as_json: bool, document: Any, lines: Iterable[str] = ()) -> None:
    """Prints the document as JSON, what the output cannot show as JSON's escapes, or the lines."""
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    click.echo(json.dumps(document, indent=2, ensure_ascii=plain) if as_json else "\n".join(lines))


NOTIONS = ("demographic-parity", "equal-opportunity", "equalized-odds", "error-rate-parity", "predictive-equality")
"""The notions of fairness that have an option of their own; the tasks are not loaded for `streed --help`."""

_MOST_TOLD = 100
"""Columns of which is said what was made of them."""


class Asked(types.SimpleNamespace):
    """The options of a command by their names, and what they come to."""

    def stated(self) -> Task:
        """The task with its parameters, under no limits."""
        from streed import registry

        lam = getattr(self, "lam", None)
        given: dict[str, str] = {}
        for parameter in [*self.param, *([] if lam is None else [f"lam={lam}"])]:
            key, equals, value = parameter.partition("=")
            if not equals or key in given:
                fail(f"param: {parameter!r} is no NAME=VALUE, or is given twice; write --param lam=0.01")
            given[key] = value
        return registry.make_task(self.task, given)

    def limited(self, objective: Task) -> Task:
        """The objective under every limit that was given."""
        from streed import registry

        limits = list(map(registry.make_limit, self.subject_to))
        gaps = ((name, getattr(self, name.replace("-", "_"), None)) for name in NOTIONS)
        limits += [registry.make_notion(name, self.sensitive) <= gap for name, gap in gaps if gap is not None]
        return objective.subject_to(*limits) if limits else objective

    def objective(self) -> Task:
        """The task under every limit that was given."""
        return self.limited(self.stated())

    def limits(self) -> dict[str, Any]:
        """The limits of size and of the search, as `streed.solve` takes them."""
        found = {name: getattr(self, name) for name in ("max_depth", "max_nodes", "min_leaf", "time_limit")}
        if self.memory_limit is None:
            return {**found, "memory_limit": None}
        size = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:i?B)?", self.memory_limit.strip(), re.IGNORECASE)
        if size is None:
            fail(f"memory_limit: {self.memory_limit[:40]!r} is no size; write 500MB or 2GB")
        return {**found, "memory_limit": int(float(size[1]) * 1000 ** " KMGT".index(size[2].upper() or " "))}

    def beside(self) -> dict[str, Any]:
        """The columns of what the task asks for, by its name: of the groups, and of `--row-data`."""
        from streed.data import Dataset
        from streed.datasets import GROUPS

        found: dict[str, Any] = {GROUPS: list(self.sensitive)} if self.sensitive else {}
        for pair in self.row_data:
            name, equals, column = pair.partition("=")
            if not (equals and name.isidentifier()) or name in {*inspect.signature(Dataset.make).parameters, "target"}:
                fail(f"row_data: {pair!r} is no NAME=COLUMN for a task; write --row-data event=died")
            found[name] = [*found[name], column] if name in found else [column]
        return {
            name: columns[0] if len(columns) == 1 and name != GROUPS else columns for name, columns in found.items()
        }

    def columns(self) -> tuple[Table, str]:
        """The columns by name, and that of the target."""
        from streed.datasets import read_table

        table, found = read_table(self.data, self.target)
        if found is None:
            fail(f"target: which column is to be predicted? give --target, one of: {', '.join(table)}")
        return table, found

    def dataset(self, table: Table | None = None) -> tuple[Dataset, Roles]:
        """The rows (of `table`, if given), and what their columns are; says which numbers are cut, and how often."""
        from streed import datasets as bundled
        from streed.datasets import ALL, make_dataset, roles_in
        from streed.errors import visible
        from streed.task.analysis.extent import affordable

        whole, found = self.columns()
        table = whole if table is None else table
        is_bundled = self.data in bundled.names()  # which hold nothing but categories
        listed = getattr(self, "categorical", ())
        roles = roles_in(table, found, self, (*listed, ALL) if is_bundled else listed)
        data = make_dataset(table, roles, self.most_cuts(), one_hot=is_bundled and not getattr(self, "multiway", False))
        if data.ordered:
            data = affordable(self.objective(), data, self.max_depth, self.max_nodes, time_limit=self.time_limit)
            told = [f"{visible(data.names[j])} ({len(each.values):,} values)" for j, each in data.ordered.items()]
            most, rest = data.max_cuts, len(told) - _MOST_TOLD
            tried = f"at most {counted(most, 'thresholds')} of each" if isinstance(most, int) else "all thresholds"
            more = f" and {rest:,} more columns" if rest > 0 else ""
            click.echo(f"{tried} of {', '.join(told[:_MOST_TOLD])}{more}", err=True)
        return data, roles

    def queried(self, task: Task) -> Dataset:
        """The rows of the query, in which `data` is the file; of squared errors the database adds up all they need."""
        from streed.data import Dataset
        from streed.data.database import file_query, own_connection
        from streed.datasets import ALL
        from streed.tasks import SquaredError

        readers = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}
        reader = readers.get(Path(self.data).suffix.lower())
        if reader is None:
            fail(f"data: {self.data!r} is no Parquet or CSV file; name one, such as rows.parquet")
        with own_connection(None, None) as connection:
            connection.execute(f"CREATE VIEW data AS {file_query(self.data, reader)}")
            given = self.beside() | {"target": self.target, "sample_weight": self.weights, "frequency": self.frequency}
            given["categorical"] = True if ALL in self.categorical else list(self.categorical) or None
            given |= {"max_cuts": self.most_cuts(), "moments": isinstance(task, SquaredError)}
            return Dataset.from_query(connection, self.query, **given)

    def most_cuts(self) -> int | str:
        """What `--cuts` says of numbers, as `max_cuts` of a solve does."""
        from streed.data import most_cuts

        return most_cuts(int(self.cuts) if self.cuts.isdecimal() else self.cuts, "cuts")


def load_tree(path: Path) -> Tree:
    """The tree that a file holds, or standard input for "-"."""
    from streed.data.strict_json import MOST_BYTES, read_text
    from streed.tree import Tree

    return Tree.from_json(read_text(path, "tree", MOST_BYTES))


def read_saved(asked: Asked) -> tuple[Tree, Dataset]:
    """The tree of a file, and the rows of the raw table as it reads them."""
    from streed.datasets import GROUPS, make_dataset, read_table, roles_in
    from streed.errors import members

    check_one_input(asked)
    tree = load_tree(asked.tree)
    roles = None if tree.claims is None else tree.claims.roles
    if roles is not None:
        options = {"target": "target", "sample_weight": "weights", "frequency": "frequency"}
        told: dict[str, Any] = {option: roles.columns.get(name) for name, option in options.items()}
        told["sensitive"] = tuple(members(roles.columns.get(GROUPS)))
        told["row_data"] = tuple(f"{name}={x}" for name, x in roles.named if name not in {*options, GROUPS})
        for name, said in told.items():
            if getattr(asked, name) not in (None, (), said):
                fail(f"{name}: it is {said or 'none'!r}, says the tree; leave out --{name.replace('_', '-')}")
    table, found = read_table(asked.data, asked.target if roles is None else roles.columns["target"])
    if roles is None:
        if found is None:
            fail("target: the tree does not say which column its labels are; give --target")
        multiway = tuple(column.name for column in tree.columns.values() if column.multiway)
        roles = roles_in(table, found, asked, multiway)
    return tree, make_dataset(table, roles, recipe=tree.recipe)


def check_one_input(asked: Asked) -> None:
    """Ends the command where the tree and the table are both to be read from standard input."""
    if str(asked.tree) == asked.data == "-":
        fail("data: both the tree and the table are to be read from standard input; name a file for one of them")


def command(*options: Any, interrupted: str = "no tree yet", **settings: Any) -> Callable[[Any], click.Command]:
    """Makes a command of a function of what was asked; `interrupted` is what is missing after Ctrl-C."""

    def make(told: Callable[..., None]) -> click.Command:
        def call(**given: Any) -> None:
            with errors(interrupted):
                told(Asked(**given))

        declared: Any = call
        for each in reversed(options):
            declared = each(declared)
        settings.setdefault("epilog", CODES)
        decorate: Any = click.command(told.__name__.replace("_", "-"), help=told.__doc__, **settings)
        made: click.Command = decorate(declared)
        return made

    return make


path = click.Path(path_type=Path)
data_argument = click.argument("data", metavar="DATA")
"""A bundled data set, a file, or "-" for standard input."""
tree_argument = click.argument("tree", metavar="TREE.json", type=path)
"""A file, or "-" for standard input."""
param_option = option("--param", metavar="NAME=VALUE", multiple=True, help="A parameter of the task; may be repeated.")
subject_to_option = option("--subject-to", metavar="LIMIT", multiple=True, help="Such as 'recall >= 0.9'; repeatable.")
lam_option = option("--lam", metavar="NUMBER", help="Short for --param lam=...: the cost of a branching node.")
json_option = option("--json", "as_json", is_flag=True, help="Print JSON.")
_CUTS = "Thresholds of numbers and dates: all, a number of them per column, or auto: as many as are soon searched."
_SENSITIVE = "Column of the groups that fairness is about; it is no feature. Repeated: groups are the combinations."
_FREQUENCY = "Column of whole numbers: how many equal rows each row stands for."
_ROW_DATA = "Column of what the task asks for, such as event=died; repeatable."


def role_options(beside: str = "") -> list[Any]:
    """The options that say what columns are; `beside`: of which tables they are asked for."""
    return [
        option("--target", metavar="COLUMN", help="Column to predict: a name, or a position from 0" + beside),
        option("--sensitive", metavar="COLUMN", multiple=True, help=_SENSITIVE + beside),
        option("--weights", metavar="COLUMN", help="Column of row weights." + beside),
        option("--frequency", metavar="COLUMN", help=_FREQUENCY + beside),
        option("--row-data", metavar="NAME=COLUMN", multiple=True, help=_ROW_DATA + beside),
    ]


def search_options(task: str, about: str) -> list[Any]:
    """What every command that searches is asked: the data, the task (`about` it) and its limits, when to stop."""
    return [
        data_argument,
        *role_options(),
        option("--task", metavar="TASK", default=task, show_default=True, help=about),
        param_option,
        subject_to_option,
        *(option(f"--{x}", type=float, metavar="GAP", help=f"Largest gap by {x.replace('-', ' ')}.") for x in NOTIONS),
        option("--max-depth", type=int, help="Largest depth (default: any)."),
        option("--max-nodes", type=int, help="Most branching nodes (default: any number)."),
        option("--min-leaf", type=int, default=1, show_default=True, help="Fewest rows in a leaf."),
        option("--time-limit", type=float, metavar="SECONDS", help="Stop after this long."),
        option("--memory-limit", metavar="SIZE", help="Such as 500MB or 2GB."),
        option("--cuts", metavar="WHICH", default="auto", show_default=True, help=_CUTS),
    ]
