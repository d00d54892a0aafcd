"""Leave-one-out values of an aggregate: without each tuple of a relation, over captured members.

The members of a group are added up by the tokens of the relation. The value without a tuple follows
from the sums over all members and over the tuple's members, and from the two largest extremes by
token.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, MEMBER, Block, Kind, TokenColumns, qualified
from rewriter.emit.statements.capture import ViewOf
from rewriter.emit.trees import from_, named, table
from rewriter.scalars.aggregates import arguments, called, name_of
from rewriter.scalars.text import rewrite_columns, text

AFTER, BEFORE = "_after", "_before"
_CHOSEN, _PARTS, _TOTALS, _EXTREMES = "chosen", "parts", "totals", "extremes"
_ADDED, _EXTREME = ("sum", "count", "avg"), ("max", "min")


def leave_one_out_sql(
    block: Block, output: str, relation: str, view: ViewOf, chosen: str, limit: int
) -> str | None:
    """Return the statement of the tuples that change a group's value most, or None if unsupported.

    It yields the columns of the token, then the value before and after.

    Parameters
    ----------
    view
        Returns the name of the view of a block's members.
    chosen
        The name of a view of one row, with the identity of the group.
    """
    tokens = [each for each in block.tokens if each.relation == relation]
    scalar = next(each.scalar for each in block.outputs if each.name == output)
    if len(tokens) != 1 or not _is_simple(block, scalar):
        return None
    read = dict.fromkeys(node.name for node in scalar.find_all(exp.Column))
    calls = {name: call for name, call in block.aggregates if name in read}
    sums = _Sums(calls)
    query = sums.after(tokens[0], scalar, limit)
    query = query.with_(_PARTS, as_=sums.parts(block, tokens[0], view(block), chosen))
    query = query.with_(_TOTALS, as_=sums.totals())
    return text(query.with_(_EXTREMES, as_=sums.extremes()))


def _is_simple(block: Block, scalar: Scalar) -> bool:
    """Return True if a value is arithmetic of additive or extreme aggregates of members alone."""
    if block.kind is not Kind.GROUP or block.core is None or not block.of_members_alone:
        return False
    if block.probes or block.having or block.sets or block.copies or block.difference is not None:
        return False
    if block.limited or any(isinstance(node, exp.Subquery) for node in scalar.walk()):
        return False
    calls, columns = dict(block.aggregates), list(scalar.find_all(exp.Column))
    if not columns or any(each.table != GROUP or each.name not in calls for each in columns):
        return False
    return all(
        call is called(call)
        and name_of(call) in (*_ADDED, *_EXTREME)
        and call.find(exp.Distinct) is None
        for call in (calls[each.name] for each in columns)
    )


class _Sums:
    """Partial aggregates by token, and over all members."""

    def __init__(self, calls: dict[str, Scalar]) -> None:
        self._calls = {name: (number, call) for number, (name, call) in enumerate(calls.items())}

    def _partials(self) -> Iterator[tuple[str, Scalar, str]]:
        """Yield columns, their aggregates of members, and the functions that combine them."""
        yield "members", exp.func("count", exp.Star()), "sum"
        for number, call in self._calls.values():
            name = name_of(call)
            if name in _EXTREME:
                yield f"x{number}", call, name
            elif name == "count":
                yield f"n{number}", call, "sum"
            else:
                argument = arguments(call)[0]
                yield f"s{number}", _call("sum", argument), "sum"
                yield f"n{number}", _call("count", argument), "sum"

    def parts(self, block: Block, token: TokenColumns, members: str, chosen: str) -> exp.Select:
        """Return the partial aggregates by token over the members of a group."""
        tokens = [qualified(MEMBER, name) for name in token.columns]
        items: list[tuple[str, Scalar]] = [(f"t{at}", each) for at, each in enumerate(tokens)]
        items += [(column, partial) for column, partial, _ in self._partials()]
        select = exp.select(*named(items)).from_(table(members, MEMBER))
        select = from_(select, table(chosen, _CHOSEN))
        for name, key in block.keys:
            select = select.where(
                exp.NullSafeEQ(this=key.copy(), expression=qualified(_CHOSEN, name))
            )
        return select.group_by(*tokens)

    def totals(self) -> exp.Select:
        """Return the aggregates over all members."""
        items = [(column, _call(join, exp.column(column))) for column, _, join in self._partials()]
        return exp.select(*named(items)).from_(table(_PARTS, _PARTS))

    def extremes(self) -> exp.Select:
        """Return, for each extreme, the number of tokens with it, and the next one."""
        items: list[tuple[str, Scalar]] = []
        for number, call in self._calls.values():
            if name_of(call) in _EXTREME:
                own, of_all = qualified(_PARTS, f"x{number}"), qualified(_TOTALS, f"x{number}")
                equal = exp.EQ(this=own, expression=of_all)
                others = exp.Case().when(exp.Not(this=equal.copy()), own.copy())
                items.append((f"c{number}", _call("count_if", equal)))
                items.append((f"y{number}", _call(name_of(call), others)))
        if not items:
            return exp.select(*named([("number", exp.Literal.number(1))]))
        select = exp.select(*named(items)).from_(table(_PARTS, _PARTS))
        return from_(select, table(_TOTALS, _TOTALS))

    def after(self, token: TokenColumns, scalar: Scalar, limit: int) -> exp.Select:
        """Return the tokens without which the value is NULL, then the tokens that change it
        most.
        """

        def formula(value_of: dict[str, Scalar]) -> Scalar:
            value = rewrite_columns(scalar, lambda node: exp.Paren(this=value_of[node.name].copy()))
            return exp.cast(value, "double")

        left = exp.Sub(this=qualified(_TOTALS, "members"), expression=qualified(_PARTS, "members"))
        there = exp.GT(this=left, expression=exp.Literal.number(0))
        before = formula({name: self._value(name, without=False) for name in self._calls})
        after = exp.Case().when(
            there, formula({name: self._value(name, without=True) for name in self._calls})
        )
        tokens = [(f"t{at}", qualified(_PARTS, f"t{at}")) for at in range(len(token.columns))]
        inner = exp.select(*named([*tokens, (BEFORE, before), (AFTER, after)]))
        for name in (_PARTS, _TOTALS, _EXTREMES):
            inner = from_(inner, table(name, name))
        moved = exp.func("abs", exp.Sub(this=exp.column(AFTER), expression=exp.column(BEFORE)))
        is_tuple = exp.Not(this=exp.Is(this=exp.column(tokens[0][0]), expression=exp.null()))
        same = exp.NullSafeEQ(this=exp.column(AFTER), expression=exp.column(BEFORE))
        known = exp.and_(is_tuple, exp.Not(this=same))
        order = [exp.Ordered(this=moved, desc=True, nulls_first=True)]
        order += [exp.Ordered(this=exp.column(name), nulls_first=True) for name, _ in tokens]
        query = exp.select("*").from_(inner.subquery("moved")).where(known)
        return query.order_by(*order).limit(limit)

    def _value(self, name: str, *, without: bool) -> Scalar:
        """Return an aggregate over all members, or over the members without a token's."""
        number, call = self._calls[name]
        if name_of(call) in _EXTREME:
            of_all = qualified(_TOTALS, f"x{number}")
            if not without:
                return of_all
            alone = exp.and_(
                exp.EQ(this=qualified(_PARTS, f"x{number}"), expression=of_all.copy()),
                exp.EQ(this=qualified(_EXTREMES, f"c{number}"), expression=exp.Literal.number(1)),
            )
            next_one = qualified(_EXTREMES, f"y{number}")
            return exp.Case().when(alone, next_one).else_(of_all)
        count = self._difference(f"n{number}", without)
        if name_of(call) == "count":
            return count
        value = self._difference(f"s{number}", without)
        if name_of(call) == "avg":
            count_as = exp.cast(count.copy(), "double")
            value = exp.Div(this=exp.Paren(this=value), expression=count_as)
        return exp.Case().when(
            exp.GT(this=exp.Paren(this=count), expression=exp.Literal.number(0)), value
        )

    @staticmethod
    def _difference(column: str, without: bool) -> Scalar:
        of_all = qualified(_TOTALS, column)
        if not without:
            return of_all
        own = exp.func("coalesce", qualified(_PARTS, column), exp.Literal.number(0))
        return exp.Sub(this=of_all, expression=own)


def _call(name: str, argument: Scalar) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy()])
