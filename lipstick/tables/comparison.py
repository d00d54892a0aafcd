"""What becomes of the rows of a derived relation: the rows that were written beside those of a
hypothetical answer of the query that made them."""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.tables.derivation import TUPLE, Part
from lipstick.tables.derived_rows import table_columns
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.tracker import ROW_COLUMN, comparable
from rewriter.blocks import Block, Kind


class Comparison:
    """Rows that were written and rows that would have been, matched tuple by tuple.

    Tuples are matched by their identity, and where it is not of one row alone, by their values
    and an ordinal among equals.

    Parameters
    ----------
    old
        The rows of a part, with the tokens and tuples.
    new
        The hypothetical answer: outputs and identity of the root of the part's query, and beside
        them what other columns of the table are filled with.
    token
        The columns of the tokens.
    number
        The place of the part among the relation's: fresh tokens of parts are not the same.
    """

    def __init__(
        self,
        old: DataFrame,
        new: DataFrame,
        root: Block,
        part: Part,
        token: tuple[str, ...],
        number: int,
    ) -> None:
        self._columns = [name for name in old.columns if name not in (ROW_COLUMN, TUPLE)]
        self._token = token
        self._fresh = number << ROW_BITS
        self._placed = token == (ROW_COLUMN,)
        table = StructType([old.schema[name] for name in self._columns])
        outputs = table_columns(root, new.schema, part.columns, table)
        self._types = {name: old.schema[name].dataType for name in outputs}
        before = [F.col(f"{TUPLE}.i{number}") for number in range(len(root.identity))]
        after = [F.col(f"`{name}`") for name in root.identity]
        self._alone = identifies_rows(root)
        left = self._side(old, "old", before, {name: F.col(f"`{name}`") for name in outputs})
        its = self._side(new, "new", after, outputs)
        keys = [name for name in left.columns if name.startswith("k")]
        match: Column = reduce(and_, (left[key].eqNullSafe(its[key]) for key in keys))
        joined = left.join(its, match, "full_outer")
        sides = [left["old"], its["new"], *(its[key] for key in keys)]
        # Read by what follows more than once.
        self._joined = joined.select(*sides).persist()
        self._keys = keys
        self._same = reduce(and_, (self._equal(name) for name in self._columns))

    def _side(
        self, rows: DataFrame, name: str, identity: list[Column], outputs: dict[str, Column]
    ) -> DataFrame:
        keys = identity
        if not self._alone:
            values = [*identity, *(comparable(v, self._types[n]) for n, v in outputs.items())]
            ordinal = F.row_number().over(Window.partitionBy(*values).orderBy(F.lit(1)))
            keys = [*values, ordinal]
        kept = [outputs[column].alias(column) for column in self._columns]
        if name == "old" and self._placed:
            kept.append(F.col(ROW_COLUMN))
        named = [key.alias(f"k{number}") for number, key in enumerate(keys or [F.lit(0)])]
        return rows.select(F.struct(*kept).alias(name), *named)

    def _equal(self, name: str) -> Column:
        sides = (F.col(f"{side}.`{name}`") for side in ("old", "new"))
        old, new = (comparable(value, self._types[name]) for value in sides)
        return old.eqNullSafe(new)

    @property
    def only_deletes(self) -> bool:
        """Whether every row that would be there is there, as it is."""
        other = F.col("new").isNotNull() & (F.col("old").isNull() | ~self._same)
        return not self._joined.where(other).limit(1).count()

    @property
    def deleted(self) -> DataFrame:
        """The tokens of the rows that would not be there."""
        gone = self._joined.where(F.col("new").isNull())
        return gone.select(*(F.col(f"old.`{name}`").alias(name) for name in self._token))

    @property
    def rows(self) -> DataFrame:
        """The hypothetical rows with tokens: known ones of rows that stay, fresh ones of others."""
        there = self._joined.where(F.col("new").isNotNull())
        values = [F.col(f"new.`{name}`").alias(name) for name in self._columns]
        if not self._placed:
            return there.select(*values)
        stayed = there.where(F.col("old").isNotNull())
        came = there.where(F.col("old").isNull())
        number = F.row_number().over(Window.orderBy(*self._keys))
        return stayed.select(*values, F.col(f"old.`{ROW_COLUMN}`").alias(ROW_COLUMN)).unionAll(
            came.select(*values, (-(number + F.lit(self._fresh))).alias(ROW_COLUMN))
        )


def identifies_rows(root: Block) -> bool:
    """Whether the identity of an answer's tuple is that of one row alone."""
    if root.copies:
        return False
    return root.unique_identity if root.identity else root.kind is Kind.GROUP
