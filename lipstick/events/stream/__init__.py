"""The reduction of a stream of messages by Structured Streaming, in parallel and exactly once.

`cutting` parses what arrives and deals messages out, `deciding` says which of them count, `local`
reduces them, all without having seen the rest; `resolving` has the vertices of one shard. `batches`
commits what these gave, a batch at a time, and `spark` runs them.
"""

from __future__ import annotations
