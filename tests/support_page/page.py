"""The text of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pyspark.sql import SparkSession

import lipstick
from tests.support_page.constructs import CONSTRUCTS
from tests.support_page.functions import REFUSED, SPARK_FUNCTIONS, in_memory, use
from tests.support_page.queries import DATABASE, outcome
from tests.support_page.refusals import (
    Refusal,
    refusal_of,
    refusals,
    statement_cases,
    statement_refusals,
)
from tests.support_page.table_statements import FORMATS, TABLE_STATEMENTS

_HEAD = """\
# Supported and refused

Written by `python -m tests.support_page` and held against the code by a test. What has no rule is
refused before anything runs, with its place in the text and what to do instead; there is no coarser
annotation.

"""

_QUERIES = """\
## Constructs

Examples of `ls.sql` over the relations `r(id, k, x)`, `s(id, k, y)`, `n(id, xs)` and `d(id, p)`, of
three or four tuples. *Annotation* is the type of the tuples of the answer; `b1`, `b2` are tuples of
inner blocks. *Polynomials* has the annotation of one row, and *probability* that of this row where
every tuple is there with probability 0.5 (–: the query was not run). *Evaluate* says in which
semirings annotations have values: all, those with a monus, or any where tokens are valued 0 and 1,
since conditions take part. *In memory*: a saved capture answers a deletion without Spark.

"""

_FUNCTIONS_LINK = """\
## Functions

[Every function that Spark 4.3 lists](support/functions.md) has a page of its own.

"""

_FUNCTIONS = """\
# Functions

Every function that Spark 4.3 lists, by its use; … stands for its name. *In memory*: a value that a
deletion changes is computed without Spark; other values are stored. Functions that the session has
registered are black boxes over a row.

"""

_STATEMENTS = """\
## Statements that change tables

As `ls.reenact` reads them: their versions are compared with the real ones, and they can be undone
and replaced ([histories](histories.md)). `tests/rewriter/statements/cases/` has each as SQL.

"""

_FORMATS = """\
## Statements by format

Tried on real tables, `t(id, amount, p)` partitioned by `p`, with a tracked relation `s` of the same
columns. *Followed*: `ls.sql` runs the statement, and its version is what it makes of the one
before. *Written*: its query is annotated, and the answer written ([tables](tables.md)). *Refused*:
before it runs. –: Spark refuses it. Rows of JDBC are read by `track(..., materialize=True)`.

Refused besides: rows inserted into a Delta table with an identity column; and a what-if that
concerns an Iceberg statement which changed no row after ALTER TABLE, as Iceberg makes no snapshot
then.

"""

_REFUSALS = """\
## Refusals

Every message, as the fixtures of the rewriter hold it, without its place, and what to do instead.
What the title of a list has in common is left out there. Syntax errors, unknown names and types
that do not fit are found by Spark, before these: `InvalidQueryError`.

"""

_FORMS: Final = (
    ("in this data frame, ", " has no rule"),
    ("in this data frame, ", ""),
    ("", " is not supported"),
    ("", " has no rule"),
    ("", ""),
)
"""How messages begin and end, those with more in common first: each has a list of its own."""


_COLUMNS = ("query", "annotation", "polynomials", "probability", "evaluate", "in memory")


def page(spark: SparkSession) -> str:
    """Return the page, in Markdown: 40 s, most of it Spark's reading of the constructs."""
    return constructs(spark) + _FUNCTIONS_LINK + statements()


def constructs(spark: SparkSession) -> str:
    """Return the head of the page and the constructs, as a session reads them."""
    parts = [_HEAD, _QUERIES]
    with lipstick.session(spark) as ls:
        DATABASE.track(ls, spark)
        for title, examples in CONSTRUCTS.items():
            rows = (_construct(ls, sql) for sql in examples)
            parts.append(f"### {title}\n\n{_table(_COLUMNS, rows)}\n")
    return "".join(parts)


def some_constructs(spark: SparkSession, every: int) -> Iterator[str]:
    """Yield the lines of every so manieth construct, as a session reads them."""
    with lipstick.session(spark) as ls:
        DATABASE.track(ls, spark)
        for sql in [sql for examples in CONSTRUCTS.values() for sql in examples][::every]:
            yield _row(_construct(ls, sql))


def functions() -> str:
    """Return the page of functions, in Markdown, a line for each way of use: 15 s."""
    lines: dict[str, list[str]] = {}
    for name in sorted(SPARK_FUNCTIONS):
        lines.setdefault(use_of(name), []).append(_code(name))
    longest_first = sorted(lines.items(), key=lambda line: (-len(line[1]), line[0]))
    return _FUNCTIONS + "".join(f"- {use}: {', '.join(names)}\n" for use, names in longest_first)


def use_of(name: str) -> str:
    """Return how a function may be used, as the page says it."""
    kind, why = use(name)
    if kind == REFUSED:
        return f"refused: {why.rstrip('.').replace(f' {name}', ' …')}"
    return f"{kind}, in memory" if in_memory(name, kind) else kind


def statements() -> str:
    """Return the end of the page: statements and refusals."""
    parts = [_STATEMENTS, *_followed(), "\n"]
    by_format = ((_code(text), *outcomes) for text, outcomes in TABLE_STATEMENTS.items())
    parts += [_FORMATS, _table(("statement", *FORMATS), by_format), "\n", _REFUSALS]
    forms: dict[tuple[str, str], dict[str, list[str]]] = {form: {} for form in _FORMS}
    for refusal in sorted(refusals() - statement_refusals()):
        form = next(form for form in _FORMS if _has(refusal.problem, form))
        problem = refusal.problem.removeprefix(form[0]).removesuffix(form[1])
        forms[form].setdefault(_plain(refusal.advice), []).append(_plain(problem))
    for (before, after), by_advice in forms.items():
        title = f"{before}…{after}" if before or after else "Others"
        lines = (f"- {'; '.join(found)}: *{advice}*\n" for advice, found in by_advice.items())
        parts += [f"### {title[0].upper()}{title[1:]}\n\n", *lines, "\n"]
    return "".join(parts).rstrip("\n") + "\n"


def _has(problem: str, form: tuple[str, str]) -> bool:
    before, after = form
    return problem.startswith(before) and problem.endswith(after)


def _construct(ls: lipstick.Session, sql: str) -> tuple[str, ...]:
    told = outcome(ls, sql)
    if told.annotation is None:
        return _code(sql), f"refused: {told.refusal}", "", "", "", ""
    memory = {True: "yes", False: "no", None: "–"}[told.memory]
    polynomial = told.polynomial or "–"
    if told.polynomial and not told.polynomial.startswith("refused"):
        polynomial = _code(polynomial)
    answers = (polynomial, told.probability or "–", told.evaluate, memory)
    return _code(sql), _code(told.annotation), *answers


def _followed() -> Iterator[str]:
    """Yield the statements that are reenacted by kind, and the others by reason, as titles."""
    reenacted: dict[str, list[str]] = {}
    refused: dict[tuple[str, Refusal], list[str]] = {}
    for case in statement_cases():
        refusal = refusal_of(case)
        kind = case.file.stem.upper()
        if refusal is None:
            reenacted.setdefault(kind, []).append(case.title)
        else:
            refused.setdefault((kind, refusal), []).append(case.title)
    yield from (f"- {kind}: {'; '.join(titles)}\n" for kind, titles in reenacted.items())
    yield "\nNot reenacted:\n\n"
    for (kind, refusal), titles in refused.items():
        problem, advice = _plain(refusal.problem), _plain(refusal.advice)
        yield f"- {kind}, {', '.join(titles)}: {problem}. *{advice}*\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"{line}\n" for line in _lines(head, rows))


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    return text.replace("*", r"\*")


def _code(text: str) -> str:
    return f"`{text}`"
