"""Spark's SQL as trees of sqlglot and back, every node as Spark reads it, nothing translated.

For a check of the text, parentheses show the grouping of operators, so that it does not rest on
precedence.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.errors import UnsupportedError as SqlglotUnsupportedError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.nodes import (
    SPELLED,
    BoundedCTE,
    DerivedValues,
    InNumbers,
    IsNotNull,
    MultiUnitInterval,
    RelationQuery,
    TableArgument,
    TypedLiteral,
    UnsignedRightShift,
    VariantExtract,
)
from rewriter.dialect.parser import SparkSQLParser
from rewriter.dialect.pipes import Piped, PipeSource, pipe_source_sql, piped_sql, relation_query_sql
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from rewriter.position import Span, span_at

_TRANSLATIONS = (exp.From, exp.Pivot, exp.Select, exp.Table, exp.Unnest, exp.WithinGroup)
"""Nodes that sqlglot rewrites for engines without their syntax; Spark has it."""


class SparkSQLGenerator(SparkGenerator):
    """The generator of :class:`rewriter.dialect.SparkSQL`."""

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """Quote names with other letters than Spark has in names without quotes."""
        if not expression.quoted and not expression.name.isascii():
            expression = exp.Identifier(this=expression.name, quoted=True)
        return super().identifier_sql(expression)

    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar = set()
    SUPPORTS_TEMPORAL_PRECISION = True
    TABLESAMPLE_SEED_KEYWORD = "REPEATABLE"
    TYPE_MAPPING: ClassVar = {
        **SparkGenerator.TYPE_MAPPING,
        exp.DType.NULL: "VOID",
        exp.DType.TIME: "TIME",
    }

    TRANSFORMS: ClassVar = {
        **{
            node: write
            for node, write in SparkGenerator.TRANSFORMS.items()
            if node not in _TRANSLATIONS
        },
        exp.BitwiseLeftShift: lambda self, node: self.binary(node, "<<"),
        exp.BitwiseRightShift: lambda self, node: self.binary(node, ">>"),
        exp.CurrentDate: lambda *_: "CURRENT_DATE()",
        exp.CurrentTime: lambda *_: "CURRENT_TIME()",
        exp.CurrentTimestamp: lambda *_: "CURRENT_TIMESTAMP()",
        exp.CurrentUser: lambda *_: "CURRENT_USER()",
        exp.Max: lambda self, node: self.func("max", node.this),
        exp.Min: lambda self, node: self.func("min", node.this),
        BoundedCTE: lambda self, node: self.boundedcte_sql(node),
        Piped: piped_sql,
        PipeSource: pipe_source_sql,
        RelationQuery: relation_query_sql,
        DerivedValues: lambda self, node: self.values_sql(node),
        InNumbers: lambda self, node: (
            f"{self.sql(node, 'this')} IN ({', '.join(node.args['numbers'])})"
        ),
        IsNotNull: lambda self, node: self.isnotnull_sql(node),
        UnsignedRightShift: lambda self, node: self.binary(node, ">>>"),
        MultiUnitInterval: lambda self, node: self.multiunitinterval_sql(node),
        TableArgument: lambda self, node: self.tableargument_sql(node),
        TypedLiteral: lambda self, node: self.typedliteral_sql(node),
        VariantExtract: lambda self, node: f"{self.sql(node, 'this')}:{node.args['path'].name}",
    }

    def group_sql(self, expression: exp.Group) -> str:
        """Write GROUP BY, and ALL as it was spelled."""
        text = super().group_sql(expression)
        spelled = expression.meta.get(SPELLED)
        return text.replace("GROUP BY ALL", f"GROUP BY {spelled}", 1) if spelled else text

    def typedliteral_sql(self, expression: TypedLiteral) -> str:
        """Write ``1L`` or ``DATE '2020-01-31'``."""
        value = self.sql(expression, "this")
        suffix = expression.args.get("suffix")
        return f"{value}{suffix}" if suffix else f"{expression.args['prefix']} {value}"

    def boundedcte_sql(self, expression: BoundedCTE) -> str:
        """Write a named query with the depth of its recursion."""
        level = f"MAX RECURSION LEVEL {self.sql(expression, 'level')}"
        return f"{self.sql(expression, 'alias')} {level} AS {self.wrap(expression)}"

    def tableargument_sql(self, expression: TableArgument) -> str:
        """Write the relation, then how it is divided and in which order it is read."""
        text = f"TABLE({self.sql(expression, 'this')})"
        if expression.args.get("single"):
            text += " WITH SINGLE PARTITION"
        for clause, words in (("partition_by", "PARTITION BY"), ("order", "ORDER BY")):
            if expression.args.get(clause):
                text += f" {words} ({self.expressions(expression, key=clause, flat=True)})"
        return text

    def interval_sql(self, expression: exp.Interval) -> str:
        """Write one value and its unit as the user wrote them."""
        return f"INTERVAL {self._interval_part(expression)}"

    def multiunitinterval_sql(self, expression: MultiUnitInterval) -> str:
        """Write all values under one keyword."""
        return "INTERVAL " + " ".join(self._interval_part(part) for part in expression.expressions)

    def _interval_part(self, part: exp.Expr) -> str:
        value, unit = self.sql(part, "this"), self.sql(part, "unit")
        return f"{value} {unit}" if unit else value

    def trim_sql(self, expression: exp.Trim) -> str:
        """Write the ``FROM`` form, the only one that parses to this node."""
        position, what = expression.args.get("position"), self.sql(expression, "expression")
        if not position and not what:
            return self.func("trim", expression.this)
        words = " ".join(word for word in (position, what, "FROM") if word)
        return f"TRIM({words} {self.sql(expression, 'this')})"

    def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
        """Write the alias before the modifiers, and parentheses where the user had them."""
        text = f"VALUES{self.seg('')}{self.expressions(expression)}"
        if isinstance(expression, DerivedValues):
            text = self.wrap(text)
        alias = self.sql(expression, "alias")
        text = self.query_modifiers(expression, f"{text} AS {alias}" if alias else text)
        return text + self.expressions(expression, key="pivots", sep="", flat=True)

    def isnotnull_sql(self, expression: IsNotNull) -> str:
        """Write ``IS NOT NULL``."""
        inner = expression.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return f"{self.sql(inner, 'this')} IS NOT NULL"
        return self.not_sql(expression)


_OPERATORS = (exp.Between, exp.Binary, exp.In, exp.Unary)
_TRANSPARENT = (exp.Dot, exp.Escape, exp.Kwarg, exp.Paren, exp.PropertyEQ)
_OPERANDS_OF = (*_OPERATORS, exp.Bracket)
_LEFT_GROUPED = (exp.Add, exp.Mul, exp.DPipe, exp.Union)
"""Operators of one precedence with themselves, which Spark's grammar groups from the left."""


def grouped_copy(expression: exp.Expr) -> exp.Expr:
    """Return a copy in which every operand that is an operator stands in parentheses.

    Chains of one connective stay as they are: Spark balances ``a AND b AND c AND d`` only when it
    is written without parentheses, and the grouping of a chain has no meaning. Nor are there
    parentheses around the left operand of sums, products and unions of one kind, which Spark
    groups from the left: a long chain would be a text too deep for its parser.
    """
    copy = expression.copy()
    for node in [node for node in copy.walk() if _needs_parentheses(node)]:
        wrapper = exp.Subquery() if isinstance(node, exp.SetOperation) else exp.Paren()
        node.replace(wrapper)
        wrapper.set("this", node)
    return copy


def _needs_parentheses(node: exp.Expr) -> bool:
    parent = node.parent
    if isinstance(parent, _LEFT_GROUPED) and type(node) is type(parent) and node.arg_key == "this":
        return isinstance(node, exp.SetOperation) and not _is_alike(node, parent)
    if isinstance(node, exp.SetOperation):
        return isinstance(parent, exp.SetOperation)
    if not isinstance(node, _OPERATORS) or isinstance(node, _TRANSPARENT):
        return False
    if not isinstance(parent, _OPERANDS_OF) or isinstance(parent, (*_TRANSPARENT, IsNotNull)):
        return False
    if isinstance(parent, exp.Bracket) and node.arg_key != "this":
        return False
    return not (isinstance(node, exp.Connector) and type(node) is type(parent))


def _is_alike(node: exp.Expr, parent: exp.Expr) -> bool:
    """Return True if two unions are written alike and the inner one has no clauses of its own."""
    own = {name for name, value in node.args.items() if value} - {"this", "expression", "distinct"}
    return not own and bool(node.args.get("distinct")) == bool(parent.args.get("distinct"))


Query: TypeAlias = exp.Query
"""The type of a parsed query, for packages that do not import sqlglot."""


class SparkSQL(Spark):
    """sqlglot's ``spark`` dialect, made to keep Spark's meaning from text to text.

    Spark 4.0 to 4.3 in ANSI mode.
    """

    class Tokenizer(Spark.Tokenizer):
        """A doubled quote is a quote; ``void`` is a type."""

        STRING_ESCAPES: ClassVar = ["\\", "'", '"']

        KEYWORDS: ClassVar = {**Spark.Tokenizer.KEYWORDS, "VOID": TokenType.VOID}

    Parser = SparkSQLParser
    Generator = SparkSQLGenerator


_DIALECT = SparkSQL()

_NAMED_FUNCTION = (
    *(TokenType.VAR, TokenType.L_PAREN, TokenType.STRING),
    *(TokenType.R_PAREN, TokenType.L_PAREN),
)

_SIMPLIFY = "Simplify or reword this part; if Spark accepts the text, please report it."


def parse(sql: str) -> exp.Query:
    """Parse one query.

    ``TABLE t``, ``FROM t`` and ``VALUES ...`` as queries are each a :class:`RelationQuery`.

    Columns, tables, functions and literals carry their position in ``meta``;
    :func:`rewriter.position.span_of` gives that of any node.

    Raises
    ------
    NotUnderstoodError
        The text cannot be parsed; it may still be right to Spark.
    UnsupportedError
        The text is not a query, or more than one statement.
    """
    tokens = tokenize(sql)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    _check_single(sql, tokens)
    try:
        statements = _DIALECT.parser().parse(tokens, sql)
    except ParseError as error:
        raise _parse_error(sql, error) from error
    statement = statements[0] if statements else None
    if not isinstance(statement, exp.Query):
        raise not_a_query(sql, tokens)
    return statement


def emit(expression: exp.Expr, pretty: bool = True, grouped: bool = False) -> str:
    """Return the text of a tree, without comments.

    With ``grouped``, every operand that is itself an operator stands in parentheses: the text
    shows how the tree groups, whatever Spark's precedences are.

    Raises
    ------
    NotUnderstoodError
        The tree has a node that Spark has no syntax for.
    """
    try:
        return _DIALECT.generate(
            grouped_copy(expression) if grouped else expression,
            pretty=pretty,
            comments=False,
            normalize_functions=False,
            unsupported_level=ErrorLevel.RAISE,
        )
    except (SqlglotUnsupportedError, NotImplementedError, ValueError) as error:
        raise NotUnderstoodError(f"This query cannot be written: {error}", _SIMPLIFY) from error


def tokenize(sql: str) -> list[Token]:
    """Return the tokens of a text; ``IDENTIFIER('name')`` before brackets is the function's name.

    Raises
    ------
    NotUnderstoodError
        A literal or comment has no end.
    """
    try:
        return _with_named_functions(_DIALECT.tokenize(sql))
    except TokenError as error:
        match = re.search(r"from \d+:(\d+)", str(error.__cause__))
        where = span_at(sql, int(match[1]), int(match[1]) + 1) if match else None
        raise NotUnderstoodError("This text has no end", _SIMPLIFY, sql, where) from error


def _with_named_functions(tokens: list[Token]) -> list[Token]:
    """Return tokens with the names of functions that IDENTIFIER gives as literals."""
    result: list[Token] = []
    for token in tokens:
        result.append(token)
        last = result[-len(_NAMED_FUNCTION) :]
        if tuple(token.token_type for token in last) == _NAMED_FUNCTION and _names_function(
            *last[:3]
        ):
            word, name = last[0], last[2].text
            result[-len(_NAMED_FUNCTION) : -1] = [
                Token(TokenType.VAR, name, word.line, word.col, word.start, last[3].end)
            ]
    return result


def _names_function(word: Token, bracket: Token, name: Token) -> bool:
    return (
        word.text.upper() == "IDENTIFIER" and re.fullmatch(r"[A-Za-z_]\w*", name.text) is not None
    )


def _check_single(sql: str, tokens: list[Token]) -> None:
    if not tokens:
        raise UnsupportedError("The text is empty", "Give one query.", sql)
    for before, token in pairwise(tokens):
        if before.token_type == TokenType.SEMICOLON:
            raise UnsupportedError(
                "A second statement", "Give one statement at a time.", sql, _token_span(sql, token)
            )
    first = tokens[0].token_type
    if first in SparkSQL.Tokenizer.COMMANDS or first in SparkSQLParser.STATEMENT_PARSERS:
        raise not_a_query(sql, tokens)


def not_a_query(sql: str, tokens: list[Token]) -> QueryError:
    """Return the error about a statement that is no query."""
    return UnsupportedError(
        f"{tokens[0].text.upper()} is not a query that can be annotated",
        "Give a SELECT, VALUES or WITH query; run other statements with spark.sql.",
        sql,
        _token_span(sql, tokens[0]),
    )


def _token_span(sql: str, token: Token) -> Span:
    return span_at(sql, token.start, token.end + 1)


def _parse_error(sql: str, error: ParseError) -> QueryError:
    details = error.errors[0] if error.errors else {}
    where = None
    if details.get("line"):
        lines = sql.split("\n")
        width = len(details.get("highlight") or " ")
        line, last = cast(int, details["line"]), cast(int, details["col"])
        start = sum(len(text) + 1 for text in lines[: line - 1]) + max(0, last - width)
        where = span_at(sql, start, start + width)
    description = details.get("description") or str(error)
    return NotUnderstoodError(f"This text is not understood ({description})", _SIMPLIFY, sql, where)


def name_parts(written: str) -> list[str]:
    """Return the parts of a dotted name, in backticks or not."""
    if "`" not in written:
        return written.split(".")
    return [token.text for token in tokenize(written) if token.text != "."]
