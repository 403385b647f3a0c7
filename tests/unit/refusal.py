"""Asserting that bad input is refused by an error that names the argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from streed.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(argument: str, *fragments: str, call: Callable[[], Any]) -> None:
    """Assert that the call raises InputError for this argument, with all fragments in its message."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.argument == argument
    for fragment in fragments:
        assert fragment in str(caught.value)
