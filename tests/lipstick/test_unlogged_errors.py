"""Errors that are tried for and caught: PySpark writes none of them to the terminal."""

from __future__ import annotations

import ast
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.logger import PySparkLogger

from lipstick.engines.spark.local_session import unlog_own_errors, unlogged_errors
from semiring.support.door import checked

SYSTEMS = Path(__file__).parent.parent.parent / "lipstick" / "systems"
"""What runs beside the user's own calls, as the recording of a script does."""
LOGGER = "SQLQueryContextLogger"
ENTERED = "unlogged_errors"


def _names(node: ast.AST | None) -> set[str]:
    found = ast.walk(node) if node is not None else ()
    return {each.id for each in found if isinstance(each, ast.Name)}


def _is_quiet(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(ENTERED in _names(item) for item in node.items)


def _loud(tree: ast.AST) -> Iterator[int]:
    """Yield the lines where an error of PySpark is caught for good, and was written before."""
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and not _is_quiet(node):
            entered = set().union(*(_names(item) for item in node.items))
            if {"suppress", "PySparkException"} <= entered:
                yield node.lineno
        if not isinstance(node, ast.Try) or any(map(_is_quiet, ast.walk(node))):
            continue
        for handler in node.handlers:
            raises = any(isinstance(part, ast.Raise) for part in ast.walk(handler))
            if "PySparkException" in _names(handler.type) and not raises:
                yield handler.lineno


def test_every_error_that_is_caught_outside_of_a_call_is_tried_for_quietly() -> None:
    loud = {
        path.relative_to(SYSTEMS).as_posix()
        for path in SYSTEMS.rglob("*.py")
        if "PySparkException" in (text := path.read_text("utf-8")) and list(_loud(ast.parse(text)))
    }
    assert not loud


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What PySpark writes of errors."""
    logger, messages = PySparkLogger.getLogger(LOGGER), list[str]()
    # As a configuration of logging, and a Spark of ours, leave it.
    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(logger, "level", logging.ERROR)
    logger.manager._clear_cache()  # type: ignore[attr-defined]
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    yield messages
    logger.removeHandler(handler)
    logger.manager._clear_cache()  # type: ignore[attr-defined]


def test_errors_in_a_call_of_ours_are_not_written(written: list[str]) -> None:
    logger = PySparkLogger.getLogger(LOGGER)

    @checked
    def ours(message: str) -> None:
        logger.error(message)

    unlog_own_errors()
    ours("in a call")
    logger.error("the user's own")
    assert written == ["the user's own"]


def test_errors_of_other_threads_are_written_meanwhile(written: list[str]) -> None:
    logger = PySparkLogger.getLogger(LOGGER)
    with unlogged_errors():
        logger.error("ours")
        other = threading.Thread(target=logger.error, args=("theirs",))
        other.start()
        other.join()
    logger.error("after")
    assert written == ["theirs", "after"]
