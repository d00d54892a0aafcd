"""From the text of a query, or the plan of a data frame, to annotated Spark SQL.

The phases, each a folder. A query passes through them in this order, and no phase imports a later
one (contracts in ``pyproject.toml``):

=============  ===================================================================================
``dialect``    reads and writes Spark's SQL as trees of sqlglot
``frames``     plans of data frames as the text of a query: ``catalyst``, ``connect_plan``
``bind``       names and functions bound against a catalog: :func:`bind_query`
``algebra``    the operators of a bound query, and ``scalars`` their expressions
``passes``     rewrites that keep the answer: of the query, and of the plan of its capture
``lower``      the query cut into blocks, :mod:`rewriter.blocks`: :func:`lower_query`
``analysis``   what blocks say before a row is read
``emit``       blocks as statements: ``emit.statements``
``interpret``  scalars evaluated without Spark
``statements`` statements that change tables, reenacted as queries
``streaming``  queries over streams as queries over what was recorded of them
=============  ===================================================================================

The names below are all that a caller needs to bring a query into blocks and back into text. They
are imported when they are first used. Readers of blocks import :mod:`rewriter.blocks`,
:mod:`rewriter.analysis`, :mod:`rewriter.emit` and :mod:`rewriter.interpret` beside them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rewriter.interpreted_sqlglot import import_sources

if TYPE_CHECKING:
    from rewriter.bind import Arguments, BoundQuery, Recursion, bind_query, substitute
    from rewriter.bind.catalog import (
        SESSION,
        WINDOW,
        Deduplication,
        Environment,
        EventTimeColumn,
        MemoryCatalog,
        TableFunction,
        TrackedRelation,
        Type,
        Variable,
        ViewText,
    )
    from rewriter.bind.clauses.generators import place_of_generator
    from rewriter.blocks import Block, TokenSource
    from rewriter.emit.statements import plain_sql, rewritten_sql
    from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError, UntrackedError
    from rewriter.lower import lower_query
    from rewriter.passes import PASSES, CapturePlan, PassStep, planned_capture

__all__ = [
    "PASSES",
    "SESSION",
    "WINDOW",
    "Arguments",
    "Block",
    "BoundQuery",
    "CapturePlan",
    "Deduplication",
    "Environment",
    "EventTimeColumn",
    "MemoryCatalog",
    "NotUnderstoodError",
    "PassStep",
    "QueryError",
    "Recursion",
    "TableFunction",
    "TokenSource",
    "TrackedRelation",
    "Type",
    "UnsupportedError",
    "UntrackedError",
    "Variable",
    "ViewText",
    "bind_query",
    "lower_query",
    "place_of_generator",
    "plain_sql",
    "planned_capture",
    "rewritten_sql",
    "substitute",
]

_MODULES = {
    "bind": ("Arguments", "BoundQuery", "Recursion", "bind_query", "substitute"),
    "bind.catalog": (
        "SESSION",
        "WINDOW",
        "Deduplication",
        "Environment",
        "EventTimeColumn",
        "MemoryCatalog",
        "TableFunction",
        "TrackedRelation",
        "Type",
        "Variable",
        "ViewText",
    ),
    "bind.clauses.generators": ("place_of_generator",),
    "blocks": ("Block", "TokenSource"),
    "emit.statements": ("plain_sql", "rewritten_sql"),
    "errors": ("NotUnderstoodError", "QueryError", "UnsupportedError", "UntrackedError"),
    "lower": ("lower_query",),
    "passes": ("PASSES", "CapturePlan", "PassStep", "planned_capture"),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

import_sources()  # before a phase imports sqlglot


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"rewriter.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
