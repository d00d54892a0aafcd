"""The reduction of a stream of messages by Structured Streaming, in parallel and exactly once.

`parsed_rows` parses the input and deals messages out to partitions, and `local_reduction` decides
which messages count and reduces them without seeing the rest; `settling` resolves the vertices of
one shard. `batches` commits the results, a batch at a time, with the state of OpenLineage runs from
`openlineage_runs`, and forgets state that is no longer needed; `spark` runs them.
"""

from __future__ import annotations
