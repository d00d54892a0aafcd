"""Generators: arrays of a row taken apart, and collected arrays, whose elements are tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from semiring.expression import Expression
from tests.oracle.small import Oracles, annotated, oracles, small, token

pytestmark = pytest.mark.classic

NESTED = small(
    "t",
    "id int, a int, xs array<int>",
    [(1, 1, [5, 6, 5]), (2, 2, []), (3, 1, None), (4, None, [None, 7])],
)
CARS = small(
    "cars",
    "car int, model string, price int",
    [(1, "a", 10), (2, "b", 20), (3, "b", 20), (4, "b", None), (5, None, 30)],
)
LATE = small(
    "late", "car int, price int, hour int", [(4, 5, 1), (3, 9, 0), (2, 7, None), (1, 9, 2)]
)
LEFT = "(SELECT * FROM late WHERE car <> 4)"
TEXTS = small(
    "texts",
    "id int, text string",
    [(1, '{"a": 1, "b": {"c": 2}}'), (2, "not json"), (3, None), (4, '{"b": null, "a": "1"}')],
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Arrays with duplicates, with NULLs, empty ones and NULL, and a relation to collect."""
    with oracles(spark, NESTED, CARS, LATE, TEXTS) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, x FROM t LATERAL VIEW OUTER explode(xs) u AS x WHERE x IS NULL OR x > 5",
        "SELECT id, p, x FROM t LATERAL VIEW posexplode(xs) u AS p, x",
        "SELECT id, y, b FROM t LATERAL VIEW inline(array(struct(a, id),"
        " named_struct('a', 1, 'id', 2))) u AS y, b",
        "SELECT id, y, x FROM t LATERAL VIEW explode(xs) u AS x"
        " LATERAL VIEW OUTER explode(filter(xs, e -> e < x)) w AS y",
        "SELECT id, u.x FROM t, LATERAL explode(array(a, id)) AS u(x)",
        "SELECT posexplode(array(a, id)) AS (p, x), a FROM t",
        "SELECT id, key, value FROM t LATERAL VIEW explode(map('p', a, 's', id)) u AS key, value",
    ],
)
def test_arrays_of_a_row(on: Oracles, sql: str) -> None:
    on.hold(sql, {"t": [1]}, {"t": [2, 3, 4]})


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, json_tuple(text, 'a', 'b') FROM texts",
        "SELECT j.a, count(*) AS n FROM texts LATERAL VIEW json_tuple(text, 'a') j AS a"
        " GROUP BY j.a",
        "SELECT c0 FROM (SELECT max(text) AS m FROM texts GROUP BY id) d, LATERAL json_tuple(m,"
        " 'b') t",
        "SELECT t.id, e.xs, e.ids FROM (SELECT id, xs, array(id, a) AS ids FROM t) t"
        " LATERAL VIEW explode(arrays_zip(t.xs, ids)) u AS e",
    ],
)
def test_fields_of_a_row(on: Oracles, sql: str) -> None:
    offline = "json_tuple(m" not in sql  # of which only Spark knows the fields
    deletions = ({"texts": [1], "t": [1]}, {"texts": [2, 4], "t": [4]})
    on.hold(sql, *deletions, grouping=True, offline=offline)


@pytest.mark.engines("spark")
def test_fields_in_a_data_frame(on: Oracles) -> None:
    frame = on.ls.tracked["texts"].source.frame
    chosen = frame.where("text LIKE '{%' ESCAPE '/'")
    built = chosen.select("id", F.json_tuple("text", "a", "b"))
    sql = "SELECT id, json_tuple(text, 'a', 'b') FROM texts WHERE text LIKE '{%'"
    assert annotated(on.ls.annotate(built)) == annotated(on.ls.sql(sql))


def test_elements_have_the_annotation_of_their_row(on: Oracles) -> None:
    """Each element once, equal ones too."""
    q = on.hold("SELECT id, x FROM t LATERAL VIEW OUTER explode(xs) u AS x", {"t": [1]})
    expected = Counter({((1, 5), token("t", 1)): 2, ((1, 6), token("t", 1)): 1})
    expected[(2, None), token("t", 2)] = expected[(3, None), token("t", 3)] = 1
    expected[(4, None), token("t", 4)] = expected[(4, 7), token("t", 4)] = 1
    assert annotated(q) == expected


@pytest.mark.slow
def test_elements_are_grouped(on: Oracles) -> None:
    """The two elements of one row are two members of the group."""
    q = on.hold(
        "SELECT x, count(*) AS n FROM t LATERAL VIEW explode(xs) u AS x GROUP BY x",
        {"t": [1]},
        grouping=True,
    )
    assert annotated(q)[(5, 2), (2 * token("t", 1)).delta()] == 1


GROUPED = "(SELECT model, {} AS xs FROM cars GROUP BY model) d"


def group(*cars: int) -> Expression:
    """Return δ of the sum of some cars."""
    return sum((token("cars", n) for n in cars[1:]), token("cars", cars[0])).delta()


@pytest.mark.engines("spark")
def test_collected_list_keeps_the_annotations_of_its_members(on: Oracles) -> None:
    """The pair of the outer tuple, δ of its group, and the inner tuple that was collected."""
    sql = f"SELECT d.model, u.x FROM {GROUPED.format('collect_list(price)')}"
    q = on.hold(sql + " LATERAL VIEW explode(d.xs) u AS x", {"cars": [2]})
    assert annotated(q) == Counter(
        {
            (("a", 10), group(1) * token("cars", 1)): 1,
            (("b", 20), group(2, 3, 4) * token("cars", 2)): 1,
            (("b", 20), group(2, 3, 4) * token("cars", 3)): 1,
            ((None, 30), group(5) * token("cars", 5)): 1,
        }
    )


@pytest.mark.engines("spark")
def test_collected_structs(on: Oracles) -> None:
    """A struct of NULLs is not NULL: it is collected."""
    sql = f"SELECT d.model, u.p, u.c FROM {GROUPED.format('collect_list(struct(price, car))')}"
    q = on.hold(sql + " LATERAL VIEW inline(d.xs) u AS p, c", {"cars": [4]})
    rows = annotated(q)
    assert len(rows) == 5
    assert rows[("b", None, 4), group(2, 3, 4) * token("cars", 4)] == 1


def test_collected_set_has_each_value_once(on: Oracles) -> None:
    """The element's annotation is δ of the tuples that have its value."""
    sql = f"SELECT d.model, u.x FROM {GROUPED.format('collect_set(price)')}"
    q = on.hold(sql + " LATERAL VIEW explode(d.xs) u AS x", {"cars": [2, 3]})
    rows = annotated(q)
    assert len(rows) == 3
    assert rows[("b", 20), group(2, 3, 4) * group(2, 3)] == 1


@pytest.mark.many
@pytest.mark.parametrize(
    ("collected", "view"),
    [
        ("collect_list(price) FILTER (WHERE price > 10)", "LATERAL VIEW explode(d.xs) u AS x"),
        ("collect_list(price)", "LATERAL VIEW OUTER explode(d.xs) u AS x"),
        ("sort_array(collect_list(price))", "LATERAL VIEW posexplode(d.xs) u AS p, x"),
        ("transform(collect_set(price), e -> e + 1)", "LATERAL VIEW explode(d.xs) u AS x"),
    ],
)
def test_collected_otherwise(on: Oracles, collected: str, view: str) -> None:
    """Filtered, ordered or changed before it is taken apart."""
    sql = f"SELECT d.model, u.x FROM {GROUPED.format(collected)} {view}"
    on.hold(sql, {"cars": [2]}, {"cars": [1, 3]}, {"cars": [2, 3]})


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT model, explode(collect_list(price)), count(*) FROM cars GROUP BY model",
        "SELECT cars.model, posexplode(sort_array(collect_list(price))) AS (p, x) FROM cars"
        " GROUP BY cars.model ORDER BY cars.model, x DESC LIMIT 3",
        "SELECT DISTINCT explode(map_from_entries(collect_list(struct(car, price)))) FROM cars"
        " GROUP BY model",
        "SELECT model, stack(2, 'least', min(price), 'most', max(price)) FROM cars GROUP BY ALL",
    ],
)
def test_groups_taken_apart_in_the_select_list(on: Oracles, sql: str) -> None:
    on.hold(sql, {"cars": [3]}, {"cars": [1, 2]}, {}, grouping=True)


@pytest.mark.many
@pytest.mark.parametrize(
    ("collected", "shown"),
    [
        ("collect_list(price)", [9, 7, 9, 5]),
        ("collect_list(DISTINCT price)", [5, 7, 9]),
        ("collect_set(price)", [5, 7, 9]),
        ("array(collect_list(price)[1])", [7]),
        ("transform(collect_list(map('p', price)), e -> e['p'])", [9, 7, 9, 5]),
        ("collect_list(price) FILTER (WHERE car <> 2)", [9, 9, 5]),
        ("collect_list(hour)", [2, 0, 1]),
    ],
)
@pytest.mark.parametrize(
    "relation",
    [
        "late",
        pytest.param("(SELECT * FROM late UNION ALL SELECT * FROM late)", marks=pytest.mark.slow),
    ],
)
def test_arrays_that_are_looked_into(
    on: Oracles, relation: str, collected: str, shown: list[int]
) -> None:
    """Their elements stand in the order of the keys, which that of the data is not."""
    sql = "SELECT p, x FROM (SELECT {} AS xs FROM {}) LATERAL VIEW OUTER posexplode(xs) u AS p, x"
    q = on.ls.sql(sql.format(collected, relation))
    if relation == "late":
        assert sorted(q.df.collect()) == list(enumerate(shown))
    assert {row["_change"] for row in q.what_if(delete={}).changes.collect()} == {"unchanged"}
    left = on.ls.sql(sql.format(collected, relation.replace("late", LEFT)))
    assert sorted(q.what_if(delete={"late": [4]}).df.collect()) == sorted(left.df.collect())


def test_arrays_of_a_sorted_table(on: Oracles) -> None:
    """They stand in its order, and where that leaves it open in that of the keys."""
    q = on.ls.sql(
        "SELECT collect_list(car) AS cars, collect_list(DISTINCT price) AS prices,"
        " collect_set(price) AS s FROM (SELECT car, price FROM late ORDER BY price DESC, hour + 1)"
    )
    assert q.df.collect() == [([3, 1, 2, 4], [5, 7, 9], [5, 7, 9])]
    left = q.what_if(delete={"late": [1]})
    assert left.df.collect() == [([3, 2, 4], [5, 7, 9], [5, 7, 9])]


@pytest.mark.engines("spark")
def test_arrays_of_rows_without_tokens(on: Oracles) -> None:
    """They stand in the order of their values' texts."""
    on.ls.track("plain_late", on.ls.tracked["late"].source.frame, provenance=False)
    try:
        q = on.ls.sql("SELECT collect_list(map('p', price))[1]['p'] AS p FROM plain_late")
        assert q.df.collect() == [(7,)]
    finally:
        on.ls.untrack("plain_late")


@pytest.mark.slow
def test_collected_from_a_join_below_having(on: Oracles) -> None:
    """The elements are the tuples of the join; HAVING may bring a group back."""
    sql = (
        "SELECT d.a, u.x FROM (SELECT t.a, collect_list(cars.price) AS xs FROM t JOIN cars"
        " ON t.id = cars.car GROUP BY t.a HAVING count(*) < 2) d LATERAL VIEW explode(d.xs) u AS x"
    )
    on.hold(sql, {"cars": [3]}, {"t": [1, 2]})


@pytest.mark.slow
def test_collected_otherwise_beside_an_anti_join(on: Oracles) -> None:
    """What is taken apart is read from the groups as they are, for annotations too."""
    sql = (
        f"SELECT c.car, u.x FROM cars c JOIN {GROUPED.format('sort_array(collect_list(price))')}"
        " ON c.model = d.model LATERAL VIEW posexplode(d.xs) u AS p, x"
        " WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = c.car AND t.a = 2)"
    )
    q = on.hold(sql, {"cars": [3]}, {"t": [1, 2]})
    counted = q.algebra.evaluate(lipstick.semirings.Counting()).collect()
    assert len(counted) == q.df.count()
