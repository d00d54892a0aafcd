"""A hypothetical answer held against the same text, run by plain Spark on the reduced tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lipstick import display
from lipstick.demo.screen import Screen, seconds, timed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one comparison, with the seconds that both sides took."""

    equal: bool
    answer: Counter[tuple[Any, ...]]
    answered: float
    rerun: float

    @property
    def rows(self) -> int:
        """How many rows the rerun gave."""
        return self.answer.total()

    def show(self, screen: Screen, method: str) -> None:
        """Write the outcome."""
        if self.equal:
            screen.say(
                f"  ✓ equal to a rerun ({display.counted(self.rows, 'row')}): answered from "
                f"{method} in {seconds(self.answered)}, run again in {seconds(self.rerun)}",
                "green",
            )
        else:
            screen.say("  ✗ NOT equal to the query run again on the reduced tables", "bold red")


def check(
    spark: SparkSession, what_if: Any, sql: str, reduced: Mapping[str, DataFrame], started: float
) -> Check:
    """Compare a what-if's answer with a plain run over reduced tables.

    Parameters
    ----------
    spark
        A session without lipstick's views, that ``reduced`` belong to.
    started
        Seconds that asking the what-if took before its rows are read here.
    """
    for name, frame in reduced.items():
        frame.createOrReplaceTempView(name)
    answered_rows, answered = timed(what_if.df.collect)
    rerun_rows, rerun = timed(spark.sql(sql).collect)
    answer: Counter[tuple[Any, ...]] = Counter(map(tuple, rerun_rows))
    return Check(Counter(map(tuple, answered_rows)) == answer, answer, started + answered, rerun)
