"""Errors that are tried for and caught: PySpark writes none of them to the terminal."""

from __future__ import annotations

import ast
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lipstick.engines.spark.local_session import unlogged_errors

PACKAGE = Path(__file__).parent.parent.parent / "lipstick"
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


def test_every_error_that_is_caught_is_tried_for_quietly() -> None:
    # Ends a session, and questions to tables that other modules ask quietly.
    known = {"workflow/execution/benches.py", "written_tables.py"}
    loud = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "PySparkException" in (text := path.read_text("utf-8")) and list(_loud(ast.parse(text)))
    }
    assert loud <= known


def test_errors_of_other_threads_are_written_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    logger, written = logging.getLogger(LOGGER), list[str]()
    # As a configuration of logging, and a Spark of ours, leave it.
    monkeypatch.setattr(logger, "disabled", False)
    level = logger.level
    logger.setLevel("ERROR")
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    before = list(logger.filters)
    try:
        with unlogged_errors():
            logger.error("ours")
            other = threading.Thread(target=logger.error, args=("theirs",))
            other.start()
            other.join()
        logger.error("after")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert written == ["theirs", "after"]
    assert logger.filters == before
