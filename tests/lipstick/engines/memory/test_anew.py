"""Aggregates without a tensor, computed in memory from what is left."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lipstick.engines.memory.aggregates import computed_anew
from lipstick.errors import NeedsSparkError
from rewriter.interpret import Anew, UninterpretableError
from tests.oracle.test_aggregates import DATABASE, DELETIONS
from tests.oracle.written import check_written, written


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, max_by(x, id) AS m, min_by(t, id) AS n, max_by(d, id) AS d FROM r GROUP BY k",
        "SELECT max_by(id, d) FILTER (WHERE id <> 8) AS m, min_by(t, -id) AS n FROM r",
        "SELECT max_by(id, t) FILTER (WHERE id < 7 AND id <> 5) AS m FROM r",
        "SELECT k, mode(x, true) AS m, mode() WITHIN GROUP (ORDER BY t DESC) AS n FROM r"
        " GROUP BY k",
        "SELECT k, percentile_cont(0.25) WITHIN GROUP (ORDER BY x) AS p, median(x) AS m FROM r"
        " GROUP BY k",
        "SELECT k, bool_or(x > 2) AS o, bool_and(x > 2) AS a, count_if(x > 2) AS n FROM r"
        " GROUP BY k",
        "SELECT k, bit_and(x) AS a, bit_or(x) AS o, bit_xor(x + id) AS e FROM r GROUP BY k",
        "SELECT k, stddev(x) AS d, var_pop(x) AS p, variance(id) AS v, stddev_pop(x) AS e FROM r"
        " GROUP BY k",
        "SELECT k FROM r GROUP BY k HAVING stddev_samp(id) > 1.5",
        "SELECT s.a, s.b, n FROM (SELECT named_struct('a', k, 'b', x > 2) AS s, count(*) AS n"
        " FROM r GROUP BY named_struct('a', k, 'b', x > 2))",
        "SELECT k, x, max_by(t, id) AS m FROM r GROUP BY ROLLUP (k, x)",
        "SELECT k FROM r GROUP BY k HAVING max_by(x, id) > 3 ORDER BY k LIMIT 1",
        "SELECT s.id, t.m FROM s LEFT JOIN (SELECT k, max_by(x, id) AS m FROM r GROUP BY k) t"
        " ON s.k = t.k AND t.m > s.y",
        "SELECT m, count(*) AS n FROM (SELECT k, max_by(x, id) AS m FROM r GROUP BY k) GROUP BY m",
        "SELECT max_by(x, id) AS m, mode(x, true) AS o, median(x) AS p FROM r WHERE k = 2",
    ],
)
def test_what_if(sql: str, tmp_path: Path) -> None:
    assert check_written(sql, DATABASE, DELETIONS, tmp_path, grouping=True) >= 3


def test_percentiles_of_decimals_are_doubles() -> None:
    values = pa.array([Decimal("0.10"), None, Decimal("-7.30"), Decimal("0.35")])
    call = Anew("percentile", share=0.5)
    offsets = np.array([0, 2, 2, 4])
    assert computed_anew(call, [values], offsets).to_pylist() == [0.1, None, -3.475]
    large = pa.array([Decimal(2**60)])
    with pytest.raises(UninterpretableError, match="large"):
        computed_anew(call, [large], np.array([0, 1]))


def test_lists_are_in_the_order_of_their_keys() -> None:
    """NULLs are left out, and equal keys keep the order of the rows."""
    columns = [pa.array(["a", "b", None, "c", "d", "e"]), pa.array([3, 1, 0, None, 2, 1])]
    offsets = np.array([0, 4, 6, 6])
    ascending = Anew("collect_list", order=((False, True),))
    assert computed_anew(ascending, columns, offsets).to_pylist() == [
        ["c", "b", "a"],
        ["e", "d"],
        [],
    ]
    descending = Anew("collect_list", order=((True, False),))
    assert computed_anew(descending, columns, offsets).to_pylist() == [
        ["a", "b", "c"],
        ["d", "e"],
        [],
    ]


def test_rows_that_tie(tmp_path: Path) -> None:
    """The keys of the rows decide, as in the answer."""
    memory = written(
        "SELECT first(x) AS f, last(x) IGNORE NULLS AS l, max_by(id, k) AS m, mode(x) AS o FROM r",
        DATABASE,
        tmp_path,
    )
    assert memory.answer().to_pylist() == [{"c0": 5, "c1": 3, "c2": 7, "c3": 2}]
    what_if = memory.what_if({"r": pa.table({"id": pa.array([1, 3, 8, 7], pa.int32())})})
    assert what_if.df.to_pylist() == [{"c0": None, "c1": 5, "c2": 4, "c3": 2}]


@pytest.mark.parametrize(
    "call", ["mode(d, true)", "listagg(t, ',')", "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)"]
)
def test_what_only_spark_computes(call: str, tmp_path: Path) -> None:
    memory = written(f"SELECT {call} AS c FROM r", DATABASE, tmp_path)
    with pytest.raises(NeedsSparkError, match=call.partition("(")[0].upper()):
        memory.what_if({"r": pa.table({"id": pa.array([1], pa.int32())})})
