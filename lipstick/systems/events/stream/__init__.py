"""The reduction of a stream of messages by Structured Streaming, in parallel and exactly once.

`parsed_rows` parses what arrives, `cutting` deals messages out, and `local_reduction` decides which
count and reduces them, all without having seen the rest; `resolving` has one shard's vertices.
`batches` commits their results, a batch at a time, with what `openlineage_runs` knows of runs of
OpenLineage, and `pruning` forgets what is not needed any more; `spark` runs them.
"""

from __future__ import annotations
