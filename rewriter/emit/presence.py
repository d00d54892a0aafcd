"""Scalars that fail only for rows that are there."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.may_throw import may_raise, without_errors
from rewriter.blocks import MEMBER, Block, aliases, qualified
from rewriter.emit.core import exists
from rewriter.emit.trees import Tables, conjunction, table, where
from rewriter.scalars.functions import SCALAR_FUNCTIONS

_NUMBER = "_number"


def safe_for_padded_rows(
    scalar: Scalar, block: Block, tables: Tables, *, potential: bool = False
) -> Scalar:
    """Return a scalar that raises no error for a padded row of an outer join with a partner.

    Spark is free to compute a condition before it asks for the partner; CASE is the only order
    that it keeps. ``potential``: the other rows, which are there after a deletion, are asked for
    too; of them the scalar is NULL where it fails.
    """
    guarded = [semi for semi in block.semis if semi.guard is not None]
    present = conjunction([exists(semi, tables.rows(semi.block)) for semi in guarded])
    if present is None or not may_raise(scalar):
        return scalar
    case = exp.Case().when(present, scalar.copy())
    return case.else_(without_errors(scalar)) if potential else case


def needs_present_members(block: Block) -> bool:
    """Tell whether conditions call registered functions, which may fail for absent rows.

    Spark calls those of Python for every row that reaches them, in CASE too.
    """
    sides = [left for semi in block.semis for left, _ in semi.pairs]
    guards = [semi.guard for semi in block.semis if semi.guard is not None]
    of_members = all(aliases(scalar) <= {MEMBER} for scalar in (*sides, *guards))
    called = any(_calls_registered(condition) for condition in block.conditions)
    return bool(guards) and called and of_members and block.core is not None


def present_members(block: Block, tables: Tables) -> tuple[exp.Subquery, Scalar]:
    """Return the present members, and a condition that Spark evaluates for these alone.

    It reads a number that each member is given, before which no condition on members is computed.
    """
    number = exp.Anonymous(this="monotonically_increasing_id", expressions=[])
    everything = exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER))
    select = exp.select(everything, exp.alias_(number, _NUMBER, quoted=True))
    select = select.from_(table(tables.members(block), MEMBER))
    there = where(select, [exists(semi, tables.rows(semi.block)) for semi in block.semis])
    first = exp.Literal.number(0)
    return there.subquery(MEMBER), exp.GTE(this=qualified(MEMBER, _NUMBER), expression=first)


def _calls_registered(scalar: Scalar) -> bool:
    calls = scalar.find_all(exp.Anonymous)
    return any(str(call.this).lower() not in SCALAR_FUNCTIONS for call in calls)
