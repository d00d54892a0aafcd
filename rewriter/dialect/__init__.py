"""Spark SQL as Spark reads it: text to sqlglot trees and back, with nothing changed between."""

from rewriter.dialect.identifiers import (
    identifiers,
    is_named,
    name_identifiers,
    relation_names,
    with_views,
)
from rewriter.dialect.literals import (
    computed_bounds,
    decimal_width,
    literal_of,
    literals,
    volatile_calls,
    with_bounds,
    with_literals,
)
from rewriter.dialect.nodes import BoundedCTE, DerivedValues, TableArgument, TypedLiteral
from rewriter.dialect.parser import AGGREGATES, GENERATORS
from rewriter.dialect.pipes import (
    AggregateStep,
    DropStep,
    ExtendStep,
    NameStep,
    OrderStep,
    Piped,
    PipeSource,
    SetStep,
)
from rewriter.dialect.sparksql import (
    Query,
    SparkSQL,
    emit,
    name_parts,
    not_a_query,
    parse,
    tokenize,
)
from rewriter.dialect.writes import Action, Into, Write, first_word, read_write

__all__ = [
    "AGGREGATES",
    "GENERATORS",
    "Action",
    "AggregateStep",
    "BoundedCTE",
    "DerivedValues",
    "DropStep",
    "ExtendStep",
    "Into",
    "NameStep",
    "OrderStep",
    "PipeSource",
    "Piped",
    "Query",
    "SetStep",
    "SparkSQL",
    "TableArgument",
    "TypedLiteral",
    "Write",
    "computed_bounds",
    "decimal_width",
    "emit",
    "first_word",
    "identifiers",
    "is_named",
    "literal_of",
    "literals",
    "name_identifiers",
    "name_parts",
    "not_a_query",
    "parse",
    "read_write",
    "relation_names",
    "tokenize",
    "volatile_calls",
    "with_bounds",
    "with_literals",
    "with_views",
]
