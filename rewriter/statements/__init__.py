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
    column_names,
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
from rewriter.statements.nulls import doubtful_removal
from rewriter.statements.parser import (
    parse_statement,
    read_fragments,
    split_statements,
    statement_to_run,
)
from rewriter.statements.reenact import reenact
from rewriter.statements.scope import (
    beside_source,
    check_repeatable,
    dotted,
    is_whole,
    moments_of,
    names_read,
    over_relations,
    passes_rows,
    references,
    row_by_row,
    select_items,
    sources_of,
    variables_of,
    with_queries,
)
from rewriter.statements.templates import VIEW
from rewriter.statements.uniqueness import duplicate_source_keys, is_monotone
from rewriter.statements.writer import (
    Reenactment,
    Relations,
    is_by_place,
    source_query,
    with_places,
)

__all__ = [
    "ROWS",
    "SINCE",
    "UNTIL",
    "VIEW",
    "Bags",
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
    "check_repeatable",
    "column_names",
    "difference",
    "dotted",
    "doubtful_removal",
    "duplicate_source_keys",
    "hypothetical",
    "is_by_place",
    "is_monotone",
    "is_whole",
    "keys_of",
    "merge_changes",
    "moments_of",
    "names_read",
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
    "statement_to_run",
    "union_all",
    "variables_of",
    "with_columns",
    "with_places",
    "with_queries",
    "within",
]
