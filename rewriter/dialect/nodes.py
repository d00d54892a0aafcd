"""Expression nodes for what Spark writes and sqlglot's own nodes cannot keep."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

SPELLED = "spelled"
"""Has, in the ``meta`` of a GROUP BY ALL, the word as the user wrote it: it may be a column."""


class TypedLiteral(exp.Cast):
    """A literal that names its type: ``1L``, ``1.5BD``, ``DATE '2020-01-31'``.

    It is the cast of a plain literal, so that code which knows casts understands it. ``suffix``
    or ``prefix`` is the type as the user wrote it; exactly one of them is given.
    """

    arg_types: ClassVar[dict[str, bool]] = {**exp.Cast.arg_types, "suffix": False, "prefix": False}


class MultiUnitInterval(exp.Interval):
    """``INTERVAL 1 DAY 2 HOURS``: several values, each an :class:`exp.Interval` with its unit."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class VariantExtract(exp.Expression, exp.Condition):
    """``value:path``, the extraction of a field of a variant.

    ``this`` is the variant, ``path`` a string literal of the path as the user wrote it.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "path": True}


class BoundedCTE(exp.CTE):
    """``name MAX RECURSION LEVEL level AS (query)``."""

    arg_types: ClassVar[dict[str, bool]] = {**exp.CTE.arg_types, "level": True}


class DerivedValues(exp.Values):
    """``(VALUES ...) AS v(a, b)``: an inline table in parentheses, a subquery to Spark."""


class RelationQuery(exp.Select):
    """``TABLE t``, ``FROM a, b`` or ``VALUES ...`` as a query: all columns of its relations.

    A SELECT of ``*`` to who reads it; Spark analyses it to a plan without a projection. ``word``
    is the keyword that it begins with.
    """

    arg_types: ClassVar[dict[str, bool]] = {**exp.Select.arg_types, "word": True}


class TableArgument(exp.Expression):
    """``TABLE(t) PARTITION BY k ORDER BY o``, a relation as the argument of a table function.

    ``this`` is a table or a query, ``order`` has the sort items. With ``single``, all rows are one
    partition: ``WITH SINGLE PARTITION``.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "partition_by": False,
        "single": False,
        "order": False,
    }


class InNumbers(exp.In):
    """``value IN (1, 2, 3, ...)`` of many numbers.

    ``numbers`` has them as they are written, in one piece: what copies, walks or hashes trees does
    not meet each of them. Their nodes are made when they are asked for.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "numbers": True}

    @property
    def expressions(self) -> list[exp.Expr]:
        """The numbers as literals."""
        return [
            exp.Neg(this=exp.Literal.number(text[1:]))
            if text.startswith("-")
            else exp.Literal.number(text)
            for text in self.args["numbers"]
        ]


class IsNotNull(exp.Not):
    """``x IS NOT NULL``, a predicate of its own in Spark: the negation of ``x IS NULL``."""


class UnsignedRightShift(exp.Expression, exp.Binary):
    """``a >>> b``."""
