"""The prebuilt library of this process: found, checked and loaded once, or none, and then code is compiled.

Libraries lie beside this file, one for each level of processor, where streed was installed from a wheel, or in the
directory of the cache, where `python -m streed.prebuild` puts one. Only one that was built from the sources at hand is
taken. STREED_PREBUILT=0 takes none, STREED_PREBUILT=<level> takes that of a level. Where NUMBA_CPU_NAME says what
processor to compile for, none is taken either.

The machine code is a relocatable object, which llvmlite links in memory; neither numba nor a linker is needed.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import final

from llvmlite import binding

from streed.kernels.notices import say_once
from streed.kernels.places import cache_directory, fingerprint
from streed.kernels.prebuilt import container, levels
from streed.kernels.prebuilt.calls import Call, make_call, releaser

INSTALLED = Path(__file__).parent / "libraries"
"""Where a wheel has them."""

RELEASE = "streed_release"
"""The symbol of the function that releases memory."""

_ONLY_COMPILED = ("0", "no", "off", "false")


@final
class Library:
    """Machine code in memory, and what it holds."""

    def __init__(self, path: Path, contents: container.Contents, code: bytes) -> None:
        self.path = path
        self.level = contents.level
        self._entries = contents.entries
        overloads = [each for overloads in contents.entries.values() for each in overloads]
        addresses = _load(code, [RELEASE, *contents.units.values(), *(each.symbol for each in overloads)])
        self._units = {name: addresses[symbol] for name, symbol in contents.units.items()}
        self._addresses = addresses
        self._release = releaser(addresses[RELEASE])

    def calls(self, name: str) -> list[Call]:
        """The ways in which an entry can be called; none if it is not in the library."""
        overloads = self._entries.get(name, ())
        return [make_call(self._addresses[each.symbol], each, self._release) for each in overloads]

    def unit(self, name: str) -> int | None:
        """The address of a work unit, if the library has it."""
        return self._units.get(name)


@functools.cache
def library() -> Library | None:
    """The library for this processor and these sources; None if there is none or it is switched off."""
    wanted = os.environ.get("STREED_PREBUILT", "")
    if wanted.lower() in _ONLY_COMPILED or os.environ.get("NUMBA_CPU_NAME"):
        return None
    known = [level.name for level in levels.levels()]
    if wanted and wanted not in known:
        say_once("level", f"STREED_PREBUILT={wanted} is none of {', '.join(['0', *known])}; the search is compiled")
        return None
    runnable = [level.name for level in levels.runnable(binding.get_host_cpu_features())]
    installed = list(INSTALLED.glob(f"*{container.SUFFIX}"))
    refused: list[str] = []
    for find in (lambda: INSTALLED, cache_directory):
        folder = find()
        for name in runnable:
            if folder is not None and wanted in ("", name):
                found = _loaded(folder / f"{name}{container.SUFFIX}", name, refused)
                if found is not None:
                    return found
    if refused:
        say_once("prebuilt", f"the prebuilt library cannot be used and the search is compiled: {'; '.join(refused)}")
    elif installed:
        say_once("prebuilt", "there is no prebuilt library for this processor, and the search is compiled")
    return None


def _loaded(path: Path, level: str, refused: list[str]) -> Library | None:
    """The library in a file; None if there is no such file, or, noted among those refused, if it is not usable."""
    try:
        contents, code = container.read(path)
        _check(contents, level)
        return Library(path, contents, code)
    except FileNotFoundError:
        return None
    except (OSError, container.Unusable) as error:
        refused.append(f"{path}: {getattr(error, 'strerror', None) or error}")
        return None


def _check(contents: container.Contents, level: str) -> None:
    """Raises Unusable unless the library was built for what it is to be used for, and finds what it calls."""
    if contents.platform != levels.this_platform() or contents.level != level:
        raise container.Unusable(f"it is for {contents.platform}, {contents.level}")
    if contents.fingerprint != fingerprint():
        raise container.Unusable("it was built from other sources")
    process = ctypes.CDLL(None)
    missing = [name for name in contents.imports if not hasattr(process, name)]
    if missing:
        # LLVM would end the process
        raise container.Unusable(f"this system has no {', '.join(missing)}")


def _load(code: bytes, symbols: list[str]) -> dict[str, int]:
    """Links the code, for as long as the process lives; the addresses of symbols."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    addresses = {symbol: int(engine.get_function_address(symbol)) for symbol in symbols}
    # a thread may still search while the interpreter ends, and would lose its code
    engine.detach()
    if not all(addresses.values()):
        raise container.Unusable("it lacks functions that it names")
    return addresses
