"""What becomes of an example query: its annotation and where it is answered, or its refusal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import sqlglot

from lipstick import Session
from lipstick.engines.memory.memory import Memory
from lipstick.errors import InvalidQueryError, LipstickError, NeedsSparkError
from rewriter.analysis.annotation_type import annotation_type
from rewriter.analysis.conditional import conditional, has_difference
from rewriter.blocks import Block, topological
from rewriter.dialect import read_write
from rewriter.errors import QueryError
from semiring.analysis import probability
from tests.oracle.captured import blocks_of
from tests.oracle.database import Database, Relation
from tests.oracle.small import small
from tests.oracle.written import written

_NESTED = pa.table(
    {"id": pa.array([1, 2], pa.int32()), "p": [{"a": 1, "b": 2}, None]},
    pa.schema([("id", pa.int32()), ("p", pa.struct([("a", pa.int32()), ("b", pa.int32())]))]),
)

DATABASE = Database(
    {
        relation.name: relation
        for relation in (
            small("r", "id int, k int, x int", [(1, 1, 5), (2, 1, None), (3, 2, 2), (4, 3, 2)]),
            small("s", "id int, k int, y int", [(1, 1, 1), (2, 2, 2), (3, None, 3)]),
            small("n", "id int, xs array<int>", [(1, [1, 2]), (2, None)]),
            Relation("d", ("id",), "id int, p struct<a: int, b: int>", _NESTED),
        )
    }
)
"""The relations that the examples read: two of numbers, one with an array, one with a struct."""

_DELETED = pa.table({"id": pa.array([1], pa.int32())})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a query: exactly one of ``annotation`` and ``refusal`` is given.

    Attributes
    ----------
    memory
        Whether a capture answers what-ifs without Spark; None where that is not tried.
    polynomial
        The annotation of the least row, in an order that does not change, or why there is none.
    probability
        How it is answered, or why it is not.
    evaluate
        In which semirings annotations have values.
    """

    annotation: str | None
    refusal: str | None
    memory: bool | None = None
    polynomial: str = ""
    probability: str = ""
    evaluate: str = ""


def outcome(ls: Session, sql: str) -> Outcome:
    """Annotate a query in a session that tracks the relations, capture it, ask it in memory.

    Of a statement that writes an answer this is the outcome of its query: nothing is written.

    Raises
    ------
    ValueError
        Spark refuses the example, which the rewriter alone would understand.
    """
    try:
        write = read_write(sql)
        sql = sql if write is None else write.query
        ls.sql(sql)
        root = blocks_of(sql, DATABASE)
    except InvalidQueryError as error:
        return Outcome(None, _refused_before(sql, error))
    except QueryError as error:
        return Outcome(None, error.problem)
    known = Outcome(annotation_type(root), None, evaluate=_evaluated(root))
    with TemporaryDirectory() as directory:
        try:
            memory = written(sql, DATABASE, Path(directory))
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            return known
        except NeedsSparkError:
            return replace(known, memory=False)
        polynomial, probable = _annotated(memory)
        return replace(
            known,
            memory=_in_memory(memory, root),
            polynomial=polynomial,
            probability=probable,
        )


def _refused_before(sql: str, error: InvalidQueryError) -> str:
    """Return what the rewriter refuses in a text that Spark refuses over these relations."""
    try:
        blocks_of(sql, DATABASE)
    except QueryError as refusal:
        return refusal.problem
    raise ValueError(f"Spark refuses an example: {sql}") from error


def _evaluated(root: Block) -> str:
    """Tell in which semirings annotations have a value."""
    if conditional(root):
        return "tokens 0 and 1"
    return "with monus" if has_difference(root) else "all"


def _annotated(memory: Memory) -> tuple[str, str]:
    """Return the annotation of the least row of an answer, and how likely it is found to be."""
    try:
        rows = memory.annotations()
    except LipstickError as error:
        return _reason(error), ""
    if not rows:
        return "no row", ""
    _, annotation = min(rows, key=lambda row: repr(tuple(row[0].values())))
    try:
        chance = f"{probability(annotation, 0.5).value:.3g}"
    except LipstickError as error:
        chance = _reason(error)
    return annotation.truncated(3), chance


def _reason(error: LipstickError) -> str:
    return f"refused: {str(error).splitlines()[0]}"


def _in_memory(memory: Memory, root: Block) -> bool:
    """Tell whether a what-if is answered without Spark; DuckDB makes the capture."""
    read = {token.relation for block in topological(root) for token in block.tokens}
    try:
        memory.what_if(dict.fromkeys(read, _DELETED))
    except NeedsSparkError:
        return False
    return True
