"""Missing rows: where they are lost, held against nested loops, and published scenarios."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import CaptureError, QueryError, UnsupportedError
from semiring.errors import ExactnessError
from tests.oracle.missing_rows import DuckQuestion, difference


@pytest.mark.many
@pytest.mark.parametrize("seed", range(0, 240, 8))
def test_reasons_are_those_of_nested_loops(seed: int) -> None:
    """Operator, condition and number of rows of every reason, for random queries."""
    assert [problem for n in range(seed, seed + 4) if (problem := difference(n))] == []


CRIMES = {
    "person": pa.table(
        {
            "pid": [1, 2, 3, 4],
            "name": ["Ada", "Bert", "Cleo", "Dirk"],
            "hair": ["red", "blue", "red", None],
        }
    ),
    "sighting": pa.table(
        {"sid": [1, 2, 3], "witness": ["Wim", "Xe", "Wim"], "hair": ["red", "blue", "blond"]}
    ),
    "crime": pa.table({"cid": [1, 2], "kind": ["theft", "arson"], "sector": [7, 9]}),
    "saw": pa.table({"wid": [1, 2], "witness": ["Wim", "Xe"], "sector": [7, 8]}),
}
SUSPECTS = """
SELECT p.name, c.kind FROM person p
JOIN sighting s ON s.hair = p.hair JOIN saw w ON w.witness = s.witness
JOIN crime c ON c.sector = w.sector
"""
"""A query in the manner of the crime database of NedExplain: who may have done what."""


@pytest.mark.parametrize(
    ("sql", "pattern", "first"),
    [
        # No crime is known where the only witness was: the last join loses Bert.
        (SUSPECTS, {"name": "Bert"}, ("p", "JOIN", "w.sector")),
        # NULL equals nothing, so that the first join loses Dirk.
        (SUSPECTS, {"name": "Dirk"}, ("p", "JOIN", "s.hair")),
        # Her successors are there, but none with the crime that was asked for.
        (SUSPECTS, {"name": "Ada", "kind": "arson"}, ("p", "the pattern", "c.kind")),
        # A group that is too small.
        (
            "SELECT hair, count(*) AS n FROM person GROUP BY hair HAVING count(*) > 1",
            {"hair": "blue"},
            ("person", "HAVING", "COUNT(*) > 1"),
        ),
        # A row of a union is looked for in both branches.
        (
            "SELECT hair FROM person WHERE pid > 2 UNION SELECT hair FROM sighting WHERE sid = 3",
            {"hair": "blue"},
            ("person", "WHERE", "pid > 2"),
        ),
        (
            "SELECT name FROM person WHERE hair NOT IN (SELECT hair FROM person WHERE pid > 2)",
            {"name": "Bert"},
            ("person", "NOT IN, NOT EXISTS or EXCEPT", "IS NULL"),
        ),
        (
            "SELECT hair FROM person EXCEPT ALL SELECT hair FROM sighting",
            {"hair": "blue"},
            ("person", "EXCEPT ALL", ""),
        ),
        (
            "SELECT name FROM (SELECT name, row_number() OVER (ORDER BY pid DESC) AS n FROM person)"
            " WHERE n <= 2",
            {"name": "Ada"},
            (
                "person",
                "WHERE",
                "n <= 2".replace("n", "ROW_NUMBER() OVER (ORDER BY person.pid DESC)"),
            ),
        ),
    ],
)
def test_published_scenarios(
    sql: str, pattern: dict[str, object], first: tuple[str, str, str]
) -> None:
    """Joins, NULL, selections after joins, groups and differences, as the papers have them."""
    reason = DuckQuestion(sql, CRIMES, pattern).reasons()[0]
    assert (reason.relation, reason.operator) == first[:2]
    assert first[2] in reason.condition


def test_partners_are_followed() -> None:
    """A join without a match names the rows that would have matched, or those that come near."""
    tables = {
        "o": pa.table({"id": [1, 2, 3], "name": ["MUELLER", "MEIER", "KUNZ"]}),
        "c": pa.table({"cid": [1, 2], "name": ["müller", "meier"], "active": [True, False]}),
    }
    sql = "SELECT o.id FROM o JOIN c ON upper(c.name) = o.name WHERE c.active"
    near, lost, nothing = (DuckQuestion(sql, tables, {"id": n}).reasons()[0] for n in (1, 2, 3))
    assert near.values == (("o.name", "MUELLER"),)
    assert near.sentence.endswith("Nearest: UPPER(c.name) is 'MÜLLER' (c.name is 'müller').")
    (partner,) = lost.partners
    assert (partner.relation, partner.operator, partner.condition) == ("c", "WHERE", "c.active")
    assert partner.keys.to_pylist() == [{"cid": 2}]
    assert nothing.partners == ()
    assert "Nearest" not in nothing.sentence


@pytest.mark.parametrize(
    "lost_by",
    [
        "id NOT IN (SELECT cid FROM c)",
        "NOT EXISTS (SELECT 1 FROM c WHERE c.cid = o.id)",
    ],
)
def test_a_partner_in_a_subquery_is_not_said_to_be_in_the_answer(lost_by: str) -> None:
    tables = {"o": pa.table({"id": [1, 2, 3]}), "c": pa.table({"cid": [2]})}
    question = DuckQuestion(f"SELECT id FROM o WHERE {lost_by}", tables, {"id": 2})
    (partner,) = question.reasons()[0].partners
    assert partner.sentence == "The row of c (cid=2) is such a row."
    there = DuckQuestion("SELECT id FROM o", tables, {"id": 2}).reasons()[0]
    assert there.sentence == "The row of o (id=2) is in the answer."


@pytest.mark.parametrize(
    ("sql", "pattern", "changes"),
    [
        (
            "SELECT name FROM person WHERE pid > 2 AND hair = 'red'",
            {"name": "Bert"},
            ["in the row of person with pid=2 set pid = 5, hair = 'red'."],
        ),
        (
            "SELECT name FROM person WHERE hair NOT IN (SELECT hair FROM person WHERE pid > 3)",
            {"name": "Bert"},
            ["delete the row of person with pid=4."],
        ),
        (
            "SELECT hair FROM person GROUP BY hair HAVING count(*) >= 3",
            {"hair": "red"},
            ["add a row like that with pid=1 to person, under a new key."],
        ),
        # More rows of the relation that the lost row was joined with make a group large enough.
        (
            "SELECT name, count(*) AS n FROM person JOIN sighting USING (hair)"
            " GROUP BY name HAVING count(*) > 1",
            {"name": "Bert"},
            [
                "add a row like that with pid=2 to person, under a new key.",
                "add a row like that with sid=2 to sighting, under a new key.",
            ],
        ),
        (
            "SELECT name FROM person",
            {"name": "Berta"},
            [
                "in the row of person with pid=2 set name = 'Berta'.",
                "add a row like that with pid=2 to person, under a new key, with name = 'Berta'.",
            ],
        ),
    ],
)
def test_changes_bring_the_row(sql: str, pattern: dict[str, object], changes: list[str]) -> None:
    """Smallest changes; each was run, by another way than it was found."""
    found = [str(change) for change in DuckQuestion(sql, CRIMES, pattern).changes()]
    assert found == changes


def test_computed_columns_are_asked_of_what_is_there() -> None:
    """A pattern that no relation decides has all rows as candidates."""
    reasons = DuckQuestion(
        "SELECT hair, count(*) AS n FROM person GROUP BY hair", CRIMES, {}, "n > 5 AND hair = 'red'"
    ).reasons()
    assert [(r.rows, r.operator, r.values) for r in reasons] == [
        (2, "the pattern", (("COUNT(*)", 2),))
    ]
    (all_rows,) = DuckQuestion("SELECT max(pid) AS m FROM person", CRIMES, {"m": 9}).reasons()
    assert (all_rows.rows, all_rows.values) == (4, (("MAX(person.pid)", 4),))


def test_rows_without_a_partner_match_null() -> None:
    """What no relation has, since an outer join makes it, is asked of all rows that it keeps."""
    sql = "SELECT p.pid, s.witness FROM person p LEFT JOIN sighting s ON s.hair = p.hair"
    reasons = DuckQuestion(sql, CRIMES, {"witness": None}).reasons()
    there = next(reason for reason in reasons if reason.operator == "answer")
    assert (there.relation, there.keys.to_pylist()) == ("p", [{"pid": 4}])
    lost = next(r for r in reasons if (r.relation, r.operator) == ("p", "the pattern"))
    assert lost.rows == 3


def test_conditions_that_may_fail_are_asked_of_partners() -> None:
    """A division is not computed for a row before the join has found its partner."""
    sql = "SELECT p.pid FROM person p, saw w WHERE p.pid = w.wid AND 10 / (p.pid - 3) > 1"
    reason = DuckQuestion(sql, CRIMES, {"pid": 3}).reasons()[0]
    assert reason.operator == "JOIN"
    reason = DuckQuestion(sql.replace("/", "-"), CRIMES, {"pid": 3}).reasons()[0]
    assert reason.operator == "JOIN"  # a difference may overflow


def test_dropped_rows() -> None:
    """Each operator that may lose rows, with counts and examples."""
    sql = """SELECT p.name FROM person p JOIN sighting s ON s.hair = p.hair
    WHERE p.pid < 4 AND s.witness NOT IN (SELECT witness FROM saw WHERE sector = 8) LIMIT 1"""
    found = DuckQuestion(sql, CRIMES, {"name": "Ada"}).dropped()
    assert str(found).splitlines() == [
        "WHERE at 2:5 `p.pid < 4`: loses 1 of 4 rows of p.",
        "JOIN at 1:29 `s.hair = p.hair`: loses 0 of 3 rows of p.",
        "JOIN at 1:29 `s.hair = p.hair`: loses 1 of 3 rows of s.",
        "WHERE at 2:67 `saw.sector = 8`: loses 1 of 2 rows of saw.",
        "NOT IN, NOT EXISTS or EXCEPT at 2:39 `s.witness = saw.witness`: "
        "loses 1 of 3 rows of p with s.",
        "NOT IN, NOT EXISTS or EXCEPT at 2:39 `s.witness IS NULL`: loses 0 of 2 rows of p with s.",
        "NOT IN, NOT EXISTS or EXCEPT at 2:39 `saw.witness IS NULL`: "
        "loses 0 of 2 rows of p with s.",
        "LIMIT at 2:85: loses 1 of 2 rows of p with s.",
    ]
    assert found.examples(0).to_pylist() == [{"p.pid": 4, "p.name": "Dirk", "p.hair": None}]


def test_each_conjunct_loses_rows_of_its_own() -> None:
    """A row counts at the first conjunct that it does not meet; the numbers add up."""
    sql = "SELECT pid FROM person WHERE pid > 1 AND hair = 'red' AND name <> 'Cleo'"
    found = DuckQuestion(sql, CRIMES, {"pid": 1}).dropped()
    assert str(found).splitlines() == [
        "WHERE at 1:24 `person.pid > 1`: loses 1 of 4 rows of person.",
        "WHERE at 1:24 `person.hair = 'red'`: loses 2 of 3 rows of person.",
        "WHERE at 1:24 `person.name <> 'Cleo'`: loses 1 of 1 rows of person.",
    ]
    names = [row["person.name"] for row in found.examples(1).to_pylist()]
    assert sorted(names) == ["Bert", "Dirk"]


@pytest.mark.parametrize(
    ("sql", "pattern", "condition", "problem"),
    [
        ("SELECT pid FROM person", {"v": 1}, None, "no column 'v'"),
        ("SELECT p.pid, q.pid FROM person p, person q", {"pid": 1}, None, "several columns 'pid'"),
        ("SELECT pid FROM person", {"pid": object()}, None, "cannot be compared"),
        ("SELECT pid FROM person", {}, "pid = = 1", "cannot be read"),
        ("SELECT pid FROM person", {}, "pid IN (SELECT 1)", "no subqueries"),
        ("SELECT pid FROM person", {}, None, "pattern is empty"),
        ("SELECT r FROM (SELECT pid, rand() AS r FROM person)", {"r": 2}, None, "are not followed"),
    ],
)
def test_refusals(
    sql: str, pattern: dict[str, object], condition: str | None, problem: str
) -> None:
    with pytest.raises(QueryError, match=problem):
        DuckQuestion(sql, CRIMES, pattern, condition).reasons()


@pytest.mark.engines("spark")
def test_over_spark(spark: SparkSession) -> None:
    """The method of a frame: the reasons as sentences and as a table, and refusals."""
    with lipstick.session(spark) as session:
        rows = pa.table({"id": [1, 2, 3], "v": [5, 20, None], "g": ["a", "a", "b"]})
        session.track("t", rows, key="id")
        frame = session.sql("SELECT id, v FROM t WHERE v > 10 ORDER BY v LIMIT 9")
        missing = frame.why_not(id=1)
        assert str(missing) == (
            "Why has the answer no row with id = 1?\n"
            "The row of t (id=1): lost at WHERE at 1:21, `t.v > 10` is false: t.v is 5,"
            " 6 too little."
        )
        assert missing.table.to_pylist()[0]["place"] == "1:21"
        assert not missing.present
        (change,) = missing.changes()
        assert str(change) == "in the row of t with id=1 set v = 11."
        assert frame.why_not(condition="id = 2").present
        with pytest.raises(QueryError, match="no column 'w'"):
            frame.why_not(w=1)
        named = session.sql("SELECT id, g FROM t WHERE v > 10")
        assert "g = -1" in str(named.why_not(g=-1))
        with pytest.raises(CaptureError, match="'id' of the answer is of type int64, and is"):
            frame.why_not(id="first")
        assert str(frame.plan.dropped()).startswith(
            "WHERE at 1:21 `t.v > 10`: loses 2 of 3 rows of t."
        )
        for asked in (lambda: frame.why_not(id=1, budget=0), lambda: frame.plan.dropped(budget=0)):
            with pytest.raises(ExactnessError, match="budget of 0 seconds"):
                asked()
        drawn = session.sql("SELECT id FROM t WHERE rand() < 0.5")
        with pytest.raises(UnsupportedError, match="Draw are not followed"):
            drawn.why_not(id=1)


def test_answers_with_types_that_are_not_in_arrow(spark: SparkSession) -> None:
    """Columns that are not asked about may have any type."""
    with lipstick.session(spark) as ls:
        rows = spark.sql(
            "SELECT id, make_dt_interval(0, id) AS waited, make_ym_interval(0, id) AS aged,"
            " CASE WHEN id > 0 THEN to_variant_object(named_struct('n', id)) END AS v FROM range(5)"
        )
        ls.track("waits", rows, key="id")
        missing = ls.sql("SELECT * FROM waits WHERE id < 3").why_not({"id": 4})
        assert "id < 3" in str(missing)
        lists = ls.sql("SELECT id % 2 AS k, collect_list(id) AS ids FROM waits GROUP BY id % 2")
        with pytest.raises(CaptureError, match="'ids' of the answer is of type array<bigint>"):
            lists.why_not({"ids": 77})
