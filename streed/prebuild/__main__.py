"""Builds prebuilt libraries: `python -m streed.prebuild` makes that of this processor, kept beside compiled code.

With --all, those of every level are made, in the package itself: what a wheel is made from. The sources at hand are
compiled once for each level, in a process of its own, which takes about a minute.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from llvmlite import binding

from streed.kernels.places import cache_directory, why_none
from streed.kernels.prebuilt import container, levels
from streed.kernels.prebuilt.library import INSTALLED


def main(arguments: list[str] | None = None) -> int:
    """0 if all libraries that were asked for are made."""
    parser = argparse.ArgumentParser(prog="python -m streed.prebuild", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every level that this machine can run, into the package")
    parser.add_argument("--level", choices=[level.name for level in levels.levels()], help="another than the best one")
    parser.add_argument("--into", type=Path, metavar="DIR", help="where to write, in place of the cache's directory")
    parser.add_argument("--emit", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--small", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.emit is not None:
        from streed.prebuild.emission import emit

        emit(options.emit, options.level, small=options.small)
        return 0
    runnable = levels.runnable(binding.get_host_cpu_features())
    if not runnable:
        print("no library can be made for this machine; code is compiled when it is first used", file=sys.stderr)
        return 1
    chosen = [level for level in levels.levels() if options.all or level.name == (options.level or runnable[0].name)]
    folder = options.into or (INSTALLED if options.all else cache_directory())
    if folder is None:
        print(f"there is no directory to keep a library in: {why_none()}; name one with --into", file=sys.stderr)
        return 1
    # a wheel has all levels, and is to be small; what is built where it is used is to load at once
    return max(_build(level, folder, small=options.all) for level in chosen)


def _build(level: levels.Level, folder: Path, *, small: bool) -> int:
    """The exit code of the process that makes the library of a level."""
    path = folder / f"{level.name}{container.SUFFIX}"
    begin = time.perf_counter()
    code = subprocess.call(
        [sys.executable, "-m", "streed.prebuild", "--emit", str(path), "--level", level.name, *["--small"] * small],
        env={
            **os.environ,
            "NUMBA_CPU_NAME": level.cpu,
            "NUMBA_CPU_FEATURES": level.features,
            "STREED_CACHE": "0",
            "STREED_PREBUILT": "0",
        },
    )
    if code == 0:
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, built in {time.perf_counter() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
