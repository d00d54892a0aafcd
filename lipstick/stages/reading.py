"""Errors of our own while a query is read: refusals to the user, reports to who mends them."""

from __future__ import annotations

import logging
import platform
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import InternalError, LipstickError
from lipstick.stages.spark_errors import invalid
from rewriter.errors import UnsupportedError
from rewriter.position import place_of_error

logger = logging.getLogger("lipstick")

_PACKAGES = ("pyspark", "sqlglot", "pyarrow")


@contextmanager
def reading(
    query: str, *, accepted: bool = False, written: bool = False, names: Iterable[str] = ()
) -> Iterator[None]:
    """Turn what goes wrong in reading a query into a refusal of it, and log what a report needs.

    Parameters
    ----------
    query
        The text as the user gave it.
    accepted
        Spark has accepted the text, so that an error of Spark's is one of a text of ours. Else it
        is the user's.
    written
        Spark reads a text that was written for the user's.
    names
        Of relations that the text may mean.

    Raises
    ------
    InvalidQueryError
        For a text of the user's that Spark does not accept.
    InternalError
        With the text, and where in this code the error arose; the cause is the error itself.
    """
    try:
        yield
    except (LipstickError, RecursionError):
        raise  # the latter to be read again with more room, see semiring.support.depth
    except Exception as error:
        if is_too_deep(error):
            raise too_deep(query) from error
        if not accepted and type(error).__module__.startswith("py4j."):
            raise UnsupportedError(
                f"Spark cannot read this query: {_cause(error)}", "Divide it into parts.", query
            ) from error
        if isinstance(error, PySparkException):
            if not isinstance(error, AnalysisException):
                raise  # of no text
            if not accepted:
                raise invalid(error, query, names, written=written) from error
        raise _internal(error, query) from error


def _internal(error: Exception, query: str) -> InternalError:
    """Return the refusal of a query in whose reading this code failed, and log what failed."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next(filter(_is_ours, reversed(frames)), frames[-1])
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    logger.error(
        "internal error in reading a query; please report this.\n%s\nPython %s, %s",
        query,
        platform.python_version(),
        versions,
        exc_info=error,
    )
    summary = str(error).strip().split("\n", 1)[0]
    doing = "an internal error ended the reading of this query"
    advice = "Run it with spark.sql, and please"
    if isinstance(error, PySparkException):
        doing, advice = "Spark does not accept a statement that was written for it", "Please"
    problem = f"{doing}: {type(error).__name__}: {summary}"
    advice += (
        f" report the text and the log of 'lipstick' (it arose in {where.name} of"
        f" {_module(where.filename)}, line {where.lineno})."
    )
    return InternalError(problem, advice, query, place_of_error(error, query))


def own_sql(spark: SparkSession, sql: str) -> DataFrame:
    """Return the frame of a statement that was written for a query.

    Raises
    ------
    InternalError
        Spark does not accept it.
    """
    with reading(sql, accepted=True):
        return spark.sql(sql)


def is_too_deep(error: Exception) -> bool:
    """Return True if a text was nested too deeply for the stack of Spark's driver."""
    text = str(error)
    return "StackOverflowError" in text or "FAILED_TO_PARSE_TOO_COMPLEX" in text


def too_deep(query: str) -> UnsupportedError:
    """Return the refusal of a query that is nested too deeply for the stack of Spark's driver."""
    return UnsupportedError(
        "Spark cannot read this query, or its text as we write it: it is nested too deeply for the "
        "stack of the driver's threads",
        "Divide it into parts, such as temporary views that are tracked by materialize=True, or "
        "start Spark with more room: spark.driver.extraJavaOptions=-Xss64m.",
        query,
    )


def _cause(error: Exception) -> str:
    """Return the first line of the error of the JVM."""
    lines = str(error).strip().splitlines()
    return next((line.lstrip(": ") for line in lines if line.startswith(":")), lines[0])


def _is_ours(frame: traceback.FrameSummary) -> bool:
    return "site-packages" not in frame.filename


def _module(filename: str) -> str:
    """Return the end of a path: the folder and the file."""
    return "/".join(filename.replace("\\", "/").rsplit("/", 2)[-2:])
