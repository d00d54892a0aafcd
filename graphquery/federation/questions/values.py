"""Annotations across stores, where an imported token takes the annotation of the exported row.

Numeric annotations travel as columns, with a round for each store after the stores that its rows
derive from. Other annotations, and valuations given as functions, are evaluated here over the
fragments of all stores behind the nodes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import UnknownNameError
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.questions.answer import DAMAGED, OUTSIDE
from graphquery.federation.questions.closure import ReachedNodes, walk
from graphquery.federation.questions.fragments import Joined, ask_fragments
from graphquery.federation.questions.question import SEPARATOR, Question
from graphquery.federation.serving.responder import SEMIRINGS, unpacked
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import RequestFailure, printable
from semiring.base import Array, Semiring, TokenValuation
from semiring.errors import LipstickError

_NUMBERED = re.compile(r"(?P<segment>.*)\[(?P<ordinal>\d+)\]")


def evaluate(
    question: Question,
    semiring: Semiring[Any],
    valuation: TokenValuation[Any] | Mapping[str, Any],
    names: Collection[str],
) -> dict[str, Any]:
    """Return the annotations of nodes by name; none if they depend on missing parts.

    See :func:`graphquery.operations.evaluate.evaluate`.
    """
    listed = list(names)
    reached = walk(question, listed, forwards=False, want=requests.ROWS)
    if any(each.reason != OUTSIDE for each in question.missing.values()):
        return {}
    given = _named(valuation)
    travels = SEMIRINGS.get(semiring.name) == semiring and not any(question.zoomed.values())
    if travels and given is not None:
        return _by_values(question, semiring, given, listed, reached)
    return _by_fragments(question, semiring, valuation, listed, reached)


def _named(valuation: Any) -> Mapping[str, Any] | None:
    """Return a valuation by names of nodes, or None if it is not one."""
    given = {} if valuation is None else valuation
    if isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return given
    return None


def _check_names(question: Question, names: Mapping[str, Collection[str]]) -> None:
    """Ask stores to check that they have some nodes, where nothing else is asked of them."""
    question.ask(
        {
            alias: requests.ends(question.store(alias), own_names, ())
            for alias, own_names in names.items()
        }
    )


def _by_values(
    question: Question,
    semiring: Semiring[Any],
    given: Mapping[str, Any],
    names: list[str],
    reached: ReachedNodes,
) -> dict[str, Any]:
    """Evaluate channel by channel, each after the channels behind it."""
    tokens: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        [(alias, own_names)] = question.by_alias([name]).items()
        tokens.setdefault(alias, {})[own_names[0]] = semiring.unpack(semiring.array([value]))[0]
    values: dict[str, tuple[Array, pa.Array]] = {}

    def message(alias: str, own_names: Collection[str], exits: Rows) -> WireMessage:
        return requests.evaluate(
            question.store(alias),
            semiring.name,
            _plain(semiring, tokens.get(alias, {})),
            own_names,
            exits,
            _known(semiring, reached.crossed.get(alias, {}), values),
        )

    for batch in _levels(question, reached):
        replies = question.ask({alias: message(alias, (), exits) for alias, exits in batch.items()})
        for alias, exits in batch.items():
            if alias not in replies:
                return {}
            column = _column(question, alias, semiring, replies[alias], "exits")
            if column is None:
                return {}
            start = 0
            for channel, numbers in exits.items():
                values[channel] = (numbers, column.slice(start, len(numbers)))
                start += len(numbers)
    named = question.by_alias(names)
    _check_names(
        question, {a: own_names for a, own_names in tokens.items() if a not in {**reached.asked}}
    )
    replies = question.ask({alias: message(alias, own, {}) for alias, own in named.items()})
    result: dict[str, Any] = {}
    for alias, own_names in named.items():
        if alias not in replies:
            return {}
        column = _column(question, alias, semiring, replies[alias], "nodes")
        if column is None:
            return {}
        for name, value in zip(own_names, unpacked(semiring, column), strict=True):
            result[f"{alias}{SEPARATOR}{name}"] = value
    return {name: result[name] for name in names}


def _column(
    question: Question, alias: str, semiring: Semiring[Any], reply: WireMessage, table: str
) -> pa.Array | None:
    """Return the values in a reply; if they are not the semiring's, record it as missing: None."""
    column = reply.tables[table].column("value").combine_chunks()
    try:
        if column.null_count:
            raise ValueError("NULL")
        if pa.types.is_string(column.type):
            unpacked(semiring, column)
        else:
            semiring.from_arrow(column)
    except (LipstickError, ArithmeticError, TypeError, ValueError, pa.ArrowException) as error:
        text = printable(f"Its reply has values that are not in {semiring.name}: {error}")
        question.lose(alias, RequestFailure(DAMAGED, text))
        return None
    return column


def _levels(question: Question, reached: ReachedNodes) -> list[dict[str, dict[str, Array]]]:
    """Return the needed exported rows, by alias, in batches that depend on earlier batches only."""
    needed = {
        channel: (alias, numbers)
        for alias, rows in reached.asked.items()
        for channel, numbers in rows.items()
    }
    level: dict[str, int] = {}
    exported = {channel: question.directory.exported(channel) for channel in needed}
    channels = {
        channel: () if each is None else each.channels for channel, each in exported.items()
    }
    for channel in sorted(needed, key=lambda each: len(channels[each])):
        before = channels[channel]
        level[channel] = 1 + max((level.get(each, 0) for each in before), default=0)
    batches: list[dict[str, dict[str, Array]]] = [{} for _ in range(max(level.values(), default=0))]
    for channel, number in level.items():
        alias, numbers = needed[channel]
        batches[number - 1].setdefault(alias, {})[channel] = numbers
    return batches


def _known(
    semiring: Semiring[Any], wanted: Rows, values: Mapping[str, tuple[Array, pa.Array]]
) -> tuple[Rows, pa.Array]:
    """Return the imported rows with values, and the values."""
    rows, parts = {}, [semiring.to_arrow(semiring.zeros(0))]
    for channel, numbers in wanted.items():
        if channel in values:
            known, column = values[channel]
            chosen = np.searchsorted(known, numbers)
            rows[channel] = numbers
            parts.append(column.take(pa.array(chosen)))
    if any(part.type != parts[0].type for part in parts):
        parts = [part.cast(pa.string()) for part in parts]
    return rows, pa.chunked_array(parts).combine_chunks()


def _plain(semiring: Semiring[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as JSON has them."""
    column = semiring.to_arrow(semiring.array(list(values.values())))
    return dict(zip(values, column.to_pylist(), strict=True))


def _by_fragments(
    question: Question,
    semiring: Semiring[Any],
    valuation: Any,
    names: list[str],
    reached: ReachedNodes,
) -> dict[str, Any]:
    """Evaluate over the fragments of all stores, joined here."""
    named = question.by_alias(names)
    batch = {
        alias: requests.between(
            question.store(alias),
            None,
            {},
            named.get(alias, ()),
            reached.asked.get(alias, {}),
        )
        for alias in question.directory.heads
        if alias in named or reached.asked.get(alias)
    }
    lost = len(question.missing)
    joined = ask_fragments(question, batch)
    if len(question.missing) > lost:
        return {}
    if isinstance(valuation, Mapping):
        valuation = _placed(question, joined, valuation)
    ids = np.concatenate([joined.targets[alias] for alias in named])
    evaluated = joined.graph.evaluate(semiring, valuation, ids)
    ordered = [
        f"{alias}{SEPARATOR}{name}" for alias, own_names in named.items() for name in own_names
    ]
    result = dict(zip(ordered, semiring.unpack(evaluated.annotations[ids]), strict=True))
    return {name: result[name] for name in names}


def _placed(question: Question, joined: Joined, valuation: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a valuation of nodes of the joined graph; check the names of other nodes at the
    stores.
    """
    placed: dict[Any, Any] = {}
    elsewhere: dict[str, list[str]] = {}
    for node, value in valuation.items():
        name = _renamed(joined, node)
        if not isinstance(name, str):
            placed[name] = value
            continue
        try:
            placed[joined.graph.node(name)] = value
        except UnknownNameError:
            for alias, own_names in question.by_alias([node]).items():
                elsewhere.setdefault(alias, []).extend(own_names)
    _check_names(question, elsewhere)
    return placed


def _renamed(joined: Joined, node: Any) -> Any:
    """Return the name of a node in the joined graph, where ordinals replace missing keys."""
    if not isinstance(node, str):
        return node
    if node in joined.graph.storage.position:
        return f"{node}:0"
    numbered = _NUMBERED.fullmatch(node)
    if numbered and numbered["segment"] in joined.graph.storage.position:
        return f"{numbered['segment']}:{numbered['ordinal']}"
    return node
