"""The questions that the in-memory engine answers from the directory of a capture."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial, wraps
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from lipstick.capture.contents import Contents
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal import Formal, PotentialRow
from lipstick.engines.memory.formal.checked import check_values, switched_on
from lipstick.engines.memory.formal.functions import typed
from lipstick.engines.memory.formal.tensors import column_number
from lipstick.engines.memory.formal.tokens import ValuedTokens
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.engines.memory.many import evaluate_many, evaluate_updates
from lipstick.engines.memory.members import Members, ValueLookup
from lipstick.engines.memory.reach import lineage, members_of, reach, tokens, unused
from lipstick.engines.memory.scenarios import Scenarios, Updated, Updates, alone
from lipstick.engines.memory.store import StoredDatasets, every
from lipstick.engines.memory.updates import evaluate_update
from lipstick.engines.memory.what_if import what_if, what_if_many
from lipstick.errors import CaptureError, LipstickError
from lipstick.questions.what_if import WhatIf, WhatIfMany
from rewriter.analysis.conditional import conditional, has_difference, shown_joins
from rewriter.blocks import Block
from rewriter.emit import VALUE
from rewriter.interpret import in_time_zone
from semiring.base import Array, Semiring
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.encodings.folds import group
from semiring.encodings.valuation import Valuation
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.support.budget import uncollected
from semiring.token import Token
from semiring.value import Value

T = TypeVar("T")
P = ParamSpec("P")

Where: TypeAlias = Callable[[pa.Table], Any] | Any | None
"""A choice of rows of the answer: a Boolean per row, or a function from the answer; None: all."""


def _in_its_time_zone(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[Memory, P], T]:
    """Let a method see instants in the time zone in which the query saw them."""

    @wraps(method)
    def asked(memory: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with in_time_zone(memory.engine.manifest.time_zone):
            return method(memory, *args, **kwargs)

    return asked


class Memory:
    """A capture, held in memory as far as questions need it.

    Datasets are read column by column and indexed when a question first needs them; what is read
    stays.

    Parameters
    ----------
    directory
        The capture.
    manifest
        Its manifest.
    lookup
        Fetches member columns that were captured by reference; None: they are out of reach.
    contents
        Its files, if some of them were checked already.
    """

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        lookup: ValueLookup | None = None,
        contents: Contents | None = None,
    ) -> None:
        contents = contents or manifest.contents(directory)
        self._engine = Engine(StoredDatasets(contents), manifest, lookup)
        self._formal: Formal | None = None
        self._asking = threading.RLock()

    @property
    def engine(self) -> Engine:
        """The rows and members of every block, by position."""
        return self._engine

    @_in_its_time_zone
    def formally(self, ask: Callable[[Formal], T]) -> T:
        """Return what a function finds in the annotations of tuples, one function at a time.

        Annotations share one circuit. Where the function is interrupted (Ctrl-C, a budget) this may
        be half made, and the next question begins with a new one.
        """
        with self._asking:
            try:
                with uncollected():
                    self._formal = self._formal or Formal(self._engine)
                    return ask(self._formal)
            except LipstickError:
                raise
            except BaseException:
                self._formal = None
                raise

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the query, inner ones first."""
        return tuple(self._engine.blocks.values())

    @_in_its_time_zone
    def answer(self) -> pa.Table:
        """The answer, as captured."""
        return self._answer

    @cached_property
    def _answer(self) -> pa.Table:
        return self._engine.table(self._engine.base(self._engine.root.name))

    @_in_its_time_zone
    def what_if(self, deleted: Mapping[str, pa.Table]) -> WhatIf[pa.Table]:
        """The answer without some input tuples, from the captured annotations.

        Parameters
        ----------
        deleted
            Per relation the tokens of the deleted tuples, under the names of its token columns.

        Raises
        ------
        CaptureError
            For relations that the query does not read, for values captured by reference, and
            where an expression must be evaluated that only Spark can.

        Cost: after the first call, O(d log n) for d deleted tuples among n members, and what the
        groups they belong to take; MIN and MAX pass over the members of a group that loses its
        extreme, sums of floats and DISTINCT over the members of every touched group.
        """
        states = self._engine.states({name: alone(table) for name, table in deleted.items()})
        return what_if(self._engine, states[self._engine.root.name])

    @_in_its_time_zone
    def what_if_updated(self, updates: Mapping[str, pa.Table]) -> WhatIf[pa.Table]:
        """The answer had some input tuples had other values.

        Parameters
        ----------
        updates
            Per relation a table of its token columns, and new values of other columns.

        Raises
        ------
        CaptureError
            Where a column that is changed is read by something else than an aggregate of a query of
            one block, and as :meth:`what_if`.

        Cost: that of deleting these tuples.
        """
        updated = [Updated(name, table, alone(table).scenarios) for name, table in updates.items()]
        return what_if(self._engine, evaluate_update(self._engine, updated))

    @_in_its_time_zone
    def what_if_many(self, scenarios: Scenarios) -> WhatIfMany:
        """The answers without the input tuples of each of many scenarios.

        Raises
        ------
        CaptureError
            As :meth:`what_if` does for one of the scenarios.

        Cost: what the scenarios touch, in every block: O(d log d + d log n) for d deleted tuples
        in all among n members, each touched group as in :meth:`what_if`, and the partitions of
        window functions that have a touched row.
        """
        found = evaluate_many(self._engine, scenarios)
        return what_if_many(self._engine, scenarios.labels, found)

    @_in_its_time_zone
    def what_if_updated_many(self, updates: Updates) -> WhatIfMany:
        """The answers had some input tuples had other values, in each of many scenarios.

        Raises
        ------
        CaptureError
            As :meth:`what_if_updated` does for one of the scenarios.

        Cost: that of deleting these tuples in as many scenarios.
        """
        found = evaluate_updates(self._engine, updates)
        return what_if_many(self._engine, updates.labels, found)

    # -- annotations -----------------------------------------------------------------------

    def annotations(
        self, limit: int | None = None, where: Where = None
    ) -> list[tuple[dict[str, Any], Polynomial | Expression]]:
        """Rows of the answer, in its order, with their annotations.

        Parameters
        ----------
        limit
            At most so many rows; None: all of them.
        where
            Which rows.

        Exact in every world: see :mod:`lipstick.engines.memory.formal`.
        """
        positions = self._positions(where)[:limit]
        annotations = self.formally(lambda formal: formal.shown(positions))
        return list(zip(self._shown(positions), annotations, strict=True))

    def deferred_annotations(
        self, limit: int | None
    ) -> list[tuple[dict[str, Any], Callable[[], Polynomial | Expression]]]:
        """Rows of the answer, in its order, each with a function that makes its annotation."""
        positions = self._positions(None)[:limit]

        def make(at: int) -> Polynomial | Expression:
            return self.formally(lambda formal: formal.shown(positions[at : at + 1])[0])

        shown = self._shown(positions)
        return [(row, partial(make, at)) for at, row in enumerate(shown)]

    def potential_rows(self, limit: int | None = None) -> list[PotentialRow]:
        """Return the rows of the answers of all worlds, present ones first.

        A world is the database without some of its tuples. In each, a row's annotation evaluates to
        the number of times that it is there, and its formal values to its values.

        Raises
        ------
        ExactnessError
        When there are too many rows to decide which are possible.
        """
        return self.formally(lambda formal: list(islice(formal.rows(), limit)))

    def tensors(self, column: str, limit: int | None = None) -> list[tuple[dict[str, Any], Value]]:
        """Return rows of the answer, in its order, with the formal value of a column.

        Of an aggregate it is a tensor; of a value that no deletion changes the tensor 1⊗v.

        Parameters
        ----------
        column
            A column of the answer, in any case.
        limit
            At most so many rows; None: all of them.

        Raises
        ------
        CaptureError
            When there is no such column, or its values are not in the capture.
        """
        positions = self._positions(None)[:limit]
        tensors = self.formally(lambda formal: formal.values(column, positions))
        return list(zip(self._shown(positions), tensors, strict=True))

    def deferred_values(
        self, column: str, limit: int | None
    ) -> list[tuple[dict[str, Any], Callable[[], Value]]]:
        """Rows of the answer, each with a function that makes the formal value of a column."""
        positions = self._positions(None)[:limit]
        column_number(self._engine, column)

        def make(at: int) -> Value:
            return self.formally(lambda formal: formal.values(column, positions[at : at + 1])[0])

        shown = self._shown(positions)
        return [(row, partial(make, at)) for at, row in enumerate(shown)]

    @_in_its_time_zone
    def lineage(self, where: Where = None) -> dict[str, pa.Table]:
        """The tokens that rows of the answer were made from, each once.

        The inputs of a scalar subquery are in the lineage of every row that it may have decided.

        Parameters
        ----------
        where
            Which rows.

        Returns
        -------
        dict
            Per relation with tokens, a table of its token columns.
        """
        return lineage(self._engine, self._positions(where))

    def count_members(self, limit: int | None) -> int:
        """Return the number of members that the first rows of the answer were made from."""
        reached = reach(self._engine, self._positions(None)[:limit])
        return sum(len(of_block.members) for of_block in reached.values())

    def annotations_of(
        self, identity: Sequence[pa.Array], length: int
    ) -> list[Polynomial | Expression]:
        """The annotations of some rows of the answer.

        Parameters
        ----------
        identity, length
            The columns that identify the answer's rows, and the number of rows asked for.
        """
        positions = self.find(identity, length)
        return self.formally(lambda formal: formal.shown(positions))

    def lineage_of(self, identity: Sequence[pa.Array], length: int) -> dict[str, pa.Table]:
        """The tokens that some rows of the answer were made from; parameters as above."""
        return lineage(self._engine, self.find(identity, length))

    def find(self, identity: Sequence[pa.Array], length: int) -> Array:
        """The positions of rows of the answer."""
        state = self._engine.base(self._engine.root.name)
        positions = state.ordered
        columns = [state.take(name, positions) for name in self._engine.root.identity]
        places = KeyTable(columns, len(positions)).find(list(identity)[: len(columns)], length)
        rows: Array = positions[places]
        return rows

    def tokens(self, relation: str) -> pa.Table:
        """The tuples of a relation that took part in the query, by its token columns.

        More than the lineage of the answer: also tuples of rows that are not in it, but may be
        after a deletion.
        """
        return tokens(self._engine, relation)

    def unused(self, relation: str, keys: pa.Table) -> Array:
        """Return the places of the keys of a relation that took no part in the query, sorted."""
        return unused(self._engine, relation, keys)

    @_in_its_time_zone
    def evaluate(
        self,
        semiring: Semiring[Any],
        valuations: Mapping[str, Valuation[Any]],
        *,
        merged: bool = False,
    ) -> pa.Table:
        """The answer's columns, then ``_value``: the annotation of each row in a semiring.

        Parameters
        ----------
        valuations
            One per relation that the query reads.
        merged
            Rows that are equal are one, annotated with their sum, in the order of the first of
            each.

        Raises
        ------
        CapabilityError
            Where the semiring has no monus and there is a difference, or a condition that a
            deletion may decide is on tuples valued neither 0 nor 1.
        """
        return self.formally(
            lambda formal: _evaluated(self._engine, formal, semiring, valuations, merged=merged)
        )

    def evaluate_potential(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> pa.Table:
        """The rows of the answers of all worlds, each with its annotation in a semiring.

        Columns have the values of the world of the tuples that are not valued 0.

        Raises
        ------
        CapabilityError
            As :meth:`evaluate`.
        """
        return self.formally(lambda formal: _potential(self._engine, formal, semiring, valuations))

    def valued_zero(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> dict[str, pa.Table] | None:
        """Per relation the tokens that are valued 0; None where some are neither 0 nor 1."""
        return _valued_zero(self._engine, semiring, valuations)

    def members(self, limit: int | None = None) -> pa.Table:
        """One row per answer row and member.

        Returns
        -------
        pa.Table
            The answer's columns, then the members' token columns, then their other columns; for
            members that are tuples of another block, the columns that identify those.
        """
        return _members(self._engine, limit)

    # -- rows ------------------------------------------------------------------------------

    def _positions(self, where: Where) -> Array:
        ordered = self._engine.base(self._engine.root.name).ordered
        if where is None:
            return ordered
        mask = where(self.answer()) if callable(where) else where
        if isinstance(mask, (pa.Array, pa.ChunkedArray)):
            mask = mask.fill_null(False).to_numpy(zero_copy_only=False)
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != ordered.shape:
            raise CaptureError(
                f"The rows to look at are given by {len(ordered)} Booleans, one per row of the "
                f"answer, not by {chosen.dtype} of shape {chosen.shape}."
            )
        selected: Array = ordered[chosen]
        return selected

    def _shown(self, positions: Array) -> list[dict[str, Any]]:
        engine = self._engine
        columns = engine.columns(engine.base(engine.root.name), positions)
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return [dict(zip(engine.manifest.names, row, strict=True)) for row in rows]


def _members(engine: Engine, limit: int | None) -> pa.Table:
    root = engine.root
    rows, state = engine.rows(root.name), engine.base(root.name)
    ordered = state.ordered
    if isinstance(rows, GroupRows):
        chosen, owners = rows.grouping.present_members(ordered)
    else:
        chosen, owners = ordered, every(len(ordered))
    chosen, owners = chosen[:limit], owners[:limit]
    columns = engine.columns(state, ordered[owners])
    names = list(engine.manifest.names)
    members = members_of(rows)
    if members is None:
        extra = {name: state.take(name, chosen) for name in root.identity}
    else:
        extra = _columns(engine, members, chosen)
    return pa.Table.from_arrays([*columns, *extra.values()], names=[*names, *extra])


def _columns(engine: Engine, members: Members, chosen: Array) -> dict[str, pa.Array]:
    if members.dataset is None:
        columns = {}
        for lookup in members.joined:
            inner = engine.base(lookup.block.name)
            positions = members.references.of(lookup, chosen)
            for name in lookup.block.identity:
                columns[f"{lookup.alias}_{name}"] = inner.take(name, positions)
        return columns
    tokens = [column for token in members.block.tokens for column in token.columns]
    names = dict.fromkeys([*tokens, *members.dataset.names])
    return {name: members.dataset.take(name, chosen) for name in names}


def _evaluated(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    *,
    merged: bool,
) -> pa.Table:
    state = engine.base(engine.root.name)
    answer = engine.columns(state, state.ordered)
    if conditional(engine.root):
        columns, values = _conditional_values(engine, formal, semiring, valuations, state.ordered)
    else:
        if has_difference(engine.root) and not semiring.has_monus:
            semiring.monus(semiring.one, semiring.one)
        columns, values = formal.evaluate(semiring, valuations, formal.gates(state.ordered))
    if merged:
        codes, first = distinct(answer, len(state.ordered))
        answer = [column.take(pa.array(first)) for column in answer]
        order, offsets = group(codes, len(first))
        values = columns.fold(values if order is None else columns.take(values, order), offsets)
    value_column = columns.to_arrow(values)
    return pa.Table.from_arrays([*answer, value_column], names=[*engine.manifest.names, VALUE])


def _conditional_values(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    ordered: Array,
) -> tuple[Columns[Any], Any]:
    """The annotations of rows of a query with conditions, and the operations on them.

    Where every token is 0 or 1 they say what is in the answer without the tuples valued 0.
    """
    gone = _valued_zero(engine, semiring, valuations)
    if gone is not None:
        annotations_now = _in_world(engine, semiring, gone, ordered)
        if switched_on():
            value = ValuedTokens(formal.tokens, semiring, valuations).of
            check_values(formal, semiring, value, ordered, semiring.unpack(annotations_now))
        return ArrayColumns(semiring, {}), annotations_now
    return formal.evaluate(semiring, valuations, formal.gates(ordered))


def _valued_zero(
    engine: Engine, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
) -> dict[str, pa.Table] | None:
    zeros = {}
    for name, record in engine.manifest.relations.items():
        if not record.token or valuations[name].constant_one:
            continue
        table = tokens(engine, name)
        values = valuations[name].lookup(
            [column.combine_chunks() for column in table.columns], table.num_rows
        )
        ones = np.array([value == semiring.one for value in semiring.unpack(values)], np.bool_)
        zero = ~semiring.nonzero_array(values)
        if not (ones | zero).all():
            return None
        zeros[name] = table.filter(pa.array(zero))
    return zeros


def _potential(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
) -> pa.Table:
    value = ValuedTokens(formal.tokens, semiring, valuations).of
    rows = list(formal.rows())
    gates = np.array([row.gate for row in rows], dtype=np.int64)
    annotated, values = formal.evaluate(semiring, valuations, gates)
    occurring = frozenset[Token]().union(
        *(part.tokens for row in rows for part in row.values if isinstance(part, Value))
    )
    there = {token: np.array([not semiring.is_zero(value(token))], np.bool_) for token in occurring}
    world = PossibleWorlds(there, 1)
    columns = []
    for number, output in enumerate(engine.root.outputs):
        kind = formal.columns.type(engine.root.name, output.name)
        plain = world.values([row.values[number] for row in rows])[:, 0]
        columns.append(typed(plain.tolist(), kind))
    value_column = annotated.to_arrow(values)
    return pa.Table.from_arrays([*columns, value_column], names=[*engine.manifest.names, VALUE])


def _in_world(
    engine: Engine, semiring: Semiring[Any], gone: Mapping[str, pa.Table], ordered: Array
) -> Array:
    states = engine.states({name: alone(table) for name, table in gone.items()})
    state = states[engine.root.name]
    counts = np.zeros(len(ordered), dtype=np.int64)
    there = np.flatnonzero(state.present[ordered])
    counts[there] = state.copies(ordered[there])
    members = members_of(engine.rows(engine.root.name))
    for alias in shown_joins(engine.root):
        # A row with its partner is another one than the row without.
        assert members is not None
        lookup = members.lookups[alias]
        before = lookup.find(ordered[there], members.base)
        counts[there[lookup.find(ordered[there], states.__getitem__) != before]] = 0
    return semiring.pack([semiring.from_int(count) for count in counts.tolist()])
