"""LIMIT and OFFSET of constant expressions become numbers."""

from __future__ import annotations

from rewriter.dialect import computed_bounds, emit, parse, with_bounds


def test_numbers_stay() -> None:
    query = parse("SELECT a FROM t LIMIT 3 OFFSET 1")
    assert computed_bounds(query) == []
    assert computed_bounds(parse("SELECT a FROM t LIMIT ALL")) == []


def test_expressions_become_numbers() -> None:
    query = parse(
        "SELECT a FROM (SELECT a FROM t LIMIT 1 + 1) AS x LIMIT CAST('3' AS INT) OFFSET v"
    )
    written = computed_bounds(query)
    assert sorted(written) == ["1 + 1", "CAST('3' AS INT)", "v"]
    values = {"1 + 1": 2, "CAST('3' AS INT)": 3, "v": 4}
    text = emit(with_bounds(query, [values[bound] for bound in written]), pretty=False)
    assert text == "SELECT a FROM (SELECT a FROM t LIMIT 2) AS x LIMIT 3 OFFSET 4"
    assert emit(query, pretty=False) != text
