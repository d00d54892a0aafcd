"""Spark SQL as Spark reads it: text to sqlglot trees and back, with nothing changed between."""

from rewriter.dialect.functions import AGGREGATES, GENERATORS
from rewriter.dialect.literals import literals
from rewriter.dialect.nodes import DerivedValues, TableArgument, TypedLiteral
from rewriter.dialect.sparksql import Query, SparkSQL, emit, parse, tokenize
from rewriter.dialect.volatile import volatile_calls, with_literals

__all__ = [
    "AGGREGATES",
    "GENERATORS",
    "DerivedValues",
    "Query",
    "SparkSQL",
    "TableArgument",
    "TypedLiteral",
    "emit",
    "literals",
    "parse",
    "tokenize",
    "volatile_calls",
    "with_literals",
]
