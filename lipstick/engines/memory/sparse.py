"""Annotations of groups whose members are mostly 1, at the cost of the valued tokens alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_valuations import sources_of
from lipstick.engines.memory.places import NOTHING
from rewriter.emit import MEMBERS
from semiring.base import Array, Semiring
from semiring.columns import Columns, columns_of
from semiring.folds import group
from semiring.valuation import Valuation

_DENSE = 8
"""The least number of members per valued token at which members are found by their tokens."""


def sparse(
    rows: GroupRows,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    groups: Array,
) -> tuple[Columns[Any], Any] | None:
    """Return the annotations of groups whose members are mostly 1, and their operations.

    The other members are found by an index of tokens. None where most are not known to be 1, or
    the annotations are not δ of the sums of products of the members' own tokens.
    """
    members = rows.members
    if not rows.block.keys or not members.alone or rows.block.difference is not None:
        return None
    assert members.dataset is not None
    named = [NOTHING]
    for number, token in enumerate(members.block.tokens):
        valuation = valuations[token.relation]
        if valuation.constant_one:
            continue
        kinds = [members.dataset.type(name) for name in token.columns]
        keys = valuation.exceptions(kinds)
        if keys is None or _DENSE * len(keys[0]) > members.count:
            return None
        named.append(members.tokens.index(number).pairs(keys)[0])
    touched = np.unique(np.concatenate(named))
    sources = sources_of(members, touched, valuations)
    columns = columns_of(semiring, sources)
    values = columns.product([columns.tokens(name) for name in sources], len(touched))
    moved = rows.grouping.moved(touched)
    order, offsets = group(moved.groups, rows.base.size)
    places = np.searchsorted(touched, moved.members)
    sums = columns.fold(columns.take(values, places if order is None else places[order]), offsets)
    counts = rows.stored(MEMBERS, groups)
    assert counts is not None
    of_ones = counts.to_numpy(zero_copy_only=False) - np.diff(offsets)[groups]
    total = columns.plus(columns.repeat(of_ones), columns.take(sums, groups), len(groups))
    return columns, columns.delta(total)
