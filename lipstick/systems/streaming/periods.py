"""The check that a checkpoint's micro-batches were computed as the query would be computed now.

The text, the settings and the relations of each run are compared with the present query and its
session. Differences are reported by name.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType

from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.checkpoint import MicroBatch
from lipstick.systems.streaming.errors import UnrecordedRunWarning
from lipstick.systems.streaming.kept import numbered
from lipstick.systems.streaming.starts import (
    Change,
    History,
    Start,
    differing,
    read_starts,
    record,
    settings_of,
)
from lipstick.tracking.source import Source, fingerprint
from lipstick.tracking.states import FileState
from rewriter.streaming import OutputMode

if TYPE_CHECKING:
    from lipstick.systems.streaming.definition import AnnotatedStream
    from lipstick.tracking.tracker import Tracked


def record_start(stream: AnnotatedStream, mode: OutputMode, checkpoint: Path) -> tuple[int, Start]:
    """Record that a query is about to be started; return the number of the start, and the start.

    Raises
    ------
    StreamError
        When a setting changed since the query was read: Spark would take either value.
    """
    spark = stream.session.spark
    settings = settings_of(spark)
    prepared = [source.prepared for source in stream.sources.values()]
    for before in (stream.settings, *(each.settings for each in prepared if each is not None)):
        for name in differing(settings, before):
            raise StreamError(
                f"{name} was {_shown(before.get(name))} when the query was read, and is "
                f"{_shown(settings.get(name))} now.\nSet it back, or track its streams and read "
                "the query again."
            )
    committed = max(numbered(checkpoint / "commits"), default=-1)
    start = Start(
        batch=committed + 1,
        planned=max(numbered(checkpoint / "offsets"), default=-1) > committed,
        query=stream.canonical,
        text=stream.query,
        sources=_sources(stream),
        mode=mode.value,
        settings=settings,
        relations={n: state_of(spark, t.source) for n, t in stream.still.items()},
    )
    number = len(read_starts(checkpoint).starts)
    record(checkpoint, start)
    return number, start


def check_checkpoint(stream: AnnotatedStream, mode: OutputMode, checkpoint: Path) -> None:
    """Refuse a checkpoint that a different query wrote; warn of one with unrecorded runs.

    Raises
    ------
    StreamError
        With what differs.
    """
    history = read_starts(checkpoint)
    if not history.starts:
        _check_operators(stream, checkpoint)
        warnings.warn(
            f"The query of {checkpoint} was not started by the writeStream of its annotated query: "
            "the text, settings and relations of its batches are not recorded. "
            "Results use the present ones.",
            UnrecordedRunWarning,
            stacklevel=4,
        )
        return
    if not any(_is_of(stream, start) for start in history.starts):
        last = history.starts[-1]
        raise StreamError(
            f"{checkpoint} was written by another query:\n  {_on_one_line(last.text)}\n"
            f"and this one is\n  {_on_one_line(stream.query)}\n"
            "Give the checkpoint of this query, or track the same streams and ask the other one."
        )
    if not any(start.mode == mode.value for start in history.starts):
        raise StreamError(
            f"The query of {checkpoint} was started in output mode {history.starts[-1].mode}, not "
            f"{mode.value}.\nAsk recorded(checkpoint, {history.starts[-1].mode!r})."
        )


def check_computed_alike(
    stream: AnnotatedStream,
    mode: OutputMode,
    history: History,
    batches: Sequence[MicroBatch],
) -> None:
    """Refuse micro-batches that would be computed differently now.

    Raises
    ------
    StreamError
        With the first such batches, and what differs.
    """
    spark = stream.session.spark
    settings = settings_of(spark)
    for start, numbers in _by_start(history, batches):
        if not _is_of(stream, start) or start.mode != mode.value:
            raise StreamError(
                f"{_named(numbers)} computed by another text of the query:\n"
                f"  {_on_one_line(start.text)}\n{_ADVICE}"
            )
        for name in differing(start.settings, settings):
            raise StreamError(
                f"{_named(numbers)} computed where {name} was {_shown(start.settings.get(name))}, "
                f"and this session has {_shown(settings.get(name))}.\n"
                f"Set it so, read the query again, and ask. {_ADVICE}"
            )
        for name in differing(start.settings, stream.settings):
            raise StreamError(
                f"{name} was {_shown(stream.settings.get(name))} when the query was read, and "
                f"{_named(numbers)} computed where it was {_shown(start.settings.get(name))}.\n"
                "Read the query again."
            )
    for name, tracked in stream.still.items():
        numbers_by_state: dict[str, list[int]] = {}
        for batch in batches:
            if batch.has_data:
                for state in sorted(history.states_of(name, batch.number)):
                    numbers_by_state.setdefault(state, []).append(batch.number)
        for state, numbers in numbers_by_state.items():
            if not is_as(spark, tracked.source, state):
                raise StreamError(
                    f"{_named(numbers)} computed with other rows of {name!r} "
                    f"({tracked.source.description}) than it has now: it changed.\n"
                    f"Restore it, track it anew, and ask. {_ADVICE}"
                )


_ADVICE = (
    "Ask about those batches separately: emitted(batch) where rows are made of one batch, or "
    "results(batch) up to the last of them."
)


def _by_start(history: History, batches: Sequence[MicroBatch]) -> list[tuple[Start, list[int]]]:
    """Return the starts that may have computed batches, with the batches' numbers."""
    found: dict[int, tuple[Start, list[int]]] = {}
    for batch in batches:
        for start in (history.start_of(batch.number), history.disputed(batch.number)):
            if start is not None:
                found.setdefault(id(start), (start, []))[1].append(batch.number)
    return list(found.values())


def _is_of(stream: AnnotatedStream, start: Start) -> bool:
    return start.query == stream.canonical and dict(start.sources) == _sources(stream)


def _sources(stream: AnnotatedStream) -> dict[str, str]:
    """Return the sources of a query's streams, without options that only affect speed."""
    result = {}
    for name, source in stream.sources.items():
        watermark = (source.time, source.delay, source.distinct, source.within)
        computed = source.prepared.text if source.prepared is not None else ""
        read = (source.format, source.path, source.schema.simpleString(), computed)
        parts = repr((read, watermark))
        result[name] = hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()
    return result


def _check_operators(stream: AnnotatedStream, checkpoint: Path) -> None:
    """Refuse a checkpoint whose stateful operators differ from the query's."""
    kept: Counter[str] = Counter()
    for file in checkpoint.glob("state/*/_metadata/**/*"):
        if file.is_file() and not file.name.startswith("."):
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                entries = _operator_name(line)
                kept.update(entries)
    expected = stream.state_operators
    found = frozenset(_KINDS.get(name, name) for name in kept)
    if found != expected:
        raise StreamError(
            f"{checkpoint} was written by another query: it keeps state of "
            f"{_listed(found)}, and this query of {_listed(expected)}.\n"
            "Give the checkpoint of this query."
        )


_KINDS = {
    "stateStoreSave": "grouping",
    "sessionWindowStateStoreSaveExec": "grouping",
    "symmetricHashJoin": "join",
    "dedupe": "dropped duplicates",
    "dedupeWithinWatermark": "dropped duplicates",
}
"""The kinds of stateful operators, by Spark's names."""


def _operator_name(line: str) -> list[str]:
    start = line.find('"operatorName":"')
    return [] if start < 0 else [line[start + 16 :].split('"', 1)[0]]


def _listed(kinds: frozenset[str]) -> str:
    return ", ".join(sorted(kinds)) or "nothing"


def _named(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Micro-batch {numbers[0]} was"
    return f"Micro-batches {numbers[0]} to {numbers[-1]} were"


def _shown(value: str | None) -> str:
    return "not set" if value is None else (value or "empty")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


_MOST_BYTES = 64 << 20
"""Size of files in bytes above which rows have no checksum."""


def state_of(spark: SparkSession, source: Source) -> str:
    """Return the current state of a relation: digests of its files and of its rows.

    Jobs: one where the rows have a checksum.
    """
    rows = _now(spark, source)
    files = fingerprint(spark, rows)
    of_rows = ""
    if sum(length for _, length, _ in files) <= _MOST_BYTES:
        of_rows = _checksum(rows)
    return f"{_digest(files)}/{of_rows}"


def is_same(one: str, other: str) -> bool:
    """Return True if two states have the same files, or the same rows."""
    pairs = zip(one.split("/"), other.split("/"), strict=True)
    return any(first == second and first for first, second in pairs)


def is_as(spark: SparkSession, source: Source, state: str) -> bool:
    """Return True if a relation is now in a state; its rows are read only if its files differ."""
    files, _ = state.split("/")
    if files and files == _digest(fingerprint(spark, _now(spark, source))):
        return True
    return is_same(state, state_of(spark, source))


class Watch:
    """Watches the relations of a query while it runs, and records changes.

    Parameters
    ----------
    checkpoint
        The folder of the query's checkpoint.
    run
        The number of its start.
    relations
        The relations that it reads beside its streams.
    states
        Their states when it was started.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Path,
        run: int,
        relations: Mapping[str, Tracked],
        states: Mapping[str, str],
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._run = run
        self._sources = {name: tracked.source for name, tracked in relations.items()}
        self._seen = {name: state.split("/")[0] for name, state in states.items()}
        self._committed = -1

    def look(self) -> None:
        """Record the relations whose state has changed since the last time."""
        committed = max(numbered(self._checkpoint / "commits"), default=-1)
        for name, source in self._sources.items():
            if not self._seen[name]:
                continue
            files = _digest(fingerprint(self._spark, _now(self._spark, source)))
            if files != self._seen[name]:
                state = self._state(source)
                planned = max(numbered(self._checkpoint / "offsets"), default=-1)
                record(
                    self._checkpoint, Change(self._run, name, state, self._committed, planned + 1)
                )
                self._seen[name] = files
        self._committed = committed

    def _state(self, source: Source) -> str:
        """Return the state of a relation; an unreadable relation has a state of files only."""
        try:
            return state_of(self._spark, source)
        except Exception:
            return f"{_digest(fingerprint(self._spark, _now(self._spark, source)))}/"


def _now(spark: SparkSession, source: Source) -> DataFrame:
    return source.frame if source.table is None else spark.table(source.table)


def _digest(files: tuple[FileState, ...]) -> str:
    if not files:
        return ""
    return hashlib.blake2b(repr(files).encode(), digest_size=8).hexdigest()


def _checksum(rows: DataFrame) -> str:
    """Return an order-independent checksum of rows."""
    columns = [
        F.col(f"`{field.name}`").cast("string") if _has_map(field.dataType) else f"`{field.name}`"
        for field in rows.schema
    ]
    one = F.xxhash64(*columns) if columns else F.lit(0)
    totals = rows.select(one.alias("hash")).agg(
        F.count("*"), F.sum(F.col("hash").cast("decimal(38, 0)")), F.bit_xor("hash")
    )
    return "-".join(map(str, tuple(totals.head() or ())))


def _has_map(type_: DataType) -> bool:
    return isinstance(type_, MapType) or "map<" in type_.simpleString()
