"""Spark SQL as Spark reads it: text to sqlglot trees and back, with nothing changed between."""

from rewriter.dialect.functions import AGGREGATES, GENERATORS
from rewriter.dialect.literals import literals
from rewriter.dialect.nodes import DerivedValues, TypedLiteral
from rewriter.dialect.sparksql import Query, SparkSQL, emit, parse, tokenize
from rewriter.dialect.volatile import volatile_calls, with_literals
from rewriter.dialect.writes import Action, Write, read_write

__all__ = [
    "AGGREGATES",
    "GENERATORS",
    "Action",
    "DerivedValues",
    "Query",
    "SparkSQL",
    "TypedLiteral",
    "Write",
    "emit",
    "literals",
    "parse",
    "read_write",
    "tokenize",
    "volatile_calls",
    "with_literals",
]
