"""Statements that write the answer of a query into a table: the target, and where the query stands.

What stands before the query is kept as the user wrote it: how a table is made is Spark's to know.
So is how one is filled, but for the columns that an INSERT names, since rows are written whole;
INSERT OVERWRITE of a partition keeps its PARTITION. The query is read as any other is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.sparksql import tokenize
from rewriter.errors import NotUnderstoodError, UnsupportedError
from rewriter.position import span_at

_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("})
_CHANGES = ("DELETE", "UPDATE", "MERGE")
_REENACTED = (
    "Run it with spark.sql; ls.reenact({table: versions}, statements, key) then follows the table "
    "through it, to what is made of it and what would be without it."
)
_BEFORE_VIEW = frozenset({"OR", "REPLACE", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "MATERIALIZED"})
_WHOLE = "Write INSERT INTO t SELECT ..., or INSERT OVERWRITE t SELECT ... of the whole table."


class Action(Enum):
    """The effect of a statement on its target."""

    CREATE = "create"
    APPEND = "append"
    OVERWRITE = "overwrite"


@dataclass(frozen=True, slots=True)
class Into:
    """The columns of a table that an INSERT fills; without any of these, all by place.

    Parameters
    ----------
    columns
        The columns that it lists, in the order of the query's; None: it lists none.
    by_name
        The query's columns go by their names.
    partition
        The columns of its PARTITION clause, each with the text of its value; None: the query gives
        it, behind its other columns.
    """

    columns: tuple[str, ...] | None = None
    by_name: bool = False
    partition: tuple[tuple[str, str | None], ...] = ()

    @property
    def static(self) -> Mapping[str, str]:
        """The columns to which PARTITION gives values, with their texts."""
        return {column: value for column, value in self.partition if value is not None}


@dataclass(frozen=True, slots=True)
class Write:
    """A statement that writes the answer of a query.

    Parameters
    ----------
    target
        The parts of the table's name.
    head
        The text of the statement before rows of the table.
    query
        The query at its place in the text, with blanks in the place of all other text.
    """

    action: Action
    target: tuple[str, ...]
    head: str
    query: str
    into: Into = field(default_factory=Into)

    @property
    def provider(self) -> str | None:
        """The format of a table that is created, after USING; None: it names none."""
        words = [word_of(token) for token in tokenize(self.head)]
        using = words.index("USING") if "USING" in words else len(words)
        return _at(words, using + 1).lower() if self.action is Action.CREATE and using else None

    @property
    def partitioned(self) -> tuple[str, ...]:
        """The columns that PARTITIONED BY names for a table that is created, and other words."""
        tokens = tokenize(self.head)
        words = [word_of(token) for token in tokens]
        clause = next((at for at, word in enumerate(words) if word.startswith("PARTITIONED")), None)
        if self.action is not Action.CREATE or clause is None:
            return ()
        end = words.index(")", clause) if ")" in words[clause:] else len(words)
        return tuple(_text(tokens, at) for at in range(clause + 1, end))

    @property
    def table(self) -> str:
        """The table's name as SQL has it."""
        return ".".join(exp.to_identifier(part).sql(dialect="spark") for part in self.target)

    def of_view(self, view: str) -> str:
        """The statement that writes the rows of a view instead.

        They are whole rows, but where a partition is overwritten without what PARTITION gives.
        """
        return f"{self.head}\nSELECT * FROM `{view}`"


def read_write(sql: str) -> Write | None:
    """Read CREATE TABLE AS and INSERT; None: the text is something else.

    Raises
    ------
    UnsupportedError
        For DELETE, UPDATE and MERGE, and for forms of INSERT and CREATE TABLE that give a table
        other rows than the query's.
    """
    try:
        tokens = tokenize(sql)
    except NotUnderstoodError:
        return None  # Spark says what is wrong with it
    words = [word_of(token) for token in tokens]
    if not words:
        return None
    if words[0] in _CHANGES:
        raise _refusal(sql, tokens[0], f"{words[0]} is not annotated", _REENACTED)
    if words[0] in ("CREATE", "REPLACE"):
        return _create(sql, tokens, words)
    if words[0] in ("INSERT", "WITH", "FROM"):
        return _insert(sql, tokens, words)
    return None


def _insert(sql: str, tokens: Sequence[Token], words: Sequence[str]) -> Write | None:
    start = _insert_start(words)
    if start is None:
        return None
    if words[0] == "FROM":
        advice = "Write INSERT INTO t, then WITH or SELECT: a statement for each table."
        raise _refusal(sql, tokens[start], "INSERT after FROM is not annotated", advice)
    action = {"INTO": Action.APPEND, "OVERWRITE": Action.OVERWRITE}.get(_at(words, start + 1))
    if action is None:
        raise _refusal(sql, tokens[start], "This INSERT is not annotated", _WHOLE)
    at = start + (3 if _at(words, start + 2) == "TABLE" else 2)
    if _at(words, at) in ("DIRECTORY", "LOCAL"):
        advice = "Write files with q.write.parquet(path)."
        raise _refusal(sql, tokens[at], "INSERT OVERWRITE DIRECTORY is not annotated", advice)
    target, at = _name(sql, tokens, words, at)
    head = sql[tokens[start].start : tokens[at - 1].end + 1]
    partition, at = _partition(sql, tokens, words, at)
    if action is Action.OVERWRITE and any(value is not None for _, value in partition):
        head = sql[tokens[start].start : tokens[at - 1].end + 1]
    by_name = tuple(words[at : at + 2]) == ("BY", "NAME")
    at += 2 * by_name
    columns, at = _columns(sql, tokens, words, at)
    if _at(words, at) not in _QUERY:
        where = tokens[min(at, len(tokens) - 1)]
        raise _refusal(sql, where, f"INSERT with {where.text.upper()} is not annotated", _WHOLE)
    end = tokens[at].start
    query = sql[: tokens[start].start] + _blanks(sql[tokens[start].start : end]) + sql[end:]
    return Write(action, target, head, query, Into(columns, by_name, partition))


def _insert_start(words: Sequence[str]) -> int | None:
    """The place of INSERT, behind the named queries of a WITH; None: the text is a query."""
    depth = 0
    for at, word in enumerate(words):
        into = at == 0 or _at(words, at + 1) in ("INTO", "OVERWRITE")
        if depth == 0 and word == "INSERT" and into:
            return at
        depth += (word == "(") - (word == ")")
    return None


def _partition(
    sql: str, tokens: Sequence[Token], words: Sequence[str], at: int
) -> tuple[tuple[tuple[str, str | None], ...], int]:
    """The columns of a PARTITION clause with the texts of their values, and the place behind it."""
    if _at(words, at) != "PARTITION" or _at(words, at + 1) != "(":
        return (), at
    values: list[tuple[str, str | None]] = []
    at += 1
    while _at(words, at) in ("(", ","):
        name, at = _text(tokens, at + 1), at + 2
        value = None
        if _at(words, at) in ("=", "=="):
            start = at = at + 1
            while at < len(tokens) and _at(words, at) not in (",", ")"):
                at += 1
            value = sql[tokens[start - 1].end + 1 : tokens[at - 1].end + 1].strip()
        values.append((name, value))
    return tuple(values), at + 1


def _columns(
    sql: str, tokens: Sequence[Token], words: Sequence[str], at: int
) -> tuple[tuple[str, ...] | None, int]:
    """The columns of a list of them in brackets, and the place behind it; None if there is none."""
    if _at(words, at) != "(" or _at(words, at + 1) in _QUERY:
        return None, at
    names = []
    while _at(words, at) in ("(", ","):
        names.append(_text(tokens, at + 1))
        at += 2
    return tuple(names), at + 1


def _create(sql: str, tokens: Sequence[Token], words: Sequence[str]) -> Write | None:
    replaces = words[0] == "REPLACE" or tuple(words[1:3]) == ("OR", "REPLACE")
    view = words.index("VIEW") if "VIEW" in words[:6] else 0
    if view and set(words[1:view]) <= _BEFORE_VIEW:
        advice = "Make the view with spark.sql: queries read through views over tracked relations."
        raise _refusal(sql, tokens[view], "CREATE VIEW is not annotated", advice)
    at = words.index("TABLE") + 1 if "TABLE" in words[:4] else 0
    if not at or words[at - 2] not in ("CREATE", "REPLACE"):
        return None
    start = _query_start(words, at)
    if start is None:
        return None
    if replaces:
        advice = "INSERT OVERWRITE the table, or drop it first."
        raise _refusal(sql, tokens[0], "REPLACE TABLE is not annotated", advice)
    if _at(words, at) == "IF":
        advice = "Leave IF NOT EXISTS out: a table that exists would stay as it is."
        raise _refusal(sql, tokens[at], "CREATE TABLE IF NOT EXISTS is not annotated", advice)
    target, _ = _name(sql, tokens, words, at)
    return _write(sql, Action.CREATE, target, tokens[start])


def _query_start(words: Sequence[str], start: int) -> int | None:
    """The place of the first word of the query of a CREATE TABLE, None if it has none."""
    depth = 0
    for number in range(start, len(words)):
        word = words[number]
        if depth == 0 and word == "AS" and words[number - 1] != "STORED":
            return number + 1 if number + 1 < len(words) else None
        if depth == 0 and word in ("SELECT", "VALUES", "FROM"):
            return number
        depth += (word == "(") - (word == ")")
    return None


def _name(
    sql: str, tokens: Sequence[Token], words: Sequence[str], at: int
) -> tuple[tuple[str, ...], int]:
    """The parts of a name, and the place behind it."""
    parts: list[str] = []
    while at < len(tokens):
        if _at(words, at) in ("(", ")", "") and tokens[at].token_type != TokenType.IDENTIFIER:
            break
        parts.append(tokens[at].text)
        at += 1
        if _at(words, at) != ".":
            break
        at += 1
    calls = len(parts) == 1 and parts[0].upper() == "IDENTIFIER" and _at(words, at) == "("
    if not parts or calls:
        where = tokens[min(at, len(tokens) - 1)]
        raise _refusal(sql, where, "This name of a table is not understood", "Name the table.")
    return tuple(parts), at


def _write(sql: str, action: Action, target: tuple[str, ...], first: Token) -> Write:
    head = sql[: first.start]
    return Write(action, target, head, _blanks(head) + sql[first.start :])


def _blanks(text: str) -> str:
    """Blanks in the place of a text, on as many lines."""
    return "".join(c if c in "\r\n" else " " for c in text)


def first_word(sql: str) -> str:
    """Return the first word of a text in capitals, after comments; "" if it has none."""
    try:
        tokens = tokenize(sql)
    except NotUnderstoodError:
        return ""
    return word_of(tokens[0]) if tokens else ""


def word_of(token: Token) -> str:
    """Return the word of a token in capitals; "" for quoted names and literals."""
    quoted = (TokenType.IDENTIFIER, TokenType.STRING, TokenType.RAW_STRING)
    return "" if token.token_type in quoted else token.text.upper()


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if at < len(tokens) else ""


def _at(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _refusal(sql: str, token: Token, problem: str, advice: str) -> UnsupportedError:
    return UnsupportedError(problem, advice, sql, span_at(sql, token.start, token.end + 1))
