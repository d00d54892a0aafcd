"""Long lists of numbers, which trees have in one piece."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sqlglot import exp

from rewriter import dialect
from rewriter.dialect.nodes import InNumbers
from rewriter.interpret import from_arrow, interpret

NUMBERS = [str(number) for number in range(-60, 60)]
TEXT = f"m.id IN ({', '.join(NUMBERS)})"


def condition(text: str) -> exp.Expr:
    query = dialect.parse(f"SELECT * FROM m WHERE {text}")
    found: exp.Expr = query.args["where"].this
    return found


def test_they_are_read_and_written_as_they_are() -> None:
    node = condition(TEXT)
    assert isinstance(node, InNumbers)
    assert dialect.emit(node, pretty=False) == TEXT
    assert len(node.expressions) == len(NUMBERS)
    assert node == condition(TEXT) != condition(TEXT.replace("59", "61"))


def test_copies_and_walks_pass_them_by() -> None:
    assert len(list(condition(TEXT).copy().walk())) < 10


@pytest.mark.parametrize("item", ["'a'", "NULL", "1L", "x", "1 + 1"])
def test_other_items_are_nodes(item: str) -> None:
    assert type(condition(TEXT.replace("-60", item))) is exp.In


@pytest.mark.parametrize(
    "column",
    [
        pa.array([-61, -60, 59, 60, None]),
        pa.array([-61, -60, 59, 60, None], pa.int16()),
        pa.array([-61.0, -60.0, 59.0, 60.5, None]),
    ],
)
def test_they_are_compared_as_one_by_one(column: pa.Array) -> None:
    found = interpret(condition(TEXT)).evaluate(lambda _, name: from_arrow(column))
    assert found.to_arrow(5).to_pylist() == [False, True, True, False, None]
