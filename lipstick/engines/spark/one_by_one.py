"""Hypothetical answers in many scenarios that Spark computes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.dataframes.arrow import arrow_rows, with_nullable_columns
from lipstick.display.progress_line import progress
from lipstick.questions.what_if import CHANGE, SCENARIO, WhatIf, WhatIfMany

if TYPE_CHECKING:
    from lipstick.engines.memory.scenarios import Scenarios

_SILENT = 2.0
"""Seconds after which progress is shown."""


def deletions_one_by_one(
    scenarios: Scenarios, what_if: Callable[[Mapping[str, pa.Table]], WhatIf[DataFrame]]
) -> WhatIfMany:
    """Return the answers of `what_if` to the deletion of each scenario."""
    deletions = map(scenarios.deleted_in, range(len(scenarios)))
    answers = [
        what_if({name: table for name, table in tokens.items() if table.num_rows})
        for tokens in deletions
    ]
    return joined_answers(scenarios.labels, answers)


def joined_answers(labels: pa.Array, answers: Sequence[WhatIf[DataFrame]]) -> WhatIfMany:
    """Return answers in scenarios as one, whose rows Spark computes when they are read."""

    def joined(rows_of: Callable[[WhatIf[DataFrame]], DataFrame]) -> pa.Table:
        tables = []
        with progress(after=_SILENT) as line:
            for number, answer in enumerate(answers):
                line(f"scenario {number + 1:,} of {len(answers):,}")
                # Answers differ in which columns are never NULL.
                table = with_nullable_columns(arrow_rows(rows_of(answer)))
                label = pa.repeat(labels[number], table.num_rows)
                tables.append(table.add_column(0, SCENARIO, label))
        return pa.concat_tables(tables) if tables else pa.table({SCENARIO: labels})

    return WhatIfMany(labels, "repeated", lambda: joined(lambda a: a.df), lambda: joined(_changed))


def _changed(answer: WhatIf[DataFrame]) -> DataFrame:
    row = F.coalesce("new", "old").alias("row")
    differ = answer.changes.where(F.col(CHANGE) != "unchanged")
    return differ.select(row, CHANGE).select("row.*", CHANGE)
