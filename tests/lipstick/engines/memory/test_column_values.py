"""Every column of an answer has a formal value, which is the query's value in every world."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from lipstick.errors import CaptureError
from semiring.analysis import moments
from semiring.errors import CapabilityError
from semiring.semirings import Counting
from semiring.tensor import Tensor
from semiring.value import Value
from tests.oracle.conditions import DATABASE
from tests.oracle.world_check import check_worlds
from tests.oracle.written import written

QUERIES: Final = {
    "rounded average": "SELECT k, round(avg(x), 2) AS a FROM r GROUP BY k",
    "average beside a count": "SELECT k, avg(x) AS a, count(*) + 1 AS n FROM r GROUP BY k",
    "quotient": "SELECT k, sum(x) / count(*) AS q, max(x) - min(x) AS d FROM r GROUP BY k",
    "difference of windows": (
        "SELECT id, sum(x) OVER (PARTITION BY k) - x AS d,"
        " x - lag(x) OVER (PARTITION BY k ORDER BY id) AS e FROM r"
    ),
    "share of the total": (
        "SELECT k, sum(x) * 100.0 / sum(sum(x)) OVER () AS p, sum(x) AS t FROM r GROUP BY k"
    ),
    "share by a scalar subquery": "SELECT id, x / (SELECT sum(x) FROM r) AS p FROM r",
    "correlated count": "SELECT id, (SELECT count(*) FROM s WHERE s.k = r.k) AS n FROM r",
    "correlated sum": (
        "SELECT id, x + (SELECT coalesce(sum(y), 0) FROM s WHERE s.k = r.k) AS t FROM r"
    ),
    "partner of an outer join": (
        "SELECT r.id, o.t, o.t + 1 AS u FROM r"
        " LEFT JOIN (SELECT k, sum(y) AS t FROM s GROUP BY k) o ON o.k = r.k"
    ),
    "conditional": "SELECT k, CASE WHEN count(*) > 1 THEN sum(x) ELSE 0 END AS c FROM r GROUP BY k",
    "rank": "SELECT k, rank() OVER (ORDER BY sum(x) DESC) AS place FROM r GROUP BY k",
    "row number": "SELECT id, row_number() OVER (PARTITION BY k ORDER BY x, id) AS n FROM r",
    "running share": ("SELECT id, sum(x) OVER (ORDER BY id) * 1.0 / sum(x) OVER () AS s FROM r"),
    "average above groups": "SELECT avg(t) AS a FROM (SELECT k, sum(x) AS t FROM r GROUP BY k)",
    "truth": "SELECT k, bool_or(x > 5) AS o, bool_and(x > 1) AS a FROM r GROUP BY k",
    "median": "SELECT k, median(x) AS m, stddev_samp(x) AS d FROM r GROUP BY k",
    "union": (
        "SELECT k, sum(x) AS t FROM r GROUP BY k UNION ALL SELECT k, -sum(y) FROM s GROUP BY k"
    ),
    "cut": "SELECT k, round(avg(x), 1) AS a FROM r GROUP BY k ORDER BY a DESC, k LIMIT 2",
}


@pytest.mark.many(3)
@pytest.mark.parametrize("name", QUERIES)
def test_values_of_columns_in_every_world(name: str, tmp_path: Path) -> None:
    memory = written(QUERIES[name], DATABASE, tmp_path)
    changing = [output for output in memory.blocks[-1].outputs if not output.stable]
    checked = check_worlds(memory, QUERIES[name], DATABASE)
    assert checked.problems == {}
    assert checked.counts["columns with tensors"] == len(changing) > 0
    assert checked.changed > 0
    for number, column in enumerate(memory.answer().column_names):
        for row, value in memory.tensors(column):
            assert _number(evaluated(value)) == pytest.approx(_number(list(row.values())[number]))


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def evaluated(value: Value) -> Any:
    return value.evaluate(Counting())


def test_values_that_no_deletion_changes_are_simple_tensors(tmp_path: Path) -> None:
    memory = written("SELECT id, k, x * 2 AS y FROM r ORDER BY id", DATABASE, tmp_path)
    by_column = {name: [value for _, value in memory.tensors(name)] for name in ("c0", "c1", "C2")}
    assert [str(value) for value in by_column["C2"]] == ["1⊗20", "1⊗2", "1⊗2", "1⊗6", "1⊗4"]
    assert str(by_column["c1"][0]) == "1⊗a"
    null = by_column["c1"][4]
    assert isinstance(null, Tensor)
    assert null.is_zero
    assert evaluated(null) is None


def test_what_has_no_number_has_no_moments(tmp_path: Path) -> None:
    memory = written("SELECT k, max(k) AS m FROM r WHERE x > 2 GROUP BY k", DATABASE, tmp_path)
    with pytest.raises(CapabilityError, match=r"'[ab]' is not a number"):
        moments(memory.tensors("c1")[0][1], 0.5)


def test_columns_are_named_as_the_answer_names_them(tmp_path: Path) -> None:
    memory = written(QUERIES["rounded average"], DATABASE, tmp_path)
    with pytest.raises(CaptureError, match=r"has no column 'a'\.\nThere are c0, c1\."):
        memory.tensors("a")
