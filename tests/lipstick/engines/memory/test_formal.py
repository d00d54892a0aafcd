"""What annotations look like under conditions of every form; that they are true is for the worlds.

See `tests/oracle/test_worlds.py`.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.engines.memory.formal import checked
from lipstick.engines.memory.memory import Memory
from lipstick.questions.valuation import compile_valuations
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings import Boolean, Counting, Tropical, Why
from tests.oracle.database import Database, Relation
from tests.oracle.small import small
from tests.oracle.written import written

R = small(
    "r",
    "id int, k string, x int",
    [(1, "a", 10), (2, "a", 1), (3, "b", 1), (4, "b", 3), (5, None, 2)],
)
S = small("s", "id int, k string, y int", [(1, "a", 1), (2, "b", 3), (3, "c", 1)])
DATABASE = Database({"r": R, "s": S})

SHOWN = {
    "SELECT k FROM r GROUP BY k HAVING max(x) - min(x) > 1": {
        ("a",): "δ(r:1 + r:2)·[MAX(r:2⊗1 + r:1⊗10) - MIN(r:2⊗1 + r:1⊗10) > 1]",
        ("b",): "δ(r:3 + r:4)·[MAX(r:3⊗1 + r:4⊗3) - MIN(r:3⊗1 + r:4⊗3) > 1]",
    },
    "SELECT id FROM r WHERE x > 2 OR k IN (SELECT k FROM s)": {
        (1,): "r:1",
        (2,): "r:2·δ(s:1)",
        (3,): "r:3·δ(s:2)",
        (4,): "r:4",
    },
    "SELECT id FROM r WHERE NOT (k IN (SELECT k FROM s) AND x < 5)": {(1,): "r:1"},
    "SELECT id FROM r ORDER BY x, id LIMIT 2 OFFSET 1": {
        (3,): "r:3·[COUNT(r:2⊗1) >= 1]",
        (5,): "r:5·[COUNT(r:2⊗1 + r:3⊗1) >= 1]",
    },
    "SELECT id FROM r ORDER BY x, id LIMIT 2": {(2,): "r:2", (3,): "r:3"},
    "SELECT n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) GROUP BY n": {
        (1,): "δ(δ(s:1)·[COUNT(s:1⊗1) = 1] + δ(s:2)·[COUNT(s:2⊗1) = 1]"
        " + δ(s:3)·[COUNT(s:3⊗1) = 1])",
    },
    "SELECT id FROM (SELECT id, lag(x) OVER (ORDER BY id) AS p FROM r WHERE k = 'b')"
    " WHERE p IS NOT NULL": {
        (4,): "r:4·(1 ⊖ [LAG(x) OVER (ORDER BY id) of r:4 among (r:3; r:4) <=> NULL])",
    },
    "SELECT id FROM (SELECT id, k, lag(x) OVER (PARTITION BY k ORDER BY id) AS p FROM r)"
    " WHERE k = 'b' AND p > 0": {
        (4,): "r:4·[LAG(x) OVER (PARTITION BY k_2 ORDER BY id) of r:4 among (r:3; r:4) > 0]",
    },
    "SELECT r.id, s.y FROM r LEFT JOIN s ON r.k = s.k WHERE r.x > 2": {
        (1, 1): "r:1·s:1",
        (4, 3): "r:4·s:2",
    },
    "SELECT id FROM r WHERE x > (SELECT max(y) FROM s WHERE s.k = r.k)": {
        (1,): "r:1·[{MAX(s:1⊗1) if δ(s:1)} < 10]",
    },
    "SELECT id FROM s WHERE id = 1 AND EXISTS (SELECT 1 FROM r WHERE r.x = s.y)": {
        (1,): "s:1·δ(r:2 + r:3)",
    },
}


def capture(sql: str, directory: Path) -> Memory:
    """Capture a query without Spark."""
    return written(sql, DATABASE, directory)


@pytest.mark.parametrize("sql", SHOWN)
def test_annotations_have_their_conditions(sql: str, tmp_path: Path) -> None:
    """Every condition is a factor, written as the query has it."""
    texts = {
        tuple(row.values()): str(annotation)
        for row, annotation in capture(sql, tmp_path).annotations()
    }
    assert texts == SHOWN[sql]


def test_rows_that_could_be(tmp_path: Path) -> None:
    """They come after the others: padded rows, groups that HAVING drops, keys of other worlds."""
    memory = capture(
        "SELECT r.id, s.y FROM r LEFT JOIN s ON r.k = s.k WHERE r.x > 2", tmp_path / "a"
    )
    rows = [(row.shown, str(row.annotation), row.present) for row in memory.potential_rows()]
    assert rows == [
        ((1, 1), "r:1·s:1", True),
        ((4, 3), "r:4·s:2", True),
        ((1, None), "r:1·(1 ⊖ δ(s:1))", False),
        ((4, None), "r:4·(1 ⊖ δ(s:2))", False),
    ]
    counted = "SELECT n FROM (SELECT k, count(*) AS n FROM r WHERE k = 'a' GROUP BY k) GROUP BY n"
    memory = capture(counted, tmp_path / "b")
    (now, other) = memory.potential_rows()
    assert (now.shown, other.shown) == ((2,), (1,))
    assert str(other.annotation) == "δ(r:1 + r:2)·[COUNT(r:1⊗1 + r:2⊗1) = 1]"
    grouped = "SELECT k, count(*) AS n FROM r GROUP BY k HAVING count(*) < 2"
    memory = capture(grouped, tmp_path / "c")
    assert [row.present for row in memory.potential_rows()] == [True, False, False]
    first, second, _ = memory.potential_rows()
    assert first.shown == (None, 1)
    assert str(second.shown[1]) == "r:1⊗1 + r:2⊗1"
    assert len(memory.potential_rows(limit=2)) == 2


def test_names_of_columns_are_no_part_of_what_values_are(tmp_path: Path) -> None:
    """A column that the answer shows is stored under its name, and under another for windows."""

    def annotations(shown: str, argument: str) -> list[Polynomial | Expression]:
        sql = (
            f"SELECT * FROM (SELECT {shown}, lag({argument}) OVER (ORDER BY r.id) AS p"
            " FROM r JOIN s ON r.k = s.k WHERE r.k = 'b') WHERE p > 3"
        )
        return [annotation for _, annotation in capture(sql, tmp_path / shown).annotations()]

    plain, renamed = annotations("r.id", "r.x + s.y"), annotations("s.y", "r.x + s.y")
    assert ("LAG(x + y)" in str(plain), "LAG(x + y_2)" in str(renamed)) == (True, True)
    assert plain == renamed
    assert annotations("r.x", "s.y + s.y") != plain


def valuations(memory: Memory, semiring: object, given: object) -> dict[str, object]:
    """Compiled valuations of the relations."""
    relations = memory._engine.manifest.relations
    return compile_valuations(semiring, given, None, relations, None)  # type: ignore[arg-type]


def values(memory: Memory, semiring: object, given: object) -> list[object]:
    """The annotations of the answer's rows in a semiring."""
    evaluated = memory.evaluate(semiring, valuations(memory, semiring, given))  # type: ignore[arg-type]
    return evaluated.column("_value").to_pylist()


HAVING = "SELECT k, sum(x) AS t FROM r GROUP BY k HAVING sum(x) > 3"


def test_evaluated_in_the_world_of_what_is_not_zero(tmp_path: Path) -> None:
    """With tokens valued 0 and 1 a row is 1 in any semiring if the world's answer has it."""
    memory = capture(HAVING, tmp_path)
    assert memory.answer().column("c0").to_pylist() == ["a", "b"]
    assert values(memory, Counting(), None) == [1, 1]
    assert values(memory, Counting(), {"r": {4: 0}}) == [1, 0]
    assert values(memory, Boolean(), {"r": {1: False, 3: False}}) == [False, False]
    assert values(memory, Tropical(), {"r": {2: float("inf")}}) == [0.0, 0.0]
    with pytest.raises(CapabilityError, match="neither 0 nor 1"):
        values(memory, Tropical(), {"r": {2: 5.0}})
    with pytest.raises(CapabilityError, match="in semiring Why"):
        values(memory, Why(), None)
    assert values(memory, Counting(), {"r": {4: 2}}) == [1, 1]


def test_other_values_where_conditions_allow_them(tmp_path: Path) -> None:
    """A row may cost something where its condition is on tuples that are there or not."""
    memory = capture("SELECT id FROM r WHERE x > (SELECT max(y) FROM s)", tmp_path)
    assert values(memory, Tropical(), {"r": {1: 4.0}}) == [4.0]


def test_outer_joins_without_their_partner(tmp_path: Path) -> None:
    """A group of a LEFT JOIN stays without the partner, a row that shows it does not."""
    keyed = (
        "SELECT {} FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) g ON r.k = g.k"
        " WHERE r.id = 1"
    )
    shown = capture(keyed.format("r.id, g.n"), tmp_path / "a")
    assert [str(k) for _, k in shown.annotations()] == ["r:1·δ(s:1)"]
    assert values(shown, Counting(), {"s": {1: 0}}) == [0]
    unread = capture(keyed.format("r.id"), tmp_path / "b")
    assert values(unread, Counting(), {"s": {1: 0}}) == [1]
    grouped = capture(keyed.format("r.k, count(*) AS c") + " GROUP BY r.k", tmp_path / "c")
    assert values(grouped, Counting(), {"s": {1: 0}}) == [1]


def test_potential_rows_are_evaluated(tmp_path: Path) -> None:
    """With the values that they have in the world of what is not 0."""
    memory = capture("SELECT k, count(*) AS n FROM r GROUP BY k HAVING count(*) < 2", tmp_path)
    given = valuations(memory, Boolean(), {"r": {1: False}})
    potential = memory.evaluate_potential(Boolean(), given)  # type: ignore[arg-type]
    assert potential.to_pylist() == [
        {"c0": None, "c1": 1, "_value": True},
        {"c0": "a", "c1": 1, "_value": True},
        {"c0": "b", "c1": 2, "_value": False},
    ]


def test_annotations_are_pickled(tmp_path: Path) -> None:
    """With their conditions, which are compiled again from their texts."""
    queries = [
        HAVING,
        "SELECT k FROM r GROUP BY k HAVING max(x) - min(x) > 1",
        "SELECT id FROM (SELECT id, lag(x) OVER (ORDER BY id) AS p FROM r) WHERE p > 1",
        "SELECT k FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY k"
        " HAVING max_by(n, k) = 2",
        "SELECT k FROM r GROUP BY k ORDER BY sum(x) DESC, k LIMIT 1",
        "SELECT k, v FROM (SELECT k, sort_array(collect_list(x)) AS a FROM r GROUP BY k)"
        " LATERAL VIEW explode(a) g AS v WHERE v > 1",
    ]
    for number, sql in enumerate(queries):
        for _, annotation in capture(sql, tmp_path / str(number)).annotations():
            again = pickle.loads(pickle.dumps(annotation))
            assert again == annotation
            assert again.evaluate(Counting()) == annotation.evaluate(Counting()) == 1


def test_what_only_spark_computes_is_written_down(tmp_path: Path) -> None:
    """And refused by its name where it must be computed."""
    listed = "SELECT k FROM r GROUP BY k HAVING listagg(x, ',') WITHIN GROUP (ORDER BY id) > '1,'"
    memory = capture(listed, tmp_path)
    [(_, annotation), *_] = memory.annotations()
    assert "LISTAGG(" in str(annotation)
    with pytest.raises(CapabilityError, match=r"Only Spark, which computes .*LISTAGG"):
        annotation.evaluate(Counting())


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that depends on very many others is not written down."""
    monkeypatch.setattr("lipstick.engines.memory.formal.columns.MOST", 2)
    monkeypatch.setattr("lipstick.engines.memory.formal.domains.MOST", 2)
    windows = capture(
        "SELECT id FROM (SELECT id, lag(x) OVER (ORDER BY id) AS p FROM r) WHERE p > 1",
        tmp_path / "a",
    )
    with pytest.raises(ExactnessError, match="is over 5 rows"):
        windows.annotations()
    keys = capture(
        "SELECT n FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n", tmp_path / "b"
    )
    assert len(keys.annotations()) == 2
    with pytest.raises(ExactnessError, match=r"3 rows are grouped by .*, of which a deletion"):
        keys.potential_rows()
    monkeypatch.setattr("lipstick.engines.memory.formal.domains._COMPARED", 2)
    again = capture(
        "SELECT n FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n", tmp_path / "c"
    )
    with pytest.raises(ExactnessError, match=r"3 rows are grouped by .*, of which a deletion"):
        again.annotations()


def test_elements_of_lists_of_many_rows(tmp_path: Path) -> None:
    """As many as there are rows at most: worlds of so many are not looked at one by one."""
    many = small("r", "id int, k string, x int", [(n, "a", n % 3) for n in range(1, 15)])
    lists = "(SELECT sort_array(collect_list(x)) AS a FROM r)"
    sql = f"SELECT v FROM {lists} LATERAL VIEW explode(a) AS v"
    memory = written(sql, Database({"r": many}), tmp_path)
    assert len(memory.annotations()) == 14


def test_rows_are_sorted_only_where_a_deletion_cuts_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lipstick.engines.memory.formal.cuts._KEPT", 2)
    first = "SELECT id FROM r ORDER BY x, id LIMIT 2"
    assert [str(of) for _, of in capture(first, tmp_path / "a").annotations()] == ["r:2", "r:3"]
    for number, sql in enumerate([f"{first} OFFSET 1", f"SELECT id FROM ({first}) GROUP BY id"]):
        with pytest.raises(ExactnessError, match="LIMIT cuts 5 rows"):
            capture(sql, tmp_path / str(number)).annotations()


def test_the_switch_finds_contradictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations that leave something out are an error, with the world that shows it."""
    memory = capture(HAVING, tmp_path)
    formal = memory.formally(lambda formal: formal)
    positions = memory._engine.base(memory._engine.root.name).ordered
    honest = formal.shown(positions)
    checked.check(formal, positions, honest)
    with pytest.raises(AssertionError, match="occurs 0 times and its annotation gives 1"):
        checked.check(formal, positions, _groups(memory))
    monkeypatch.setenv("LIPSTICK_CHECK", "0")
    assert not checked.switched_on()


def _groups(memory: Memory) -> list[Expression]:
    """The annotations of groups without HAVING."""
    return [Expression.of(annotation).children[0] for _, annotation in memory.annotations()]


def test_lookups_of_tables(tmp_path: Path) -> None:
    """Tokens deleted are those of the relation's own types."""
    memory = capture(HAVING, tmp_path)
    gone = memory.valued_zero(Counting(), valuations(memory, Counting(), {"r": {1: 0}}))  # type: ignore[arg-type]
    assert gone == {"r": pa.table({"id": pa.array([1], pa.int32())})}


def test_limit_over_rows_that_are_not_told_apart(tmp_path: Path) -> None:
    """Rows of a relation without provenance come in the order in which they are captured."""
    untracked = Relation("u", (), "v int", pa.table({"v": pa.array([1, 1, 2], pa.int32())}))
    database = Database({"r": R, "u": untracked})
    sql = "SELECT r.id, u.v FROM r JOIN u ON u.v < r.x ORDER BY r.x DESC, u.v LIMIT 2 OFFSET 1"
    memory = written(sql, database, tmp_path)
    assert [(*row.values(), str(annotation)) for row, annotation in memory.annotations()] == [
        (1, 1, "r:1·[COUNT(r:1⊗1) >= 1]"),
        (1, 2, "r:1·[COUNT(2·r:1⊗1) >= 1]"),
    ]
