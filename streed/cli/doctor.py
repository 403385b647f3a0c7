"""`streed doctor`: where native code is kept, and of which versions it is made."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import streed
from streed.cli.exit_codes import errors
from streed.cli.options import json_option
from streed.cli.output import print_json

_PACKAGES = ("numba", "llvmlite", "numpy", "attrs")


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Say where native code is kept, and which versions are installed."""
    with errors():
        found = examine()
        if as_json:
            print_json(found)
            return
        for what, told in found.items():
            click.echo(f"{what:<14}  {told}")


def examine() -> dict[str, Any]:
    """What there is to tell, by what it is about."""
    from llvmlite import binding

    from streed.kernels.places import SUFFIX, cache_directory, why_none

    cache = cache_directory()
    kept = () if cache is None else tuple(cache.glob(f"*{SUFFIX}"))
    return {
        "streed": f"{streed.__version__}, {Path(streed.__file__).parent}",
        "python": f"{platform.python_version()}, {sys.executable}",
        **{name: metadata.version(name) for name in _PACKAGES},
        "processor": binding.get_host_cpu_name(),
        "cache": f"none: {why_none()}" if cache is None else f"{cache}, writable, {len(kept)} compiled functions",
    }
