"""The matching pairs of a join, found by running it again over the events behind its outputs.

Keys determine the windows of an output, not the pairs that matched in them: that depends on the
join's condition and the content, which a replay of the sources restores.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.differences import matched
from lipstick.systems.streams.events import Events, key_table, resolve
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import Keys
from lipstick.systems.streams.operators.base import Fired
from lipstick.systems.streams.prefix import prefix_of
from lipstick.systems.streams.recording import InMemory, Recording
from lipstick.systems.streams.replay import ReplayedSpan, run
from semiring.arrays.segments import expand
from semiring.base import Array
from semiring.support.door import checked


@checked
def matched_pairs(graph: Graph, recording: Recording, events: Events) -> pa.Table:
    """Return the matching pairs in outputs of a join.

    Parameters
    ----------
    graph
        The recorded graph.
    events
        Events of a join's output stream.

    Returns
    -------
    pyarrow.Table
        A row for each pair: the output (`key` as text, `n`), and number and time of both events
        (`left_n`, `left_t`, `right_n`, `right_t`), which have the output's key.

    Raises
    ------
    StreamError
        When there are no such events.
        When the stream is not made by a join.
        The graph is not the recorded one, or the outputs are not reproduced.

    Notes
    -----
    Runs the graph from the first event that the outputs look back at to the last of them.
    """
    graph.check_recorded(recording.graph)
    sid = graph.original(events.sid)
    node = graph.node(sid)
    if node.operator is None or "join" not in node.operator.kind:
        kind = "a source" if node.operator is None else node.operator.kind
        raise StreamError(f"Stream {events.sid} is made by {kind}: pairs are of joins.")
    keys_asked = resolve(recording, events)
    if not len(keys_asked):
        return _table(recording, sid, keys_asked, np.zeros((4, 0), dtype=np.int64), keys_asked.n)
    prefix = prefix_of(recording, {sid: int(keys_asked.t.min())}, counted=True)
    fired: dict[str, Fired] = {}
    results = run(
        graph, recording, ReplayedSpan(prefix, int(keys_asked.t.max())), None, fired=fired
    )
    rerun = results.whole(sid)
    index, there = matched(keys_asked, rerun)
    if not bool(there.all()) or bool((rerun.t[index] != keys_asked.t).any()):
        raise StreamError(
            f"Outputs of {events.sid} do not come out again as they were recorded.\nReplay them: "
            "the answer says which operator is not deterministic."
        )
    pairs = fired[sid].pairs
    assert pairs is not None
    rows, owners = expand(pairs.offsets[index], pairs.offsets[index + 1])
    sides = [
        _named(results, source, positions[rows])
        for source, positions in zip(node.inputs, (pairs.left, pairs.right), strict=True)
    ]
    return _table(recording, sid, keys_asked, np.concatenate(sides), owners)


def _named(results: InMemory, source: str, positions: Array) -> Array:
    keys = results.whole(source)
    return np.stack((keys.n[positions], keys.t[positions]))


def _table(
    recording: Recording, sid: str, keys_asked: Keys, sides: Array, owners: Array
) -> pa.Table:
    outputs = key_table(recording, sid, keys_asked).select(["key", "n"])
    table = outputs.take(pa.array(owners[: sides.shape[1]]))
    for name, values in zip(("left_n", "left_t", "right_n", "right_t"), sides, strict=True):
        table = table.append_column(name, pa.array(values))
    return table
