"""The reads, writes and messages of a command and its children, as a provenance graph.

The vertices follow Gehani, Kim, Malik, *Efficient Querying of Distributed Provenance Stores* (CLADE
2010), section 3: files, processes and the flows between hosts. They are versioned, so that the
graph has no cycles: a process that reads its own output continues as its next version.
"""

from __future__ import annotations

from lipstick.systems.record.recording import CommandRecording, record
from lipstick.systems.record.store import store_recordings

__all__ = ["CommandRecording", "record", "store_recordings"]
