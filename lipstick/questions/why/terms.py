"""The terms of conditions: columns, and functions of columns.

A text has a length and first letters, a moment its date, year, month, weekday and hour; two columns
are equal, or one of them is less.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.questions.why.sources import SourceRows
from rewriter.emit.conditions import Operand
from semiring.arrays.arrow import decoded
from semiring.base import Array

_PREFIXES = (1, 2, 3, 4, 6, 8)
"""Lengths of the beginnings of texts that are compared."""

_TEXTS = 40
"""A text column of more values has conditions on lengths and beginnings too."""

_LOOKED_AT = 2_000
"""Rows from which columns are taken together that are alike."""

_PAIRS = 40
"""Pairs of columns that are compared at most."""

_ALIKE = 0.3
"""The correlation of the ranks of two columns that are compared, at least."""


@dataclass(frozen=True, slots=True)
class Term:
    """A column, or a function of columns.

    Attributes
    ----------
    name
        For people; conditions of a predicate are on terms of different names.
    columns
        The columns that it is computed from.
    operand
        The term in SQL.
    compute
        From the columns to a value per row; None: the column itself.
    letters
        The number of first letters that it has of a text; 0: it is another term.
    other
        The column that the first one is compared with: values are -1, 0 and 1; None: none is.
    """

    name: str
    columns: tuple[str, ...]
    operand: Operand
    compute: Callable[..., pa.Array] | None = field(default=None, repr=False, compare=False)
    letters: int = 0
    other: Operand | None = None

    def of(self, source: SourceRows) -> pa.Array:
        """Return its value in each row of a relation; texts may be dictionary-coded."""
        columns = [source.column(name) for name in self.columns]
        return columns[0] if self.compute is None else self.compute(*map(decoded, columns))


def plain_term(source: SourceRows, name: str) -> Term:
    """Return the term of a column, or of a field of a struct."""
    return Term(name, (name,), _operand(source, name))


def _operand(source: SourceRows, name: str, function: str | None = None) -> Operand:
    return Operand(source.paths.get(name, (name,)), function)


def computed_terms(source: SourceRows, wanted: Collection[str]) -> Iterator[Term]:
    """Yield the terms computed from some columns of a relation, apart from its key."""
    names = [n for n in source.schema.names if n in wanted and n not in source.record.token]
    for name in names:
        kind = source.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield from _of_text(source, name)
        elif pa.types.is_timestamp(kind) or pa.types.is_date32(kind):
            yield from _of_moment(source, name, kind)
    yield from _compared(source, names)


def _of_text(source: SourceRows, name: str) -> Iterator[Term]:
    column = source.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary
    values = column.unique()
    if len(values) <= _TEXTS:
        return
    yield Term(f"length({name})", (name,), _operand(source, name, "length"), pc.utf8_length)
    lengths = pc.utf8_length(values)
    longest = pc.max(lengths).as_py() or 0
    for letters in _PREFIXES:
        if letters < longest:

            def first(texts: pa.Array, letters: int = letters) -> pa.Array:
                return pc.utf8_slice_codeunits(texts, 0, letters)

            yield Term(f"the beginning of {name}", (name,), _operand(source, name), first, letters)


def _of_moment(source: SourceRows, name: str, kind: pa.DataType) -> Iterator[Term]:
    is_moment = pa.types.is_timestamp(kind)
    zone = source.zone if is_moment and kind.tz is not None else None
    if is_moment and kind.tz is not None and zone is None:
        return  # Hours and days are those of the session's time zone, which is not known here.
    parts: dict[str, Callable[[pa.Array], pa.Array]] = {
        "year": pc.year,
        "month": pc.month,
        "weekday": lambda days: pc.day_of_week(days, count_from_zero=False, week_start=7),
    }
    if is_moment:
        parts |= {"hour": pc.hour, "date": lambda moments: moments.cast(pa.date32())}
    for part, compute in parts.items():

        def local(moments: pa.Array, compute: Callable[..., pa.Array] = compute) -> pa.Array:
            there = moments if zone is None else moments.cast(pa.timestamp(kind.unit, zone))
            return compute(there)

        yield Term(f"{part}({name})", (name,), _operand(source, name, part), local)


def _compared(source: SourceRows, names: list[str]) -> Iterator[Term]:
    """Yield comparisons of columns of one type whose values are alike."""
    families: dict[str, list[str]] = {}
    for name in names:
        family = _family(source.schema.field(name).type)
        if family is not None:
            families.setdefault(family, []).append(name)
    few = np.unique(np.linspace(0, max(len(source) - 1, 0), _LOOKED_AT).astype(np.int64))
    pairs = []
    for family, members in families.items():
        if len(members) < 2 or not len(source):
            continue
        columns = [decoded(source.column(name)).take(pa.array(few)) for name in members]
        alike = _equal_texts(columns) if family == "text" else _correlation(columns)
        for one, two in zip(*np.triu_indices(len(members), 1), strict=True):
            if alike[one, two] >= _ALIKE:
                pairs.append((float(-alike[one, two]), members[one], members[two], family))
    for _, left, right, family in sorted(pairs)[:_PAIRS]:
        compute = _equal if family == "text" else _order
        named, other = f"{left} and {right}", _operand(source, right)
        yield Term(named, (left, right), _operand(source, left), compute, other=other)


def _family(kind: pa.DataType) -> str | None:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_string(kind):
        return "text"
    return str(kind) if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else None


def _correlation(columns: list[pa.Array]) -> Array:
    """Return the correlations of the ranks of columns, NULL in the middle."""
    ranks = []
    for column in columns:
        order = pc.rank(column, tiebreaker="min").to_numpy(zero_copy_only=False).astype(float)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        middle = order[valid].mean() if valid.any() else 0.0
        ranks.append(np.where(valid, order, middle))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation: Array = np.nan_to_num(np.corrcoef(np.array(ranks)))
    return correlation


def _equal_texts(columns: list[pa.Array]) -> Array:
    """Return 1 for pairs of text columns where over 5 % of the texts are equal."""
    alike = np.zeros((len(columns), len(columns)))
    for one, two in zip(*np.triu_indices(len(columns), 1), strict=True):
        equal = pc.mean(pc.equal(columns[one], columns[two]).cast(pa.int8())).as_py()
        alike[one, two] = float((equal or 0.0) > 0.05)
    return alike


def _order(one: pa.Array, two: pa.Array) -> pa.Array:
    less, more = (f(one, two).cast(pa.int8()) for f in (pc.less, pc.greater))
    return pc.subtract(more, less)


def _equal(one: pa.Array, two: pa.Array) -> pa.Array:
    """Return 0 for equal texts, else NULL: the order of texts has no meaning."""
    zero = pa.scalar(0, pa.int8())
    return pc.if_else(pc.equal(one, two), zero, pa.scalar(None, pa.int8()))
