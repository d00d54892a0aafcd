"""Queries over many stores at once: datasets exported from store to store, and their lineage.

A federation answers as the merged graph of its stores would, or lists what is missing; see
``docs/systems/federation.md``. The model is that of Gehani, Kim, Malik, *Efficient Querying of
Distributed Provenance Stores* (CLADE 2010), with boundary graphs beside its sketches.
"""

from __future__ import annotations

from graphquery.errors import FederationError, WireError
from graphquery.federation.copies.copies import copy_store
from graphquery.federation.crossings.crossing import Summaries, export, import_rows
from graphquery.federation.crossings.dataset import (
    checksums_of,
    export_dataset,
    is_dataset,
    read_dataset,
)
from graphquery.federation.crossings.offer import Offer, offer_of
from graphquery.federation.federation import Federation
from graphquery.federation.members.cache import Cache
from graphquery.federation.members.members import Member, read_members
from graphquery.federation.members.opening import open_federation
from graphquery.federation.questions.answer import (
    FederatedCost,
    FederationAnswer,
    IncompleteError,
    MissingPart,
    NodesAnswer,
    PathsAnswer,
    ValuesAnswer,
    Verdict,
    VerdictAnswer,
)
from graphquery.federation.questions.merged_graph import merged_graph
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.wire.transport import LocalTransport, StoreTransport, TransportError

__all__ = [
    "Cache",
    "Disclosure",
    "FederatedCost",
    "Federation",
    "FederationAnswer",
    "FederationError",
    "IncompleteError",
    "LocalTransport",
    "Member",
    "MissingPart",
    "NodesAnswer",
    "Offer",
    "Options",
    "PathsAnswer",
    "StoreTransport",
    "Summaries",
    "TransportError",
    "ValuesAnswer",
    "Verdict",
    "VerdictAnswer",
    "WireError",
    "checksums_of",
    "copy_store",
    "export",
    "export_dataset",
    "import_rows",
    "is_dataset",
    "merged_graph",
    "offer_of",
    "open_federation",
    "read_dataset",
    "read_members",
]
