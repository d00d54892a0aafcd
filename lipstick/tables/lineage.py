"""Lineage through derived relations: the tuples that their rows were made of, on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.tables.derivation import TUPLE, Derivation, Part
from lipstick.tables.derived_rows import part_rows

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture


def with_origins(
    spark: SparkSession, capture: Capture, tokens: Mapping[str, DataFrame]
) -> dict[str, DataFrame]:
    """Return tokens by relation, and with those of derived relations what their rows were made of.

    Parameters
    ----------
    tokens
        By relation that the query of the capture reads, the columns of its token.
    """
    frames_by_relation = {name: [frame] for name, frame in tokens.items()}
    for name, frame in tokens.items():
        record = capture.manifest.relations[name]
        if record.derived is None:
            continue
        derivation = capture.ancestry.derivation(record)
        for part in derivation.parts:
            if not part.captured:
                continue
            made_by = capture.made(derivation, part)
            rows = _tuples(spark, made_by, derivation, part, frame.toDF(*record.token))
            inner = with_origins(spark, made_by, made_by.cluster.tokens_of(rows))
            for origin, its in inner.items():
                frames_by_relation.setdefault(origin, []).append(its)
    return {
        name: reduce(DataFrame.unionAll, frames).distinct()
        for name, frames in frames_by_relation.items()
    }


def _tuples(
    spark: SparkSession, made_by: Capture, derivation: Derivation, part: Part, tokens: DataFrame
) -> DataFrame:
    """Return the tuples of a capture that some rows of its part are, by their identity."""
    rows = part_rows(spark, derivation, part)
    match = [rows[f"`{name}`"].eqNullSafe(tokens[f"`{name}`"]) for name in tokens.columns]
    chosen = rows.join(tokens, reduce(and_, match), "left_semi")
    identity = made_by.manifest.root.identity
    named = [F.col(f"{TUPLE}.i{at}").alias(name) for at, name in enumerate(identity)]
    return chosen.select(*named) if named else chosen
