"""Single tuples: the most influential ones, and all that failing rows were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import lineage
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.protocol import CaptureEngine
from lipstick.questions.why.effects import effects_on
from lipstick.questions.why.measure import Measure, column_of
from lipstick.questions.why.pipeline import measured
from lipstick.questions.why.shares import shapley_shares
from lipstick.questions.why.sources import SourceRows, chosen_relation, read_source
from semiring.arrays.segments import ascending

_IN_MEMORY = 20_000_000
"""The number of captured rows up to which tuples are left out in memory."""

INTERNAL = "_lipstick_"
"""The beginning of the names of columns that the source itself does not have."""

_AT_ONCE = 1 << 18
"""Tuples that are left out one by one together."""


def top_rows(measure: Measure, source: SourceRows, limit: int) -> pa.Table:
    """Return the rows whose deletion, each alone, gains most, with their effects.

    Rows without which the value is gone, or NULL, come first where any move counts, else last, and
    have NULL as their effects.

    Cost: one pass over the members where the measure has partial aggregates, else a scenario per
    tuple; of each part of the relation only the best rows stay in memory.
    """
    effects = effects_on(measure, source)
    best, gains = np.zeros(0, dtype=np.int64), np.zeros(0)
    for start in range(0, len(source) if effects is not None else 0, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, len(source)))
        assert effects is not None
        without = effects.singles(np.arange(len(rows)), len(rows), rows)
        gained = measure.gain(without.numbers)
        gained[np.isnan(gained)] = np.inf if measure.any_move_counts else -np.inf
        moved = np.flatnonzero(without.numbers != measure.before)
        best = np.concatenate([best, rows[moved]])
        gains = np.concatenate([gains, gained[moved]])
        if len(best) > limit:
            kept = np.argpartition(-gains, limit - 1)[:limit]
            best, gains = best[kept], gains[kept]
    best = best[np.lexsort([best, -gains])]
    # Exactly: from the capture, a what-if each.
    deleted = {source.name: Deleted(source.tokens.take(pa.array(best)), np.arange(len(best)))}
    after, effect = measure.exactly(deleted, len(best))
    own = [name for name in source.schema.names if not name.startswith(INTERNAL)]
    table = source.take(best, own)
    table = table.append_column("_after", after).append_column("_effect", effect)
    shares = shapley_shares(measure, source)
    of_rows = pa.nulls(len(best), pa.float64()) if shares is None else pa.array(shares[best])
    return table.append_column("_shapley", of_rows)


class CaptureOfRows(Protocol):
    """A capture, in memory and on the cluster."""

    manifest: Manifest
    engine: CaptureEngine

    @property
    def memory(self) -> Memory:
        """The engine in memory."""

    @property
    def cluster(self) -> Any:
        """The engine on the cluster."""


def top_tuples(
    capture: CaptureOfRows,
    column: str,
    limit: int,
    where: Mapping[str, Any],
    relation: str | None,
    cluster: bool | None,
) -> pa.Table:
    """Return the tuples that move a value most; see :meth:`lipstick.Capture.top`."""
    manifest = capture.manifest
    named = [name for name, each in manifest.relations.items() if each.token]
    chosen = chosen_relation(named, relation)
    if cluster is None:
        has_session, has_values = capture.engine.spark is not None, manifest.values == "copy"
        cluster = has_session and has_values and manifest.row_count > _IN_MEMORY
    if not cluster:
        memory = capture.memory
        measure, _ = measured(memory, column, where, None, None)
        source = read_source(memory.engine, capture.engine.spark, manifest.relations[chosen])
        return top_rows(measure, source, limit)
    from lipstick.engines.spark.leave_one_out import top_on_cluster

    outputs = [output.name for output in manifest.root.outputs]
    place = column_of(list(manifest.names), column)
    values = {outputs[column_of(list(manifest.names), n)]: value for n, value in where.items()}
    engine = capture.cluster
    return top_on_cluster(
        engine.spark,
        manifest,
        engine.present(),
        engine.members_view,
        outputs[place],
        chosen,
        values,
        limit,
    )


_NO_ROWS = np.zeros(0, dtype=np.int64)


def quarantined_rows(
    measure: Measure, source: SourceRows, reasons: Sequence[tuple[str, pa.Table]]
) -> pa.Table:
    """Return the rows to set aside, with reasons: the sources of failing rows, or explaining rows.

    If nothing fails without the sources of failing rows that have reasons, these suffice.

    Parameters
    ----------
    reasons
        Predicates, and the tokens of the rows that satisfy each.
    """
    if measure.is_check:
        positions = measure.positions
        if positions is None:
            positions = measure.engine.base(measure.engine.root.name).ordered
        found = source.find(lineage(measure.engine, positions)[source.name])
        if reasons:
            explained = found[np.isin(found, np.concatenate([source.find(t) for _, t in reasons]))]
            deleted = Deleted(
                source.tokens.take(pa.array(explained)), np.zeros(len(explained), int)
            )
            if measure.of_deletions({source.name: deleted}, 1)[0] == 0:
                # Nothing fails without them: the other sources are innocent.
                found = explained
    else:
        # All rows made the value; to be set aside are those that explain it.
        found = np.concatenate([source.find(tokens) for _, tokens in reasons] or [_NO_ROWS])
    rows = ascending(found[found >= 0])
    texts = np.full(len(rows), "", dtype=object)
    for text, tokens in reasons:
        holds = np.isin(rows, source.find(tokens))
        texts[holds] = np.where(texts[holds] == "", text, texts[holds] + "; " + text)
    own = [name for name in source.schema.names if not name.startswith(INTERNAL)]
    table = source.take(rows, own)
    return table.append_column("_reasons", pa.array(texts.tolist(), pa.string()))
