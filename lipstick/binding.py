"""From a text that Spark and the rewriter understand alike to its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError
from lipstick.stages.comparisons import lowered
from lipstick.stages.guard import (
    Understood,
    check_deterministic,
    constant_bounds,
    volatile_literals,
)
from lipstick.stages.recursion import Recursions
from lipstick.stages.settings import check_case, is_case_sensitive
from lipstick.stages.table_functions import check_partitions
from lipstick.tracking.catalog import RegisteredFunctions, SessionCatalog
from lipstick.tracking.local_relations import LocalRelations
from lipstick.tracking.tracker import Tracked
from rewriter import (
    Arguments,
    BoundQuery,
    PassStep,
    TableFunction,
    bind_query,
    dialect,
    lower_query,
    place_of_generator,
    substitute,
)
from rewriter.algebra import Draw, Relation, walk
from rewriter.blocks import Block
from rewriter.passes import log
from rewriter.scalars.comparable import Conversions


@dataclass(frozen=True, slots=True)
class BoundText:
    """A query that was bound and lowered.

    Parameters
    ----------
    expression
        Its tree, with parameters and functions of the moment as literals.
    query, root
        Its operators, and the block that yields its answer.
    converted
        The types that both sides of comparisons are converted to, by their place.
    over_views
        Whether it reads views by their text.
    """

    expression: dialect.Query
    query: BoundQuery
    root: Block
    converted: Conversions
    steps: tuple[PassStep, ...]
    over_views: bool

    @property
    def plan(self) -> tuple[Relation, Conversions]:
        """Its operators with the types that both sides of comparisons are converted to."""
        return self.query.root, self.converted


class Surroundings(Protocol):
    """The part of a session that recursions need: its folder, small relations, and views."""

    spark: SparkSession
    store: Path
    local_relations: LocalRelations
    views_of_recursions: list[str]


def drop_views(surroundings: Surroundings) -> None:
    """Drop the views that queries read rows of recursions from."""
    for view in surroundings.views_of_recursions:
        surroundings.spark.catalog.dropTempView(view)


def bind_text(
    spark: SparkSession,
    query: str,
    args: Arguments,
    understood: Understood,
    tracked: Mapping[str, Tracked],
    tables: Mapping[str, TableFunction],
    surroundings: Surroundings,
) -> BoundText:
    """Bind and lower a query that is understood.

    Parameters
    ----------
    tracked
        The tracked relations, by name in lower case.
    tables
        The registered table functions.
    surroundings
        Where rows of recursions are, and of small relations.

    Raises
    ------
    QueryError
        When a part of it has no rule, or reads untracked relations.
    """
    expression = volatile_literals(spark, understood.expression)
    ntz = spark.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ"
    expression = substitute(expression, args, sql=query, timestamp_ntz=ntz)
    expression = constant_bounds(spark, expression)
    by_case = is_case_sensitive(spark)
    if by_case:
        check_case(query, dialect.identifiers(expression))
    catalog = SessionCatalog(spark, tracked)
    functions = RegisteredFunctions(spark)
    sources = {t.name: t.token_source for t in tracked.values()}

    streams = frozenset(t.name for t in tracked.values() if t.stream is not None)
    relations = surroundings.local_relations.of(tracked.values())
    recursions = Recursions(spark, sources, surroundings.store, relations, streams)

    def bound_with(converted: Conversions) -> BoundQuery:
        return recursions.unfolded(
            lambda levels: bind_query(
                query,
                catalog,
                expression=expression,
                functions=functions,
                aggregates=functions.aggregates,
                tables=tables,
                levels=levels,
                converted=converted,
            )
        )

    steps: list[PassStep] = []

    def observe(step: PassStep) -> None:
        log(step)
        steps.append(step)

    def lower_bound(bound: BoundQuery, converted: Conversions) -> Block:
        steps.clear()
        return lower_query(bound.root, sources, query, converted, observe)

    bound, root, converted = lowered(spark, bound_with, lower_bound)
    if by_case:
        texts = [expression, *(dialect.parse(view.text) for view in catalog.views)]
        check_case(query, catalog.columns.union(*map(dialect.identifiers, texts)))
    if functions.used:
        drawn = any(isinstance(operator, Draw) for operator in walk(bound.root))
        check_deterministic(spark, query, args, functions.used, drawn=drawn)
    columns = len(understood.schema)
    if len(root.outputs) != columns:
        raise UnsupportedError(
            f"the query was read to have {len(root.outputs)} columns, and has {columns}",
            "Name the columns of explode of a map: AS (key, value), or in LATERAL VIEW.",
            query,
            place_of_generator(expression, query),
        )
    check_partitions(spark, root, query)
    surroundings.views_of_recursions.extend(recursions.views)
    return BoundText(expression, bound, root, converted, tuple(steps), bool(catalog.views))
