"""PIVOT and UNPIVOT of SELECTs in the making."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.errors import UnsupportedError
from rewriter.frames.writing.clauses import Close, ready
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    column,
    identifier,
    unique,
    unsupported,
)

_ALIAS = "p"


def pivot_input(close: Close, rows: FromRows, used: Collection[int]) -> FromRows:
    """Return rows as one relation that has the columns PIVOT reads: others would be keys too."""
    columns = tuple(output for output in rows.columns if output.id in used)
    if rows.single and columns == rows.columns:
        return rows
    return close(replace(rows, columns=columns))


def pivot_select(
    rows: FromRows,
    keys: Sequence[exp.Expr],
    aggregates: Sequence[exp.Expr],
    of: exp.Expr,
    values: Sequence[exp.Expr],
) -> exp.Select:
    """Return a SELECT from the PIVOT of one relation.

    It groups by the columns that it does not read elsewhere, so that a key must not be read.

    Raises
    ------
    UnsupportedError
        A key is read by an aggregate, or is the pivot column, which is to be a column itself.
    """
    read = {reference for part in (*aggregates, of) for reference in part.find_all(exp.Column)}
    if not read.isdisjoint(keys):
        raise unsupported(
            "a pivot that reads a column that it groups by has no rule",
            "Add the column once more, under another name, before groupBy.",
        )
    named = [
        exp.Alias(this=aggregate, alias=identifier(f"a{number}"))
        for number, aggregate in enumerate(aggregates)
    ]
    choices = [
        exp.PivotAlias(this=value, alias=identifier(f"v{number}"))
        for number, value in enumerate(values)
    ]
    node = exp.Pivot(
        expressions=named,
        fields=[exp.In(this=_unqualified(of), expressions=choices)],
        unpivot=False,
    )
    table = rows.select.args["from_"].this.copy()
    table.set("pivots", [node])
    # Spark 4.0 knows no alias of a PIVOT.
    return exp.Select(from_=exp.From(this=exp.select("*").from_(table).subquery(_ALIAS)))


def _unqualified(column: exp.Expr) -> exp.Expr:
    """Return the pivot column as PIVOT has it: a name of its only relation."""
    if not isinstance(column, exp.Column):
        raise unsupported(
            "a pivot of an expression has no rule", "Add it as a column before groupBy."
        )
    return exp.Column(this=column.this.copy())


def pivot_key(scalar: exp.Expr) -> exp.Column:
    """Return a column of the pivoted relation as a key of the PIVOT."""
    return column(_ALIAS, scalar.name)


def pivot_value(value: int, aggregate: int, aggregates: int) -> exp.Column:
    """Return the column of an aggregate of a value; a single aggregate is not named."""
    return column(_ALIAS, f"v{value}_a{aggregate}" if aggregates > 1 else f"v{value}")


@dataclass(frozen=True, slots=True)
class Unpivot:
    """The parts of an UNPIVOT.

    ``kept`` are the attributes of the columns that stay, ``names`` and ``values`` what its IN has:
    a name and the attributes under it; ``outputs`` are the columns it makes, each an id and a name,
    that of the names first.
    """

    kept: tuple[int, ...]
    names: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, str], ...]

    @property
    def used(self) -> tuple[int, ...]:
        """The attributes that it reads, each once."""
        return tuple(
            dict.fromkeys((*self.kept, *(number for row in self.values for number in row)))
        )


def unpivoted(close: Close, unpivot: Unpivot, rows: FromRows) -> FromRows:
    """Return the UNPIVOT of rows: of a step that has the columns it uses and no others.

    Raises
    ------
    UnsupportedError
        When a column is kept, and its values are made rows too.
    """
    rows = ready(close, rows, LastClause.ORDER, ())
    known = {output.id: output for output in rows.columns}
    # UNPIVOT has the columns that stay in the order of its input.
    in_order = [output.id for output in rows.columns if output.id in unpivot.used]
    stays = [number for number in in_order if number in unpivot.kept] == list(unpivot.kept)
    used = in_order if stays else unpivot.used
    rows = close(replace(rows, columns=tuple(known[number] for number in used)))
    if set(unpivot.kept) & {number for row in unpivot.values for number in row}:
        raise unsupported(
            "unpivot() of a column that is kept too has no rule", "Add a copy of the column."
        )
    known = {output.id: output for output in rows.columns}
    stay = [known[number].scalar.name for number in unpivot.kept]
    name, *value_names = unique([*stay, *(name for _, name in unpivot.outputs)])[len(stay) :]
    choices = [
        exp.PivotAlias(
            this=_grouped([known[number].scalar.name for number in row]), alias=identifier(label)
        )
        for label, row in zip(unpivot.names, unpivot.values, strict=True)
    ]
    pivot = exp.Pivot(
        expressions=[_grouped(value_names)],
        fields=[exp.In(this=identifier(name), expressions=choices)],
        unpivot=True,
        include_nulls=True,
        alias=exp.TableAlias(this=identifier(_ALIAS)),
    )
    table = rows.select.args["from_"].this.copy()
    table.set("pivots", [pivot])
    kept = [
        Column(output.id, output.name, column(_ALIAS, output.scalar.name))
        for output in (known[number] for number in unpivot.kept)
    ]
    pairs = zip(unpivot.outputs, (name, *value_names), strict=True)
    added = [Column(id_, named, column(_ALIAS, label)) for (id_, named), label in pairs]
    select = exp.Select(from_=exp.From(this=table))
    return FromRows((*kept, *added), select, LastClause.WHERE)


def _grouped(names: Sequence[str]) -> exp.Expr:
    """Return a column, or several as a tuple."""
    columns: Iterable[exp.Expr] = [exp.Column(this=identifier(name)) for name in names]
    first, *rest = columns
    return exp.Tuple(expressions=[first, *rest]) if rest else first


def of_expression() -> UnsupportedError:
    """Return the refusal of an UNPIVOT that is not of columns."""
    return unsupported("unpivot() of an expression has no rule", "Add it as a column before.")
