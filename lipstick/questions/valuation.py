"""Valuations as users give them, compiled for the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import RelationRecord
from lipstick.errors import first_line
from lipstick.tracking.naming import stored_key
from semiring.base import Semiring
from semiring.encodings.valuation import Valuation
from semiring.errors import ValuationError
from semiring.support.door import checked
from semiring.token import Token, normal_value


@dataclass(frozen=True, slots=True)
class OfRow:
    """A valuation by the rows of a tracked relation."""

    function: Callable[[dict[str, Any]], Any]
    columns: tuple[str, ...]


@checked
def of_row(function: Callable[[dict[str, Any]], Any], columns: Sequence[str] = ()) -> OfRow:
    """Return a valuation that is a Python function of the tuple's row.

    Parameters
    ----------
    function
        From a row, as a dict of its columns, to a value of the semiring. It is called here, once
        for each row of the relation; an expression over the columns is evaluated by Spark instead.
    columns
        The columns that the function reads; none: all.

    Examples
    --------
    >>> trusted = lipstick.of_row(lambda row: trust(row["dealer"]))
    >>> q.algebra.evaluate(semirings.Viterbi(), {"cars": trusted})
    """
    return OfRow(function, tuple(columns))


def listed(valuation: Any, relations: Mapping[str, RelationRecord]) -> list[str]:
    """Return the relations whose tokens a valuation lists by their keys."""
    if not isinstance(valuation, Mapping):
        return []
    by_name = {name.lower(): name for name in relations}
    return [
        by_name[str(name).lower()]
        for name, spec in valuation.items()
        if isinstance(spec, Mapping | pa.Table | DataFrame)
    ]


def compile_valuations(
    semiring: Semiring[Any],
    valuation: Any,
    default: Any,
    relations: Mapping[str, RelationRecord],
    spark: SparkSession | None,
) -> dict[str, Valuation[Any]]:
    """Return one compiled valuation per relation.

    Raises
    ------
    ValuationError
        For relations the query does not read, expressions without Spark, values outside K.
    """
    specs: dict[str, Any] = dict.fromkeys(relations)
    if isinstance(valuation, Mapping):
        by_name = {name.lower(): name for name in relations}
        for name, spec in valuation.items():
            if str(name).lower() not in by_name:
                raise ValuationError(
                    f"The query does not read {name!r}: give values per relation, of "
                    f"{', '.join(sorted(relations))}."
                )
            specs[by_name[name.lower()]] = spec
    elif valuation is not None:
        specs = dict.fromkeys(relations, valuation)
    compiled = {}
    for name, given in specs.items():
        spec = _table(spark, relations[name], given)
        if default is None:
            compiled[name] = Valuation.compile(semiring, name, spec)
        else:
            compiled[name] = Valuation.compile(semiring, name, spec, default)
    return compiled


def token_weights(
    valuations: Mapping[str, Valuation[float]],
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
) -> Callable[[Sequence[Token]], list[float]]:
    """Return the function from tokens, as people see them, to what valuations say of them.

    Parameters
    ----------
    types
        The token columns of each relation, as the capture stores them.
    """

    def values(tokens: Sequence[Token]) -> list[float]:
        values_by_token: dict[Token, float] = {}
        for name in {token.relation for token in tokens}:
            of_relation = [token for token in tokens if token.relation == name]
            keys = [stored_key(relations[name].naming, token.key) for token in of_relation]
            columns = [
                pa.array([key[index] for key in keys], field.type)
                for index, field in enumerate(types[name])
            ]
            looked = valuations[name].lookup(columns, len(of_relation)).tolist()
            values_by_token.update(zip(of_relation, looked, strict=True))
        return [values_by_token[token] for token in tokens]

    return values


def block_of_columns(
    record: RelationRecord, columns: Sequence[str], spark: SparkSession | None
) -> Callable[[Token], tuple[Any, ...]]:
    """Return the values that a relation's tuples have in some columns, as a function of tokens.

    Raises
    ------
    ValuationError
        For columns that the relation does not have; for other columns than keys without Spark.
    """
    keys = {name.lower(): place for place, name in enumerate(record.token)}
    if all(name.lower() in keys for name in columns):
        places = [keys[name.lower()] for name in columns]
        return lambda token: tuple(token.key[place] for place in places)
    if spark is None:
        raise ValuationError(
            f"The columns {', '.join(columns)} of {record.name!r} are not keys, which needs Spark: "
            "lipstick.open(path, spark=spark).\nOr give blocks as a mapping from keys."
        )
    frame = source_rows(spark, record)
    known = {name.lower() for name in frame.columns}
    missing = [name for name in columns if name.lower() not in known]
    if missing:
        raise ValuationError(
            f"{record.name!r} has no column {missing[0]!r}; it has {', '.join(frame.columns)}."
        )
    names = [*record.token, *columns]
    table = frame.select(
        *(F.col(f"`{name}`").alias(str(place)) for place, name in enumerate(names))
    ).toArrow()
    parts = [column.to_pylist() for column in table.columns]
    found = {
        tuple(map(normal_value, row[: len(record.token)])): tuple(row[len(record.token) :])
        for row in zip(*parts, strict=True)
    }

    def block(token: Token) -> tuple[Any, ...]:
        return found[tuple(map(normal_value, stored_key(record.naming, token.key)))]

    return block


def _table(spark: SparkSession | None, record: RelationRecord, spec: Any) -> Any:
    if isinstance(spec, DataFrame):
        return spec.toArrow()
    if not isinstance(spec, str | Column | OfRow):
        return spec
    if spark is None:
        what = (
            "a function of its rows"
            if isinstance(spec, OfRow)
            else "an expression over its columns"
        )
        raise ValuationError(
            f"The values of {record.name!r} are {what}, which needs Spark: "
            "lipstick.open(path, spark=spark)."
        )
    if isinstance(spec, OfRow):
        return _by_row(source_rows(spark, record), record, spec)
    value = F.expr(spec) if isinstance(spec, str) else spec
    try:
        frame = source_rows(spark, record).select(
            *(F.col(f"`{column}`") for column in record.token), value.alias("_value")
        )
        return _plain(frame.toArrow())
    except PySparkException as error:
        raise ValuationError(
            f"The expression {spec!r} cannot be applied to {record.name!r}: {first_line(error)}"
        ) from error


def _by_row(frame: DataFrame, record: RelationRecord, spec: OfRow) -> dict[tuple[Any, ...], Any]:
    """Call a function for each row; a loop over rows, because the function is Python."""
    missing = [name for name in spec.columns if name not in frame.columns]
    if missing:
        raise ValuationError(
            f"{record.name!r} has no column {missing[0]!r}; it has {', '.join(frame.columns)}."
        )
    names = dict.fromkeys([*record.token, *(spec.columns or frame.columns)])
    rows = frame.select(*(F.col(f"`{name}`") for name in names)).toArrow()
    values_by_key = {}
    for batch in rows.to_batches():
        for row in batch.to_pylist():
            values_by_key[tuple(row[name] for name in record.token)] = spec.function(row)
    return values_by_key


def _plain(table: pa.Table) -> pa.Table:
    """Return the table with a decimal value column as double, which carriers of reals expect."""
    last = table.num_columns - 1
    if pa.types.is_decimal(table.schema.field(last).type):
        return table.set_column(last, "_value", table.column(last).cast(pa.float64()))
    return table
