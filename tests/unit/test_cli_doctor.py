"""`streed doctor`: what is told of native code and where it is kept."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.kernels import places


def test_it_tells_versions_and_places() -> None:
    run = CliRunner().invoke(app, ["doctor", "--json"])
    assert run.exit_code == 0
    told = json.loads(run.stdout)
    assert set(told) >= {"streed", "python", "numba", "llvmlite", "numpy", "processor", "cache"}
    assert told["streed"].startswith(streed.__version__)
    assert places.fingerprint() in told["cache"]


def test_it_tells_why_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREED_CACHE", "0")
    places._choice.cache_clear()
    try:
        run = CliRunner().invoke(app, ["doctor"])
    finally:
        places._choice.cache_clear()
    assert "none: STREED_CACHE turns that off" in run.stdout
