"""Lineage of a capture by texts that the command line reads, and as the facet that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.explorer.conditions import rows_that
from lipstick.openlineage import lineage_facet
from semiring.errors import LipstickError
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

CARS = Relation(
    "cars",
    ("car",),
    "car string, model string",
    pa.table({"car": ["C1", "C2", "C3"], "model": ["Accord", "Civic", "Civic"]}),
)


def test_lineage_of_rows_that_a_condition_selects(tmp_path: Path) -> None:
    """Without Spark conditions compare columns with values, as ``lipstick rows`` reads them."""
    sql = "SELECT model, count(*) AS n FROM cars GROUP BY model"
    saved = write_capture(sql, Database({"cars": CARS}), tmp_path / "c")
    some = saved.lineage("n = 2 and model like 'C%'")["cars"]
    assert some.to_pylist() == [{"car": "C2"}, {"car": "C3"}]
    chosen = rows_that(saved.memory.answer(), "n = 2", "the answer")
    assert pa.array(chosen).to_pylist() == [False, True]
    with pytest.raises(LipstickError, match=r"(?s)is not a condition.*need Spark"):
        saved.lineage("upper(model) = 'CIVIC'")


def test_columns_by_which_rows_are_named_are_in_no_facet(tmp_path: Path) -> None:
    rows = pa.table({"k": [1, 1, 1], "b": [5, 5, 9], "_lipstick_ordinal": [1, 2, 1]})
    schema = "k bigint, b bigint, _lipstick_ordinal bigint"
    relation = Relation("r", ("k", "b", "_lipstick_ordinal"), schema, rows)
    sql = "SELECT k, first_value(b) OVER (PARTITION BY k ORDER BY b) AS v FROM r"
    capture = write_capture(sql, Database({"r": relation}), tmp_path)
    facet = json.dumps(lineage_facet(capture, "lake"))
    assert '"b"' in facet
    assert "_lipstick" not in facet
