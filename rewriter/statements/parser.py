"""The text of a statement to its value, by Spark's grammar; the queries in it are sqlglot's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from rewriter.dialect import emit, parse, tokenize, volatile_calls, with_literals
from rewriter.dialect.writes import word_of
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from rewriter.position import span_at
from rewriter.statements.model import (
    Assignment,
    Clause,
    Delete,
    Insert,
    Matching,
    MergeInto,
    Name,
    Replace,
    Statement,
    Truncate,
    Update,
)

_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_NOT_NAMING = frozenset({"DELETE", "MERGE", "UPDATE"})
"""Statements whose queries have their own WITH, and not one before the statement."""
_AFTER_NAME = frozenset({"SET", "WHERE", "USING", "ON", "WHEN", ""})
_CLOSING = {"(": ")", "[": "]", "{": "}", "CASE": "END"}
_KNOWN = "UPDATE, DELETE, INSERT, MERGE, TRUNCATE TABLE and CREATE [OR REPLACE] TABLE AS are."


def parse_statement(sql: str) -> Statement:
    """Read a statement that changes the rows of a table.

    Raises
    ------
    NotUnderstoodError
        The text is not of Spark's grammar.
    UnsupportedError
        The statement is another, or has a form without a rule.
    """
    return _Parser(sql).statement()


def split_statements(sql: str) -> list[str]:
    """Return the statements of a text, which semicolons separate, without comments around them.

    Raises
    ------
    NotUnderstoodError
        When the text has no tokens of Spark's grammar.
    """
    found: list[str] = []
    start: int | None = None
    end = 0
    for token in tokenize(sql):
        if token.token_type == TokenType.SEMICOLON:
            if start is not None:
                found.append(sql[start:end])
            start = None
        else:
            start, end = token.start if start is None else start, token.end + 1
    return found if start is None else [*found, sql[start:end]]


def read_fragments(sql: str) -> tuple[tuple[str, str], ...]:
    """Return the queries in a statement: the user's text, and what it was read as.

    Expressions are the only item of a SELECT. Both texts must mean the same to Spark.
    """
    parser = _Parser(sql)
    parser.statement()
    return tuple((each.text, emit(each.query, grouped=True)) for each in parser.fragments)


def statement_to_run(sql: str, values: Mapping[str, str], table: str | None = None) -> str:
    """Return the text of a statement with literals for its functions of the moment.

    Parameters
    ----------
    values
        By function the text of its value, as :func:`rewriter.statements.moments_of` asks for it.
    table
        The name of the target in SQL; None: as it is.
    """
    parser = _Parser(sql)
    statement = parser.statement()
    edits = list[tuple[int, int, str]]()
    for each in parser.fragments:
        if volatile_calls(each.query):
            (first, *others), query = each.places, each.query
            if each.of_expression:  # not an item, which would keep the call's name
                query.expressions[0].replace(exp.paren(query.expressions[0].copy()))
            tree: exp.Expr = with_literals(query, values)
            tree = tree.expressions[0].this if each.of_expression else tree
            edits += [(*first, emit(tree, pretty=False)), *((*place, "") for place in others)]
    if table is not None:
        named = isinstance(statement, Update | Delete | MergeInto) and statement.alias is None
        alias = f" AS {_quoted(statement.table[-1])}" if named else ""
        edits.append((*parser.target, table + alias))
    for start, end, new in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{new}{sql[end:]}"
    return sql


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A query in a statement; or an expression, as the item of one.

    Parameters
    ----------
    text
        The query as Spark reads it.
    places
        Where it stands in the statement: first and last characters.
    """

    text: str
    query: exp.Query
    places: Sequence[tuple[int, int]]
    of_expression: bool = False


class _Parser:
    """A cursor over the tokens of a statement."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._tokens = tokenize(sql)
        while self._tokens and self._tokens[-1].token_type == TokenType.SEMICOLON:
            self._tokens.pop()
        self._words = [word_of(token) for token in self._tokens]
        self._at = 0
        self.fragments: list[_Fragment] = []
        self.target: tuple[int, int] = (0, 0)

    def statement(self) -> Statement:
        kinds: dict[str, Callable[[], Statement]] = {
            "UPDATE": self._update,
            "DELETE": self._delete,
            "MERGE": self._merge,
            "TRUNCATE": self._truncate,
            "INSERT": self._insert,
            "WITH": self._insert,
            "CREATE": self._replace,
            "REPLACE": self._replace,
        }
        kind = kinds.get(self._peek())
        if kind is None:
            self._refuse("This statement is not reenacted", _KNOWN)
        return kind()

    # -- statements ------------------------------------------------------------------------

    def _update(self) -> Update:
        self._expect("UPDATE")
        table, alias = self._target()
        self._expect("SET")
        assignments = self._assignments("WHERE")
        return Update(self._sql, table, alias, assignments, self._where())

    def _delete(self) -> Delete:
        self._expect("DELETE", "FROM")
        table, alias = self._target()
        return Delete(self._sql, table, alias, self._where())

    def _truncate(self) -> Truncate:
        self._expect("TRUNCATE", "TABLE")
        table, partition = self._name(), self._partition()
        self._end()
        return Truncate(self._sql, table, partition)

    def _merge(self) -> MergeInto:
        self._expect("MERGE")
        evolves = self._take("WITH", "SCHEMA", "EVOLUTION")
        self._expect("INTO")
        table, alias = self._target()
        self._expect("USING")
        if self._peek() == "(":
            source = self._query_in_brackets()
        else:
            named = exp.to_table(".".join(_quoted(part) for part in self._name()), dialect="spark")
            source = exp.select("*").from_(named)
        source_alias = self._alias()
        self._expect("ON")
        condition = self._expression("WHEN")
        clauses = []
        while self._peek() == "WHEN":
            clauses.append(self._clause())
        self._end()
        if not clauses:
            self._refuse("MERGE has no WHEN", "Say what becomes of the rows.")
        merge = MergeInto(
            self._sql, table, alias, source, source_alias, condition, tuple(clauses), evolves
        )
        order = list(Matching)
        places = [order.index(clause.matching) for clause in clauses]
        if places != sorted(places):
            self._refuse(
                "The clauses of this MERGE are not in Spark's order",
                "Write WHEN MATCHED, WHEN NOT MATCHED, WHEN NOT MATCHED BY SOURCE.",
            )
        for matching in Matching:
            if any(clause.condition is None for clause in merge.of(matching)[:-1]):
                self._refuse(
                    f"Only the last WHEN {matching.value} may have no condition",
                    "Those behind it would never apply.",
                )
        return merge

    def _clause(self) -> Clause:
        self._expect("WHEN")
        if self._take("MATCHED"):
            matching = Matching.MATCHED
        else:
            self._expect("NOT", "MATCHED")
            by_source = self._take("BY", "SOURCE")
            matching = Matching.BY_SOURCE if by_source else Matching.BY_TARGET
            if not by_source:
                self._take("BY", "TARGET")
        condition = self._expression("THEN") if self._take("AND") else None
        self._expect("THEN")
        if matching is Matching.BY_TARGET:
            self._expect("INSERT")
            return Clause(matching, condition, self._inserted())
        if self._take("DELETE"):
            return Clause(matching, condition, deletes=True)
        self._expect("UPDATE", "SET")
        if self._take("*"):
            if matching is Matching.BY_SOURCE:
                self._fail()
            return Clause(matching, condition, None)
        return Clause(matching, condition, self._assignments("WHEN"))

    def _inserted(self) -> tuple[Assignment, ...] | None:
        """The columns of an INSERT clause and their values; None: all by name."""
        if self._take("*"):
            return None
        self._expect("(")
        columns = [self._column()]
        while self._take(","):
            columns.append(self._column())
        self._expect(")")
        self._expect("VALUES", "(")
        values = [self._value(",", ")")]
        while self._take(","):
            values.append(self._value(",", ")"))
        self._expect(")")
        if len(values) != len(columns):
            self._fail()
        return tuple(map(Assignment, columns, values))

    def _insert(self) -> Insert:
        named = self._at
        if self._peek() == "WITH":
            self._skip("INSERT", *_NOT_NAMING)
            if self._peek() in _NOT_NAMING:
                self._refuse(
                    f"WITH before {self._peek()} is not read",
                    "Write it in the query that reads it: USING (WITH ... SELECT ...).",
                )
        queries = named, self._at
        self._expect("INSERT")
        if self._peek() == "WITH":
            self._refuse(
                "INSERT WITH SCHEMA EVOLUTION is not reenacted",
                "Add the columns by ALTER TABLE, then insert.",
            )
        overwrites = self._take("OVERWRITE")
        if not overwrites:
            self._expect("INTO")
        self._take("TABLE")
        if self._peek() in ("DIRECTORY", "LOCAL"):
            self._refuse("INSERT OVERWRITE DIRECTORY changes no table", _KNOWN)
        table = self._name()
        replaced = None
        partition: tuple[Assignment, ...] = ()
        columns: tuple[str, ...] | None = None
        by_name = False
        if self._take("REPLACE"):
            self._expect("WHERE")
            replaced = self._expression(*_QUERY)
        else:
            partition = self._partition()
            if self._peek() == "IF":
                self._refuse(
                    "IF NOT EXISTS of a partition is not reenacted", "Leave it out: it decides now."
                )
            by_name = self._take("BY", "NAME")
            columns = None if by_name else self._listed()
        if self._peek() not in _QUERY and self._peek() != "(":
            self._refuse("This INSERT is not reenacted", "Write INSERT INTO t SELECT ...")
        if named < queries[1] and self._peek() == "WITH":
            self._refuse("WITH stands twice in this INSERT", "Write one WITH for all queries.")
        query = self._parsed(queries, self._rest())
        return Insert(self._sql, table, query, columns, by_name, partition, overwrites, replaced)

    def _replace(self) -> Replace:
        if not self._take("REPLACE"):
            self._expect("CREATE")
            self._take("OR", "REPLACE")
        self._expect("TABLE")
        if self._peek() == "IF":
            self._refuse("IF NOT EXISTS is not reenacted", "Leave it out: it decides now.")
        table = self._name()
        depth = 0
        while depth or self._peek() not in ("AS", "SELECT", "VALUES", "FROM"):
            if self._at >= len(self._tokens):
                advice = "Write CREATE TABLE t AS SELECT ..."
                self._refuse("This statement gives the table no rows", advice)
            depth += (self._peek() == "(") - (self._peek() == ")")
            self._at += 1
        self._take("AS")
        return Replace(self._sql, table, self._parsed(self._rest()))

    # -- parts -----------------------------------------------------------------------------

    def _target(self) -> tuple[Name, str | None]:
        return self._name(), self._alias()

    def _name(self) -> Name:
        parts, first = list[str](), self._at
        while True:
            if self._at >= len(self._tokens) or self._words[self._at] in ("(", ")"):
                self._fail()
            parts.append(self._tokens[self._at].text)
            self._at += 1
            if self._peek() == "(" and parts[0].upper() == "IDENTIFIER":
                self._refuse("IDENTIFIER(...) is not read in statements", "Name the table.")
            if not self._take("."):
                if self.target == (0, 0):  # the first name of each statement
                    self.target = self._place(first, self._at)
                return tuple(parts)

    def _alias(self) -> str | None:
        if not self._take("AS") and self._peek() in _AFTER_NAME and not self._quoted():
            return None
        if self._at >= len(self._tokens):
            self._fail()
        name = self._tokens[self._at].text
        self._at += 1
        if self._peek() == "(":
            self._refuse(
                "An alias with names of columns is not read in statements",
                "Name the columns in the query.",
            )
        return name

    def _column(self) -> Name:
        return self._name()

    def _assignments(self, stop: str) -> tuple[Assignment, ...]:
        found = []
        while True:
            column = self._column()
            if not (self._take("=") or self._take("==")):
                self._fail()
            found.append(Assignment(column, self._value(",", stop)))
            if not self._take(","):
                return tuple(found)

    def _value(self, *stops: str) -> exp.Expr | None:
        value = self._expression(*stops)
        is_default = isinstance(value, exp.Column) and len(value.parts) == 1
        return None if is_default and value.name.upper() == "DEFAULT" else value

    def _where(self) -> exp.Expr | None:
        condition = self._expression() if self._take("WHERE") else None
        self._end()
        return condition

    def _partition(self) -> tuple[Assignment, ...]:
        if not self._take("PARTITION"):
            return ()
        self._expect("(")
        found = []
        while True:
            column = self._column()
            given = self._take("=") or self._take("==")
            found.append(Assignment(column, self._value(",", ")") if given else None))
            if not self._take(","):
                self._expect(")")
                return tuple(found)

    def _listed(self) -> tuple[str, ...] | None:
        """The columns of a list in brackets; None: there is no such list."""
        following = self._words[self._at + 1] if self._at + 1 < len(self._words) else ""
        if self._peek() != "(" or following in _QUERY or following == "(":
            return None
        self._expect("(")
        names = [self._column()]
        while self._take(","):
            names.append(self._column())
        self._expect(")")
        return tuple(name[-1] for name in names)

    def _query_in_brackets(self) -> exp.Query:
        self._expect("(")
        start = self._at
        self._skip(")")
        tokens = start, self._at
        self._expect(")")
        return self._parsed(tokens)

    def _parsed(self, *tokens: tuple[int, int]) -> exp.Query:
        """Return the query of the tokens between some numbers, one part after the other."""
        parts = [(start, end) for start, end in tokens if start < end]
        text = " ".join(self._slice(*part) for part in parts)
        query = self._read(text, parts[0][0])
        places = [self._place(*part) for part in reversed(parts)]
        self.fragments.append(_Fragment(text, query, places))
        return query

    def _expression(self, *stops: str) -> exp.Expr:
        """Return the expression up to a word outside of brackets, or the end."""
        start = self._at
        self._skip(*stops)
        text = self._slice(start, self._at)
        if not text:
            self._fail()
        query = self._read(text, start, "SELECT ")
        plain = isinstance(query, exp.Select) and set(_clauses(query)) == {"expressions"}
        if not plain or len(query.expressions) != 1 or isinstance(query.expressions[0], exp.Alias):
            self._fail()
        if not (isinstance(query.expressions[0], exp.Column) and text.upper() == "DEFAULT"):
            place = self._place(start, self._at)
            self.fragments.append(_Fragment(f"SELECT {text}", query, [place], of_expression=True))
        expression: exp.Expr = query.expressions[0].copy()
        return expression

    def _read(self, text: str, start: int, before: str = "") -> exp.Query:
        """Read a part of the text from a token on; an error has its place in the text."""
        try:
            return parse(f"{before}{text}")
        except QueryError as error:
            at = max(0, (error.span.start if error.span else 0) - len(before))
            at += self._place(start, self._at)[0]
            raise type(error)(
                error.problem, error.advice, self._sql, span_at(self._sql, at, at + 1)
            ) from error

    def _skip(self, *stops: str) -> None:
        """Move to a word outside of brackets and CASE, or to the end."""
        closing: list[str] = []
        while self._at < len(self._words):
            word = self._words[self._at]
            if not closing and word in stops and self._words[self._at - 1] != "DISTINCT":
                return  # the FROM of IS DISTINCT FROM is of the expression
            if closing and word == closing[-1]:
                closing.pop()
            elif word in _CLOSING:
                closing.append(_CLOSING[word])
            self._at += 1

    # -- the cursor ------------------------------------------------------------------------

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _quoted(self) -> bool:
        return self._at < len(self._tokens) and not self._words[self._at]

    def _take(self, *words: str) -> bool:
        if tuple(self._words[self._at : self._at + len(words)]) != words:
            return False
        self._at += len(words)
        return True

    def _expect(self, *words: str) -> None:
        if not self._take(*words):
            self._fail()

    def _end(self) -> None:
        if self._at < len(self._tokens):
            self._fail()

    def _rest(self) -> tuple[int, int]:
        return self._at, len(self._tokens)

    def _place(self, start: int, end: int) -> tuple[int, int]:
        """Return the first character of tokens, and that after the last."""
        return self._tokens[start].start, self._tokens[end - 1].end + 1

    def _slice(self, start: int, end: int) -> str:
        return self._sql[slice(*self._place(start, end))] if start < end else ""

    def _fail(self) -> NoReturn:
        raise self._error(
            NotUnderstoodError,
            "This statement is not understood",
            "Write it by Spark's grammar; if Spark accepts the text, please report it.",
        )

    def _refuse(self, problem: str, advice: str) -> NoReturn:
        raise self._error(UnsupportedError, problem, advice)

    def _error(
        self, kind: type[NotUnderstoodError | UnsupportedError], problem: str, advice: str
    ) -> NotUnderstoodError | UnsupportedError:
        if not self._tokens:
            return kind(problem, advice, self._sql)
        token = self._tokens[min(self._at, len(self._tokens) - 1)]
        return kind(problem, advice, self._sql, span_at(self._sql, token.start, token.end + 1))


def _clauses(query: exp.Expr) -> Sequence[str]:
    return [name for name, value in query.args.items() if value]


def _quoted(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"
