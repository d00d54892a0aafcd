"""The tokens of members, under their valuations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from lipstick.memory.members import Members
from semiring.base import Array
from semiring.columns import Source
from semiring.valuation import Valuation
from semiring.vocabulary import Scan


def sources_of(
    members: Members, positions: Array, valuations: Mapping[str, Valuation[Any]]
) -> dict[Hashable, Source]:
    """The tokens of some members, by block and number of the scan, without tokens valued 1."""
    return {
        (members.block.name, number): Source(
            valuations[token.relation], partial(_scan, members, number, positions)
        )
        for number, token in enumerate(members.block.tokens)
        if not valuations[token.relation].constant_one
    }


def _scan(members: Members, number: int, positions: Array) -> Scan:
    token = members.block.tokens[number]
    assert members.dataset is not None
    columns = [members.dataset.take(name, positions) for name in token.columns]
    absent = members.token(number).absent
    mask = None if absent is None else absent[positions]
    return Scan(token.relation, columns, len(positions), mask)
