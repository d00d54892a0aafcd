"""What sqlglot's Spark dialect gets wrong and ours gets right: a text and its emission each."""

from pathlib import Path

import pytest

from rewriter.dialect import emit, parse
from tests.rewriter.cases import EXPECTED, Case, cases, check, strays

MENDS = Path(__file__).parent / "mends"


def test_no_strays() -> None:
    assert len(cases(MENDS)) > 50
    assert not strays(MENDS, [EXPECTED])


@pytest.mark.parametrize("case", cases(MENDS).values(), ids=str)
def test_mend(case: Case) -> None:
    check(case, {EXPECTED: emit(parse(case.given), pretty=False)}, [EXPECTED])


@pytest.mark.parametrize("case", cases(MENDS).values(), ids=str)
def test_emission_is_a_fixed_point(case: Case) -> None:
    expected = case.outcomes[EXPECTED]
    assert emit(parse(expected), pretty=False) == expected
