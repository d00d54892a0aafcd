"""Provenance assertions in a store: one append for each batch, exactly once, and no edges.

An *optimised* recording has keys and content of source events, and only keys of all others; a
*full* one has the content of all (thesis, sections 3.4.1 and 6.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from graphquery.store import Transaction
from graphquery.store.streams import BatchPart
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.engine import Pushed
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import INFINITE
from lipstick.systems.streams.layout import blocks, key_columns, packed, unpacked
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.recorded_query import RecordedQuery
from semiring.support.door import checked


@checked
class Assertions(RecordedQuery):
    """A recorder into a store, to be used as a context; it continues an existing recording.

    Parameters
    ----------
    path
        Of the store: made if it is not there.
    full
        Whether to record the content of all streams, not only of sources.
    block
        Events of a part: what is read at least for a question.
    """

    def __enter__(self) -> Assertions:
        super().__enter__()
        return self

    def begin(self, graph: Graph, codes: KeyCodes) -> tuple[int, Mapping[str, StageState]]:
        """See `lipstick.systems.streams.engine.Recorder`; raises as `register`."""
        state = self.register(graph)
        if state is None:
            return 0, {}
        return state["next"], unpacked(self._store.snapshot().read(state["file"]))

    def write(self, pushed: Pushed, state: Callable[[], Mapping[str, StageState]]) -> None:
        """See `lipstick.systems.streams.engine.Recorder`; raises when a batch is stored already."""
        with self.transaction() as transaction:
            parts = [
                part
                for sid, batch in pushed.streams.items()
                for part in self._added(transaction, sid, batch)
            ]
            assert self._graph is not None
            ended = all(pushed.frontiers[sid] == INFINITE for sid in self._graph.sources)
            file = transaction.add_table(packed(state()), "state")
            following = {"file": file, "ended": ended}
            self.append(transaction, pushed.number, parts, pushed.disorder, following)

    def _added(self, transaction: Transaction, sid: str, batch: Batch) -> Iterator[BatchPart]:
        if not len(batch):
            return
        table, d = key_columns(batch.keys)
        file, offset = transaction.add_rows("keys", table)
        content, row = None, 0
        if self.keeps_content(sid):
            content, row = transaction.add_rows("content", batch.table())
        for block in blocks(batch.keys, self.block):
            first_row = None if content is None else row + block.start
            yield BatchPart(
                sid,
                file,
                offset + block.start,
                d=d,
                content=content,
                content_offset=first_row,
                **block.ranges,
            )
