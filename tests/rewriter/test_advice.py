"""What a refusal advises can be followed: the query that it advises is understood."""

from __future__ import annotations

import pytest

from rewriter.emit.statements import rewritten_sql
from rewriter.errors import QueryError
from tests.rewriter.advised import Refused, refused

NO_QUERY = {
    # A relation is to be tracked: its rows are stored first, or it has a key.
    "bind/untracked",
    "bind/generator in condition",
    "bind/pivot in from of nothing",
    "bind/input file name",
    "bind/recursive distinct",
    "bind/recursive limited",
    "bind/recursive random",
    "bind/table function",
    "bind/version",
    "lower/limit without provenance, refused",
    "lower/table function of aggregate",
    "lower/table function of generated",
    "lower/union without provenance",
    "lower/grouping of except all and constants",
    "lower/draw of aggregates",
    "lower/draw of one group",
    "lower/draw without from",
    "lower/draw without provenance",
    "lower/random part by aggregates",
    # A view is to be defined anew.
    "bind/cyclic view",
    "bind/view not understood",
    # Something else than a query is to be given.
    "bind/parameter without value",
    "bind/table argument not registered",
}
"""Refusals whose advice is not a query."""


def test_every_refusal_has_an_advised_query_or_advises_none() -> None:
    refusals = refused()
    assert len(refusals) > 140
    assert {str(refusal) for refusal in refusals if refusal.advised is None} == NO_QUERY


@pytest.mark.parametrize("refusal", [refusal for refusal in refused() if refusal.advised], ids=str)
def test_what_is_advised_is_understood(refusal: Refused) -> None:
    """The query itself is refused; the advised one is bound, lowered and emitted."""
    assert refusal.advised is not None
    with pytest.raises(QueryError):
        refusal.blocks(refusal.query)
    assert rewritten_sql(refusal.blocks(refusal.advised))
