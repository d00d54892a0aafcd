"""Lines of messages parsed into a table and checked; each refused line has its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from lipstick.errors import LipstickError
from lipstick.systems.events.decoding import MAX_IDENTIFIER, MAX_LINE, MAX_TEXT
from lipstick.systems.events.message import (
    DROPPED_TYPES,
    EDGES,
    END,
    SCHEMA,
    SEALED,
    TYPES,
    VERSION,
)
from semiring.arrays.segments import mask_of
from semiring.base import Array, Semiring

_BLANK = re.compile(rb"\n[ \t\r\f\v]*(?:\n|\Z)")
"""The end of a line before a blank one. A block without any has as many messages as lines."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A line that is not a message.

    Parameters
    ----------
    origin
        The file or topic it came from.
    line
        Its number there, from 1.
    reason
        The reason for refusing it.
    text
        The line itself; bytes that are not UTF-8 are escaped.
    """

    origin: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The messages parsed from some lines, and the refused lines.

    Parameters
    ----------
    messages
        In the form of `SCHEMA`, in their order.
    dead
        Lines that are not messages.
    lines
        int64: the number of the line of every message.
    """

    messages: pa.Table
    dead: list[DeadLetter]
    lines: Array

    @classmethod
    def refusing(cls, letter: DeadLetter) -> Parsed:
        """Return no messages and one refused line."""
        return cls(SCHEMA.empty_table(), [letter], np.empty(0, dtype=np.int64))


def _bisected(lines: Sequence[bytes], dead: list[tuple[int, str]]) -> tuple[pa.Table, list[int]]:
    """Return the messages of lines that are not dead, and their places; add others to the dead."""
    tables: list[pa.Table] = []
    places: list[int] = []
    bounds = [-1, *sorted({place for place, _ in dead}), len(lines)]
    waiting = [(a + 1, b) for a, b in pairwise(bounds) if b > a + 1][::-1]
    while waiting:
        start, stop = waiting.pop()
        table, reason = _read(b"\n".join(lines[start:stop]), stop - start)
        if table is not None:
            tables.append(table)
            places += range(start, stop)
        elif stop - start == 1:
            dead.append((start, reason))
        else:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table(), places


def parse(
    block: bytes, origin: str, first: int = 1, semiring: Semiring[Any] | None = None
) -> Parsed:
    """Read and check lines.

    Parameters
    ----------
    block
        Whole lines.
    first
        The number of the first line.
    semiring
        The semiring of labels; other labels are refused.

    Notes
    -----
    A block is read at once; if a line is not a message, the block is bisected until that line is
    alone, so that one bad line costs a logarithm and does not slow down the others.
    """
    body = block.removesuffix(b"\n")
    if body[:1].strip() and not _BLANK.search(body):
        count = body.count(b"\n") + 1
        table, _ = _read(body, count) if len(body) <= MAX_LINE else (None, "")
        if table is not None:
            good, reasons = checked(table, semiring)
            if not reasons:
                return Parsed(good, [], first + np.arange(count))
    lines = block.split(b"\n")
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    kept = [lines[number] for number in numbers]
    dead: list[tuple[int, str]] = []
    for place, line in enumerate(kept):
        if len(line) > MAX_LINE:
            dead.append((place, f"the line has more than {MAX_LINE >> 20} MiB"))
            kept[place] = line[:MAX_TEXT]
    messages, places = _bisected(kept, dead)
    good, reasons = checked(messages, semiring)
    for position, reason in reasons:
        dead.append((places[position], reason))
    wrong = {position for position, _ in reasons}
    good_lines = [numbers[place] for n, place in enumerate(places) if n not in wrong]
    letters = [
        DeadLetter(
            origin,
            first + numbers[position],
            reason,
            kept[position][: 4 * MAX_TEXT].decode("utf-8", "backslashreplace"),
        )
        for position, reason in sorted(dead)
    ]
    return Parsed(good, letters, first + np.array(good_lines, dtype=np.int64))


def _read(block: bytes, count: int) -> tuple[pa.Table | None, str]:
    """Return the table of some lines, or the reason why they are not that many messages."""
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
            pj.ParseOptions(explicit_schema=SCHEMA, unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        return None, str(error).removeprefix("JSON parse error: ").removesuffix(" in row 0")
    if len(table) != count:
        return None, "a line has one JSON object"
    return table, ""


def checked(
    messages: pa.Table, semiring: Semiring[Any] | None = None
) -> tuple[pa.Table, list[tuple[int, str]]]:
    """Return the well-formed messages, and the indices of the others with reasons."""
    messages = messages.combine_chunks()
    wrong: dict[int, str] = {}
    rules = _rules(messages)
    if semiring is not None:
        rules.append(_labels_wrong(messages, semiring))
    for is_wrong, reason in rules:
        for position in np.flatnonzero(is_wrong).tolist():
            wrong.setdefault(position, reason)
    if not wrong:
        return messages, []
    good = ~mask_of(list(wrong), len(messages))
    return messages.filter(pa.array(good)), sorted(wrong.items())


def _rules(messages: pa.Table) -> list[tuple[Array, str]]:
    """Return Boolean arrays over all messages, True where a message breaks a rule, with the
    reasons.
    """
    column = {name: messages.column(name) for name in SCHEMA.names}
    version = _numbers(column["version"], 0)
    kinds = {kind: _is(column["kind"], kind) for kind in (EDGES, END, SEALED)}
    of_execution = kinds[EDGES] | kinds[END]
    rules = [
        (version != VERSION, f"version is not {VERSION}, which this release reads"),
        (_missing(column["topic"]), "topic is missing"),
        (~(kinds[EDGES] | of_execution | kinds[SEALED]), "kind is not edges, end or sealed"),
    ]
    rules += [
        (of_execution & _missing(column[name]), f"{name} is missing")
        for name in ("exec", "function", "seq", "event_time")
    ]
    ends = kinds[END]
    attempt = column["attempt"].is_null().to_numpy()
    rules.append((ends & attempt, "an end is of an attempt, and attempt is missing"))
    sent = pc.struct_field(column["counts"], "messages").is_null().to_numpy()
    rules.append((ends & sent, "counts.messages is missing: an end says how many came before it"))
    rules += [
        (_numbers(column[name], 0) < 0, f"{name} is negative")
        for name in ("attempt", "seq", "event_time")
    ]
    for field in ("readers", "causes", "used_causes", "uses", "generations", "messages"):
        values = _numbers(pc.struct_field(column["counts"], field), 0)
        rules.append((values < 0, f"counts.{field} is negative"))
    for field in ("used", "generated"):
        values = _numbers(pc.struct_field(column["counts"], field), 0)
        rules.append((values < 0, f"counts.{field} is negative"))
    rules.append((kinds[EDGES] & column["edges"].is_null().to_numpy(), "edges are missing"))
    rules += [
        (_too_long(column[name]), f"{name} has more than {MAX_IDENTIFIER:,} bytes")
        for name in ("topic", "exec", "function", "worker")
    ]
    return rules + _edge_rules(messages)


def _too_long(column: pa.Array | pa.ChunkedArray) -> Array:
    lengths: Array = np.asarray(pc.fill_null(pc.binary_length(column), 0))
    return lengths > MAX_IDENTIFIER


def _labels_wrong(messages: pa.Table, semiring: Semiring[Any]) -> tuple[Array, str]:
    """Return a mask of messages with labels outside a semiring, checked one by one only if
    needed.
    """
    labels = messages.column("labels").combine_chunks()
    integral = np.issubdtype(semiring.dtype, np.integer)

    def is_wrong(values: Array) -> bool:
        if integral and not np.equal(np.mod(values, 1), 0).all():
            return True
        try:
            semiring.from_arrow(pa.array(values.astype(np.int64) if integral else values))
        except (ValueError, TypeError, LipstickError):
            return True
        return False

    wrong = np.zeros(len(messages), dtype=np.bool_)
    if len(labels) and is_wrong(pc.list_flatten(labels).to_numpy(zero_copy_only=False)):
        for place in np.flatnonzero(np.asarray(labels.is_valid())).tolist():
            values = np.asarray(labels[place].as_py(), dtype=np.float64)
            wrong[place] = is_wrong(values)
    return wrong, f"a label is not an element of {semiring.name}"


def _edge_rules(messages: pa.Table) -> list[tuple[Array, str]]:
    """Return Boolean arrays over all messages, True where an edge breaks a rule, with reasons."""
    size = len(messages)
    edges = pa.array([], SCHEMA.field("edges").type)
    if size:
        edges = messages.column("edges").combine_chunks()
    owner = np.repeat(np.arange(size), _numbers(pc.list_value_length(edges), 0))
    triples = pc.list_flatten(edges)
    lengths = _numbers(pc.list_value_length(triples), 0)

    def told(is_wrong: Array, of: Array) -> Array:
        return mask_of(of[is_wrong], size)

    rules = [(told(lengths != 3, owner), "an edge is not [source, destination, relation]")]
    whole = lengths == 3
    owner = owner[whole]
    parts = pc.list_flatten(triples.filter(pa.array(whole)))
    source, dest, relation = (parts.take(pa.array(np.arange(n, len(parts), 3))) for n in range(3))
    empty = [_missing(part) for part in (source, dest, relation)]
    rules.append((told(empty[0] | empty[1] | empty[2], owner), "an edge has an empty end"))
    long = _too_long(source) | _too_long(dest)
    rules.append((told(long, owner), f"an end of an edge has more than {MAX_IDENTIFIER:,} bytes"))
    loop = np.asarray(pc.fill_null(pc.equal(source, dest), False))
    loop &= np.asarray(pc.is_in(relation, pa.array(list(TYPES))))
    rules.append((told(loop, owner), "an edge leads from an entity to itself, its own cause"))
    known = pa.array([*TYPES, *sorted(DROPPED_TYPES)])
    unknown = ~pc.is_in(relation, known).to_numpy(zero_copy_only=False)
    rules.append((told(unknown, owner), "an edge has a relation that PROV has not"))
    execution = messages.column("exec").combine_chunks().take(pa.array(owner))
    for name, end in (("used", source), ("wasGeneratedBy", dest)):
        other = pc.fill_null(pc.not_equal(end, execution), True).to_numpy(zero_copy_only=False)
        stray = other & _is(relation, name)
        rules.append((told(stray, owner), f"an edge of type {name} is of another execution"))
    labels = messages.column("labels").combine_chunks()
    count = _numbers(pc.list_value_length(labels), -1)
    differ = (count >= 0) & (count != _numbers(pc.list_value_length(edges), 0))
    rules.append((differ, "labels are not one for every edge"))
    return rules


def _numbers(column: pa.Array | pa.ChunkedArray, missing: int) -> Array:
    filled = pc.fill_null(column, missing)
    values: Array = filled.to_numpy() if isinstance(filled, pa.ChunkedArray) else _numpy(filled)
    return values


def _numpy(column: pa.Array) -> Array:
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _missing(column: pa.Array | pa.ChunkedArray) -> Array:
    """Return a Boolean array, True for NULL and empty texts."""
    if pa.types.is_string(column.type):
        column = pc.binary_length(column)
    missing = pc.fill_null(pc.equal(column, 0), True) if _is_length(column) else column.is_null()
    values: Array = np.asarray(missing)
    return values


def _is_length(column: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pa.types.is_int32(column.type))


def _is(column: pa.Array | pa.ChunkedArray, text: str) -> Array:
    values: Array = np.asarray(pc.fill_null(pc.equal(column, text), False))
    return values
