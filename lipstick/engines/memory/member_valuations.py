"""The tokens of members, under their valuations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import tokens
from lipstick.tracking.naming import stored_key
from semiring.base import Array
from semiring.columns import Source
from semiring.token import Token
from semiring.valuation import Valuation
from semiring.vocabulary import TokenScan


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


def _scan(members: Members, number: int, positions: Array) -> TokenScan:
    token = members.block.tokens[number]
    assert members.dataset is not None
    columns = [members.dataset.take(name, positions) for name in token.columns]
    absent = members.tokens.index(number).absent
    mask = None if absent is None else absent[positions]
    return TokenScan(token.relation, columns, len(positions), mask)


def token_values(
    engine: Engine, valuations: Mapping[str, Valuation[Any]]
) -> Callable[[Token], Any]:
    """The values of tokens as they are shown."""
    kinds: dict[str, list[pa.DataType]] = {}
    for name in valuations:
        kinds[name] = [field.type for field in tokens(engine, name).schema]

    def value(token: Token) -> Any:
        naming = engine.manifest.relations[token.relation].naming
        key = stored_key(naming, token.key)
        pairs = zip(key, kinds[token.relation], strict=True)
        element = valuations[token.relation].lookup([pa.array([k], kind) for k, kind in pairs], 1)
        return valuations[token.relation].semiring.unpack(element)[0]

    return value
