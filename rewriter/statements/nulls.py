"""Rows with NULLs that Iceberg removes and SQL would not.

REPLACE WHERE, and DELETE where its condition decides on whole files, remove the files of Iceberg
whose bounds, or whose partition, show that the condition holds of all of their rows. There is no
third truth value there: NULL differs from every value, and in a partition it comes before them.
"""

from __future__ import annotations

from sqlglot import exp

from rewriter.statements.model import Delete, Insert, Statement
from rewriter.statements.scope import has_query
from rewriter.statements.writer import is_not_true

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_NEVER_NULL = (exp.Is, exp.NullSafeEQ)


def doubtful_removal(statement: Statement, *, partitioned: bool) -> Delete | None:
    """Return the removal of the rows that Iceberg may remove and SQL would not; None: of none.

    Parameters
    ----------
    partitioned
        The table has, or had, partitions of any kind.
    """
    match statement:
        case Delete(condition=exp.Expr() as condition) | Insert(replaced=exp.Expr() as condition):
            passes = _with_nulls(condition, partitioned)
            if not has_query(condition) and passes != _with_nulls(condition, None):
                doubtful = exp.and_(passes, is_not_true(condition))
                alias = getattr(statement, "alias", None)
                return Delete(statement.text, statement.table, alias, doubtful)
    return None  # Spark decides on each row, or NULL passes where it does in SQL


def _with_nulls(
    condition: exp.Expr, partitioned: bool | None, *, negated: bool = False
) -> exp.Expr:
    """Return a condition that also holds where Iceberg may let NULL pass.

    Parameters
    ----------
    partitioned
        None: NULL passes nowhere.
    """
    match condition:
        case exp.Paren() | exp.Not():
            negated ^= isinstance(condition, exp.Not)
            return _with_nulls(condition.this, partitioned, negated=negated)
        case exp.And() | exp.Or():
            parts = (condition.this, condition.expression)
            sides = [_with_nulls(part, partitioned, negated=negated) for part in parts]
            return (exp.and_ if isinstance(condition, exp.And) != negated else exp.or_)(*sides)
    leaf = exp.Not(this=exp.paren(condition)) if negated else condition.copy()
    differs = negated != isinstance(condition, exp.NEQ)
    passes = partitioned if isinstance(condition, _ORDERED) else differs
    if partitioned is None or isinstance(condition, _NEVER_NULL) or not passes:
        return leaf
    return exp.Coalesce(this=leaf, expressions=[exp.true()])
