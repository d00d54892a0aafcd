"""Documents of PROV whose edges have a cycle together, taken out when the stream is closed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Partial
from lipstick.systems.events.cyclic import acyclic, have_cycles, reason_of_cycle
from lipstick.systems.events.formats import PROV
from lipstick.systems.events.message import SCHEMA
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.partials import partial_of
from lipstick.systems.events.stream.parsed_rows import DOCUMENT
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan
from lipstick.systems.events.stream.settings import StreamSettings
from lipstick.systems.events.stream.settling import Settling
from lipstick.systems.events.stream.wire import concatenated, table_of


def logged(plan: BatchPlan, topic: str) -> pa.Table:
    """The messages of a topic that counted, as far as they are kept."""
    files = sorted(plan.log_of(topic).glob("[0-9]*.arrow"))
    return concatenated((table_of(file.read_bytes()) for file in files), SCHEMA)


def _batches(plan: BatchPlan, topic: str) -> Iterator[pa.Table]:
    """The messages of every batch, all of a document in one."""
    files = sorted(plan.log_of(topic).glob("[0-9]*.arrow"))
    for _, group in groupby(files, key=lambda file: file.name.partition("-")[0]):
        yield concatenated((table_of(file.read_bytes()) for file in group), SCHEMA)


def _place(name: str) -> tuple[str, int]:
    """The file and line of a document, by its name."""
    path, _, line = name.rpartition("#")
    return path, int(line)


def may_lack_documents(settings: StreamSettings, known: TopicPlan) -> bool:
    """Return True if documents can be taken out: all are kept, and nothing is final."""
    kept = settings.log and not known.kept_from and not known.counts.get("kept")
    return settings.format == PROV and kept


def resettled(plan: BatchPlan, topic: str, known: TopicPlan) -> tuple[Settling, list[DeadLetter]]:
    """Return the shards of a topic without any final edges, but documents that close cycles."""
    documents: list[tuple[tuple[str, int], Partial]] = []
    for batch in _batches(plan, topic):
        came = []
        for number in batch.column("seq").unique().to_pylist():
            rows = batch.filter(pc.equal(batch.column("seq"), number))
            named = rows.filter(pc.equal(rows.column("function"), DOCUMENT)).column("exec")
            came.append((_place(named[0].as_py()), partial_of(rows, plan.semiring)))
        documents += sorted(came, key=lambda document: document[0])
    good, letters = acyclic(documents, plan.semiring, hubs=plan.hubs)
    settling = Settling(plan, replace(known, open={}, told={}))
    for part in good:
        settling.deliver(part)
    settling.settle()
    return settling, letters


def cyclic_letters(plan: BatchPlan, topic: str, known: TopicPlan) -> list[DeadLetter]:
    """The messages that are kept of a topic, and that have edges of a cycle, as refused lines."""
    rows = logged(plan, topic)
    reason = reason_of_cycle(known.named)
    letters = []
    for place in np.flatnonzero(have_cycles(rows)).tolist():
        execution, seq = rows.column("exec")[place].as_py(), rows.column("seq")[place].as_py()
        if rows.column("function")[place].as_py() in {DOCUMENT, PROV}:
            continue
        letters.append(
            DeadLetter(f"topic {topic}, execution {execution}, seq {seq}", 0, reason, "")
        )
    return letters or [DeadLetter(f"topic {topic}", 0, reason, "")]
