"""LIMIT and OFFSET as factors: how many of the rows that come before are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.formal.algebra import ALGEBRA, Annotation
from lipstick.engines.memory.formal.functions import typed
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.precedence import Precedes
from lipstick.engines.memory.state import SORT
from lipstick.engines.memory.store import every
from rewriter.analysis.conditional import conditional
from rewriter.blocks import Block
from semiring.analysis.most import most
from semiring.base import Array
from semiring.expression import compare, condition, simplify
from semiring.monoid import COUNT
from semiring.render import REPR_TERMS
from semiring.tensor import Tensor
from semiring.value import Operand, Value, called
from semiring.values import applied

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal

_NAMED = 3
"""So many rows before another one, and terms of its sort keys, are named in a text."""

_KEPT = 200_000
"""Blocks of more rows are not sorted as formal rows."""


class Cuts:
    """The factors of tuples of blocks with LIMIT or OFFSET."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._sorted: dict[str, _Sorted] = {}

    def factors(self, name: str, positions: Array) -> list[Annotation]:
        """[k < offset + limit]·[k >= offset] for some tuples, where k counts the rows before."""
        engine = self._formal.engine
        if not conditional(engine.root) and engine.base(name).present[positions].all():
            # No deletion cuts what is shown now: rows need not be sorted to tell.
            return [ALGEBRA.one] * len(positions)
        if name not in self._sorted:
            self._sorted[name] = _Sorted(self._formal, name)
        ordered = self._sorted[name]
        return [ordered.factor(int(position)) for position in positions]


class RowsBefore(Tensor):
    """The number of rows before one of some sort keys: a COUNT, whose text names the keys alone.

    ``truncated(None)`` has all of the rows, as ``terms`` has.
    """

    __slots__ = ("_sort_keys",)
    _sort_keys: tuple[Operand, ...]

    def __init__(
        self, terms: Iterable[tuple[Annotation, Any]], keys: Sequence[Operand] = ()
    ) -> None:
        super().__init__(COUNT, terms)
        object.__setattr__(self, "_sort_keys", tuple(keys))

    def __reduce__(self) -> tuple[Any, ...]:
        return (RowsBefore, (self.terms, self._sort_keys))

    def called(self, limit: int | None = REPR_TERMS) -> str:
        rows = len(self.simple_tensors)
        if limit is None or rows <= _NAMED:
            return super().called(limit)
        keys = ", ".join(called(key, _NAMED) for key in self._sort_keys)
        return f"rows before ({keys}) among {rows:,}"


class _Sorted:
    """The rows of a block, before LIMIT cuts them, in its order as far as that is known."""

    def __init__(self, formal: Formal, name: str) -> None:
        self._formal = formal
        self._block: Block = formal.engine.blocks[name]
        size = formal.domains.size(name)
        if size > _KEPT:
            raise too_many(f"LIMIT cuts {size:,} rows of {name}")
        places = every(size)
        sorting = [
            (f"{SORT}{n}", k.descending, k.nulls_first) for n, k in enumerate(self._block.order)
        ]
        sorting += [(column, False, True) for column in self._block.tie_break]
        self._columns = [formal.columns.column(name, column, places) for column, _, _ in sorting]
        self._types = [formal.columns.type(name, column) for column, _, _ in sorting]
        self._directions = [(descending, nulls_first) for _, descending, nulls_first in sorting]
        if not self._block.unique_identity:
            # Rows that are equal in all of this come in the order of their positions.
            self._columns.append(places.tolist())
            self._types.append(pa.int64())
            self._directions.append((False, True))
        self._formal_order = any(isinstance(v, Value) for column in self._columns for v in column)
        if self._formal_order:
            if size > MOST:
                raise too_many(f"LIMIT cuts {size:,} rows of {name} in an order that may change")
            self._annotations = formal.tuples.uncut(name, places)
            self._rows: list[tuple[Operand, ...]] = list(zip(*self._columns, strict=True))
            return
        keys = [
            order.Key(typed(column, kind), descending, nulls_first)
            for column, kind, (descending, nulls_first) in zip(
                self._columns, self._types, self._directions, strict=True
            )
        ]
        self._order = order.order(keys, size)
        self._place = np.empty(size, dtype=np.int64)
        self._place[self._order] = places

    def factor(self, position: int) -> Annotation:
        """The factor of one tuple."""
        limit = self._block.limit
        known = not (self._formal_order or self._block.offset)
        if known and limit is not None and self._place[position] < limit:
            # The first rows are in the answer in every world in which they are there.
            return ALGEBRA.one
        earlier = self._before(position)
        own_keys = [column[position] for column in self._columns[: len(self._block.order)]]
        before = RowsBefore([(k, 1) for k in earlier], own_keys)
        factor: Annotation = ALGEBRA.one
        stop = None if limit is None else self._block.offset + limit
        if stop is not None and sum(map(most, earlier)) >= stop:
            factor = simplify(compare("<", before, stop))
        if self._block.offset:
            factor = ALGEBRA.times(factor, simplify(compare(">=", before, self._block.offset)))
        return factor

    def _before(self, position: int) -> list[Annotation]:
        """That rows are there and come before a tuple."""
        name = self._block.name
        if not self._formal_order:
            rank = int(self._place[position])
            if rank > MOST:
                raise too_many(f"LIMIT of {name} looks at {rank:,} rows before a row")
            return self._formal.tuples.uncut(name, self._order[:rank])
        precedes = Precedes(self._directions, self._types)
        own_keys = self._rows[position]
        earlier = []
        for rank, (annotation, row) in enumerate(zip(self._annotations, self._rows, strict=True)):
            if rank != position and not annotation.is_zero:
                before = condition(applied(precedes, [*row, *own_keys]))
                earlier.append(ALGEBRA.times(annotation, simplify(before)))
        return earlier
