"""UNPIVOT of columns of one relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.errors import UnsupportedError
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.names import column, identifier
from rewriter.frames.writing.selects import Column, Rows, Stage, unique

_ALIAS = "p"


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
        return tuple(dict.fromkeys((*self.kept, *(one for row in self.values for one in row))))


def unpivoted(unpivot: Unpivot, rows: Rows) -> Rows:
    """Return the UNPIVOT of one relation that has the columns it uses and no others.

    Raises
    ------
    UnsupportedError
        When a column is kept, and its values are made rows too.
    """
    if set(unpivot.kept) & {one for row in unpivot.values for one in row}:
        raise unsupported(
            "unpivot() of a column that is kept too has no rule", "Add a copy of the column."
        )
    known = {one.id: one for one in rows.columns}
    stay = [known[number].scalar.name for number in unpivot.kept]
    name, *made = unique([*stay, *(own for _, own in unpivot.outputs)])[len(stay) :]
    choices = [
        exp.PivotAlias(
            this=_grouped([known[one].scalar.name for one in row]), alias=identifier(label)
        )
        for label, row in zip(unpivot.names, unpivot.values, strict=True)
    ]
    pivot = exp.Pivot(
        expressions=[_grouped(made)],
        fields=[exp.In(this=identifier(name), expressions=choices)],
        unpivot=True,
        include_nulls=True,
        alias=exp.TableAlias(this=identifier(_ALIAS)),
    )
    table = rows.select.args["from_"].this.copy()
    table.set("pivots", [pivot])
    kept = [
        Column(one.id, one.name, column(_ALIAS, one.scalar.name))
        for one in (known[number] for number in unpivot.kept)
    ]
    pairs = zip(unpivot.outputs, (name, *made), strict=True)
    added = [Column(id_, named, column(_ALIAS, own)) for (id_, named), own in pairs]
    select = exp.Select(from_=exp.From(this=table))
    return Rows((*kept, *added), select, Stage.WHERE)


def _grouped(names: Sequence[str]) -> exp.Expr:
    """Return a column, or several as a tuple."""
    columns: Iterable[exp.Expr] = [exp.Column(this=identifier(name)) for name in names]
    first, *rest = columns
    return exp.Tuple(expressions=[first, *rest]) if rest else first


def of_expression() -> UnsupportedError:
    """Return the refusal of an UNPIVOT that is not of columns."""
    return unsupported("unpivot() of an expression has no rule", "Add it as a column before.")
