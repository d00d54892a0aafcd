"""The columns behind an answer, as the lineage of an output dataset of OpenLineage."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graphquery.exchange.openlineage_events import OutputLineage, Parts
from rewriter.analysis.column_lineage import SourceColumn, column_lineage, deciding_columns
from rewriter.blocks import Block


def output_lineage(
    root: Block,
    names: Sequence[str],
    inputs: Collection[str],
    facets: Mapping[str, Any],
    datasets: Mapping[str, str] | None = None,
) -> OutputLineage:
    """Return where the columns and rows of an answer come from.

    Parameters
    ----------
    names
        The names of its columns.
    inputs
        The datasets that it comes from; columns of others are left out.
    datasets
        By relation, the dataset that it stands for where that is another.
    """
    columns: dict[str, set[SourceColumn]] = {}
    for name, output in zip(names, root.outputs, strict=True):
        columns.setdefault(name, set()).update(column_lineage(root, output.name))
    return OutputLineage(
        tuple(inputs),
        {name: _parts(found, inputs, datasets) for name, found in columns.items()},
        _parts(deciding_columns(root), inputs, datasets),
        facets,
    )


def _parts(
    found: Iterable[SourceColumn], inputs: Collection[str], datasets: Mapping[str, str] | None
) -> Parts:
    parts: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    for each in sorted(found):
        dataset = (datasets or {}).get(each.relation, each.relation)
        if dataset not in inputs:
            continue
        kinds = parts.setdefault((dataset, each.column), [])
        if (each.kind, each.subtype) not in kinds:
            kinds.append((each.kind, each.subtype))
    return parts
