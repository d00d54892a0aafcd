"""From a row of an output to the rows of the inputs, through the lines that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from lipstick.systems.scripts.answers import Assumption, Line
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.provenance import of_script
from lipstick.systems.scripts.running.numbered_rows import (
    check_version,
    lineage,
    linked_rows,
    matching,
    rows_before,
    written_answer,
    written_table,
)
from lipstick.systems.scripts.running.record import Event, RecordedRun, Rule, local_path
from lipstick.systems.scripts.running.recorder import asked
from lipstick.systems.scripts.script_text import Script, read_script, script_of

Places: TypeAlias = tuple[tuple[str, int], ...] | None
"""Rows by file and number in it; the file is empty where rows are counted over all files of an
event, or are in none. None: any row."""


@dataclass(frozen=True, slots=True)
class TracedRows:
    """Rows of an input that a row of an output was made of, or that decided about it.

    Parameters
    ----------
    file
        The file; of rows that Python code gave to Spark, or of a table, its name in the script.
    where
        The line that reads it.
    rows
        Their numbers in the file, from 0; None: any of them.
    rules
        The rules that found them, step by step from the output.
    why
        Of each step that is inferred, why; empty: the rows are exact.
    """

    file: str
    where: str
    rows: tuple[int, ...] | None
    rules: tuple[Rule, ...]
    why: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Return True if every step is by annotations."""
        return not self.why


@dataclass(frozen=True, slots=True)
class Trace:
    """The input rows and lines that a row of an output was made of.

    Parameters
    ----------
    row
        Its values; empty where it was not chosen by them.
    alike
        How many rows of the output have these values, and are answered for together.
    lines
        The lines between the inputs and the output, by the text.
    assumptions
        The assumed edges that the lines rest on.
    """

    output: Event
    row: Mapping[str, Any]
    alike: int
    inputs: tuple[TracedRows, ...]
    lines: tuple[Line, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def certain(self) -> bool:
        """Return True if all rows are exact."""
        told = bool(self.inputs) or self.output.capture
        return told and all(item.certain for item in self.inputs)


@dataclass(frozen=True, slots=True)
class ReachedRows:
    """Rows of an event that were reached, and how."""

    event: Event
    places: Places
    rules: tuple[Rule, ...] = ()
    why: tuple[str, ...] = ()

    def to(self, event: Event, places: Places, rule: Rule, why: str | None) -> ReachedRows:
        """The next step."""
        reasons = self.why if why is None or why in self.why else (*self.why, why)
        return ReachedRows(event, places, (*self.rules, rule), reasons)


def trace(
    run: RecordedRun,
    output: str | int,
    row: int | None = None,
    where: Mapping[str, Any] | None = None,
) -> Trace:
    """Trace a row of an output to the rows of the inputs; Spark is not needed.

    Parameters
    ----------
    output
        A path or table that the script wrote (its last write), or the number of a write or collect.
    row
        Its number among the rows of the output's files, in the order of their names, from 0.
    where
        Values of its columns, instead. Neither: all rows.

    Raises
    ------
    ScriptError
        There is no such output or row, or files of the run are others by now.
    """
    event = _output(run, output)
    values: dict[str, Any] = {}
    start = ReachedRows(event, None)
    alike = event.rows or 0
    if row is not None:
        start = replace(start, places=(("", row),))
        alike = 1
        if event.capture:
            values = _row(run, event, row)
            alike = int(matching(written_answer(run, event), values).sum())
    elif where is not None:
        values = dict(where)
        table = written_answer(run, event) if event.capture else written_table(run, event)
        matched = np.flatnonzero(matching(table, values)).tolist()
        if not matched:
            raise ScriptError(f"{event.name} has no row of these values: {values}.")
        alike = len(matched)
        start = replace(start, places=tuple(("", number) for number in matched))
    inputs: dict[tuple[str, str, bool], TracedRows] = {}
    reads: set[int] = set()
    by_values = event.capture and row is None
    waiting = list(_sources(run, start, of_answer=by_values))
    while waiting:
        step = waiting.pop()
        further = _further(run, step)
        if further is not None:
            waiting += further
            continue
        reads.add(step.event.number)
        for name, rows in _by_file(step).items():
            key = (name, step.event.where, Rule.DECIDES in step.rules)
            found_rows = TracedRows(name, step.event.where, rows, step.rules, step.why)
            inputs[key] = _joined(inputs.get(key), found_rows)
    lines, assumptions = _between(run, event, [run.event(number) for number in sorted(reads)])
    return Trace(
        event, values, alike, tuple(inputs[key] for key in sorted(inputs)), lines, assumptions
    )


def _output(run: RecordedRun, output: str | int) -> Event:
    wanted = str(output)
    outputs = [event for event in run.events if event.kind in ("write", "collect")]
    for event in reversed(outputs):
        named = event.kind == "write" and wanted in (event.name, Path(event.name).name)
        if named or wanted == str(event.number):
            return event
    known = ", ".join(f"{event.number} {event.name}" for event in outputs) or "nothing"
    raise ScriptError(f"The script made no {wanted!r}.\nIt wrote or collected {known}.")


def _row(run: RecordedRun, event: Event, number: int) -> dict[str, Any]:
    table = written_table(run, event)
    if not 0 <= number < table.num_rows:
        raise ScriptError(
            f"{event.name} has {table.num_rows} rows, and no row {number}: they count from 0."
        )
    first: dict[str, Any] = table.slice(number, 1).to_pylist()[0]
    return first


# -- steps ---------------------------------------------------------------------------------------


def _sources(
    run: RecordedRun, step: ReachedRows, *, of_answer: bool = False
) -> Iterator[ReachedRows]:
    """Yield steps from rows of a write, collect or create to the rows they were made of.

    ``of_answer``: rows are numbered as in the answer of the capture.
    """
    event = step.event
    if event.capture:
        chosen = None
        if step.places is not None:
            chosen = _chosen(run, event, step.places, of_answer=of_answer)
        for source, places in lineage(run, event, chosen).items():
            yield step.to(run.event(source), tuple(places), Rule.ANNOTATED, event.inferred)
        for link in event.links:
            yield step.to(run.event(link.source), None, link.rule, link.why)
        return
    numbers = None if step.places is None else _numbers(run, event, step.places)
    for link in event.links:
        rows: Places = None
        if numbers is not None and link.rule is not Rule.ALL:
            rows = tuple(("", row) for row in linked_rows(run, event, link.source, numbers))
        yield step.to(run.event(link.source), rows, link.rule, link.why)


def _chosen(
    run: RecordedRun, event: Event, places: Iterable[tuple[str, int]], *, of_answer: bool
) -> Any:
    """Return the mask of the rows of a capture's answer with the values of some output rows."""
    answer = written_answer(run, event)
    mask = np.zeros(answer.num_rows, dtype=bool)
    if of_answer:
        mask[[number for _, number in places]] = True
        return mask
    table = written_table(run, event)
    for number in _numbers(run, event, places):
        mask |= matching(answer, table.slice(number, 1).to_pylist()[0])
    return mask


def _numbers(run: RecordedRun, event: Event, places: Iterable[tuple[str, int]]) -> list[int]:
    """The numbers of rows over all files of an event."""
    before = {"": 0}
    numbers = []
    for file, row in places:
        if file not in before:
            before[file] = rows_before(run, event, file)
        numbers.append(before[file] + row)
    if event.rows is not None and any(not 0 <= number < event.rows for number in numbers):
        raise ScriptError(
            f"{event.name} has {event.rows} rows, and no row {max(numbers)}: they count from 0."
        )
    return numbers


def _further(run: RecordedRun, step: ReachedRows) -> list[ReachedRows] | None:
    """Return the steps that the rows of a step were made of in the same run; None: an input."""
    event = step.event
    if event.kind in ("collect", "write") or event.links:
        return list(_sources(run, step))
    if event.kind != "read":
        return None
    for earlier in reversed(run.events[: event.number - 1]):
        if earlier.kind == "write" and set(earlier.files).intersection(event.files):
            written_files = {file.path for file in earlier.files}
            places = step.places
            if places is not None:
                places = tuple((local_path(f), row) for f, row in places)
                places = tuple(
                    place for place in places if not place[0] or place[0] in written_files
                )
            return list(_sources(run, replace(step, event=earlier, places=places)))
    for version in event.files:
        check_version(version)
    return None


def _by_file(step: ReachedRows) -> dict[str, tuple[int, ...] | None]:
    event = step.event
    if step.places is None:
        return {file.path: None for file in event.files} or {event.name: None}
    rows_by_file: dict[str, list[int]] = {}
    for file, row in step.places:
        alone = event.files[0].path if len(event.files) == 1 else event.name
        rows_by_file.setdefault(local_path(file) if file else alone, []).append(row)
    return {file: tuple(sorted(set(rows))) for file, rows in rows_by_file.items()}


def _joined(known: TracedRows | None, more: TracedRows) -> TracedRows:
    """The rows that are reached on two ways."""
    if known is None:
        return more
    rows = None
    if known.rows is not None and more.rows is not None:
        rows = tuple(sorted({*known.rows, *more.rows}))
    return replace(
        known,
        rows=rows,
        rules=tuple(dict.fromkeys((*known.rules, *more.rules))),
        why=tuple(dict.fromkeys((*known.why, *more.why))),
    )


# -- lines ---------------------------------------------------------------------------------------


def _between(
    run: RecordedRun, output: Event, reads: list[Event]
) -> tuple[tuple[Line, ...], tuple[Assumption, ...]]:
    """The lines that the output depends on and that the reads concern."""
    provenance = of_script(_script(run), run.facts)
    back = asked(provenance, output)
    if back is None:
        return (), ()
    ahead: set[Line] = set()
    for read in reads:
        ahead_of_read = asked(provenance, read, forwards=True)
        ahead.update(back.lines if ahead_of_read is None else ahead_of_read.lines)
    lines = tuple(line for line in back.lines if line in ahead)
    numbers = {(line.file, line.number) for line in lines}
    return lines, tuple(a for a in back.assumptions if (a.line.file, a.line.number) in numbers)


def _script(run: RecordedRun) -> Script:
    """The script as it was run; with the modules of its project if it is still there."""
    kept = (run.directory / "script.py").read_text(encoding="utf-8")
    path = Path(run.script)
    try:
        script = read_script(path, "executed" if run.order == "executed" else "position")
        if sha256(script.main.text.encode()).hexdigest() == run.sha256:
            return script
    except ScriptError:
        pass
    return script_of(kept, path.name)
