"""The dialect, and the two ways through it: text to tree and tree to text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.errors import UnsupportedError as SqlglotUnsupportedError
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.generator import SparkSQLGenerator, grouped_copy
from rewriter.dialect.parser import SparkSQLParser
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from rewriter.position import Span, span_at

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
        raise _not_a_query(sql, tokens)
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
        raise _not_a_query(sql, tokens)


def _not_a_query(sql: str, tokens: list[Token]) -> QueryError:
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
