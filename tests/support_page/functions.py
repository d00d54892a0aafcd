"""What becomes of a call of each of Spark's functions, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rewriter import dialect
from rewriter.algebra import Aggregate, Generate, Relation, walk
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import TokenSource
from rewriter.errors import QueryError
from rewriter.interpret import aggregate_call, interpret
from rewriter.lower import lower_query

SPARK_FUNCTIONS = (Path(__file__).parent / "spark_functions.txt").read_text().split()
"""What SHOW SYSTEM FUNCTIONS lists in Spark 4.3."""

ROW = "of a row"
TENSOR = "aggregate with a tensor"
RECOMPUTED = "aggregate, computed anew from what is left"
SETS = "of grouping sets"
WINDOW = "with OVER"
GENERATOR = "makes rows of a row"
TABLE = "makes a relation"
TIME_WINDOW = "a column of time windows"
REFUSED = "refused"

_CATALOG = MemoryCatalog([TrackedRelation("r", ("a", "b"))])
_TOKENS = {"r": TokenSource("r", ("a",))}
_WORDS = {
    "and": "a AND b",
    "between": "a BETWEEN 1 AND b",
    "case": "CASE a WHEN 1 THEN b END",
    "div": "a DIV b",
    "ilike": "a ILIKE b",
    "in": "a IN (1, b)",
    "like": "a LIKE b",
    "not": "NOT a",
    "or": "a OR b",
    "percentile": "percentile(a, 0.5)",
    "percentile_cont": "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)",
    "percentile_disc": "percentile_disc(0.5) WITHIN GROUP (ORDER BY a)",
    "regexp": "a REGEXP b",
    "rlike": "a RLIKE b",
    "when": "CASE WHEN a THEN b END",
    "!": "! a",
    "~": "~ a",
    "cast": "CAST(a AS string)",
    "extract": "extract(DAY FROM a)",
}
"""How functions are called that are written as operators."""


def called(name: str) -> str:
    """Return a call of a function or an operator over columns."""
    if name in _WORDS:
        return _WORDS[name]
    return f"{name}(a, b)" if name.replace("_", "").isalnum() else f"a {name} b"


def use(name: str) -> tuple[str, str]:
    """Return how a function may be used; and where it may not, why, and what to do."""
    refusals, kinds = [], []
    for kind, sql in _uses(name):
        try:
            root = bind_query(sql, Environment(_CATALOG)).root
        except QueryError as error:
            refusals.append(f"{error.problem}: {error.advice}")
            continue
        kinds.append(kind or _kind(root))
    if TENSOR in kinds:
        return TENSOR, ""
    return (kinds[0], "") if kinds else (REFUSED, refusals[0])


def in_memory(name: str, kind: str) -> bool:
    """Tell whether a value that a deletion changes is computed without Spark."""
    if kind == RECOMPUTED:
        return any(_computed(f"SELECT {call} AS f FROM r") for call in _calls(name))
    if kind != ROW:
        return kind == TENSOR
    return any(_interpreted(f"SELECT {call} FROM r") for call in _calls(name))


def _interpreted(sql: str) -> bool:
    try:
        return interpret(dialect.parse(sql).selects[0]).run is not None
    except QueryError:
        return False


def _computed(sql: str) -> bool:
    try:
        block = lower_query(bind_query(sql, Environment(_CATALOG)).root, _TOKENS)
    except QueryError:
        return False
    return any(aggregate_call(call).anew is not None for _, call in block.aggregates)


def _calls(name: str) -> Iterator[str]:
    yield called(name)
    if name.replace("_", "").isalnum():
        yield from (f"{name}({arguments})" for arguments in ("a", "a, 1, 2", "2, a, b", ""))


def _uses(name: str) -> Iterator[tuple[str, str]]:
    if name in ("session_window", "window"):
        yield TIME_WINDOW, f"SELECT {name}(a, '1 day') AS f FROM r"
    yield from (("", f"SELECT {call} AS f FROM r") for call in _calls(name))
    yield WINDOW, f"SELECT {name}(a) OVER (PARTITION BY a ORDER BY b) AS f FROM r"
    yield GENERATOR, f"SELECT f FROM r LATERAL VIEW {name}(a) t AS f"
    yield GENERATOR, f"SELECT f FROM r LATERAL VIEW {name}(a) t AS f, g"
    yield SETS, f"SELECT {name}(a) AS f FROM r GROUP BY ROLLUP (a)"
    yield TABLE, f"SELECT * FROM {name}(3)"


def _kind(root: Relation) -> str:
    if any(isinstance(node, Generate) for node in walk(root)):
        return GENERATOR
    calls = [call for node in walk(root) if isinstance(node, Aggregate) for call in node.aggregates]
    if not calls:
        return ROW
    return TENSOR if aggregate_call(calls[0]).function else RECOMPUTED
