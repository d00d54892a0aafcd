"""Conditions on values as they are written on the command line: ``Amount>=20000``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import click

_CONDITION = re.compile(r"\s*(?P<column>[^<>=\s]+)\s*(?P<op><=>|<=|>=|<>|=|<|>)\s*(?P<value>.*)")


def condition(text: str) -> tuple[str, tuple[str, Any]]:
    """A column, and a comparison of SQL with a value.

    The value is what it is as JSON, so that ``"123"`` is text; what is no JSON is text.

    Raises
    ------
    click.BadParameter
        For text of another form.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise click.BadParameter(
            f"{text!r} is no condition.\nWrite a column, one of = <> < <= > >= <=>, and a value: "
            "'Amount>=20000', 'Model=Civic'."
        )
    try:
        value = json.loads(match["value"])
    except ValueError:
        value = match["value"].strip()
    return match["column"], (match["op"], value)


def conditions(texts: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """Conditions by column, as :meth:`graphquery.ProvenanceGraph.select` takes them.

    Raises
    ------
    click.BadParameter
        For text of another form, and for two conditions on one column.
    """
    comparisons: dict[str, tuple[str, Any]] = {}
    for text in texts:
        column, comparison = condition(text)
        if column in comparisons:
            raise click.BadParameter(
                f"There are two conditions on {column}.\nGive one, and choose among what it leaves."
            )
        comparisons[column] = comparison
    return comparisons
