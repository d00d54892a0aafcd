"""The text being bound: its parser, errors that point into it, and forms that are compared."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter import dialect
from rewriter.errors import CorrelationError, QueryError, UnsupportedError
from rewriter.position import Span, keyword_after, keyword_before, span_of


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text: the user's, or that of a view it reads."""

    sql: str
    view: str | None = None

    def unsupported(
        self, problem: str, advice: str, at: exp.Expr | Span | None = None
    ) -> UnsupportedError:
        """Return the refusal of an operator, with its place in this text."""
        return UnsupportedError(self._problem(problem), advice, self.sql, self._here(at))

    def untied(
        self, problem: str, advice: str, at: exp.Expr | Span | None = None
    ) -> CorrelationError:
        """Return the refusal of a reference to the outer query, with its place in this text."""
        return CorrelationError(self._problem(problem), advice, self.sql, self._here(at))

    def error(self, problem: str, advice: str, at: exp.Expr | Span | None = None) -> QueryError:
        """Return an error of the query, with its place in this text."""
        return QueryError(self._problem(problem), advice, self.sql, self._here(at))

    def span(self, at: exp.Expr | Span | None) -> Span | None:
        """Return where a node of this text stands."""
        span = span_of(at, self.sql) if isinstance(at, exp.Expr) else at
        return self._named(span)

    def keyword_before(self, node: exp.Expr, *words: str) -> Span | None:
        """Return the last of these keywords before a node; see `rewriter.position`."""
        return self._named(keyword_before(self.sql, node, *words))

    def keyword_after(self, node: exp.Expr, *words: str) -> Span | None:
        """Return the first of these keywords after a node; see `rewriter.position`."""
        return self._named(keyword_after(self.sql, node, *words))

    def _named(self, span: Span | None) -> Span | None:
        return None if span is None else replace(span, view=self.view)

    def _here(self, at: exp.Expr | Span | None) -> Span | None:
        """Return a place for an error that has this text and already names its view."""
        span = self.span(at)
        return None if span is None else replace(span, view=None)

    def _problem(self, problem: str) -> str:
        return f"in view {self.view}: {problem}" if self.view else problem


def parse(source: SourceText) -> exp.Query:
    """Parse a text that must be one query.

    Raises
    ------
    NotUnderstoodError
        The text cannot be parsed.
    UnsupportedError
        It is another statement.
    """
    try:
        tree = dialect.parse(source.sql)
    except QueryError as error:
        if source.view is None:
            raise
        problem = f"in view {source.view}: {error.problem}"
        raise type(error)(problem, error.advice, source.sql, error.span) from error
    _tell_subqueries_apart(tree)
    return tree


def _tell_subqueries_apart(tree: exp.Query) -> None:
    """Read a subquery in two pairs of brackets as Spark does.

    ``x IN ((SELECT ...))`` is IN of one scalar subquery; ``EXISTS ((SELECT ...))`` is EXISTS.
    """
    for node in list(tree.find_all(exp.In, exp.Anonymous)):
        if isinstance(node, exp.In):
            query = node.args.get("query")
            if not isinstance(query, exp.Subquery) or not isinstance(query.this, exp.Subquery):
                continue
            inner = query.this
            if _plain(query) and _plain(inner):
                node.set("query", None)
                node.set("expressions", [inner])
        elif node.name.lower() == "exists" and len(node.expressions) == 1:
            only = node.expressions[0]
            if isinstance(only, exp.Subquery):
                node.replace(exp.Exists(this=only))


def _plain(subquery: exp.Subquery) -> bool:
    return all(key == "this" or not value for key, value in subquery.args.items())


_COMMUTATIVE = (
    exp.Add,
    exp.Mul,
    exp.And,
    exp.Or,
    exp.EQ,
    exp.NullSafeEQ,
    exp.NEQ,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
)
_ASSOCIATIVE = (exp.Add, exp.Mul, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


def fingerprint(node: exp.Expr) -> Hashable:
    """Return a value that is equal for expressions that Spark takes for the same.

    Spark compares a grouping expression with a part of the select list in a canonical form:
    brackets do not count, nor does the order of the operands of a commutative operator.
    """
    node = unwrap(node)
    if isinstance(node, exp.Identifier):
        return ("identifier", node.name.lower())
    if isinstance(node, exp.Literal):
        return ("literal", node.this, node.is_string)
    if isinstance(node, _COMMUTATIVE):
        return (type(node).__name__, *sorted((fingerprint(o) for o in _operands(node)), key=repr))
    flipped = _FLIPPED.get(type(node))
    if flipped is not None:
        return (flipped.__name__, fingerprint(node.expression), fingerprint(node.this))
    if isinstance(node, (exp.LT, exp.LTE)):
        return (type(node).__name__, fingerprint(node.this), fingerprint(node.expression))
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        return ("function", name, *(fingerprint(argument) for argument in node.expressions))
    arguments = tuple(
        (key, _value(value))
        for key, value in sorted(node.args.items())
        if value is not None and value is not False and value != []
    )
    return (type(node).__name__, arguments)


def unwrap(node: exp.Expr) -> exp.Expr:
    """Return the expression without the brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _operands(node: exp.Expr) -> list[exp.Expr]:
    if not isinstance(node, _ASSOCIATIVE):
        return [node.this, node.expression]
    operands: list[exp.Expr] = []
    stack = [node.expression, node.this]
    while stack:
        operand = unwrap(stack.pop())
        if type(operand) is type(node):
            stack += [operand.expression, operand.this]
        else:
            operands.append(operand)
    return operands


def _value(value: object) -> Hashable:
    if isinstance(value, exp.Expr):
        return fingerprint(value)
    if isinstance(value, list):
        return tuple(_value(element) for element in value)
    return str(value)
