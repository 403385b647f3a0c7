from __future__ import annotations

import pytest

from tests.differential import rashomon

pytestmark = pytest.mark.compiles


@pytest.mark.parametrize("kind", list(rashomon.KINDS))
def test_the_set_is_that_of_all_trees_one_by_one(kind: str) -> None:
    for number in range(6):
        posed = rashomon.make_posed(kind, f"test/{number}")
        assert rashomon.differences(posed) == [], posed
