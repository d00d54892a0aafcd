"""Literals as their plan shows them, and as a text."""

from typing import Any

import pytest

from rewriter.dialect import emit
from rewriter.errors import UnsupportedError
from rewriter.frames.writing.literals import literal


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        ("1", "integer", "1"),
        ("-1", "integer", "-1"),
        ("7", "long", "7L"),
        ("-7", "byte", "-7Y"),
        ("1.5", "double", "1.5D"),
        ("1.0E-7", "double", "1.0E-7D"),
        ("NaN", "double", "CAST('NaN' AS DOUBLE)"),
        ("-Infinity", "float", "CAST('-Infinity' AS FLOAT)"),
        ("1.50", "decimal(3,2)", "1.50BD"),
        ("0.05", "decimal(2,2)", "0.05BD"),
        ("1.50", "decimal(10,2)", "CAST(1.50BD AS DECIMAL(10, 2))"),
        ("it's\n", "string", "'it\\'s\\n'"),
        ("true", "boolean", "TRUE"),
        (None, "void", "NULL"),
        (None, "integer", "CAST(NULL AS INT)"),
        ("2020-01-31", "date", "DATE '2020-01-31'"),
        ("2020-01-31 01:02:03", "timestamp", "TIMESTAMP_LTZ '2020-01-31 01:02:03'"),
        ("1", "timestamp_ntz", "TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'"),
        ("-97200000000", "interval day to second", "INTERVAL '-1 03:00:00.000000' DAY TO SECOND"),
        ("14", "interval year to month", "INTERVAL '1-2' YEAR TO MONTH"),
        ("12", "interval year", "CAST(INTERVAL '1-0' YEAR TO MONTH AS INTERVAL YEAR)"),
    ],
)
def test_text(value: str | None, type_: str, text: str) -> None:
    assert emit(literal(value, type_)) == text


@pytest.mark.parametrize("type_", ["binary", "variant", {"type": "array", "elementType": "long"}])
def test_values_that_json_does_not_show(type_: Any) -> None:
    with pytest.raises(UnsupportedError, match="a literal of type"):
        literal("[B@1f", type_)
