"""Programs of data frames, held against the same programs over what deletions leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession

from rewriter.errors import QueryError
from tests.lipstick.dataframes.frame_programs import DELETIONS, PROGRAMS, RELATIONS, Program
from tests.oracle.bag import PROVENANCE, check_counting
from tests.oracle.rows import assert_same_bag, assert_same_schema, from_spark
from tests.oracle.small import Oracles, counted, oracles


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, *RELATIONS) as both:
        yield both


def _frames(on: Oracles, deleted: Mapping[str, Sequence[int]]) -> list[DataFrame]:
    """Return the relations without some of their rows."""
    return [
        each.frame(on.ls.spark, each.without([(key,) for key in deleted[each.name]]))
        for each in RELATIONS
    ]


@pytest.mark.many
@pytest.mark.engines("spark")
@pytest.mark.parametrize("title", PROGRAMS)
def test_program(on: Oracles, title: str) -> None:
    _hold(on, title, PROGRAMS[title])


@pytest.mark.classic
@pytest.mark.engines("spark")
@pytest.mark.parametrize(
    "statistics", [("count", "min", "max"), pytest.param((), marks=pytest.mark.slow)]
)
def test_summary(on: Oracles, statistics: tuple[str, ...]) -> None:
    """Statistics as text are those of the groups that a deletion leaves."""
    _hold(on, "summary", lambda o, p, t: o.select("n", "item").summary(*statistics))


@pytest.mark.classic
@pytest.mark.engines("spark")
@pytest.mark.parametrize(
    ("method", "advice"),
    [
        ("freqItems", "Count the values"),
        ("sampleBy", "Sample each stratum"),
        ("localCheckpoint", "comes before checkpoint"),
        ("StringIndexer", r"model.transform\(q.df\)"),
        ("Bucketizer", r"model.transform\(q.df\)"),
    ],
)
def test_methods_without_rule(on: Oracles, method: str, advice: str) -> None:
    """They are refused before anything is computed, with what to do instead."""
    from pyspark.ml.feature import Bucketizer, StringIndexer

    orders = on.ls.tracked["o"].source.frame
    builds: Mapping[str, Callable[[], DataFrame]] = {
        "Bucketizer": lambda: Bucketizer(
            splits=[0.0, 2.0, 9.0], inputCol="price", outputCol="b", handleInvalid="keep"
        ).transform(orders),
        "StringIndexer": lambda: (
            StringIndexer(inputCol="item", outputCol="x", handleInvalid="keep")
            .fit(orders)
            .transform(orders)
        ),
        "freqItems": lambda: orders.freqItems(["item"], 0.4),
        "localCheckpoint": lambda: orders.where("n > 1").localCheckpoint(),
        "sampleBy": lambda: orders.sampleBy("item", {"tea": 0.5}, seed=1),
    }
    with pytest.raises(QueryError, match=advice):
        on.ls.annotate(builds[method]())


def _hold(on: Oracles, title: str, program: Program) -> None:
    """Hold the rows, their numbers, and both deletions, one of which changes the answer."""
    frame = program(*(on.ls.tracked[relation.name].source.frame for relation in RELATIONS))
    expected = from_spark(frame)
    q = on.ls.annotate(frame)
    actual = from_spark(q.plan.annotated).without(PROVENANCE)
    assert_same_schema(expected, actual, title)
    assert_same_bag(expected, actual, title)
    check_counting(expected, counted(q), title, grouping=True)
    changed = False
    for deleted in DELETIONS:
        left = from_spark(program(*_frames(on, deleted)))
        hypothetical = q.what_if(delete=deleted)
        assert_same_bag(left, from_spark(hypothetical.df), f"{title} without {deleted}")
        changed |= left.rows != expected.rows
    assert changed, "no deletion changes the answer"
