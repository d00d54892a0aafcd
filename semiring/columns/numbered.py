"""Columns of annotations over tokens, computed on the tokens' numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from semiring.base import Array, Semiring
from semiring.columns.base import Columns
from semiring.columns.token_sources import ValuedScan, number_sources
from semiring.columns.transport import Transport
from semiring.encodings.valuation import Valuation
from semiring.token import Token

V = TypeVar("V")


class NumberedColumns(Columns[V]):
    """The common base of columns of token numbers.

    Parameters
    ----------
    sources
        The sources of tokens.
    travelled
        Columns of annotations from another pass, as `sent` makes them.
    shared
        The transport of tokens.
    """

    def __init__(
        self,
        semiring: Semiring[Any],
        sources: Mapping[Hashable, ValuedScan],
        travelled: Mapping[Hashable, pa.Array] | None = None,
        shared: Transport | None = None,
    ) -> None:
        self._semiring = semiring
        self._travelled = travelled or {}
        self._transport = shared or Transport({})
        tokens = {name: self.tokens_of(column) for name, column in self._travelled.items()}
        named = partial(self.named, semiring)
        self._numbered = number_sources(sources, named, tokens, self._transport)
        self._vocabulary = self._numbered.vocabulary

    def tokens(self, source: Hashable) -> V:
        if source in self._numbered.codes:
            return self.of_tokens(self._numbered.codes[source])
        given = self._numbered.given[source]
        return self.take(self.of_values(given.values), given.places)

    def received(self, name: Hashable) -> V:
        return self.read(self._travelled[name], self._numbered.received[name])

    @staticmethod
    @abstractmethod
    def named(semiring: Any, value: Any) -> Iterable[Token]:
        """Return the tokens that an element names, with repetitions."""

    @classmethod
    def shared(
        cls,
        semiring: Semiring[Any],
        valuations: Sequence[Valuation[Any]],
        keys: Mapping[str, Sequence[pa.DataType]] | None,
    ) -> Transport | None:
        """Return the transport of tokens, which all passes share, or None if keys cannot travel."""
        return None if keys is None else Transport(keys)

    @classmethod
    def carrier(cls, shared: Transport) -> pa.DataType:
        """The type in which annotations travel."""
        return cls.carrier_of(shared.type)

    @staticmethod
    @abstractmethod
    def carrier_of(token: pa.DataType) -> pa.DataType:
        """Return the type in which annotations travel, from the type of a token."""

    @staticmethod
    @abstractmethod
    def tokens_of(column: pa.Array) -> pa.Array:
        """Return all tokens of annotations from another pass, in their order."""

    @abstractmethod
    def of_tokens(self, numbers: Array) -> V:
        """Return the tokens with some numbers, or 1 for `ABSENT`."""

    @abstractmethod
    def of_values(self, values: list[Any]) -> V:
        """Return a column of elements of the semiring."""

    @abstractmethod
    def read(self, column: pa.Array, tokens: Array) -> V:
        """Return annotations from another pass, given the numbers of their tokens."""
