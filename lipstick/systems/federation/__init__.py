"""Tables that sessions write and read, as exports and imports of a graph store.

A session with ``exports=`` stores the provenance graph of its writes in that store, and puts a
manifest beside the data; a session that reads the data imports its rows by the manifest. The model
is that of Gehani, Kim, Malik, *Efficient Querying of Distributed Provenance Stores* (CLADE 2010),
section 4.1: both ends build the same vertex for a crossing row.
"""

from __future__ import annotations

from lipstick.systems.federation.exports import TableExports

__all__ = ["TableExports"]
