"""The rows that each operator of a query loses: how many, and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lipstick.questions.missing.why_not import Run
from rewriter.algebra import Relation
from rewriter.analysis.pattern_origins import paths
from rewriter.blocks import TokenSource
from rewriter.emit.losses import OperatorLoss, counted_losses, lost_examples, operator_losses
from rewriter.emit.operators import OperatorQueries
from rewriter.emit.patterns import ScalarTexts
from rewriter.scalars.text import text
from semiring.errors import ArgumentError
from semiring.support.door import checked


@checked
@dataclass(frozen=True, eq=False)
class DroppedRows:
    """The rows that the operators of a query lose.

    Attributes
    ----------
    table
        For each operator and input: operator, input, condition, place, rows, lost; inputs before
        the operators that read them. Each conjunct of WHERE and HAVING has a line, with the rows
        that the conjuncts before it keep. A row that no partner matches counts once.
    """

    table: pa.Table
    losses: Sequence[OperatorLoss]
    queries: OperatorQueries
    texts: ScalarTexts
    run: Run

    def examples(self, place: int, limit: int = 5) -> pa.Table:
        """Return some of the rows behind a number of lost rows of `table`.

        Parameters
        ----------
        place
            The number of the row of `table`, from 0.

        Raises
        ------
        ArgumentError
            When the table has no such row.
        """
        if not 0 <= place < len(self.losses):
            raise ArgumentError(
                f"DroppedRows.examples: place is {place}.\n"
                f"It should be: the number of a row of the table, 0 to {len(self.losses) - 1}."
            )
        loss = self.losses[place]
        rows = self.run(text(lost_examples(loss, self.queries, limit)))
        return rows.rename_columns([self.texts.column(name) for name in loss.rows.ids])

    def __str__(self) -> str:
        lines = []
        for row in self.table.to_pylist():
            where = f" at {row['place']}" if row["place"] else ""
            condition = f" `{row['condition']}`" if row["condition"] else ""
            lost = f"{row['lost']:,} of {row['rows']:,} rows of {row['input']}"
            lines.append(f"{row['operator']}{where}{condition}: loses {lost}.")
        return "\n".join(lines) or "No operator can lose rows."

    __repr__ = __str__


def dropped(
    root: Relation, tokens: Mapping[str, TokenSource], sql: str, texts: ScalarTexts, run: Run
) -> DroppedRows:
    """Return how many rows each operator of a plan loses; one statement counts them all."""
    queries = OperatorQueries(tokens, sql)
    losses = operator_losses(root, queries)
    query = counted_losses(losses, queries)
    counts = [] if query is None else run(text(query)).to_pylist()
    by_place = {row["place"]: row for row in counts}
    rows = []
    for place, loss in enumerate(losses):
        span = getattr(loss.operator, "span", None)
        inputs = dict.fromkeys(texts.relation(path.scan) for path in paths(loss.input))
        rows.append(
            {
                "operator": loss.loss.value,
                "input": " with ".join(inputs) or "constants",
                "condition": "" if loss.condition is None else texts.text(loss.condition),
                "place": None if span is None or span.view else f"{span.line}:{span.column}",
                "rows": by_place[place]["rows"],
                "lost": by_place[place]["lost"],
            }
        )
    columns = ("operator", "input", "condition", "place")
    schema = pa.schema(
        [*((c, pa.string()) for c in columns), ("rows", pa.int64()), ("lost", pa.int64())]
    )
    return DroppedRows(pa.Table.from_pylist(rows, schema), losses, queries, texts, run)
