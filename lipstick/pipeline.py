"""The way of a query, from its text to its annotated answer.

:data:`STAGES` are the steps that a query passes before anything runs. Each is a function of one
frozen value, the :class:`PreparedQuery`, and returns it with the fields that the step yields:

==============  ==================================================================================
``understand``  Spark analyses the text, and what the rewriter reads must mean the same to Spark
``fix_moment``  parameters, ``now()`` and computed bounds become literals
``bind``        names become attributes: a tree of relational algebra (``rewriter/bind``)
``unfold``      the levels of recursive queries are computed or counted, until all are known
``lower``       passes rewrite the tree, which is then cut into blocks (``rewriter/lower``)
``convert``     values that comparisons convert get their common types, until none is missing
``check``       what only the finished blocks show is refused
==============  ==================================================================================

Two steps follow when a question is asked of the answer: :func:`capture` writes the members and
rows of the blocks (``rewriter/emit`` has the statements), once; :func:`ask` opens what was written
with an engine that answers, on the cluster or in this process (``lipstick/engines``).
``q.plan.explain(stages=True)`` prints what each step yielded. ``docs/onboarding.md`` follows one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import Manifest
from lipstick.capture.writer import Progress, write_capture
from lipstick.errors import UnsupportedError, without_columns
from lipstick.stages import guard
from lipstick.stages.comparisons import (
    check_exact,
    check_outer_values,
    common_types,
    compared_pairs,
)
from lipstick.stages.reading import reading
from lipstick.stages.recursion import MOST_UNFOLDED, Recursions
from lipstick.stages.settings import check_case, check_views, is_case_sensitive
from lipstick.stages.spark_errors import running
from lipstick.stages.surroundings import Surroundings
from lipstick.stages.table_functions import check_partitions
from lipstick.tracking.catalog import RegisteredFunctions, SessionCatalog
from lipstick.tracking.tracker import Tracked
from rewriter import (
    Arguments,
    Block,
    BoundQuery,
    Environment,
    PassStep,
    bind_query,
    dialect,
    lower_query,
    place_of_generator,
    substitute,
)
from rewriter.algebra import Draw, Iterated, OuterValues, walk
from rewriter.passes import log
from rewriter.scalars.comparable import Conversions

_LATER: Any = None
"""The value of a field before the stage that yields it."""


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query and what the stages have yielded so far; a field has no value before its stage."""

    sql: str
    """The text; errors point into it."""
    shown: str
    """The text without the blanks that stand for what was cut from it."""
    args: Arguments
    surroundings: Surroundings
    catalog: SessionCatalog
    functions: RegisteredFunctions

    written: dialect.Query = _LATER
    """The syntax tree of the text: of `understand`."""
    schema: StructType = _LATER
    """The schema that Spark gives the answer: of `understand`."""
    expression: dialect.Query = _LATER
    """The syntax tree with literals for what another call would not see: of `fix_moment`."""
    bound: BoundQuery = _LATER
    """The tree of relational algebra: of `bind`."""
    levels: Mapping[str, int | Iterated] = field(default_factory=dict)
    """By recursion, the number of levels after the first, or the view of its rows: of `unfold`."""
    root: Block = _LATER
    """The block that yields the answer: of `lower`."""
    steps: tuple[PassStep, ...] = ()
    """The changes by the passes of the rewriter: of `lower`."""
    converted: Conversions = field(default_factory=dict)
    """The types to which comparisons convert both sides, by their place: of `convert`."""
    trace: tuple[StageResult, ...] = field(default=(), repr=False)

    @property
    def spark(self) -> SparkSession:
        """The SparkSession that analyses the query and runs it."""
        return self.surroundings.spark

    @property
    def over_views(self) -> bool:
        """Return True if the query reads views by their text."""
        return bool(self.catalog.views)


@dataclass(frozen=True, slots=True)
class StageResult:
    """The name of a stage, the seconds it took, and the query after it."""

    name: str
    seconds: float
    query: PreparedQuery


def prepare(
    sql: str, args: Arguments, surroundings: Surroundings, shown: str | None = None
) -> PreparedQuery:
    """Put a query through all stages.

    Raises
    ------
    QueryError
        Spark does not accept the text, or the query is not understood, has no rewrite rule, or
        reads untracked relations.
    """
    query = PreparedQuery(
        sql,
        sql if shown is None else shown,
        args,
        surroundings,
        SessionCatalog(surroundings.spark, surroundings.tracked, surroundings.versions),
        RegisteredFunctions(surroundings.spark),
    )
    for stage in STAGES:
        started = perf_counter()
        # Once Spark has accepted the text, every error of Spark's is one of a text of ours.
        names = [tracked.name for tracked in surroundings.tracked.values()]
        with reading(sql, accepted=stage is not understand, names=names):
            query = stage(query)
        result = StageResult(stage.__name__, perf_counter() - started, query)
        query = replace(query, trace=(*query.trace, result))
    return query


# -- the stages --------------------------------------------------------------------------------


def understand(query: PreparedQuery) -> PreparedQuery:
    """Parse the text, and refuse it unless Spark reads text and syntax tree alike."""
    understood = guard.understand(query.spark, query.sql, query.args)
    if not understood.schema.fields:
        raise without_columns(query.sql)
    return replace(query, written=understood.expression, schema=understood.schema)


def fix_moment(query: PreparedQuery) -> PreparedQuery:
    """Replace parameters, functions of the moment and computed bounds by literals."""
    spark, sql = query.spark, query.sql
    expression = guard.volatile_literals(spark, query.written)
    ntz = spark.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ"
    expression = substitute(expression, query.args, sql=sql, timestamp_ntz=ntz)
    expression = guard.constant_bounds(spark, expression)
    if is_case_sensitive(spark):
        check_case(sql, dialect.identifiers(expression))
    return replace(query, expression=expression)


def bind(query: PreparedQuery) -> PreparedQuery:
    """Resolve names and functions, with the levels and conversions that are known so far."""
    environment = Environment(
        query.catalog,
        query.functions,
        query.functions.aggregates,
        query.surroundings.tables,
        query.levels,
        query.converted,
    )
    return replace(query, bound=bind_query(query.sql, environment, query.expression))


def unfold(query: PreparedQuery) -> PreparedQuery:
    """Find the levels of recursions, one after the other, until binding meets no unknown one.

    A recursion that only selects, projects and joins is computed, and read as a relation from then
    on. Another is unfolded into as many levels as may have rows, which takes a trial binding.
    """
    while unknown := [key for key in query.bound.recursions if key not in query.levels]:
        key, recursions = unknown[0], Recursions(query.surroundings, query.sql)
        recursion = query.bound.recursions[key]
        levels: int | Iterated | None = recursions.computed(recursion)
        if levels is None:
            trial = bind(_with_levels(query, key, recursion.most or MOST_UNFOLDED))
            levels = recursions.depth(trial.bound.recursions[key])
        query = bind(_with_levels(query, key, levels))
    return query


def lower(query: PreparedQuery) -> PreparedQuery:
    """Rewrite the bound tree by the passes, and cut it into blocks."""
    steps: list[PassStep] = []

    def observe(step: PassStep) -> None:
        log(step)
        steps.append(step)

    root = lower_query(
        query.bound.root, query.surroundings.tokens, query.sql, query.converted, observe
    )
    return replace(query, root=root, steps=tuple(steps))


def convert(query: PreparedQuery) -> PreparedQuery:
    """Give compared values their common types, until no comparison asks for another.

    Rows are grouped by the values that others are compared with. A comparison that makes different
    values equal ('1' and '01' to 1) groups them by the values that it converts them to. EXCEPT and
    INTERSECT convert the columns of their answer, too. New types change the bound tree, and thereby
    what is compared.
    """
    while True:
        pairs = compared_pairs(query.spark, query.root, query.sql)
        converted = common_types(query.spark, pairs, query.bound.differences, query.converted)
        if converted == query.converted:
            check_exact(pairs, query.sql)
            return query
        computed = {key: rows for key, rows in query.levels.items() if isinstance(rows, Iterated)}
        query = lower(unfold(bind(replace(query, converted=converted, levels=computed))))


def check(query: PreparedQuery) -> PreparedQuery:
    """Refuse what only the blocks, or the names that binding met, show."""
    spark, sql = query.spark, query.sql
    if is_case_sensitive(spark):
        texts = [query.expression, *(dialect.parse(view.text) for view in query.catalog.views)]
        check_case(sql, query.catalog.columns.union(*map(dialect.identifiers, texts)))
    check_views(spark, sql, query.catalog.views)
    operators = list(walk(query.bound.root))
    if used := query.functions.used:
        drawn = any(isinstance(operator, Draw) for operator in operators)
        guard.check_deterministic(spark, sql, query.args, used, drawn=drawn)
    read, columns = len(query.root.outputs), len(query.schema)
    if read != columns:
        raise UnsupportedError(
            f"the query was read to have {read} columns, and has {columns}",
            "Name the columns of explode of a map: AS (key, value), or in LATERAL VIEW.",
            sql,
            place_of_generator(query.expression, sql),
        )
    check_partitions(spark, query.root, sql)
    if any(isinstance(operator, OuterValues) for operator in operators):
        check_outer_values(spark, query.root, sql)
    return query


Stage = Callable[[PreparedQuery], PreparedQuery]
STAGES: tuple[Stage, ...] = (understand, fix_moment, bind, unfold, lower, convert, check)
"""The stages, in the order in which a query passes through them."""


def _with_levels(query: PreparedQuery, key: str, levels: int | Iterated) -> PreparedQuery:
    return replace(query, levels={**query.levels, key: levels})


# -- after the stages --------------------------------------------------------------------------


def capture(
    query: PreparedQuery,
    relations: Mapping[str, Tracked],
    manifest: Manifest,
    path: Path,
    progress: Progress,
    finish: Callable[[Manifest, Path], None],
) -> Manifest:
    """Write the members and rows of all blocks to a new folder, whole or not at all.

    ``relations`` are the relations that the query reads; small ones are read into this process. See
    :func:`lipstick.capture.writer.write_capture`. The manifest is returned with counts of rows.

    Raises
    ------
    QueryError
        Spark fails at the rows.
    """
    with running(query.sql):
        small = query.surroundings.local_relations.of(relations.values())
        return write_capture(query.spark, manifest, path, progress, small, finish)


def ask(
    query: PreparedQuery, tracked: Mapping[str, Tracked], manifest: Manifest, path: Path
) -> Capture:
    """Open a capture for questions; its engine answers them."""
    return Capture(path, manifest, query.spark, tracked)
