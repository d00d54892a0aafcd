"""What a refusal advises can be followed: the query that it advises is understood."""

from __future__ import annotations

import pytest

from rewriter.emit.statements import rewritten_sql
from rewriter.errors import QueryError
from tests.rewriter.advised import Refused, refused

NO_QUERY = {
    # A relation is to be tracked: its rows are stored first, or it has a key.
    "bind/error_untracked",
    "bind/generator_in_condition",
    "bind/pivot_in_from_of_nothing",
    "bind/refuse_input_file_name",
    "bind/refuse_recursive_distinct",
    "bind/refuse_recursive_limited",
    "bind/refuse_recursive_random",
    "bind/refuse_table_function",
    "bind/refuse_version",
    "lower/error_limit_without_provenance",
    "lower/error_table_function_of_aggregate",
    "lower/error_table_function_of_generated",
    "lower/error_union_without_provenance",
    "lower/grouping_of_except_all_and_constants",
    "lower/refuse_draw_of_aggregates",
    "lower/refuse_draw_of_one_group",
    "lower/refuse_draw_without_from",
    "lower/refuse_draw_without_provenance",
    "lower/refuse_random_part_by_aggregates",
    # A view is to be defined anew.
    "bind/error_cyclic_view",
    "bind/view_not_understood",
    # Something else than a query is to be given.
    "bind/error_parameter_without_value",
    "bind/refuse_table_argument_not_registered",
}
"""Refusals whose advice is not a query."""


def test_every_refusal_has_an_advised_query_or_advises_none() -> None:
    found = refused()
    assert len(found) > 140
    assert {str(one) for one in found if one.advised is None} == NO_QUERY


@pytest.mark.parametrize("one", [one for one in refused() if one.advised], ids=str)
def test_what_is_advised_is_understood(one: Refused) -> None:
    """The query itself is refused; the advised one is bound, lowered and emitted."""
    assert one.advised is not None
    with pytest.raises(QueryError):
        one.blocks(one.query)
    assert rewritten_sql(one.blocks(one.advised))
