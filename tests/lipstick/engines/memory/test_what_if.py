"""Without Spark, a capture gives the answer that Spark gives on the reduced data."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.memory import Memory
from lipstick.errors import CaptureError
from tests.oracle.database import Deletion, Key, Relation
from tests.oracle.many import check_many
from tests.oracle.plain import PlainSpark
from tests.oracle.rows import assert_same_bag, from_arrow, from_spark

pytestmark = pytest.mark.spark

QUERIES = {
    "exact and floating aggregates": """
        SELECT k, s, count(*) n, count(x) c, sum(x) sx, avg(x) ax, sum(m) sm, avg(m) am,
          sum(d) sd, avg(f) af, min(d) lo, max(d) hi, min(s) ms, max(t) mt
        FROM odd GROUP BY k, s""",
    "floating keys": "SELECT d, count(*) n, sum(x) s FROM odd GROUP BY d",
    "distinct aggregates": """
        SELECT k, count(DISTINCT x) cx, sum(DISTINCT m) sm, count(DISTINCT s, x) csx,
          avg(DISTINCT x) ax, count(DISTINCT d) cd FROM odd GROUP BY k""",
    "filters": """
        SELECT k, sum(x) FILTER (WHERE x > 3) f, count(*) FILTER (WHERE s = 'a') g
        FROM odd GROUP BY k""",
    "no keys": "SELECT count(*) n, sum(x) s, max(d) hi, min(m) lo, avg(x) a FROM odd WHERE x > 2",
    "arithmetic": """
        SELECT s, sum(m * (1 - m)) p, sum(y * 2 - x) q, sum(w) sw, avg(w) aw, sum(x * 1.5) r
        FROM odd GROUP BY s""",
    "having that is not monotone": """
        SELECT k, sum(y) s FROM odd GROUP BY k HAVING sum(y) > -5 ORDER BY s DESC, k LIMIT 4""",
    "select list": """
        SELECT k, sum(x) + count(*) a, sum(m) / count(x) b, coalesce(sum(y), 0) c,
          CASE WHEN count(*) > 8 THEN 'many' WHEN sum(x) IS NULL THEN 'none' ELSE 'few' END d,
          sum(x) BETWEEN 3 AND 60 e, count(*) IN (3, 4, 5) f, upper(k) u
        FROM odd GROUP BY k""",
    "rows in order": "SELECT k, x * 2 y FROM odd ORDER BY d DESC, id LIMIT 15 OFFSET 3",
    "distinct": "SELECT DISTINCT k, d FROM odd",
    "union of groupings": """
        SELECT k, count(*) n FROM odd GROUP BY k UNION ALL SELECT s, sum(x) FROM odd GROUP BY s""",
    "grouping of groups": """
        SELECT n, count(*) c, sum(t) st FROM
          (SELECT k, s, count(*) n, sum(x) t FROM odd GROUP BY k, s) WHERE t > 5 GROUP BY n""",
    "join with groups": """
        SELECT o.id, o.x, g.t FROM odd o JOIN (SELECT k gk, sum(x) t FROM odd GROUP BY k) g
        ON o.k = g.gk WHERE o.x * 10 > g.t""",
    "membership": """
        SELECT id, k FROM odd WHERE k IN (SELECT k FROM odd GROUP BY k HAVING sum(x) > 40)""",
    "existence": "SELECT id FROM odd WHERE EXISTS (SELECT 1 FROM odd WHERE x > 8 AND y < 0)",
    "scalar subquery": """
        SELECT k, sum(x) s, count(*) n FROM odd WHERE x >= (SELECT avg(x) FROM odd) GROUP BY k""",
    "scalar in having": """
        SELECT k, sum(x) s FROM odd GROUP BY k HAVING sum(x) > (SELECT avg(x) * 6 FROM odd)""",
    "limit inside": """
        SELECT sum(x) s, count(*) n FROM (SELECT * FROM odd ORDER BY y DESC, id LIMIT 12)""",
    "nothing selected": "SELECT k, sum(x) s FROM odd WHERE x > 100 GROUP BY k",
}


def _deletions(relation: Relation, seed: str) -> Iterator[list[Key]]:
    keys = relation.row_keys()
    choice = random.Random(seed)
    yield []
    yield choice.sample(keys, 1)
    yield choice.sample(keys, 6)
    yield choice.sample(keys, 20)
    yield keys


def _tokens(relation: Relation, keys: list[Key]) -> pa.Table:
    fields = [relation.data.schema.field(name) for name in relation.key]
    columns = [pa.array([key[i] for key in keys], f.type) for i, f in enumerate(fields)]
    return pa.table(columns, names=list(relation.key))


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize("name", QUERIES)
def test_what_if_is_the_query_on_the_reduced_data(
    odd_session: Session, plain: PlainSpark, odd: Relation, tmp_path: Path, name: str
) -> None:
    """For no, one, some and all rows deleted."""
    sql = QUERIES[name]
    odd_session.sql(sql).save(tmp_path / "c")
    memory = Memory(tmp_path / "c", Manifest.read(tmp_path / "c"))
    for keys in _deletions(odd, name):
        what_if = memory.what_if({"odd": _tokens(odd, keys)})
        expected = plain.answer(sql, Deletion("given", {"odd": frozenset(keys)}))
        assert_same_bag(expected, from_arrow(what_if.df), f"{name} without {keys}")
        assert what_if.method == "annotations"
        _check_changes(what_if.changes, memory.answer(), what_if.df)
    assert_same_bag(plain.answer(sql), from_arrow(memory.answer()), name)
    check_many(memory, [{"odd": _tokens(odd, keys)} for keys in _deletions(odd, name)])


def _check_changes(changes: pa.Table, old: pa.Table, new: pa.Table) -> None:
    """Old and new sides are the two answers, and what is said to be equal is."""
    kinds = changes.column("_change").to_pylist()
    for side, answer in (("old", old), ("new", new)):
        shown = [str(row) for row in changes.column(side).to_pylist() if row is not None]
        assert Counter(shown) == Counter(str(row) for row in answer.to_pylist())
    sides = (changes.column(side).to_pylist() for side in ("old", "new"))
    for kind, before, after in zip(kinds, *sides, strict=True):
        if kind == "unchanged":
            assert str(before) == str(after)
        elif kind == "changed":
            assert before is not None
            assert after is not None
            assert str(before) != str(after)
        else:
            assert (kind == "deleted", kind == "added") == (after is None, before is None)


@pytest.mark.classic
@pytest.mark.parametrize("name", ["join with groups", "having that is not monotone", "no keys"])
def test_memory_and_the_tail_in_spark_agree(
    odd_session: Session, odd: Relation, spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """The same capture, opened with Spark and without."""
    odd_session.sql(QUERIES[name]).save(tmp_path / "c")
    gone = odd.row_keys()[::4]
    with_spark = lipstick.open(tmp_path / "c", spark=spark).what_if({"odd": gone})
    without = lipstick.open(tmp_path / "c").what_if({"odd": gone})
    assert_same_bag(from_spark(with_spark.df), from_arrow(without.df), name)


@pytest.mark.classic
def test_untouched_groups_keep_their_values_bit_for_bit(
    odd_session: Session, odd: Relation, tmp_path: Path
) -> None:
    odd_session.sql("SELECT s, sum(f) t FROM odd WHERE f IS NOT NULL GROUP BY s").save(
        tmp_path / "c"
    )
    memory = Memory(tmp_path / "c", Manifest.read(tmp_path / "c"))
    rows = odd.data.to_pylist()
    gone = [(r["id"], r["part"]) for r in rows if r["s"] == "a"][:3]
    after = memory.what_if({"odd": _tokens(odd, gone)}).df.to_pylist()
    before = memory.answer().to_pylist()
    assert [r for r in after if r["s"] != "a"] == [r for r in before if r["s"] != "a"]


def test_expression_that_only_spark_computes_is_named(
    odd_session: Session, odd: Relation, tmp_path: Path
) -> None:
    """Unless nothing that it reads changed."""
    odd_session.sql("SELECT s, atan(sum(x)) r FROM odd GROUP BY s").save(tmp_path / "c")
    memory = Memory(tmp_path / "c", Manifest.read(tmp_path / "c"))
    rows = odd.data.to_pylist()
    irrelevant = next((r["id"], r["part"]) for r in rows if r["x"] is None)
    same = memory.what_if({"odd": _tokens(odd, [irrelevant])}).df
    assert Counter(map(str, same.to_pylist())) == Counter(map(str, memory.answer().to_pylist()))
    relevant = next((r["id"], r["part"]) for r in rows if r["x"] is not None)
    with pytest.raises(CaptureError, match=r"ATAN.*\n.*lipstick.open\(path, spark=spark\)"):
        memory.what_if({"odd": _tokens(odd, [relevant])})


def test_values_by_reference_are_fetched_or_refused(
    odd_session: Session, odd: Relation, spark: SparkSession, tmp_path: Path
) -> None:
    """Counting rows needs no values; sums do, and only those of the deleted rows."""
    sql = "SELECT k, count(*) n, sum(x) s FROM odd GROUP BY k"
    odd_session.sql(sql).save(tmp_path / "whole")
    odd_session.sql(sql).save(tmp_path / "bare", values="reference")
    odd_session.sql("SELECT k, count(*) n FROM odd GROUP BY k").save(
        tmp_path / "counts", values="reference"
    )
    gone = odd.row_keys()[:5]
    expected = from_arrow(lipstick.open(tmp_path / "whole").what_if({"odd": gone}).df)
    fetched = lipstick.open(tmp_path / "bare", spark=spark).what_if({"odd": gone}).df
    assert_same_bag(expected, from_spark(fetched), sql)
    with pytest.raises(CaptureError, match="captured by reference"):
        lipstick.open(tmp_path / "bare").what_if({"odd": gone})
    assert lipstick.open(tmp_path / "counts").what_if({"odd": gone}).df.num_rows == 5
