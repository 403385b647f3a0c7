"""Prebuilt libraries: small ones, built here, loaded, called, and refused where they do not fit."""

from __future__ import annotations

import gc
import inspect
import platform
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import binding

from streed.kernels import compiled, linking, notices
from streed.kernels.linking import Entry, entry_name, unit_name
from streed.kernels.places import fingerprint
from streed.kernels.prebuilt import container, levels
from streed.kernels.prebuilt import library as prebuilt
from streed.kernels.prebuilt.calls import UNSUITED
from streed.kernels.prebuilt.container import Contents, Overload, Unusable
from streed.kernels.prebuilt.library import Library, library
from streed.kernels.signatures import argument_types
from streed.prebuild.parts import all_entries, all_units
from tests.conftest import ROOT
from tests.unit import prebuilt_toys

HERE = prebuilt_toys.__name__

supported = pytest.mark.skipif(
    not levels.runnable(binding.get_host_cpu_features()), reason="no library is built for this machine"
)


# -- files ---------------------------------------------------------------------------------------------------------

CONTENTS = Contents(
    "0123",
    "x86-64-v3",
    "linux x86_64",
    ("free",),
    {"module:unit:int16": "streed_1"},
    {"module:name": (Overload("streed_2", ("int64", "uint8 2"), ("int64 1",), True),)},
)


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.prebuilt"
    container.write(path, CONTENTS, b"\0code\xff")
    assert container.read(path) == (CONTENTS, b"\0code\xff")
    assert [each.name for each in path.parent.iterdir()] == ["a.prebuilt"]


def test_a_small_file_gives_back_what_was_written(tmp_path: Path) -> None:
    code = b"code" * 1000
    for small in (False, True):
        container.write(tmp_path / f"{small}.prebuilt", CONTENTS, code, small=small)
        assert container.read(tmp_path / f"{small}.prebuilt") == (CONTENTS, code)
    assert (tmp_path / "True.prebuilt").stat().st_size < (tmp_path / "False.prebuilt").stat().st_size - 3000


@pytest.mark.parametrize("size", [0, 5, 60, -1])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.prebuilt"
    container.write(path, CONTENTS, b"code")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(Unusable, match="damaged"):
        container.read(path)


def test_a_file_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.prebuilt"
    container.write(path, CONTENTS, b"code")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(Unusable, match="damaged"):
        container.read(path)


# -- levels --------------------------------------------------------------------------------------------------------


def test_a_processor_runs_its_level_and_those_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "platform", "linux")
    v2, v3, v4, ice = levels.levels()
    names = [level.name for level in (ice, v4, v3, v2)]
    assert names == ["ice-lake", "x86-64-v4", "x86-64-v3", "x86-64-v2"]
    for above, level in enumerate((ice, v4, v3, v2)):
        found = levels.runnable(dict.fromkeys(level.needs, True))
        assert [each.name for each in found] == names[above:]
        lacking = dict.fromkeys(level.needs, True) | {min(level.needs - v2.needs, default="popcnt"): False}
        assert level not in levels.runnable(lacking)
    assert levels.runnable({}) == []


def test_nothing_is_known_of_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert levels.levels() == ()


# -- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", all_entries(), ids=lambda entry: entry.name)
def test_a_named_entry_is_there_and_takes_what_its_signature_says(entry: Entry) -> None:
    function = entry.compiled.py_func
    assert (function.__module__, function.__name__) == (entry.module, entry.name)
    for signature in entry.signatures:
        arguments = argument_types(signature, entry.tuples)
        assert len(arguments) == len(inspect.signature(function).parameters)


def test_all_entries_of_these_rooms_are_named() -> None:
    named = {(each.module, each.name) for each in all_entries()}
    rooms = ("kernels", "kernels/counting", "kernels/ordered", "bnb", "enumerate", "ordered", "pareto")
    folders = [ROOT / "streed" / name for name in (*rooms, "rashomon/compiled")]
    declared = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), name)
        for folder in folders
        for path in folder.glob("*.py")
        for name in re.findall(r"^@(?:own_)?entry\ndef (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named == declared


def test_work_units_have_different_names() -> None:
    names = [unit_name(module, maker, *arguments) for module, maker, arguments in all_units()]
    assert len(set(names)) == len(names)
    assert unit_name("streed.bnb.units", "prepare", "signed", np.int16) in names


# -- code ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the toys, of the best level here."""
    from streed.prebuild.emission import Emission

    emission = Emission()
    for name, signatures in prebuilt_toys.SIGNATURES.items():
        dispatcher = getattr(prebuilt_toys, name)
        kinds = [argument_types(signature, (prebuilt_toys.Terms,)) for signature in signatures]
        for kind in kinds:
            dispatcher.compile(kind)
        emission.add_entry(entry_name(HERE, name), dispatcher, kinds)
    level = levels.runnable(binding.get_host_cpu_features())[0].name
    path = tmp_path_factory.mktemp("built") / f"{level}.prebuilt"
    emission.write(path, level)
    return path


@pytest.fixture
def toys(built: Path) -> Callable[..., Any]:
    """Calls a toy in the library, which must not refuse the arguments."""
    found = Library(built, *container.read(built))

    def call(name: str, *arguments: Any) -> Any:
        (way,) = found.calls(entry_name(HERE, name))
        answer = way(arguments)
        assert answer is not UNSUITED
        return answer

    return call


@supported
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (31, 2), (33, 40), (5, 0)])
def test_prebuilt_code_gives_what_compiled_code_gives(toys: Callable[..., Any], shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).integers(0, 200, shape).astype(np.uint8)
    sums, largest, some, mean = toys("sums_of_rows", values, -3)
    expected = prebuilt_toys.sums_of_rows(values, -3)
    assert sums.dtype == np.int64
    assert sums.tolist() == expected[0].tolist()
    assert (largest, some, mean) == tuple(expected[1:])
    assert (type(largest), type(some), type(mean)) == (int, bool, float)


@supported
def test_arrays_are_written_where_they_are(toys: Callable[..., Any]) -> None:
    values = np.arange(100)
    assert toys("double", values) is None
    assert values.tolist() == list(range(0, 200, 2))


@supported
@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 1000])
def test_code_that_makes_lists_runs_without_numba(toys: Callable[..., Any], size: int) -> None:
    values = np.random.default_rng(2).permutation(size).astype(np.int64)
    assert toys("order_of", values).tolist() == np.argsort(values).tolist()


@supported
@pytest.mark.parametrize(("size", "columns"), [(12, 4), (12, 1), (0, 3), (7, 7)])
def test_arrays_are_seen_in_another_shape(toys: Callable[..., Any], size: int, columns: int) -> None:
    assert toys("table_of", np.arange(size), columns).tolist() == np.arange(size).reshape(-1, columns).tolist()


@supported
def test_errors_of_native_code_are_raised(toys: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="total size of new array"):
        toys("table_of", np.arange(7), 2)
    with pytest.raises(ZeroDivisionError):
        toys("table_of", np.arange(7), 0)
    with pytest.raises(MemoryError):
        toys("largest_allowed", 2**59)
    assert toys("largest_allowed", 10) == 10


@supported
@pytest.mark.parametrize("size", [1, 5, 16, 17, 200, 5000])
def test_code_that_makes_sets_runs_without_numba(toys: Callable[..., Any], size: int) -> None:
    values = np.random.default_rng(4).integers(-size, size, size)
    assert toys("count_distinct", values) == (len(set(values.tolist())),) * 2


@supported
def test_arrays_that_are_only_read_may_be_read_only(built: Path) -> None:
    (way,) = Library(built, *container.read(built)).calls(entry_name(HERE, "write_row"))
    table, values = np.zeros((2, 3), np.int64), np.arange(3)
    values.flags.writeable = False
    assert way((table, 1, values)) is None
    assert table.tolist() == [[0, 0, 0], [0, 1, 2]]
    table.flags.writeable = False
    assert way((table, 1, values)) is UNSUITED
    assert way((table, 1, np.arange(6)[::2])) is UNSUITED


@supported
def test_an_error_whose_message_is_made_when_it_happens_is_raised(toys: Callable[..., Any]) -> None:
    with pytest.raises(ValueError):
        toys("write_row", np.zeros((2, 3), np.int64), 1, np.arange(4))


@supported
def test_named_tuples_are_given_as_their_fields(built: Path) -> None:
    wide, narrow = Library(built, *container.read(built)).calls(entry_name(HERE, "add_up"))
    terms = prebuilt_toys.Terms(prebuilt_toys.Factors(2, np.array([10, 1])), np.array([[3, 4], [5, 6]]))
    assert wide((terms, 7)) == prebuilt_toys.add_up(terms, 7) == 2 * (34 + 56) + 7
    assert narrow((terms, 7)) is UNSUITED
    assert narrow((terms._replace(values=terms.values.astype(np.int32)), 7)) == 2 * (34 + 56) + 7
    assert wide((terms,)) is UNSUITED


@supported
def test_words_keep_all_bits(toys: Callable[..., Any]) -> None:
    assert toys("last_word", True) == 2**64 - 1
    assert toys("last_word", np.bool_(False)) == 2**63 - 1
    for word in (0, 2**63 - 1, 2**63, 2**64 - 2):
        assert toys("next_word", np.uint64(word)) == word + 1


@supported
def test_memory_is_given_back(toys: Callable[..., Any]) -> None:
    from streed.problem.process_memory import resident

    values = np.random.default_rng(3).permutation(2**17).astype(np.int64)
    toys("order_of", values)
    gc.collect()
    before = resident()
    for _ in range(100):
        toys("order_of", values)
    assert resident() - before < 20 * 2**20  # of 100 MiB


@supported
def test_arguments_of_other_types_and_layouts_are_left_to_the_compiler(built: Path) -> None:
    found = Library(built, *container.read(built))
    (rows,) = found.calls(entry_name(HERE, "sums_of_rows"))
    values = np.zeros((4, 6), np.uint8)
    fixed = values.copy()
    fixed.flags.writeable = False
    assert rows((values, 1)) is not UNSUITED
    assert rows((values, np.int64(1))) is not UNSUITED
    refused: list[tuple[Any, ...]] = [
        (values,),
        (values, 1, 1),
        (values.astype(np.int8), 1),
        (values[0], 1),
        (values[:, ::2], 1),
        (np.asfortranarray(values), 1),
        (fixed, 1),
        (values.tolist(), 1),
        (values.view(np.matrix), 1),
        (values, 1.0),
        (values, 2**63),
        (values, -(2**63) - 1),
        (values, None),
    ]
    assert [rows(arguments) is UNSUITED for arguments in refused] == [True] * len(refused)


# -- which library is taken ----------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """(the package's folder, the cache's), both empty, in a process that has taken no library and said nothing yet."""
    folders = tmp_path / "package", tmp_path / "cache"
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(prebuilt, "INSTALLED", folders[0])
    monkeypatch.setattr(prebuilt, "cache_directory", lambda: folders[1])
    monkeypatch.setattr(notices, "_said", set())
    for name in ("STREED_PREBUILT", "NUMBA_CPU_NAME"):
        monkeypatch.delenv(name, raising=False)
    library.cache_clear()
    yield folders
    library.cache_clear()


def put(built: Path, folder: Path, **changes: Any) -> Path:
    """The library in a folder, with other contents."""
    import attrs

    contents, code = container.read(built)
    path = folder / built.name
    container.write(path, attrs.evolve(contents, **changes), code)
    return path


@supported
@pytest.mark.parametrize("place", [0, 1])
def test_a_library_is_found(
    built: Path, places: tuple[Path, Path], place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(built, places[place])
    found = library()
    assert found is not None
    assert found.path == path
    entry = Entry(HERE, "double", *prebuilt_toys.SIGNATURES["double"])
    values = np.arange(3)
    entry(values)
    assert values.tolist() == [0, 2, 4]
    assert "compiled" not in vars(entry)
    # of another type: what is compiled answers
    real = np.arange(3.0)
    entry(real)
    assert real.tolist() == [0.0, 2.0, 4.0]
    assert "compiled" in vars(entry)
    assert capsys.readouterr().err == ""


@supported
def test_without_a_library_nothing_is_said(places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert library() is None
    assert capsys.readouterr().err == ""


@supported
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fingerprint": "0" * 16}, "other sources"),
        ({"platform": "plan9 mips"}, "it is for plan9 mips"),
        ({"level": "x86-64-v9"}, "x86-64-v9"),
        ({"imports": ("no_such_function",)}, "this system has no no_such_function"),
    ],
)
def test_a_library_that_does_not_fit_is_said_once(
    built: Path,
    places: tuple[Path, Path],
    place: int,
    changes: dict[str, Any],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(built, places[place], **changes)
    assert library() is None
    library.cache_clear()
    assert library() is None
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert said in told
    assert "the search is compiled" in told


@supported
def test_a_damaged_library_is_said_and_the_next_one_taken(
    built: Path, places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = put(built, places[0])
    bad.write_bytes(bad.read_bytes()[:-1])
    assert library() is None
    assert "damaged" in capsys.readouterr().err
    library.cache_clear()
    good = put(built, places[1])
    found = library()
    assert found is not None
    assert found.path == good


@supported
def test_it_can_be_switched_off(
    built: Path, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(built, places[0])
    for name, value in (("STREED_PREBUILT", "0"), ("STREED_PREBUILT", "off"), ("NUMBA_CPU_NAME", "generic")):
        with monkeypatch.context() as switched:
            switched.setenv(name, value)
            library.cache_clear()
            assert library() is None
    assert capsys.readouterr().err == ""
    with monkeypatch.context() as switched:
        switched.setenv("STREED_PREBUILT", "pentium")
        library.cache_clear()
        assert library() is None
    assert "STREED_PREBUILT=pentium is none of 0, " in capsys.readouterr().err


@supported
def test_a_level_can_be_asked_for(built: Path, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    put(built, places[0])
    lowest = levels.levels()[0].name
    contents, code = container.read(built)
    import attrs

    # code of the level of this processor, under the name of the lowest one
    container.write(places[0] / f"{lowest}.prebuilt", attrs.evolve(contents, level=lowest), code)
    monkeypatch.setenv("STREED_PREBUILT", lowest)
    found = library()
    assert found is not None
    assert found.level == lowest


def test_an_entry_without_a_library_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "library", lambda: None)
    entry = Entry(HERE, "double", *prebuilt_toys.SIGNATURES["double"])
    entry.make_ready()
    values = np.arange(5)
    entry(values)
    assert values.tolist() == [0, 2, 4, 6, 8]


def test_code_that_was_made_ready_is_found_by_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(linking, "library", lambda: None)
    monkeypatch.setattr(compiled, "cache_directory", lambda: tmp_path)
    function = prebuilt_toys.double.py_func
    ready, called = compiled.entry(function), compiled.entry(function)
    entry = Entry(HERE, "double", *prebuilt_toys.SIGNATURES["double"])
    vars(entry)["compiled"] = ready
    entry.make_ready()
    assert len(list(tmp_path.iterdir())) == 1
    called(np.arange(3))
    assert sum(called._cache_hits.values()) == 1
    assert capsys.readouterr().err == ""


def test_the_fingerprint_is_that_of_the_sources() -> None:
    assert len(fingerprint()) == 16
    assert Path(prebuilt.__file__).parent == prebuilt.INSTALLED.parent
