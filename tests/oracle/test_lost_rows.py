"""Lost rows of every kind: the reason, and changes that bring them."""

from __future__ import annotations

import pytest

from tests.oracle.lost_rows import KINDS, case, judged, shares


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_lost_row_has_its_reason_and_the_nearest_change_brings_it(kind: str) -> None:
    number = list(KINDS).index(kind)
    verdict = judged(*case(number, 12))
    assert verdict.operator, verdict.text
    assert verdict.said, verdict.text
    assert verdict.nearest is not False, verdict.text
    assert 0 < verdict.brought == verdict.proposals, verdict.text


def test_shares_count_what_is_not_right() -> None:
    verdict = judged(*case(2, 12))
    wrong = type(verdict)("wrong_key", False, 2, 0, False, False)
    assert shares([verdict, wrong]).splitlines()[1:3] == [
        "operator right: 1",
        "a proposal brings the row: 1",
    ]
