"""The text of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import SparkSession

import lipstick
from tests.support_page.constructs import CONSTRUCTS
from tests.support_page.functions import REFUSED, SPARK_FUNCTIONS, in_memory, use
from tests.support_page.queries import DATABASE, outcome
from tests.support_page.refusals import refusal_of, refusals, statement_cases
from tests.support_page.table_statements import FORMATS, TABLE_STATEMENTS

_HEAD = """\
# Supported and refused

Written by `python -m tests.support_page` from what the code says of each line, and held against it
by a test. What has no rule is refused before anything runs, with its place in the text and what to
do instead; there is no coarser annotation.

"""

_QUERIES = """\
## Constructs

As `ls.sql` reads them, by examples over the relations `r(id, k, x)`, `s(id, k, y)`, `n(id, xs)` and
`d(id, p)`, of three or four tuples. The annotation is the type of those of the answer's tuples:
`b1`, `b2` are tuples of inner blocks. What questions answer is tried: *polynomials* has the
annotation of one row of the answer (– where the query was not run), *probability* that of this row
where every tuple is there with probability 0.5. *evaluate* says in which semirings annotations have
values: in all, in those with a monus, or in any where tokens are valued 0 and 1, since conditions
take part. *In memory* says whether a saved capture answers a hypothetical deletion without Spark;
where it does not, Spark does (–: not tried).

"""

_FUNCTIONS_LINK = """\
## Functions

[Every function that Spark 4.3 lists](support/functions.md) has a page of its own.

"""

_FUNCTIONS = """\
# Functions

Every function that Spark 4.3 lists, by its use. *In memory*: a value that a deletion changes is
computed without Spark; values that it does not change are stored. Functions that the session has
registered are black boxes over a row.

"""

_STATEMENTS = """\
## Statements that change tables

As `ls.reenact` reads them, by the fixtures of the rewriter: the versions that they make are
compared with the real ones, and they can be undone and replaced ([histories](histories.md)).

"""

_FORMATS = """\
## Statements by format

Tried on real tables, `t(id, amount, p)` partitioned by `p`, with a tracked relation `s` of the same
columns. *Followed*: `ls.sql` runs the statement, and its version is what it makes of the one
before; after ALTER TABLE this holds of the next statement. *Written*: its query is annotated, and
the answer written ([tables](tables.md)). *Refused*: before it runs. –: Spark refuses it, as the
format has not this form. Rows of JDBC are read by `track(..., materialize=True)`.

Refused besides: rows inserted into a Delta table with an identity column, before the statement
runs; and a what-if that concerns an Iceberg statement which changed no row after ALTER TABLE, for
Iceberg makes no snapshot then, and no version has the columns.

"""

_REFUSALS = """\
## Refusals

Every message, as the fixtures of the rewriter hold it, without its place, and what to do instead.
Syntax errors, unknown names and types that do not fit are found by Spark, before these:
`InvalidQueryError`.

"""


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
        return f"refused: {why.rstrip('.')}"
    return f"{kind}, in memory" if in_memory(name, kind) else kind


def statements() -> str:
    """Return the end of the page: statements and refusals."""
    parts = [_STATEMENTS, *_followed(), "\n"]
    by_format = ((_code(text), *outcomes) for text, outcomes in TABLE_STATEMENTS.items())
    parts += [_FORMATS, _table(("statement", *FORMATS), by_format), "\n"]
    problems: dict[str, list[str]] = {}
    for refusal in refusals():
        problem, advice = (_plain(text) for text in (refusal.problem, refusal.advice))
        problems.setdefault(advice, []).append(problem)
    by_advice = (f"- {'; '.join(found)}: *{advice}*\n" for advice, found in problems.items())
    return "".join([*parts, _REFUSALS, *by_advice])


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
    """Yield the statements that are reenacted, and those that are not, with the reasons."""
    reenacted = [case.given for case in statement_cases() if refusal_of(case) is None]
    yield from ("```sql\n", *(f"{text}\n" for text in reenacted), "```\n\nNot reenacted:\n\n")
    for case in statement_cases():
        refusal = refusal_of(case)
        if refusal is not None:
            yield f"- {_code(case.given)}: {_plain(refusal.problem)}\n"


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
