"""The router: the first engine that can answers, and nobody else decides."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pytest

import lipstick
from lipstick.capture.manifest import Manifest
from lipstick.engines import route
from lipstick.engines.route import answer, if_here, left_to_spark
from lipstick.errors import CaptureError, NeedsSparkError, TrackingError
from rewriter.interpret import UninterpretableError

REASON = NeedsSparkError("Spark knows.")
PACKAGE = Path(lipstick.__file__).parent


def refuse() -> int:
    raise REASON


def fail() -> int:
    raise TrackingError("There is no such relation.")


def test_what_is_computed_here_is_not_asked_of_spark() -> None:
    assert answer(lambda: 1, None) == 1
    assert if_here(lambda: 0) == 0


def test_spark_is_given_the_reason_why_it_is_asked() -> None:
    assert answer(refuse, str) == "Spark knows."
    assert if_here(refuse) is None


def test_the_reason_is_raised_without_spark() -> None:
    with pytest.raises(NeedsSparkError) as raised:
        answer(refuse, None)
    assert raised.value is REASON


def test_errors_of_users_are_raised_unless_spark_is_to_report_them() -> None:
    with pytest.raises(TrackingError):
        answer(fail, lambda _: 2)
    assert answer(fail, lambda _: 2, left_to_spark()) == 2
    with pytest.raises(NeedsSparkError):
        answer(refuse, lambda _: 2, ())


def test_an_error_of_spark_has_no_context() -> None:
    """It does not read as if it had come from this process."""

    def by_spark(_: Exception) -> int:
        raise CaptureError("gone")

    with pytest.raises(CaptureError) as raised:
        answer(refuse, by_spark)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("error", [TrackingError, UninterpretableError, pa.ArrowInvalid])
def test_errors_that_are_left_to_spark(error: type[Exception]) -> None:
    assert issubclass(error, left_to_spark())


@pytest.mark.parametrize(
    ("members", "free", "fits"),
    [
        (20_000_000, None, True),
        (20_000_001, None, False),
        (1_000_000, 2 * 20 * 1_000_000 * 4, True),
        (1_000_000, 2 * 20 * 1_000_000 * 4 - 1, False),
        (0, 1, True),
    ],
)
def test_captures_that_this_process_reads(
    members: int, free: int | None, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most so many members, of two columns of 20 bytes each in a fourth of the free memory."""
    monkeypatch.setattr(route, "free_memory", lambda: free)
    manifest = cast(
        Manifest,
        SimpleNamespace(
            counts={"b0": {"members": members, "rows": 1}},
            schemas={"b0": {"members": {"fields": [{}, {}]}}},
        ),
    )
    assert route.fits_memory(manifest) is fits


def test_nobody_else_decides() -> None:
    """Others who catch the refusal of memory turn it into an error of their own."""
    wrong = [
        f"{path}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / "engines/memory")
        if "NeedsSparkError" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler)
        and node.type is not None
        and "NeedsSparkError" in ast.unparse(node.type)
        and not any(isinstance(each, ast.Raise) for each in ast.walk(node))
    ]
    assert wrong == []
