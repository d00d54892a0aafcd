"""The reduction of a stream of messages by Structured Streaming, in parallel and exactly once.

`sources` parses what arrives, `cutting` deals messages out, and `local` says which of them count
and reduces them, all without having seen the rest; `resolving` has the vertices of one shard.
`batches` commits what these gave, a batch at a time, with what `lineage` knows of runs of
OpenLineage, and `pruning` forgets what is not needed any more; `spark` runs them.
"""

from __future__ import annotations
