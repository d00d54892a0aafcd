"""Texts of annotations over tokens, written for whole columns at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.exact import digits
from semiring.arrays.segments import bounds
from semiring.base import Array
from semiring.encodings.derivations import Derivations
from semiring.encodings.intervals import Intervals
from semiring.encodings.token_sets import TokenSets
from semiring.encodings.vocabulary import ABSENT, glue
from semiring.encodings.weights import Weights
from semiring.support.render import PRINTED_TERMS, left_out, superscript
from semiring.token import format_value


def token_sets(sets: TokenSets, absent: str) -> pa.Array:
    """Return the text of each set of tokens; `absent` for ⊥."""
    texts = _braced(_joined(sets.vocabulary.texts.take(pa.array(sets.tokens)), sets.offsets, ", "))
    return pc.if_else(pa.array(sets.present), texts, pa.scalar(absent, texts.type)).cast(
        pa.string()
    )


def weights(column: Weights) -> pa.Array:
    """Return the text of each weight with its derivatives; one Python call per distinct number."""
    tokens = glue("", "·d(", column.vocabulary.texts.take(pa.array(column.tokens)), ")")
    slopes = glue("", " + ", _doubles(column.slopes), tokens)
    texts = glue("", _doubles(column.values), _joined(slopes, column.offsets, ""))
    return texts.cast(pa.string())


def intervals(unions: Intervals) -> pa.Array:
    """Return the text of each union of intervals; one Python call per instant."""
    names = [format_value(instant) for instant in unions.instants]
    instants = pa.array(["-∞", *names, "∞"], pa.large_string())
    starts, stops = (instants.take(pa.array(ends)) for ends in (unions.starts, unions.stops))
    texts = _joined(glue("", "[", starts, ", ", stops, ")"), unions.offsets, " ∪ ")
    none = pa.array(np.diff(unions.offsets) == 0)
    return pc.if_else(none, pa.scalar("∅", texts.type), texts).cast(pa.string())


def _doubles(numbers: Array) -> pa.Array:
    # By bits, which tell -0.0 from 0.0.
    _, first, places = np.unique(numbers.view(np.int64), return_index=True, return_inverse=True)
    words = [f"{number:g}" for number in numbers[first].tolist()]
    return pa.array(words, pa.large_string()).take(pa.array(places))


def sets_of_sets(derivations: Derivations) -> pa.Array:
    """Return the text of each segment as a set of sets of tokens."""
    rows = _braced(_rows(derivations, ", "))
    return _braced(_joined(rows, derivations.offsets, ", ")).cast(pa.string())


def polynomials(derivations: Derivations, limit: int | None = PRINTED_TERMS) -> pa.Array:
    """Return the text of each segment as a polynomial of at most `limit` terms.

    It then ends with the number of omitted terms.
    """
    return sums(derivations, limit).cast(pa.string())


def sums(derivations: Derivations, limit: int | None) -> pa.Array:
    """Return texts as `polynomials` does, as large strings; None: all terms."""
    terms = np.diff(derivations.offsets)
    shown = derivations if limit is None else derivations.first(limit)
    rows, offsets = _terms(shown), shown.offsets
    more = terms - np.diff(offsets)
    long = np.flatnonzero(more)
    if len(long):
        words = [left_out(int(count)) for count in more[long]]
        rows, offsets = _appended(rows, offsets, long, pa.array(words, rows.type))
    texts = _joined(rows, offsets, " + ")
    return pc.if_else(pa.array(terms == 0), pa.scalar("0", texts.type), texts)


def _appended(
    rows: pa.Array, offsets: Array, segments: Array, more: pa.Array
) -> tuple[pa.Array, Array]:
    """Return rows with one more row at the end of some segments."""
    grown = np.zeros(len(offsets), dtype=np.int64)
    grown[segments + 1] = 1
    order = np.insert(np.arange(len(rows)), offsets[segments + 1], len(rows) + np.arange(len(more)))
    return pa.concat_arrays([rows, more]).take(pa.array(order)), offsets + np.cumsum(grown)


def _terms(derivations: Derivations) -> pa.Array:
    """Return the rows as texts of monomials with coefficients."""
    rows = _rows(derivations, "·")
    constant = pa.array((derivations.tokens == ABSENT).all(axis=1))
    coefficients = derivations.coefficients
    if coefficients is None:
        return pc.if_else(constant, pa.scalar("1", rows.type), rows)
    numbers = digits(coefficients).cast(rows.type)
    with_number = glue("·", numbers, rows)
    terms = pc.if_else(pa.array(coefficients == 1, pa.bool_()), rows, with_number)
    return pc.if_else(constant, numbers, terms)


def _rows(derivations: Derivations, separator: str) -> pa.Array:
    """Return the tokens of every row as joined texts, with powers if there are exponents."""
    present = derivations.tokens != ABSENT
    texts = derivations.vocabulary.texts.take(pa.array(derivations.tokens[present]))
    if derivations.exponents is not None:
        powers_used, places = np.unique(derivations.exponents[present], return_inverse=True)
        powers = pa.array([superscript(int(n)) for n in powers_used], texts.type)
        texts = glue("", texts, powers.take(pa.array(places)))
    return _joined(texts, bounds(present.sum(axis=1)), separator)


def _joined(texts: pa.Array, offsets: Array, separator: str) -> pa.Array:
    """Return the texts of each segment, joined."""
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), texts)
    return pc.binary_join(lists, pa.scalar(separator, texts.type))


def _braced(texts: pa.Array) -> pa.Array:
    return glue("", "{", texts, "}")
