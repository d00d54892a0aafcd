"""What older versions of Spark have not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyspark
import pytest
from pyspark.errors import AnalysisException

from lipstick.errors import InvalidQueryError

VERSION = tuple(map(int, pyspark.__version__.split(".")[:2]))
_OURS = "TABLE_OR_VIEW_NOT_FOUND"
"""What no version lacks."""


@contextmanager
def of_newer_spark() -> Iterator[None]:
    """Skip a test of what an older Spark has not, as it says itself of a plain query."""
    try:
        yield
    except (AnalysisException, InvalidQueryError) as error:
        is_ours = isinstance(error, InvalidQueryError)
        condition = error.condition if is_ours else error.getCondition()
        if VERSION >= (4, 3) or condition == _OURS:
            raise
        pytest.skip(f"PySpark {pyspark.__version__}: {condition}")
