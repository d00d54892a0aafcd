"""From errors to exit codes, and conditions as they are written."""

from __future__ import annotations

from typing import Any

import click
import pytest

from graphquery import UnknownNameError
from graphquery.errors import StoreDamagedError
from graphquery.store import StoreError
from lipstick.cli.errors import in_commands, reported
from lipstick.cli.graph import condition, conditions
from semiring.errors import LipstickError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (LipstickError("No.\nDo this."), 2, "No.\nDo this."),
        (StoreError("No store."), 2, "No store."),
        (UnknownNameError("No node."), 2, "No node."),
        (StoreDamagedError("Damaged."), 1, "Damaged."),
        (FileNotFoundError(2, "No such file", "x.json"), 2, "x.json: No such file"),
        (OSError("disk"), 2, "disk"),
    ],
)
def test_errors_become_a_message_and_an_exit_code(
    error: Exception, code: int, message: str
) -> None:
    with pytest.raises(click.ClickException) as raised, reported():
        raise error
    assert (raised.value.exit_code, raised.value.message) == (code, message)


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("a defect")])
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)), reported():
        raise error


def test_without_an_error_nothing_is_reported() -> None:
    with reported():
        done = True
    assert done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=1", ("n", ("=", 1))),
        ("n >= 2.5", ("n", (">=", 2.5))),
        ("n<=>null", ("n", ("<=>", None))),
        ("n<>-1", ("n", ("<>", -1))),
        ("Accepted=true", ("Accepted", ("=", True))),
        ("Model=Civic", ("Model", ("=", "Civic"))),
        ("Model = New Civic ", ("Model", ("=", "New Civic"))),
        ('Id="007"', ("Id", ("=", "007"))),
        ("Formula=a=b", ("Formula", ("=", "a=b"))),
        ("Model=", ("Model", ("=", ""))),
    ],
)
def test_conditions_are_comparisons(text: str, expected: tuple[str, tuple[str, Any]]) -> None:
    assert condition(text) == expected


def test_no_conditions() -> None:
    assert conditions([]) == {}


@pytest.mark.parametrize("text", ["", "n", "=1", "two words=1", "n~1"])
def test_other_texts_are_no_conditions(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a condition"):
        condition(text)


def test_what_methods_of_python_do_is_said_in_commands() -> None:
    written = "top() lists rows; contributions() lists the value, desktop() is another."
    assert in_commands(written) == (
        "--top N lists rows; lipstick rows --of COLUMN lists the value, desktop() is another."
    )
    assert in_commands("plan.dropped() counts") == "plan.dropped() in Python counts"
