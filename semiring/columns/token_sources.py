"""The sources of an evaluation's tokens, which are numbered together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.columns.transport import Received, Transport
from semiring.encodings.valuation import Valuation
from semiring.encodings.vocabulary import TokenScan, Vocabulary, number_tokens
from semiring.token import Token


@dataclass(frozen=True, slots=True)
class ValuedScan:
    """The tokens of a scan and their values.

    Attributes
    ----------
    scan
        Fetches the tokens.
    """

    valuation: Valuation[Any]
    scan: Callable[[], TokenScan]


@dataclass(frozen=True, slots=True)
class GivenValues:
    """Values other than the tokens themselves: the distinct ones, and the index of each row's."""

    values: list[Any]
    places: Array


@dataclass(frozen=True, slots=True)
class Numbered:
    """The tokens of all sources by number.

    Attributes
    ----------
    codes
        The tokens of sources whose tokens are their own values, row by row.
    given
        The values of the other sources.
    received
        The tokens that have travelled, in their order.
    numbers
        The tokens that occur in given values.
    vocabulary
        The tokens by number.
    """

    codes: Mapping[Hashable, Array]
    given: Mapping[Hashable, GivenValues]
    received: Mapping[Hashable, Array]
    numbers: Mapping[Token, int]
    vocabulary: Vocabulary


def number_sources(
    sources: Mapping[Hashable, ValuedScan],
    named: Callable[[Any], Iterable[Token]],
    travelled: Mapping[Hashable, pa.Array],
    transport: Transport,
) -> Numbered:
    """Number the tokens of all sources, and the tokens from other passes.

    Parameters
    ----------
    named
        Returns the tokens in a value.
    travelled
        Tokens as `transport` writes them.
    """
    scans, given = {}, {}
    for name, source in sources.items():
        scan = source.scan()
        if source.valuation.of_itself:
            scans[name] = scan
        else:
            given[name] = GivenValues(
                *source.valuation.places(scan.columns, scan.length, scan.absent)
            )
    received = {name: transport.read(tokens) for name, tokens in travelled.items()}
    named_tokens = {
        token
        for given_values in given.values()
        for value in given_values.values
        for token in named(value)
    }
    named_tokens.update(token for part in received.values() for token in part.named)
    every = [*scans.values(), *(scan for part in received.values() for scan, _ in part.scans)]
    codes, numbers, vocabulary = number_tokens(every, named_tokens)
    remaining = iter(codes)
    scanned = dict(zip(scans, remaining, strict=False))
    arrived = {name: _numbers(part, remaining, numbers) for name, part in received.items()}
    return Numbered(scanned, given, arrived, numbers, vocabulary)


def _numbers(received: Received, codes: Iterator[Array], numbers: Mapping[Token, int]) -> Array:
    """Return the numbers of tokens from other passes, given the numbers of scans and named
    tokens.
    """
    tokens = np.zeros(len(received.numbers), dtype=np.int32)
    for _, places in received.scans:
        tokens[places] = next(codes)
    there = received.numbers >= 0
    named = np.array([numbers[token] for token in received.named], dtype=np.int32)
    tokens[there] = named[received.numbers[there]]
    return tokens
