"""Answers in many scenarios, each of which a streaming query was asked for by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.questions.scenarios import SCENARIO
from lipstick.questions.what_if import CHANGE, WhatIf


class RepeatedWhatIf:
    """What a streaming query would have emitted in each of many scenarios.

    The tables are those of :class:`~lipstick.engines.memory.WhatIfMany`.

    Parameters
    ----------
    labels
        What the scenarios are called.
    answers
        Their answers.

    Attributes
    ----------
    method
        ``repeated``: one scenario after the other.
    """

    method = "repeated"

    def __init__(self, labels: pa.Array, answers: Sequence[WhatIf]) -> None:
        self._labels = labels
        self._answers = answers

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        return f"RepeatedWhatIf({len(self)} scenarios)"

    @property
    def scenarios(self) -> pa.Array:
        """What the scenarios are called in the tables."""
        return self._labels

    @cached_property
    def df(self) -> pa.Table:
        """The hypothetical answers: ``scenario``, then the answer's columns."""
        return self._joined(lambda answer: answer.df)

    @cached_property
    def changes(self) -> pa.Table:
        """The rows that differ from the answer: ``scenario``, the answer's columns, ``_change``.

        ``_change`` is changed, deleted or added; a row that is deleted shows what it was.
        """
        return self._joined(_changed)

    def _joined(self, rows_of: Callable[[WhatIf], DataFrame]) -> pa.Table:
        tables = []
        for number, answer in enumerate(self._answers):
            table = rows_of(answer).toArrow()
            label = pa.repeat(self._labels[number], table.num_rows)
            tables.append(table.add_column(0, SCENARIO, label))
        return pa.concat_tables(tables) if tables else pa.table({SCENARIO: self._labels})


def _changed(answer: WhatIf) -> DataFrame:
    row = F.coalesce("new", "old").alias("row")
    differ = answer.changes.where(F.col(CHANGE) != "unchanged")
    return differ.select(row, CHANGE).select("row.*", CHANGE)
