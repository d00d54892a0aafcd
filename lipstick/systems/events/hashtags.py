"""Hashtag count over generated tweets, the paper's computation: map, combine, reduce.

In plain Python and on Spark, each with its provenance or without.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.events.emit import Emitter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
BLOCK = 500
"""Number of tweets per combiner of plain Python."""


def tweets(count: int, seed: int = 0, tags: int = 2_000, bare: float = 0.25) -> pa.Table:
    """Return generated tweets: `tweet`, an identifier, and `text`, with Zipf-distributed hashtags.

    Parameters
    ----------
    tags
        The maximum number of distinct hashtags.
    bare
        The share of tweets without any; the others have up to four.
    """
    rng = np.random.default_rng(seed)
    several = (1 - bare) * np.array([7, 4, 3, 1]) / 15
    numbers = rng.choice(5, count, p=[bare, *several])
    chosen = (rng.zipf(1.3, int(numbers.sum())) % tags).tolist()
    words = rng.integers(0, len(_WORDS), (count, 8)).tolist()
    texts, start = [], 0
    for number, own_words in zip(numbers.tolist(), words, strict=True):
        tags_of_tweet = dict.fromkeys(chosen[start : start + number])
        start += number
        texts.append(
            " ".join(
                [*(_WORDS[word] for word in own_words), *(f"#tag{tag}" for tag in tags_of_tweet)]
            )
        )
    names = pa.array([f"tweet/{number}" for number in range(count)], pa.string())
    return pa.table({"tweet": names, "text": pa.array(texts, pa.string())})


def count(table: pa.Table, emitter: Emitter | None = None, part: str = "0") -> Counter[str]:
    """Count hashtags in plain Python, and emit the derivations as messages of executions.

    Parameters
    ----------
    part
        A part of the computation: its counts are combined, not reduced.
    """
    counted: Counter[str] = Counter()
    rows = table.to_pylist()
    for start in range(0, len(rows), BLOCK):
        groups: dict[str, list[str]] = {}
        for row in rows[start : start + BLOCK]:
            tags_of_row = [word for word in row["text"].split() if word.startswith("#")]
            records = [f"{row['tweet']}/{tag}" for tag in tags_of_row]
            for tag, record in zip(tags_of_row, records, strict=True):
                groups.setdefault(tag, []).append(record)
            if emitter is not None:
                name = f"map/{row['tweet']}"
                emitter.record("map", name, [row["tweet"]], records, readers=1, inputs=True)
        for tag, records in groups.items():
            counted[tag] += len(records)
            if emitter is not None:
                name = f"{part}/{start}/{tag}"
                emitter.record("combine", f"combine/{name}", records, [name], readers=1)
    return counted


def combined(table: pa.Table, part: str) -> dict[str, list[str]]:
    """Return, for every hashtag, the identifiers of the counts that `count` combined."""
    groups: dict[str, list[str]] = {}
    rows = table.column("text").to_pylist()
    for start in range(0, len(rows), BLOCK):
        words = (word for text in rows[start : start + BLOCK] for word in text.split())
        for tag in dict.fromkeys(word for word in words if word.startswith("#")):
            groups.setdefault(tag, []).append(f"{part}/{start}/{tag}")
    return groups


def reduce(groups: dict[str, list[str]], emitter: Emitter) -> None:
    """Emit the derivation of each hashtag's total from combined counts, and end the computation."""
    for tag, names in groups.items():
        emitter.record("reduce", f"reduce/{tag}", names, [tag], readers=0)
    emitter.seal()


def count_on_spark(
    spark: SparkSession, path: str | os.PathLike[str], emitter: Emitter | None, parts: int = 2
) -> DataFrame:
    """Return hashtags and their number of occurrences in a Parquet file of tweets.

    Parameters
    ----------
    emitter
        None: without provenance.
    parts
        Partitions of the reducers.
    """
    from lipstick.systems.events.tasks import (
        map_in_arrow,
        partitions_in_arrow,
        per_batch,
        per_partition,
    )

    frame = spark.read.parquet(os.fspath(path))
    if emitter is None:
        steps = per_batch(tags_of), per_partition(combine), per_partition(total)
    else:
        steps = (
            map_in_arrow(
                emitter, "map", tags_of, result="id", origin="tweet", readers=1, inputs=True
            ),
            partitions_in_arrow(
                emitter, "combine", combine, result="id", origin="records", readers=1
            ),
            partitions_in_arrow(emitter, "reduce", total, result="tag", origin="ids", readers=0),
        )
    mapped = frame.mapInArrow(steps[0], "tag string, id string, tweet string")
    partial = mapped.mapInArrow(
        steps[1], "tag string, id string, number bigint, records array<string>"
    ).select("tag", "id", "number")
    return (
        partial.repartition(parts, "tag")
        .mapInArrow(steps[2], "tag string, number bigint, ids array<string>")
        .select("tag", "number")
    )


def tags_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a row for every hashtag of some tweets."""
    words = pc.split_pattern(batch.column("text"), " ")
    owner = pc.list_parent_indices(words)
    flat = pc.list_flatten(words)
    is_tag = pc.starts_with(flat, "#")
    tags, owner = flat.filter(is_tag), owner.filter(is_tag)
    origins = batch.column("tweet").take(owner)
    names = pc.binary_join_element_wise(origins, tags, "/")
    return pa.RecordBatch.from_arrays([tags, names, origins], names=["tag", "id", "tweet"])


def combine(table: pa.Table) -> pa.Table:
    """Return a row for every hashtag of a partition."""
    groups = table.group_by("tag", use_threads=False)
    combined_rows = groups.aggregate([("id", "count"), ("id", "list"), ("id", "first")])
    name = pc.binary_join_element_wise("combined", combined_rows.column("id_first"), "/")
    return pa.table(
        {
            "tag": combined_rows.column("tag"),
            "id": name,
            "number": combined_rows.column("id_count"),
            "records": combined_rows.column("id_list"),
        }
    )


def total(table: pa.Table) -> pa.Table:
    """Return a row for every hashtag."""
    groups = table.group_by("tag", use_threads=False)
    totals = groups.aggregate([("number", "sum"), ("id", "list")])
    return pa.table(
        {
            "tag": totals.column("tag"),
            "number": totals.column("number_sum"),
            "ids": totals.column("id_list"),
        }
    )
