"""Statements that change tables, and the queries that reenact them.

A version of a table is a query over the version before it and the statement's source
(*reenactment*; Arab et al., *A Generic Provenance Middleware for Database Queries, Updates, and
Transactions*, TaPP 2014). :func:`parse_statement` reads a text, :func:`reenact` writes the query.
"""

from rewriter.statements.changes import changes_of, merge_changes, rewrite_table
from rewriter.statements.deltas import (
    ROWS,
    SINCE,
    UNTIL,
    Bags,
    alive_at,
    difference,
    hypothetical,
    keys_of,
    numbered,
    over_rows,
    rows_of,
    union_all,
    with_columns,
    within,
)
from rewriter.statements.model import (
    Assignment,
    Clause,
    Delete,
    Insert,
    Matching,
    MergeInto,
    Replace,
    Statement,
    TableColumn,
    TableShape,
    Truncate,
    Update,
)
from rewriter.statements.parser import parse_statement, read_fragments, split_statements
from rewriter.statements.reenact import reenact
from rewriter.statements.scope import (
    beside_source,
    moments_of,
    over_relations,
    passes_rows,
    references,
    row_by_row,
    select_items,
    sources_of,
    with_moments,
)
from rewriter.statements.uniqueness import duplicate_source_keys
from rewriter.statements.writer import Reenactment, Relations, source_query

__all__ = [
    "ROWS",
    "SINCE",
    "UNTIL",
    "Assignment",
    "Bags",
    "Clause",
    "Delete",
    "Insert",
    "Matching",
    "MergeInto",
    "Reenactment",
    "Relations",
    "Replace",
    "Statement",
    "TableColumn",
    "TableShape",
    "Truncate",
    "Update",
    "alive_at",
    "beside_source",
    "changes_of",
    "difference",
    "duplicate_source_keys",
    "hypothetical",
    "keys_of",
    "merge_changes",
    "moments_of",
    "numbered",
    "over_relations",
    "over_rows",
    "parse_statement",
    "passes_rows",
    "read_fragments",
    "reenact",
    "references",
    "rewrite_table",
    "row_by_row",
    "rows_of",
    "select_items",
    "source_query",
    "sources_of",
    "split_statements",
    "union_all",
    "with_columns",
    "with_moments",
    "within",
]
