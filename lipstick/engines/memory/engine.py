"""All blocks of a capture, evaluated bottom-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import pyarrow as pa

from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.lossless import Declared
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members, ValueLookup
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue, Context, State
from lipstick.engines.memory.store import OPEN_WITH_SPARK, Dataset, Datasets
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.analysis.char_comparison import padding
from rewriter.analysis.conditional import shown_lists
from rewriter.blocks import Block, Kind, topological
from rewriter.passes.split_generators import captured_name, is_written, split_generators
from semiring.base import Array


class Engine:
    """The datasets and rows of every block of a capture, each loaded when first needed."""

    def __init__(
        self, datasets: Datasets, manifest: Manifest, lookup: ValueLookup | None = None
    ) -> None:
        self._datasets = datasets
        self._lookup = lookup
        self.manifest = manifest
        self.root = split_generators(manifest.root)
        """The block that yields the answer; what generators make are blocks of their own."""
        self._written = {block.name: block for block in topological(manifest.root)}
        self.blocks = {block.name: block for block in topological(self.root)}
        self._rows: dict[str, Rows] = {}

    def rows(self, name: str) -> Rows:
        """The rows of a block."""
        if name not in self._rows:
            self._rows[name] = self.made(self.blocks[name])
        return self._rows[name]

    def base(self, name: str) -> State:
        """The rows of a block without any deletion."""
        return self.rows(name).base

    def made(self, block: Block) -> Rows:
        """The rows of a block, made anew.

        Raises
        ------
        NeedsSparkError
            Where Spark pads texts that the block compares.
        """
        block = self.blocks[block.name]
        if captured_name(block) in self._padding:
            raise NeedsSparkError(
                f"Block {block.name} compares CHAR with a text of another length, which Spark "
                "pads.\n" + OPEN_WITH_SPARK
            )
        if block.generators:
            (lookup,) = block.joined
            return ElementRows(block, self.rows(lookup.block.name), self._context)
        stored = self._datasets.dataset(block, "rows") if is_written(block) else None
        if block.kind is Kind.UNION:
            return UnionRows(block, stored, self._context)
        members = self.members(block)
        if block.kind is Kind.GROUP:
            assert stored is not None
            groups = GroupRows(block, stored, members, self._context)
            for owner, name in self._shown_lists:
                if owner == block.name:
                    groups.calls[name] = replace(groups.calls[name], anew=None)
            return groups
        rows = WindowRows if block.windowed else MemberRows
        return rows(block, stored, members, self._context)

    def members(self, block: Block) -> Members:
        """The members of a block that is not a union."""
        block = self.blocks[block.name]
        return Members(block, self.captured(block), self._context, self._lookup)

    def captured(self, block: Block) -> Dataset | None:
        """The members that a block has of its own; None where it has none."""
        if block.core is None:
            return None
        return self._datasets.dataset(self._written[captured_name(block)], "members")

    @cached_property
    def _shown_lists(self) -> frozenset[tuple[str, str]]:
        """The aggregates whose values depend on an order of rows that only Spark knows."""
        return shown_lists(self.root)

    @cached_property
    def _padding(self) -> frozenset[str]:
        def lengths(block: Block) -> Mapping[str, str]:
            members = self.manifest.schemas.get(block.name, {}).get("members", {"fields": []})
            declared = {f["name"]: Declared.of(f["metadata"]) for f in members["fields"]}
            return {name: kind.text.lower() for name, kind in declared.items() if kind.pads}

        return padding(self.root, lengths)

    @cached_property
    def _context(self) -> Context:
        # One and the same object, by which blocks know that nothing is deleted.
        return self.base

    def states(
        self, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> dict[str, State]:
        """The rows of every block in scenarios that delete tuples.

        Parameters
        ----------
        asked
            The one value of the last block that is asked for; None: all are.

        Raises
        ------
        CaptureError
            For relations that the query does not read or columns that are not its token's, and
            where an expression must be evaluated that only Spark can.
        """
        tokens = {
            name: Deleted(self.tokens(name, part.tokens), part.scenarios)
            for name, part in deleted.items()
        }
        states: dict[str, State] = {}
        for name in self.blocks:
            alone = asked if name == self.root.name and not self.root.limited else None
            states[name] = self.rows(name).evaluate(states.__getitem__, tokens, alone)
        return states

    def tokens(self, name: str, table: pa.Table) -> pa.Table:
        """The token columns of a table of tuples to delete from a relation.

        Raises
        ------
        CaptureError
            For a relation that the query does not read, and for missing columns.
        """
        record = self.manifest.relations.get(name)
        if record is None or not record.token:
            known = [r.name for r in self.manifest.relations.values() if r.token]
            raise CaptureError(
                f"The query reads no relation {name!r} with tokens to delete.\n"
                f"It reads: {', '.join(sorted(known)) or 'none'}."
            )
        if set(record.token) - set(table.column_names):
            raise CaptureError(
                f"The tokens to delete from {name!r} need the columns {', '.join(record.token)}; "
                f"given: {', '.join(table.column_names)}."
            )
        return table.select(list(record.token))

    # -- answers ---------------------------------------------------------------------------

    def columns(self, state: State, positions: Array) -> list[pa.Array]:
        """The answer's columns at some positions of the root's rows."""
        return [state.take(output.name, positions) for output in self.root.outputs]

    def table(self, state: State) -> pa.Table:
        """The answer, in its order, under the user's names."""
        columns = self.columns(state, state.repeated)
        return pa.Table.from_arrays(columns, names=list(self.manifest.names))
