"""Verification of an erasure: its tables computed again, and every file searched for leftovers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F

from lipstick.erasure.erased_values import leaves
from lipstick.erasure.holders import captures_of, holder_of
from lipstick.erasure.parquet import FORMAT as PARQUET
from lipstick.erasure.parquet import ParquetFolder
from lipstick.erasure.plan import Steps, erased_values, planned_tables, silent
from lipstick.erasure.receipt import ErasureReceipt, keyed_hash, read_key
from lipstick.erasure.search import Finding, search_folders
from lipstick.erasure.tables import (
    CurrentTable,
    ErasableTable,
    ErasedTables,
    ErasureHost,
    PlannedTable,
    current_table,
)
from lipstick.erasure.value_search import ErasedValues, ValueSearch, same_name
from lipstick.errors import LipstickError
from lipstick.histories.differences import differing_rows
from rewriter.statements import hypothetical, rows_of

_Now: TypeAlias = Mapping[str, CurrentTable | None]
"""The tables of an erasure as they are now, by name; None: there is no such table."""

LIVE, OLD, UNUSED, LOG = "live", "old version", "in no version", "log"
"""States of a file of a table: in the current version, in an earlier one, in none, of the log."""
ELSEWHERE, POSSIBLE = "elsewhere", "possible"
"""States of files of no table with erased values, and of numbers that may stand for others."""
_PASSING = frozenset([OLD, UNUSED, LOG])
"""States of files that the format removes when it is asked to."""


def verify_plan(
    host: ErasureHost,
    document: Mapping[str, Any],
    key_file: Path,
    search: Sequence[str],
    on_step: Steps,
    budget: float | None,
) -> ErasureReceipt:
    """Verify an erasure; see :meth:`lipstick.ErasurePlan.verify`."""
    key = read_key(key_file)
    values = erased_values(document)
    now = {
        table.name: current_table(host.spark, table, entry["effect"]["target"])
        for entry, table in zip(document["tables"], planned_tables(document), strict=True)
    }
    checks = _checks(host, document, now, on_step)
    places = list(_places(document, now, values))
    roots = [*_folders(places), *document["search"], *document["drop"], *search]
    on_step(f"searching {len(roots)} folders")
    # What the plan saw and is gone has nothing left; other paths may be misspelt.
    seen = [*document["drop"], *document.get("seen", ())]
    dropped = {path for path in seen if not Path(path).exists()}
    present = [root for root in roots if root not in dropped]
    found = search_folders(ValueSearch(values), present, on_step, budget)
    on_step(f"{found.files} files are searched")
    mask = _Mask(key, values)
    findings = [
        _described(finding, places, mask)
        for finding in found.findings
        if not _of_another_key(finding, places)
    ]
    findings = list(_with_visible(findings, places, values))
    findings += _stale_captures(document, now, roots, mask)
    return ErasureReceipt.sign(
        {
            "id": document["id"],
            "planned": document["made"],
            "verified": datetime.now(UTC).isoformat(timespec="seconds"),
            "plan": hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest(),
            "verdict": verdict_of(checks, findings, complete=not found.unsearched),
            "tables": [mask.entry(check) for check in checks],
            "searched_for": [
                {"relation": each.relation, "column": each.column}
                | {"hashes": [keyed_hash(key, value) for value in each.values]}
                for each in values
            ],
            "not_searched_for": document["not_searched_for"],
            "roots": [mask.text(root) for root in roots],
            "dropped": [mask.text(path) for path in sorted(dropped)],
            "files": found.files,
            "bytes": found.bytes,
            "findings": findings,
            "to_do": list(dict.fromkeys([*_unpublished(document, now), *_to_do(findings, places)])),
            "unsearched": [
                {"path": mask.text(each.path), "reason": mask.text(each.reason)}
                for each in found.unsearched
            ],
        },
        key,
    )


def _folders(places: Sequence[_Place]) -> Iterator[str]:
    """Yield the folders of tables, and folders that a stopped run has not removed yet."""
    for place in places:
        yield place.location
    for place in places:
        if isinstance(place.opened, ParquetFolder):
            yield from map(str, place.opened.beside())


def _unpublished(document: Mapping[str, Any], now: _Now) -> Iterator[str]:
    """Yield the statements that publish tables which readers do not see yet."""
    for entry in document["tables"]:
        known = now[entry["name"]]
        if known is not None and not known.published:
            yield from entry["effect"]["publish"]


def verdict_of(
    checks: Sequence[Mapping[str, Any]],
    findings: Sequence[Mapping[str, Any]],
    *,
    complete: bool,
) -> str:
    """Return ``erased``, ``pending``, ``unclear`` or ``not erased``.

    Parameters
    ----------
    checks
        By table, what was compared.
    findings
        The files with erased values.
    complete
        Whether every place was searched.
    """
    states = {finding["state"] for finding in findings}
    wrong = any(check["outcome"] not in ("equal", "no such row") for check in checks)
    if wrong or states - _PASSING - {POSSIBLE}:
        return "not erased"
    if POSSIBLE in states or not complete:
        return "unclear"
    return "pending" if states else "erased"


# --- tables -------------------------------------------------------------------------------------


def _checks(
    host: ErasureHost, document: Mapping[str, Any], now: _Now, on_step: Steps
) -> list[dict[str, Any]]:
    """Return by table what was compared, and the outcome."""
    effects = {e["name"]: e["effect"] for e in document["tables"]}
    planned = planned_tables(document)
    checks = []
    tables = None if None in now.values() else _opened(host, now)
    for table in planned:
        on_step(f"comparing {table.name}")
        found, effect = now[table.name], effects[table.name]
        entry = {"table": effect["target"], "role": "derived" if table.derived else "source"}
        entry |= {name: effect[name] for name in ("rows", "removed", "changed", "added")}
        if found is None:
            entry |= {"check": "read it", "outcome": "there is no such table"}
        elif table.query is not None:
            entry["check"] = "equals its query over its sources"
            entry["outcome"] = _recomputed(tables, table.name)
        elif table.statements:
            entry["check"] = "equals its statements replayed without the rows"
            entry["outcome"] = _replayed(host, planned, table.name, found)
        elif table.predicate is not None:
            rows = found.read().where(table.predicate).count()
            entry["check"] = "has no row of the predicate"
            entry["outcome"] = f"{rows} rows" if rows else "no such row"
        else:
            entry |= {"check": "nothing is erased from it", "outcome": "equal"}
        checks.append(entry)
    return checks


def _opened(host: ErasureHost, now: _Now) -> ErasedTables | str:
    """Return tables as they are now, or why they are not compared."""
    present = [t for t in now.values() if t is not None and not t.planned.statements]
    tables = [replace(t.written, predicate=None) for t in present]
    opened = {t.planned.name: t.copy or t.opened for t in present}
    try:
        return ErasedTables(host, tables, silent, opened)
    except (LipstickError, PySparkException) as error:
        return f"not compared: {type(error).__name__}"


def _recomputed(tables: ErasedTables | str | None, name: str) -> str:
    """Compare a derived table with its query over the other tables as they are now."""
    if not isinstance(tables, ErasedTables):
        return tables or "not compared: a table is missing"
    try:
        differing = tables.differing(name)
    except (LipstickError, PySparkException) as error:
        return f"not compared: {type(error).__name__}"
    return f"{differing} rows differ" if differing else "equal"


def _replayed(
    host: ErasureHost, planned: Sequence[PlannedTable], name: str, found: CurrentTable
) -> str:
    """Compare a table with what its statements make without the erased rows."""
    try:
        erased = ErasedTables(host, planned, silent)
        bags = erased.differences()[name]
        frame = found.read()
        now = rows_of(erased.engine.named(frame))
        differing = differing_rows(host.spark, now, hypothetical(bags), frame.columns).count()
    except (LipstickError, PySparkException) as error:
        return f"not compared: {type(error).__name__}, its versions may have been removed"
    return f"{differing} rows differ" if differing else "equal"


# --- files --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Place:
    """The folder of a table, and the files of its versions."""

    name: str
    table: str
    format: str
    location: str
    opened: ErasableTable | None
    own: frozenset[str]
    """The columns whose values stand for rows of this table, in lower case."""
    live: frozenset[str] | None = None
    old: frozenset[str] | None = None

    def state(self, path: str) -> str:
        """Return the state of a file in the folder."""
        folders = Path(path).relative_to(self.location).parts[:-1]
        if "_delta_log" in folders or "metadata" in folders[:1]:
            return LOG
        opened = self.opened
        if opened is None or isinstance(opened, ParquetFolder):
            return LIVE
        if self.live is None:
            self.live = _local_files(lambda: opened.files(opened.current()))
        if path in self.live:
            return LIVE
        if self.old is None:
            self.old = _local_files(opened.all_files)
        return OLD if path in self.old else UNUSED


def _places(
    document: Mapping[str, Any], now: _Now, values: Sequence[ErasedValues]
) -> Iterator[_Place]:
    """Yield the folders of the tables of an erasure, and of copies that are not published."""
    for entry in document["tables"]:
        definition = entry["definition"]
        own = {each.leaf.lower() for each in values if each.relation == entry["name"]}
        own |= {column.lower() for column in definition.get("key", ())}
        known = now[entry["name"]]
        tables = (None,) if known is None else (known.opened, known.copy)
        for opened in dict.fromkeys(tables):
            if opened is None and known is not None:
                continue
            name = definition["table"] if opened is None else opened.table
            location = name if opened is None else opened.location
            place = entry["name"], name, definition["format"], _local(location)
            yield _Place(*place, opened, frozenset(own))


def _local_files(files: Callable[[], list[str]]) -> frozenset[str]:
    """Return the paths of files, or none where they cannot be read."""
    try:
        return frozenset(map(_local, files()))
    except (LipstickError, PySparkException):
        return frozenset()


def _local(uri: str) -> str:
    if not uri.startswith("file:"):
        return uri
    return "/" + unquote(uri.removeprefix("file:")).lstrip("/")


def _stale_captures(
    document: Mapping[str, Any], now: _Now, roots: Sequence[str], mask: _Mask
) -> Iterator[dict[str, Any]]:
    """Yield a finding for each capture of a version of a table that had the rows."""
    changed = {
        entry["definition"]["identity"]: now[entry["name"]]
        for entry in document["tables"]
        if entry["effect"]["action"] != "none"
    }
    versions = {name: None if t is None else t.written.version for name, t in changed.items()}
    for capture in captures_of(roots, versions):
        yield {
            "state": POSSIBLE,
            "holder": f"capture {mask.text(str(capture))}",
            "path": mask.text(str(capture)),
            "place": "relations",
            "column": "it was made before the rows were erased",
            "count": 1,
        }


def _of_another_key(finding: Finding, places: Sequence[_Place]) -> bool:
    """Return True for numbers in a table that itself names its rows by a column of this name."""
    column = None if "_delta_log" in Path(finding.path).parts else _column(finding)
    name = (column or finding.column.rpartition(".")[2]).lower()
    return not finding.text and any(
        place.name != finding.relation and name in place.own
        for place in places
        if Path(finding.path).is_relative_to(place.location)
    )


def _column(finding: Finding) -> str | None:
    """Return the name of the column that has the values; None: they are in bytes or a path."""
    found, _, column = finding.place.partition("column ")
    return None if found else column.rpartition(".")[2]


def _described(finding: Finding, places: Sequence[_Place], mask: _Mask) -> dict[str, Any]:
    """Return a finding with the table or capture that has the file, without values."""
    path = Path(finding.path)
    state, holder = ELSEWHERE, ""
    for place in places:
        if path.is_relative_to(place.location):
            state, holder = place.state(finding.path), place.table
            break
    else:
        known = holder_of(path)
        if known is not None:
            holder = f"{known[0]} {known[1]}"
    column = _column(finding)
    other = finding.in_column or (
        column is not None and not same_name(column, finding.column.rpartition(".")[2])
    )
    if not finding.text and (state == ELSEWHERE or (state == LIVE and other)):
        state = POSSIBLE  # the number may stand for something else
    return {
        "state": state,
        "holder": mask.text(holder),
        "path": mask.text(finding.path),
        "place": mask.text(finding.place),
        "column": f"{finding.relation}.{finding.column}",
        "count": finding.count,
    }


def _with_visible(
    findings: Sequence[dict[str, Any]],
    places: Sequence[_Place],
    values: Sequence[ErasedValues],
) -> Iterator[dict[str, Any]]:
    """Yield findings, those in cells of current versions with the number of rows that show them.

    Rows that were deleted are in files of the current version where deletion vectors hide them.
    """
    opened = {place.table: place.opened for place in places}
    counted: dict[tuple[str, str, str], int | None] = {}
    for finding in findings:
        _, found, column = finding["place"].partition("column ")
        table = opened.get(finding["holder"])
        if finding["state"] == LIVE and found and table is not None:
            case = finding["holder"], column, finding["column"]
            if case not in counted:
                wanted = [v for v in values if f"{v.relation}.{v.column}" == finding["column"]]
                counted[case] = _rows_with(table, column, wanted)
            yield {**finding, "rows": counted[case]}
        else:
            yield finding


def _rows_with(table: ErasableTable, column: str, wanted: Sequence[ErasedValues]) -> int | None:
    """Return how many rows of a table show some values in a column; None: unknown."""
    try:
        frame = table.read(table.current())
        found = [leaf for leaf in leaves(frame.schema) if leaf.name.lower() == column.lower()]
        if not found:
            return None
        texts = F.array(*(F.lit(str(v).lower()) for each in wanted for v in each.values))
        whole = not all(each.is_text for each in wanted)

        def shows(value: Column) -> Column:
            text = F.lower(value.cast("string"))
            return F.exists(texts, lambda own: text == own if whole else F.contains(text, own))

        tests = [F.coalesce(F.exists(leaf.values, shows), F.lit(False)) for leaf in found]
        return frame.where(reduce(or_, tests)).count()
    except (LipstickError, PySparkException):
        return None


def _redactions(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield an UPDATE for each column of a table with erased values in rows that are visible."""
    shown: dict[tuple[str, str], int] = {}
    for finding in findings:
        case = finding["holder"], finding["place"].partition("column ")[2]
        shown[case] = max(shown.get(case, 0), finding.get("rows") or 0)
    for (table, column), rows in shown.items():
        if rows:
            number = "1 row shows" if rows == 1 else f"{rows:,} rows show"
            yield f"UPDATE {table} SET {column} = ... WHERE ...: {number} erased values there"


def _to_do(findings: Sequence[Mapping[str, Any]], places: Sequence[_Place]) -> Iterator[str]:
    """Yield statements, or advice, that remove what was found."""
    yield from _redactions(findings)
    for place in places:
        own = [f for f in findings if f["holder"] == place.table]
        # What rows show stays until they are changed, whatever is done to files.
        states = {f["state"] for f in own if not f.get("rows")}
        catalog, _, name = place.table.partition(".")
        if place.format == "delta":
            if LIVE in states:
                yield f"REORG TABLE {place.table} APPLY (PURGE)"
            if states & {LIVE, OLD, UNUSED}:
                yield f"VACUUM {place.table}"
            if LOG in states:
                yield (
                    f"the log of {place.table} has statistics of removed files: they leave it by "
                    "the first checkpoint after delta.logRetentionDuration"
                )
        elif place.format == PARQUET:
            if LIVE in states:
                yield f"write {place.table} without what was found in it"
        else:
            if LIVE in states:
                yield (
                    f"CALL {catalog}.system.rewrite_data_files(table => '{name}', options => "
                    "map('rewrite-all', 'true'))"
                )
            if LOG in states:
                # Manifests have the bounds of files that their commit removed.
                yield f"CALL {catalog}.system.rewrite_manifests(table => '{name}')"
            if states & {LIVE, OLD, LOG}:
                yield (
                    f"CALL {catalog}.system.expire_snapshots(table => '{name}', older_than => "
                    "current_timestamp(), retain_last => 1)"
                )
            if UNUSED in states:
                yield f"CALL {catalog}.system.remove_orphan_files(table => '{name}')"
    tables = {place.table for place in places}
    for finding in findings:
        if finding["state"] == POSSIBLE and finding["holder"] in tables:
            yield f"see whether numbers in {finding['place']} of {finding['holder']} are others"
        elif finding["state"] in (ELSEWHERE, POSSIBLE):
            yield f"remove or rewrite {finding['holder'] or finding['path']}"


class _Mask:
    """Replaces erased values in texts by keyed hashes."""

    def __init__(self, key: bytes, values: Sequence[ErasedValues]) -> None:
        self._hashes = {
            str(value): f"[{keyed_hash(key, value)[:12]}]"
            for each in values
            for value in each.values
            if isinstance(value, str)
        }

    def text(self, text: str) -> str:
        """Return a text without erased values."""
        plain = unquote(text)
        found = [value for value in self._hashes if value.lower() in plain.lower()]
        for value in sorted(found, key=len, reverse=True):
            place = plain.lower().find(value.lower())
            while place >= 0:
                plain = plain[:place] + self._hashes[value] + plain[place + len(value) :]
                place = plain.lower().find(value.lower(), place + len(self._hashes[value]))
            text = plain
        return text

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry whose texts have no erased values."""
        return {k: self.text(v) if isinstance(v, str) else v for k, v in entry.items()}
