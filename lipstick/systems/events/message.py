"""The format of provenance messages, version 1.

A message is a JSON object on a line of its own. Its key is topic, execution, attempt and number
(`seq`): a redelivered message has the same key, and is counted once. An execution may be attempted
several times; an attempt counts once its `end` and all messages before it have arrived.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from graphquery.reduction import EdgeType

VERSION = 1

EDGES = "edges"
"""Edges of an execution: any part of them, in any order."""
END = "end"
"""The attempt has ended, and is the one that counts."""
SEALED = "sealed"
"""A function has finished using and generating; without a function, the topic is finished."""

TYPES = {
    "used": EdgeType.USED,
    "wasGeneratedBy": EdgeType.GENERATED,
    "wasDerivedFrom": EdgeType.DERIVED,
    "hadMember": EdgeType.MEMBER,
}
"""The relations of PROV that a derivation may lead through, as messages name them."""

DROPPED_TYPES = frozenset(
    {
        "actedOnBehalfOf",
        "alternateOf",
        "mentionOf",
        "specializationOf",
        "wasAssociatedWith",
        "wasAttributedTo",
        "wasEndedBy",
        "wasInfluencedBy",
        "wasInformedBy",
        "wasInvalidatedBy",
        "wasStartedBy",
    }
)
"""The other relations of PROV, which are dropped (the paper's section IV)."""

COUNTS = pa.struct(
    [
        ("readers", pa.int64()),
        ("causes", pa.int64()),
        ("used_causes", pa.int64()),
        ("keep", pa.bool_()),
        ("read_by", pa.list_(pa.string())),
        ("uses", pa.int64()),
        ("generations", pa.int64()),
        ("messages", pa.int64()),
        ("used", pa.int64()),
        ("generated", pa.int64()),
    ]
)

SCHEMA = pa.schema(
    [
        ("version", pa.int64()),
        ("topic", pa.string()),
        ("exec", pa.string()),
        ("attempt", pa.int64()),
        ("function", pa.string()),
        ("worker", pa.string()),
        ("seq", pa.int64()),
        ("event_time", pa.int64()),
        ("kind", pa.string()),
        ("edges", pa.list_(pa.list_(pa.string()))),
        ("labels", pa.list_(pa.float64())),
        ("counts", COUNTS),
    ]
)
"""Messages as a table, with NULL for missing fields."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The optional declarations of a message, by which vertices close sooner.

    Parameters
    ----------
    readers
        Of edges: how many edges will enter each entity generated or derived here. 0 makes outputs
        of them.
    causes
        Of edges: how many will leave each entity generated or derived here; 1 if its generation
        is all.
    used_causes
        Of edges: how many leave each entity used here, or derived from. 0 declares them to be
        inputs.
    keep
        Of edges: the entities generated or derived here stay, although they may be read again.
    read_by
        Of edges: the functions that read what this function generates.
    uses, generations
        Of an end, or of the only message of an execution: how many edges of the types used and
        wasGeneratedBy the execution has.
    messages
        Of an end: how many messages the attempt sent before it.
    used, generated
        Of a sealed function: how many edges its executions used in all, and how many leave the
        entities that it generated. Of a sealed topic, together, how many edges there are in all:
        when they have come everything is closed, without them at the end of the stream.
    """

    readers: int | None = None
    causes: int | None = None
    used_causes: int | None = None
    keep: bool | None = None
    read_by: Sequence[str] | None = None
    uses: int | None = None
    generations: int | None = None
    messages: int | None = None
    used: int | None = None
    generated: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the declarations that are set, as JSON."""
        names = (each.name for each in COUNTS)
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Parameters
    ----------
    topic
        The computation of the stream.
    kind
        ``edges``, ``end`` or ``sealed``.
    execution
        The activity of all edges of the message.
    attempt
        From 0. None if an execution is one message, or is never retried: then edges count at once,
        except in a message whose number has arrived before.
    function
        The executed function.
    worker
        The worker of the execution.
    seq
        The number of the message in its attempt, from 0.
    event_time
        In microseconds since 1970.
    edges
        Source (effect), destination (cause) and relation.
    labels
        Numbers, one for every edge, for a reduction with labels.
    """

    topic: str
    kind: str
    execution: str | None = None
    attempt: int | None = None
    function: str | None = None
    worker: str | None = None
    seq: int | None = None
    event_time: int | None = None
    edges: Sequence[tuple[str, str, str]] = ()
    labels: Sequence[float] | None = None
    counts: Counts = field(default_factory=Counts)

    def document(self) -> dict[str, Any]:
        """Return the message as a JSON object."""
        document: dict[str, Any] = {"version": VERSION, "topic": self.topic, "kind": self.kind}
        for name, value in (
            ("exec", self.execution),
            ("attempt", self.attempt),
            ("function", self.function),
            ("worker", self.worker),
            ("seq", self.seq),
            ("event_time", self.event_time),
        ):
            if value is not None:
                document[name] = value
        if self.kind == EDGES:
            document["edges"] = [list(edge) for edge in self.edges]
        if self.labels is not None:
            document["labels"] = list(self.labels)
        counts = self.counts.document()
        if counts:
            document["counts"] = counts
        return document

    def line(self) -> str:
        """Return the message as a line of JSON, with its line end."""
        return json.dumps(self.document(), ensure_ascii=False, separators=(",", ":")) + "\n"
