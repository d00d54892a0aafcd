"""What people do with any data frame, done with the plain answer of an annotated one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row

from semiring.door import checked


@checked
class PlainAnswer(ABC):
    """Rows of the plain answer, as ``df`` gives them."""

    @property
    @abstractmethod
    def df(self) -> DataFrame:
        """The plain answer."""

    @property
    def columns(self) -> list[str]:
        """The names of the answer's columns."""
        return list(self.df.columns)

    def show(self, n: int = 20, truncate: bool | int = True, vertical: bool = False) -> None:
        """Print the first rows of the answer; see ``DataFrame.show``."""
        self.df.show(n, truncate, vertical)

    def collect(self) -> list[Row]:
        """Return the rows of the answer."""
        return self.df.collect()

    def count(self) -> int:
        """Return how many rows the answer has."""
        return self.df.count()

    def toArrow(self) -> pa.Table:  # noqa: N802 - as Spark has it
        """Return the answer as an Arrow table."""
        return self.df.toArrow()

    def toPandas(self) -> Any:  # noqa: N802 - as Spark has it
        """Return the answer as a frame of pandas, which must be installed."""
        return self.df.toPandas()
