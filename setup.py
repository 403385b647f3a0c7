"""What pyproject.toml cannot say: a wheel that holds prebuilt native code is for one kind of machine, else for all.

`python -m streed.prebuild --all` puts that code into the package, and `python -m build --wheel` takes it along.
"""

from __future__ import annotations

import platform
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

LIBRARIES = Path(__file__).parent / "streed" / "kernels" / "prebuilt" / "libraries"

OLDEST = "manylinux_2_17"
"""The C library of CentOS 7: all functions that prebuilt code calls are older."""


class Package(Distribution):
    """The package, which is not for all machines if it holds native code."""

    def has_ext_modules(self) -> bool:
        return any(LIBRARIES.glob("*.prebuilt"))


class Wheel(bdist_wheel):
    """A wheel whose name says what it is for: any Python, as the native code knows none."""

    def get_tag(self) -> tuple[str, str, str]:
        if self.distribution.has_ext_modules():
            return "py3", "none", f"{OLDEST}_{platform.machine()}"
        tag: tuple[str, str, str] = super().get_tag()
        return tag


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel})
