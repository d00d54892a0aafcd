"""`literals`: the constants of a text by type, which plans do not show."""

import pytest

from rewriter.dialect import literals


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SELECT 1", "SELECT 1L"),
        ("SELECT 1", "SELECT '1'"),
        ("SELECT '2020-01-31'", "SELECT DATE '2020-01-31'"),
        ("SELECT NULL", "SELECT 'NULL'"),
        ("SELECT X'1F'", "SELECT '1F'"),
        ("SELECT 1.50", "SELECT 1.5"),
    ],
)
def test_different(left: str, right: str) -> None:
    assert literals(left) != literals(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SELECT 'a' 'b'", "SELECT 'ab'"),
        ("SELECT 'it''s'", r"SELECT 'it\'s'"),
        (r"SELECT r'a\d'", r"SELECT 'a\\d'"),
        ("SELECT 1l, x'1f'", "SELECT X'1F', 1L"),
        ("SELECT a IS NULL -- 1", "SELECT (a IS NULL)"),
    ],
)
def test_equal(left: str, right: str) -> None:
    assert literals(left) == literals(right)
