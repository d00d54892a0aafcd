"""Annotations and tensors as formal expressions, for the rows that somebody looks at.

Members are handled one by one here: what is made are Python objects to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.errors import CaptureError
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.members import Members
from lipstick.memory.reach import Referred, members_of, references
from lipstick.memory.state import needs_spark
from lipstick.memory.store import every
from lipstick.memory.unions import UnionRows
from lipstick.memory.window_rows import WindowRows
from lipstick.tracking import ROW_BITS
from rewriter.blocks import GROUP, Block, Kind
from rewriter.emit import dependent
from rewriter.interpret import (
    AggregateCall,
    Comparison,
    Interpreted,
    UninterpretableError,
    comparison,
    interpret,
)
from semiring.base import Array
from semiring.expression import Expression
from semiring.monoid import Monoid, divide_decimal
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Expressions
from semiring.tensor import Tensor
from semiring.token import Token

Annotation: TypeAlias = Polynomial | Expression

Side: TypeAlias = Callable[[Array], list[Any]]
"""Operands of a comparison, values or tensors, for some members or groups."""

Factor: TypeAlias = tuple[str, Side, Side]
"""A comparison: its operator and operands."""

_ALGEBRA = Expressions()


class Symbolic:
    """Formal annotations of the tuples of every block, each made once.

    A comparison of an aggregate with an aggregate or with a value is a factor [a op b] with its
    tensors. Other conditions on aggregated values (of arithmetic over aggregates, OR, LIKE...) have
    no formal counterpart: they are left out, and with them the members they do not hold for. So is
    the condition that an aggregated value is the one that its tuple is grouped or matched by.
    An aggregate over a window has a tensor as one of a group; ROW_NUMBER and RANK count.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tuples: dict[str, dict[int, Annotation]] = {}
        self._members: dict[str, dict[int, Annotation]] = {}
        self._tensors: dict[tuple[str, str], dict[int, Tensor]] = {}
        self._factors: dict[str, tuple[list[Factor], bool]] = {}

    # -- tuples ----------------------------------------------------------------------------

    def tuples(self, name: str, positions: Array) -> list[Annotation]:
        """The annotations of tuples of a block."""
        known = self._tuples.setdefault(name, {})
        new = np.unique(positions[[int(p) not in known for p in positions]])
        if len(new):
            known.update(zip(new.tolist(), self._make(name, new), strict=True))
        return [known[int(position)] for position in positions]

    def _make(self, name: str, positions: Array) -> list[Annotation]:
        rows = self._engine.rows(name)
        if isinstance(rows, UnionRows):
            branches, inside = rows.places(rows.context)
            found = []
            for position in positions:
                branch = rows.block.branches[int(branches[position])].name
                found += self.tuples(branch, inside[position : position + 1])
            return found
        if not isinstance(rows, GroupRows):
            return self.members(name, positions)
        if rows.block.difference is not None:
            return self._differences(rows, positions)
        if rows.block.keys:
            members, owners = self._of_groups(rows, positions)
            annotations = self.members(name, members)
            sums = (_ALGEBRA.sum(annotations[a:b]) for a, b in _segments(owners, positions))
            found = [_ALGEBRA.delta(total) for total in sums]
        else:
            found = [_ALGEBRA.one] * len(positions)
        for condition in rows.block.having:
            factor = self._comparison(comparison(condition), self._group_side, rows.block)
            if factor is not None:
                found = _times(found, _compared(factor, positions))
        return found

    def _differences(self, rows: GroupRows, positions: Array) -> list[Annotation]:
        """The differences of the sums of two sides' members, of EXCEPT ALL and INTERSECT ALL."""
        difference = rows.block.difference
        assert difference is not None
        members, owners = self._of_groups(rows, positions)
        annotations, sides = self.members(rows.block.name, members), rows.sides(members)
        found = []
        for start, stop in _segments(owners, positions):
            mine = list(zip(annotations[start:stop], sides[start:stop], strict=True))
            left, right = (_ALGEBRA.sum([k for k, at in mine if at == side]) for side in (0, 1))
            less = _ALGEBRA.monus(left, right)
            found.append(_ALGEBRA.monus(left, less) if difference.common else less)
        return found

    def _of_groups(self, rows: GroupRows, positions: Array) -> tuple[Array, Array]:
        members, owners = rows.members_of(positions)
        eligible = self._eligible(rows.members, members)
        return members[eligible], owners[eligible]

    def _eligible(self, members: Members, chosen: Array) -> Array:
        """The members that may occur: where conditions are factors, also those not there now."""
        if members.base_alive is None:
            return np.ones(len(chosen), dtype=np.bool_)
        if not self._conditions(members)[1]:
            return members.base_alive[chosen]
        return members.possible(chosen)

    # -- members ---------------------------------------------------------------------------

    def members(self, name: str, chosen: Array) -> list[Annotation]:
        """The annotations of members of a block: the products of their factors."""
        known = self._members.setdefault(name, {})
        new = np.unique(chosen[[int(p) not in known for p in chosen]])
        if len(new):
            known.update(zip(new.tolist(), self._make_members(name, new), strict=True))
        return [known[int(position)] for position in chosen]

    def _make_members(self, name: str, chosen: Array) -> list[Annotation]:
        members = members_of(self._engine.rows(name))
        assert members is not None
        found: list[Annotation] = [_ALGEBRA.one] * len(chosen)
        for number in range(len(members.block.tokens)):
            found = _times(found, self._tokens(members, number, chosen))
        for referred in references(members, chosen):
            found = _times(found, self._referred(referred))
        for factor in self._conditions(members)[0]:
            found = _times(found, _compared(factor, chosen))
        for place in np.flatnonzero(~members.fixed(chosen)):
            found[place] = _ALGEBRA.zero
        return found

    def _referred(self, referred: Referred) -> list[Annotation]:
        """The factors that are annotations of tuples of another block."""
        there = np.flatnonzero(referred.positions >= 0)
        inner = self.tuples(referred.block, referred.positions[there])
        if referred.negated:
            inner = [_ALGEBRA.monus(_ALGEBRA.one, _ALGEBRA.delta(found)) for found in inner]
        elif referred.membership:
            inner = [_ALGEBRA.delta(found) for found in inner]
        found: list[Annotation] = [_ALGEBRA.one] * len(referred.positions)
        for place, annotation in zip(there.tolist(), inner, strict=True):
            found[place] = annotation
        return found

    def _tokens(self, members: Members, number: int, chosen: Array) -> list[Annotation]:
        token = members.block.tokens[number]
        assert members.dataset is not None
        columns = [members.dataset.take(name, chosen).to_pylist() for name in token.columns]
        absent = members.token(number).absent
        naming = self._engine.manifest.relations[token.relation].naming
        found: list[Annotation] = []
        for place, key in enumerate(zip(*columns, strict=True)):
            if absent is not None and absent[chosen[place]]:
                found.append(_ALGEBRA.one)
            else:
                found.append(Polynomial.token(Token(token.relation, _shown(naming, key))))
        return found

    # -- comparisons -----------------------------------------------------------------------

    def _conditions(self, members: Members) -> tuple[list[Factor], bool]:
        """The conditions of members that are factors, and whether all that may change are."""
        block = members.block
        if block.name not in self._factors:
            found = [
                self._comparison(comparison(condition), self._member_side, block)
                for condition in block.conditions
                if dependent(condition, block)
            ]
            factors = [factor for factor in found if factor is not None]
            self._factors[block.name] = factors, len(factors) == len(found)
        return self._factors[block.name]

    def _comparison(
        self,
        found: Comparison | None,
        side: Callable[[Block, Interpreted], Side | None],
        block: Block,
    ) -> Factor | None:
        if found is None:
            return None
        left, right = side(block, found.left), side(block, found.right)
        return None if left is None or right is None else (found.op, left, right)

    def _group_side(self, block: Block, scalar: Interpreted) -> Side | None:
        rows = self._engine.rows(block.name)
        assert isinstance(rows, GroupRows)
        if scalar.column is not None and scalar.column[0] == GROUP:
            name = scalar.column[1]
            if name in dict(block.keys):
                return lambda positions: rows.base.take(name, positions).to_pylist()
            if rows.calls[name].function is not None:
                return lambda positions: self.tensors(block.name, name, positions)
            return None
        return self._scalar_side(block, scalar) or _constant_side(scalar)

    def _member_side(self, block: Block, scalar: Interpreted) -> Side | None:
        members = members_of(self._engine.rows(block.name))
        assert members is not None
        if members.is_stable(scalar) and scalar.columns:
            return lambda chosen: _evaluated(members, scalar, chosen)
        for lookup in members.lookups:
            aggregate = self._aggregate(lookup.block, lookup.alias, scalar)
            if aggregate is not None:
                return lambda chosen: self.tensors(
                    lookup.block.name, aggregate, members.refer(lookup, chosen)
                )
        return self._scalar_side(block, scalar) or _constant_side(scalar)

    def _scalar_side(self, block: Block, scalar: Interpreted) -> Side | None:
        """A scalar subquery that is an aggregate without GROUP BY."""
        for lookup in block.lookups:
            if not lookup.scalar or lookup.block.keys or lookup.block.limited:
                continue
            aggregate = self._aggregate(lookup.block, lookup.alias, scalar)
            if aggregate is not None and not lookup.block.having:
                inner, zero = lookup.block.name, np.zeros(1, dtype=np.int64)
                return lambda chosen: self.tensors(inner, aggregate, zero) * len(chosen)
        return None

    def _aggregate(self, block: Block, alias: str, scalar: Interpreted) -> str | None:
        """The aggregate of a block that a scalar is, read through an alias."""
        if scalar.column is None or scalar.column[0] != alias:
            return None
        rows = self._engine.rows(block.name)
        if isinstance(rows, WindowRows):
            name = scalar.column[1]
            known = rows.aggregated(name) is not None and rows.follows_deletions(name)
            return name if known else None
        if block.kind is not Kind.GROUP:
            return None
        outputs = {output.name: interpret(output.scalar).column for output in block.outputs}
        assert isinstance(rows, GroupRows)
        found = outputs.get(scalar.column[1])
        if found is None or found[0] != GROUP or found[1] not in rows.calls:
            return None
        return found[1] if rows.calls[found[1]].function is not None else None

    # -- tensors ---------------------------------------------------------------------------

    def tensors(self, name: str, aggregate: str, positions: Array) -> list[Any]:
        """The tensors of an aggregate of some groups, or over the windows of some rows.

        Raises
        ------
        CaptureError
            When values are not in the capture, or only Spark can compute them.
        """
        known = self._tensors.setdefault((name, aggregate), {})
        new = np.unique(positions[[int(p) not in known for p in positions]])
        if len(new):
            known.update(zip(new.tolist(), self._make_tensors(name, aggregate, new), strict=True))
        return [known[int(position)] for position in positions]

    def _make_tensors(self, name: str, aggregate: str, positions: Array) -> list[Tensor]:
        rows = self._engine.rows(name)
        if isinstance(rows, WindowRows):
            over = rows.aggregated(aggregate)
            assert over is not None
            call, kind = over, rows.type(aggregate)
            members, owners = rows.seen(aggregate, positions, self._windowed(rows, aggregate))
        else:
            assert isinstance(rows, GroupRows)
            call, kind = rows.calls[aggregate], rows.type(aggregate)
            members, owners = self._of_groups(rows, positions)
        annotations = self.members(name, members)
        values = _arguments(rows.members, call, members)
        monoid = _monoid(call, kind)
        found = []
        for start, stop in _segments(owners, positions):
            terms = zip(annotations[start:stop], values[start:stop], strict=True)
            tensor = Tensor(monoid, terms)
            if call.distinct:
                tensor = Tensor(monoid, ((_ALGEBRA.delta(k), v) for k, v in tensor.terms))
            found.append(tensor)
        return found

    def _windowed(self, rows: WindowRows, aggregate: str) -> Array:
        """The rows that a window is over: those too that may appear, where they are factors."""
        if not rows.follows_deletions(aggregate):
            return np.flatnonzero(rows.base_present())
        return np.flatnonzero(self._eligible(rows.members, every(rows.members.count)))


def _arguments(members: Members, call: AggregateCall, chosen: Array) -> list[Any]:
    if not call.arguments:
        return [1] * len(chosen)
    columns = [_evaluated(members, argument, chosen) for argument in call.arguments]
    if len(columns) == 1:
        return columns[0]
    tuples = zip(*columns, strict=True)
    return [None if None in values else values for values in tuples]


def _evaluated(members: Members, scalar: Interpreted, chosen: Array) -> list[Any]:
    try:
        vector = scalar.evaluate(members.resolve(chosen, members.base))
    except UninterpretableError as error:
        raise needs_spark(str(error)) from error
    values: list[Any] = vector.to_arrow(len(chosen)).to_pylist()
    return values


def _constant_side(scalar: Interpreted) -> Side | None:
    if scalar.columns or scalar.run is None:
        return None

    def column(alias: str, name: str) -> Any:
        raise CaptureError(f"{scalar.text} reads {alias}.{name}")

    try:
        value = scalar.evaluate(column).to_arrow(1)[0].as_py()
    except UninterpretableError:
        return None
    return lambda chosen: [value] * len(chosen)


def _compared(factor: Factor, chosen: Array) -> list[Annotation]:
    op, left, right = factor
    pairs = zip(left(chosen), right(chosen), strict=True)
    return [_ALGEBRA.compare(op, a, b) for a, b in pairs]


def _times(a: Sequence[Annotation], b: Sequence[Annotation]) -> list[Annotation]:
    return [_ALGEBRA.times(x, y) for x, y in zip(a, b, strict=True)]


def _segments(owners: Array, positions: Array) -> Iterable[tuple[int, int]]:
    bounds = np.searchsorted(owners, np.arange(len(positions) + 1))
    return pairwise(bounds.tolist())


def _monoid(call: AggregateCall, kind: pa.DataType | None) -> Monoid:
    assert call.function is not None
    monoid = Monoid(call.function)
    if call.function == "AVG" and kind is not None and pa.types.is_decimal(kind):
        return monoid.finishing(lambda total, count: divide_decimal(total, count, kind.scale))
    return monoid


def _shown(naming: str, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A token's key as it is shown: the place of a row as file number and row number."""
    if naming != "rows":
        return key
    (packed,) = key
    return (packed >> ROW_BITS, packed & ((1 << ROW_BITS) - 1))


def row_of(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """A row of the answer; of columns with the same name the last one."""
    return dict(zip(names, values, strict=True))


def aggregate_of(engine: Engine, column: str, positions: Array) -> tuple[str, str, Array]:
    """The aggregate that a column of the answer is, at some positions of the answer's rows.

    Returns
    -------
    block, aggregate, positions
        The block that computes it, its name there, and the positions of its rows.

    Raises
    ------
    CaptureError
        When there is no such column, or several, or it is not just an aggregate.
    """
    names = engine.manifest.names
    found = [place for place, name in enumerate(names) if name == column]
    found = found or [p for p, name in enumerate(names) if name.lower() == column.lower()]
    if len(found) != 1:
        problem = "has several columns" if found else "has no column"
        raise CaptureError(f"The answer {problem} {column!r}; its columns: {', '.join(names)}.")
    name, output, positions = _made_by(engine, engine.root.outputs[found[0]].name, positions)
    block, rows = engine.blocks[name], engine.rows(name)
    if isinstance(rows, WindowRows) and rows.aggregated(output) is not None:
        return name, output, positions
    scalar = interpret(next(o.scalar for o in block.outputs if o.name == output))
    calls: Mapping[str, AggregateCall] = rows.calls if isinstance(rows, GroupRows) else {}
    if scalar.column is None or scalar.column[0] != GROUP or scalar.column[1] not in calls:
        what = "a grouping key" if scalar.column and isinstance(rows, GroupRows) else scalar.text
        raise CaptureError(
            f"Column {column!r} has no tensor: it is not an aggregate of the query's last grouping "
            f"but {what}.\nSelect the aggregate itself as a column."
        )
    call = calls[scalar.column[1]]
    if call.function is None:
        raise CaptureError(
            f"Column {column!r} has no tensor: {call.text} is none of SUM, COUNT, MIN, MAX, AVG."
        )
    return name, scalar.column[1], positions


def _made_by(engine: Engine, output: str, positions: Array) -> tuple[str, str, Array]:
    """The block that computes an output which others only pass on, and its rows' positions."""
    name = engine.root.name
    while True:
        block, members = engine.blocks[name], members_of(engine.rows(name))
        scalar = interpret(next(o.scalar for o in block.outputs if o.name == output))
        lookups = {} if members is None else {one.alias: one for one in members.lookups}
        lookup = lookups.get(scalar.column[0]) if scalar.column is not None else None
        if block.kind is not Kind.ROWS or members is None or lookup is None:
            return name, output, positions
        assert scalar.column is not None
        positions = members.refer(lookup, positions)
        name, output = lookup.block.name, scalar.column[1]
