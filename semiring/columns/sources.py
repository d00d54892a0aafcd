"""Where the tokens of an evaluation come from, numbered all at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from semiring.base import Array
from semiring.token import Token
from semiring.valuation import Valuation
from semiring.vocabulary import Scan, number_tokens


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens of a scan and their values.

    Attributes
    ----------
    scan
        Fetches the tokens.
    """

    valuation: Valuation[Any]
    scan: Callable[[], Scan]


@dataclass(frozen=True, slots=True)
class Given:
    """Values other than the tokens themselves: a few, and for each row the place of its own."""

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
    numbers
        The tokens that occur in given values.
    texts
        By number, the token's text, as large strings.
    """

    codes: Mapping[Hashable, Array]
    given: Mapping[Hashable, Given]
    numbers: Mapping[Token, int]
    texts: pa.Array


def number_sources(
    sources: Mapping[Hashable, Source], tokens_in: Callable[[Any], Iterable[Token]]
) -> Numbered:
    """Number the tokens of all sources, and those that `tokens_in` finds in given values."""
    scans, given = {}, {}
    for name, source in sources.items():
        scan = source.scan()
        if source.valuation.of_itself:
            scans[name] = scan
        else:
            given[name] = Given(*source.valuation.places(scan.columns, scan.length, scan.absent))
    named = {token for one in given.values() for value in one.values for token in tokens_in(value)}
    codes, numbers, texts = number_tokens(list(scans.values()), named)
    return Numbered(dict(zip(scans, codes, strict=True)), given, numbers, texts)
