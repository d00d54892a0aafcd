"""Annotations and lineage over derived relations, in tokens of the relations behind these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.contents import Fault, damaged
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.keys import KeyTable
from lipstick.errors import CapabilityError
from lipstick.tables.comparison import identifies_rows
from lipstick.tables.derivation import TUPLE, Derivation, Part
from lipstick.tables.derived_rows import naming_of, part_rows
from lipstick.tracking.naming import ROW_BITS, stored_key
from lipstick.tracking.tracker import Naming
from rewriter.analysis.conditional import conditional, has_difference
from rewriter.analysis.data_flow import follow
from rewriter.blocks import Block, topological
from semiring.base import Array
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Expressions
from semiring.token import Token
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture


Annotation: TypeAlias = Polynomial | Expression
A = TypeVar("A", Annotation, Value)

_ADVICE = (
    "what_if() follows such changes exactly. For one annotation of all, write the query of "
    "{name!r} into this one: WITH {name} AS (...)."
)


def expanded(capture: AskedCapture, formal: Sequence[A], *, values: bool) -> list[A]:
    """Return annotations or tensors with the annotations of derived rows for their tokens.

    Parameters
    ----------
    values
        True if values of derived relations are read too, as values of tensors are.

    Raises
    ------
    CapabilityError
        When a deletion may make rows of a derived relation appear, or change values that decide
        rows of the answer: the tokens' annotations do not say so.
    """
    tokens = frozenset[Token]().union(*(annotation.tokens for annotation in formal))
    known: dict[Token, Annotation] = {}
    for name, record in capture.manifest.relations.items():
        tokens_of_relation = sorted(token for token in tokens if token.relation == name)
        if record.derived is not None:
            problem = _problem(capture, record, values=values)
            if problem is not None:
                raise CapabilityError(f"{problem}\n{_ADVICE.format(name=name)}")
            known.update(_annotations(capture, record, tokens_of_relation))

    def annotation_of(token: Token) -> Annotation:
        return known.get(token, Polynomial.token(token))

    algebra = Expressions()
    return [value.evaluate(algebra, annotation_of) for value in formal]


def _annotations(
    capture: AskedCapture, record: RelationRecord, tokens: Sequence[Token]
) -> dict[Token, Annotation]:
    derivation = capture.ancestry.derivation(record)
    by_token: dict[Token, Annotation] = {}
    keys = _keys(capture, record, tokens)
    for part, wanted, identity in located(derivation, keys):
        made_by = capture._part_capture(derivation, part)
        annotations = made_by.memory.annotations_of(identity, len(wanted))
        expanded_annotations = expanded(made_by, annotations, values=False)
        by_token.update(zip((tokens[index] for index in wanted), expanded_annotations, strict=True))
    return by_token


def origins_of(capture: AskedCapture, tokens: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return tokens by relation, with the origins of the tokens of derived relations.

    As :func:`lipstick.tables.origins.with_origins`, in memory.
    """
    tables_by_relation = {name: [table] for name, table in tokens.items()}
    for name, table in tokens.items():
        record = capture.manifest.relations[name]
        if record.derived is None:
            continue
        derivation = capture.ancestry.derivation(record)
        for part, wanted, identity in located(derivation, table):
            made_by = capture._part_capture(derivation, part)
            inner = origins_of(made_by, made_by.memory.lineage_of(identity, len(wanted)))
            for origin, its in inner.items():
                tables_by_relation.setdefault(origin, []).append(its)
    return {name: _distinct(tables) for name, tables in tables_by_relation.items()}


def _distinct(tables: Sequence[pa.Table]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables).group_by(tables[0].column_names).aggregate([])


def _keys(capture: AskedCapture, record: RelationRecord, tokens: Sequence[Token]) -> pa.Table:
    schema = capture._token_types()[record.name]
    keys = [stored_key(record.naming, token.key) for token in tokens]
    columns = [pa.array([key[at] for key in keys], field.type) for at, field in enumerate(schema)]
    return pa.Table.from_arrays(columns, schema=schema)


def located(
    derivation: Derivation, tokens: pa.Table
) -> Iterable[tuple[Part, Array, list[pa.Array]]]:
    """Yield the captured parts that rows are of.

    Parameters
    ----------
    tokens
        The tokens of the rows, under the names of the relation's token columns.

    Yields
    ------
    Part, the places of its rows among the tokens, and the identities of their tuples.
    """
    for part in derivation.parts:
        if part.captured:
            rows = _rows_of(derivation, part)
            places = _places(derivation, part, rows, tokens)
            wanted = np.flatnonzero(places >= 0)
            if len(wanted):
                tuples = pa.concat_tables(rows).column(TUPLE).combine_chunks()
                taken = tuples.take(pa.array(places[wanted]))
                yield part, wanted, [taken.field(at) for at in range(taken.type.num_fields)]


def _rows_of(derivation: Derivation, part: Part) -> list[pa.Table]:
    """Return the rows of a part, file by file."""
    path = derivation.rows(part)
    try:
        return [pq.read_table(path / file) for file in part.files]
    except (OSError, pa.ArrowException) as error:  # of format 1, of whose files nothing is known
        raise damaged(path, [Fault(path, f"It cannot be read: {error}.")]) from error


def _places(
    derivation: Derivation, part: Part, rows: Sequence[pa.Table], tokens: pa.Table
) -> Array:
    """Return the row of a part for each token, -1 where it is of none."""
    naming, names = naming_of(derivation)
    if not rows:
        return np.full(tokens.num_rows, -1, dtype=np.int64)
    if naming is Naming.KEY:
        whole = pa.concat_tables(rows)
        known = KeyTable([_flat(whole, name) for name in names], whole.num_rows)
        return known.find([_flat(tokens, name) for name in names], tokens.num_rows)
    packed = tokens.column(0).to_numpy()
    file = (packed >> ROW_BITS) - derivation.first_file(part)
    inside = (file >= 0) & (file < len(rows))
    starts = np.concatenate([[0], np.cumsum([table.num_rows for table in rows])[:-1]])
    row = starts[np.where(inside, file, 0)] + (packed & ((1 << ROW_BITS) - 1))
    rows_of_tokens: Array = np.where(inside, row, -1)
    return rows_of_tokens


def _flat(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()


def _problem(capture: AskedCapture, record: RelationRecord, *, values: bool) -> str | None:
    """Why annotations of a derived relation cannot stand for its tokens."""
    name = record.name
    for made_by in capture._part_captures(record):
        root = made_by.manifest.root
        if _appear(root):
            return f"By a deletion, rows of {name!r} may appear, which the annotations do not say."
        if not identifies_rows(root):
            return f"Rows of {name!r} have an annotation in common, or cannot be told apart."
        for inner in made_by.manifest.relations.values():
            problem = None if inner.derived is None else _problem(made_by, inner, values=False)
            if problem is not None:
                return problem
    changes = changing(capture, record)
    if not changes.isdisjoint(_partitions(capture.ancestry.derivation(record))):
        return f"A deletion may change which rows of {name!r} were overwritten with a partition."
    followed = follow(capture.manifest.root, name, changes)
    if followed.decides or (values and followed.aggregated):
        return f"The query compares or aggregates values of {name!r} that a deletion may change."
    return None


def _partitions(derivation: Derivation) -> frozenset[str]:
    """Return the columns whose values selected overwritten rows."""
    replaced = (overwritten for part in derivation.parts for overwritten in part.replaced)
    return frozenset(column for overwritten in replaced for column in overwritten.columns)


def _appear(root: Block) -> bool:
    limited = any(block.limited for block in topological(root))
    return limited or has_difference(root) or conditional(root)


def changing(capture: AskedCapture, record: RelationRecord) -> frozenset[str]:
    """Return the columns of a derived relation whose values a deletion may change."""
    if record.derived is None:
        return frozenset()
    derivation = capture.ancestry.derivation(record)
    changing_columns: set[str] = set()
    for part in derivation.parts:
        if not part.captured:
            continue
        made_by = capture._part_capture(derivation, part)
        root = made_by.manifest.root
        places = {index for index, output in enumerate(root.outputs) if not output.stable}
        for inner in made_by.manifest.relations.values():
            places |= follow(root, inner.name, changing(made_by, inner)).outputs
        changing_columns |= {part.columns[index] for index in places}
    return frozenset(changing_columns)


def with_origins(
    spark: SparkSession, capture: AskedCapture, tokens: Mapping[str, DataFrame]
) -> dict[str, DataFrame]:
    """Return tokens by relation, with the origins of the tokens of derived relations.

    Parameters
    ----------
    tokens
        By relation that the query of the capture reads, the columns of its token.
    """
    frames_by_relation = {name: [frame] for name, frame in tokens.items()}
    for name, frame in tokens.items():
        record = capture.manifest.relations[name]
        if record.derived is None:
            continue
        derivation = capture.ancestry.derivation(record)
        for part in derivation.parts:
            if not part.captured:
                continue
            made_by = capture._part_capture(derivation, part)
            rows = _tuples(spark, made_by, derivation, part, frame.toDF(*record.token))
            inner = with_origins(spark, made_by, made_by.cluster.tokens_of(rows))
            for origin, its in inner.items():
                frames_by_relation.setdefault(origin, []).append(its)
    return {
        name: reduce(DataFrame.unionAll, frames).distinct()
        for name, frames in frames_by_relation.items()
    }


def _tuples(
    spark: SparkSession,
    made_by: AskedCapture,
    derivation: Derivation,
    part: Part,
    tokens: DataFrame,
) -> DataFrame:
    """Return the tuples of a capture that some rows of its part are, by their identity."""
    rows = part_rows(spark, derivation, part)
    match = [rows[f"`{name}`"].eqNullSafe(tokens[f"`{name}`"]) for name in tokens.columns]
    chosen = rows.join(tokens, reduce(and_, match), "left_semi")
    identity = made_by.manifest.root.identity
    named = [F.col(f"{TUPLE}.i{at}").alias(name) for at, name in enumerate(identity)]
    return chosen.select(*named) if named else chosen
