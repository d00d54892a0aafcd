"""Types that ``=`` compares without making different values equal."""

from __future__ import annotations

import pytest

from rewriter.scalars.comparable import compared_exactly


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("int", "int"),
        ("array<string>", "array<string>"),
        ("string collate UTF8_LCASE", "string collate UTF8_LCASE"),
        ("int", "bigint"),
        ("bigint", "int"),
        ("double", "int"),
        ("int", "double"),
        ("double", "float"),
        ("float", "double"),
        ("double", "decimal(10,2)"),
        ("decimal(10,2)", "double"),
        ("decimal(10,2)", "decimal(12,4)"),
        ("bigint", "decimal(18,0)"),
        ("decimal(20,2)", "bigint"),
        ("string", "int"),
        ("string", "date"),
        ("timestamp", "date"),
        ("void", "int"),
        ("int", "void"),
    ],
)
def test_exact(outer: str, inner: str) -> None:
    """Every inner value keeps what tells it apart."""
    assert compared_exactly(outer, inner)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("int", "string"),
        ("date", "string"),
        ("boolean", "string"),
        ("double", "string"),
        ("double", "bigint"),
        ("float", "bigint"),
        ("double", "decimal(16,0)"),
        ("decimal(38,0)", "decimal(38,10)"),
        ("string", "double"),
        ("string", "decimal(10,2)"),
        ("timestamp", "timestamp_ntz"),
        ("date", "timestamp"),
        ("string", "string collate UTF8_LCASE"),
        ("array<int>", "array<string>"),
    ],
)
def test_not_exact(outer: str, inner: str) -> None:
    """Different inner values may be equal to one outer value, or it is not known."""
    assert not compared_exactly(outer, inner)
