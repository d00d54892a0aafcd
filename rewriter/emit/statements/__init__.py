"""The SQL statements of a session, as text, for captures and answers.

Everything here is a composition of :mod:`rewriter.emit`; callers name the views that hold captured
members and deleted tokens.
"""

from __future__ import annotations

from rewriter.emit.statements.capture import (
    BEFORE,
    Groups,
    LevelDerivations,
    answer_sql,
    asked_groups_sql,
    comparisons_sql,
    concerned,
    contributions_sql,
    dataset_types_sql,
    derivations,
    extents_sql,
    hypothetical_sql,
    kept_groups_sql,
    lookup_sql,
    members_from_sources_sql,
    members_sql,
    partitions_sql,
    plain_sql,
    potential_sql,
    rewritten_sql,
    rows_sql,
    supporting_aggregates,
)

__all__ = [
    "BEFORE",
    "Groups",
    "LevelDerivations",
    "answer_sql",
    "asked_groups_sql",
    "comparisons_sql",
    "concerned",
    "contributions_sql",
    "dataset_types_sql",
    "derivations",
    "extents_sql",
    "hypothetical_sql",
    "kept_groups_sql",
    "lookup_sql",
    "members_from_sources_sql",
    "members_sql",
    "partitions_sql",
    "plain_sql",
    "potential_sql",
    "rewritten_sql",
    "rows_sql",
    "supporting_aggregates",
]
