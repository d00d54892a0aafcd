"""What sqlglot's Spark dialect gets wrong and ours gets right: a text and its emission each."""

from pathlib import Path

import pytest

from rewriter.dialect import emit, parse

MENDS = Path(__file__).parent / "mends"
NAMES = sorted(path.name.removesuffix(".input.sql") for path in MENDS.glob("*.input.sql"))


def test_every_fixture_has_both_parts() -> None:
    expected = sorted(path.name.removesuffix(".expected.sql") for path in MENDS.glob("*.expected*"))
    assert expected == NAMES
    assert len(list(MENDS.iterdir())) == 2 * len(NAMES) > 0


@pytest.mark.parametrize("name", NAMES)
def test_mend(name: str) -> None:
    text = (MENDS / f"{name}.input.sql").read_text().strip()
    expected = (MENDS / f"{name}.expected.sql").read_text().strip()
    assert emit(parse(text), pretty=False) == expected


@pytest.mark.parametrize("name", NAMES)
def test_emission_is_a_fixed_point(name: str) -> None:
    expected = (MENDS / f"{name}.expected.sql").read_text().strip()
    assert emit(parse(expected), pretty=False) == expected
