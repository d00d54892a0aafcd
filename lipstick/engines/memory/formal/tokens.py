"""The tokens of a capture by number, whose gates are the leaves of its circuit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import tokens
from lipstick.tracking.naming import shown_key, stored_key
from semiring.arrays.key_index import KeyIndex
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array, Semiring
from semiring.columns import Columns, ValuedScan, columns_of
from semiring.encodings.valuation import Valuation
from semiring.encodings.vocabulary import TokenScan, number_tokens
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Expressions
from semiring.token import Token

Annotation: TypeAlias = Polynomial | Expression

ALGEBRA = Expressions()


class TokenNumbers:
    """The tokens of all relations, numbered in their order."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        names = sorted(name for name, r in engine.manifest.relations.items() if r.token)
        parts = [_Keys(engine, name) for name in names]
        self._names = names
        self._starts = bounds(np.array([len(part) for part in parts], dtype=np.int64))
        self._parts = dict(zip(names, parts, strict=True))

    def __len__(self) -> int:
        return int(self._starts[-1])

    def of_members(self, members: Members, number: int, chosen: Array) -> Array:
        """Return the numbers of members' tokens in one scan; -1 for members without."""
        token = members.block.tokens[number]
        assert members.dataset is not None
        columns = [members.dataset.take(name, chosen) for name in token.columns]
        start = self._starts[self._names.index(token.relation)]
        numbers = start + self._parts[token.relation].numbers(columns, len(chosen))
        absent = members.tokens.index(number).absent
        return numbers if absent is None else np.where(absent[chosen], -1, numbers)

    def scans(self, numbers: Array) -> list[TokenScan]:
        """Return the keys of tokens with ascending numbers, by relation."""
        places = np.searchsorted(numbers, self._starts).tolist()
        scans = []
        for number, (start, stop) in enumerate(pairwise(places)):
            name, first = self._names[number], self._starts[number]
            part = self._parts[name]
            columns = part.columns
            if stop - start < len(part):
                chosen = pa.array(numbers[start:stop] - first)
                columns = [column.take(chosen) for column in columns]
            scans.append(TokenScan(name, columns, stop - start))
        return scans

    def number(self, token: Token) -> int:
        """Return the number of a token."""
        part = self._parts[token.relation]
        key = stored_key(self._engine.manifest.relations[token.relation].naming, token.key)
        columns = [
            pa.array([value], column.type) for value, column in zip(key, part.columns, strict=True)
        ]
        start = self._starts[self._names.index(token.relation)]
        return int(start + part.numbers(columns, 1)[0])

    def tokens(self, numbers: Array) -> list[Token]:
        """Return the tokens with some numbers."""
        named: list[Token] = []
        relations = np.searchsorted(self._starts, numbers, side="right") - 1
        order = np.argsort(relations, kind="stable")
        for relation in ascending(relations).tolist():
            name = self._names[relation]
            own = numbers[order][relations[order] == relation] - self._starts[relation]
            naming = self._engine.manifest.relations[name].naming
            keys = self._parts[name].keys(own)
            named += [Token(name, shown_key(naming, key)) for key in keys]
        back = np.argsort(order, kind="stable").tolist()
        return [named[place] for place in back]


@dataclass(frozen=True, eq=False)
class ValuedTokens:
    """The values of tokens in a semiring, by valuations; see
    :class:`semiring.circuit.evaluation.TokenValues`."""

    tokens: TokenNumbers
    semiring: Semiring[Any]
    valuations: Mapping[str, Valuation[Any]]

    def columns(self, numbers: Array) -> tuple[Columns[Any], Any]:
        """Return the operations of the semiring on columns, and the values of some tokens as
        one.
        """
        scans = {scan.relation: scan for scan in self.tokens.scans(numbers)}
        sources: dict[Hashable, ValuedScan] = {
            name: ValuedScan(valuation, partial(scans.__getitem__, name))
            for name, valuation in self.valuations.items()
            if name in scans and not valuation.constant_one
        }
        columns = columns_of(self.semiring, sources)
        parts = [
            columns.tokens(name) if name in sources else columns.ones(scan.length)
            for name, scan in scans.items()
        ]
        return columns, columns.concatenate(parts) if parts else columns.zeros(0)

    def elements(self, numbers: Array) -> Array:
        """Return the values of tokens with ascending numbers, as an array of elements."""
        parts = (
            self.valuations[scan.relation].lookup(scan.columns, scan.length)
            for scan in self.tokens.scans(numbers)
        )
        return np.concatenate([self.semiring.zeros(0), *parts])

    def of(self, token: Token) -> Any:
        """Return the value of a token."""
        number = np.array([self.tokens.number(token)])
        return self.semiring.unpack(self.elements(number))[0]


class _Keys:
    """The keys of one relation's tuples, in the order of tokens."""

    def __init__(self, engine: Engine, relation: str) -> None:
        table = tokens(engine, relation)
        columns = [column.combine_chunks() for column in table.columns]
        self._index: KeyIndex | None = None
        self._places: dict[Token, int] = {}
        self._relation = relation
        if any(pa.types.is_nested(column.type) for column in columns):
            keys = zip(*(column.to_pylist() for column in columns), strict=True)
            named = [Token(relation, key) for key in keys]
            order = sorted(range(len(named)), key=lambda place: named[place].sort_key)
            self._places = {named[place]: rank for rank, place in enumerate(order)}
        else:
            (codes,), _, _ = number_tokens([TokenScan(relation, columns, table.num_rows)])
            order = np.argsort(codes, kind="stable").tolist()
        self.columns = [column.take(pa.array(order, pa.int64())) for column in columns]

    def __len__(self) -> int:
        return len(self.columns[0])

    def numbers(self, columns: Sequence[pa.Array], length: int) -> Array:
        """Return the positions of some keys."""
        if self._places:
            keys = zip(*(column.to_pylist() for column in columns), strict=True)
            # Members that lack the tuple have no place here.
            found = [self._places.get(Token(self._relation, key), -1) for key in keys]
            return np.array(found, dtype=np.int64)
        if self._index is None:
            self._index = KeyIndex(self.columns)
        return self._index.find(columns, length)

    def keys(self, places: Array) -> list[tuple[object, ...]]:
        """Return the keys at some positions."""
        chosen = pa.array(places)
        return list(zip(*(column.take(chosen).to_pylist() for column in self.columns), strict=True))
