"""Questions of agents to saved captures, each answered by a document of bounded size.

Nothing is changed. A reply has its evidence: values before and after, how they were computed, and
the call that gives the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lipstick.errors import CaptureError, LipstickError
from semiring.errors import closest

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.capture.manifest import RelationRecord
    from lipstick.explorer.captures.source import CaptureSource
    from lipstick.explorer.captures.what_if import Hypothetical
    from lipstick.sessions import Session

MOST_ROWS: Final = 100
"""The number of rows in a list of a reply, at most."""
MOST_CHARACTERS: Final = 20_000
"""The size of a reply, at most: rows at the end of its lists are left out."""
_TEXT: Final = 500
_SECONDS: Final = 60.0

Reply = dict[str, Any]


class CaptureTools:
    """The tools of agents over the captures in some folders.

    Parameters
    ----------
    paths
        Folders that ``save()`` wrote, or folders of these.
    session
        Opens the session in which ``why_not`` runs queries; None: one with a local Spark.
    """

    def __init__(self, paths: Sequence[Path], session: Callable[[], Session] | None = None) -> None:
        self._session = session
        from lipstick.explorer.captures.source import CaptureSource
        from lipstick.explorer.explorer import FaultySource, open_sources

        entries = [entry for path in paths for entry in open_sources(path)]
        self._refused: dict[str, str] = {}
        self._sources: dict[str, CaptureSource] = {}
        for number, entry in enumerate(entries, 1):
            name = entry.source.name if entry.path is None else entry.path.name
            if isinstance(entry.source, CaptureSource):
                free = name if name not in self._sources else f"{name}-{number}"
                self._sources[free] = entry.source
            elif isinstance(entry.source, FaultySource):
                self._refused[name] = str(entry.source.error)
        if not self._sources:
            raise CaptureError(
                "There is no capture in these folders.\nGive folders that save() wrote, or folders "
                "of these."
            )

    @cached_property
    def tools(self) -> dict[str, Callable[..., Reply]]:
        """The tools by name."""
        asked = (self.captures, self.rows, self.why, self.why_not, self.diff, self.where)
        return {tool.__name__: tool for tool in (*asked, self.what_if)}

    def captures(self) -> Reply:
        """List the captures: saved answers of queries, and the relations that each was made from.

        Begin here: other tools take the name of a capture, and columns that are listed.
        """
        listed = []
        for name, source in self._sources.items():
            capture = source.capture
            relations = {
                each.name: {"columns": list(each.columns), "key": list(each.token)}
                for each in capture.manifest.relations.values()
            }
            schema = source.windows.table.schema
            columns = {field.name: str(field.type) for field in schema}
            rows = source.windows.table.num_rows
            listed.append(
                {
                    "capture": name,
                    "query": capture.query,
                    "rows": rows,
                    "columns": columns,
                    "relations": relations,
                }
            )
        return _bounded({"captures": listed, "cannot_be_read": self._refused}, "captures")

    def rows(
        self, capture: str, condition: str | None = None, limit: int = 20, offset: int = 0
    ) -> Reply:
        """Return rows of a saved answer.

        condition: on the columns of the answer, such as "region = 'EU' and n > 10".
        """
        from lipstick.explorer.conditions import rows_that

        table = self._source(capture).windows.table
        if condition is not None:
            table = table.filter(rows_that(table, condition, "the answer"))
        found = _rows(table.slice(max(offset, 0)), limit)
        return _bounded({"rows": found, "of": table.num_rows, "offset": max(offset, 0)}, "rows")

    def why(
        self,
        capture: str,
        column: str | None = None,
        row: dict[str, Any] | None = None,
        than: float | dict[str, Any] | None = None,
        too: str | None = None,
        limit: int = 5,
    ) -> Reply:
        """Explain a number of the answer by conditions on the input rows behind it.

        column, row: the number, and values of columns that select its row; no column: the rows of
        the answer must not be there. than: what it should be, or values that select the row to
        compare with. too: "high" or "low". Each cause has the exact value without its rows.
        """
        if too not in (None, "high", "low"):
            raise CaptureError("too is 'high', 'low', or left out.")
        source = self._source(capture)
        found = source.capture.why(
            column,
            row,
            than=than,
            too=too,  # type: ignore[arg-type]
            limit=_limit(limit),
            budget=_SECONDS,
        )
        causes = found.table.to_pylist()
        for cause, said in zip(causes, found.causes, strict=True):
            cause["evidence"] = _evidence(source, cause, said.keys, column, row or {})
        return _bounded(
            {
                "sentence": str(found),
                "value": found.before,
                "causes": causes,
                "complete": found.complete,
                "notes": list(found.notes),
            },
            "causes",
        )

    def why_not(self, capture: str, row: dict[str, Any]) -> Reply:
        """Explain why the answer has no row with some values, from the unchanged source files.

        row: values of columns of the answer. This runs the query's operators in a local Spark.
        """
        return _bounded(self._frame_question(capture, row), "reasons")

    def diff(
        self,
        before: str,
        after: str,
        column: str | None = None,
        row: dict[str, Any] | None = None,
        key: list[str] | None = None,
        limit: int = 20,
    ) -> Reply:
        """Compare two captures of a query: rows added, removed and changed.

        With column and row: the parts of the number's difference, which add up to it exactly.
        """
        difference = self._source(before).capture.diff(self._source(after).capture, key)
        counts = {
            "added": difference.added,
            "removed": difference.removed,
            "changed": difference.changed,
        }
        if column is None:
            words: Any = difference
            found = _rows(difference.rows(_limit(limit)), limit)
        else:
            words = difference.parts(column, row)
            found = _rows(words.table, limit)
        return _bounded({"sentence": str(words), "counts": counts, "rows": found}, "rows")

    def where(
        self, capture: str, column: str | None = None, row: dict[str, Any] | None = None
    ) -> Reply:
        """Return the input cells that a cell of the answer comes from.

        Without a column: the input columns behind all columns of the answer.
        """
        opened = self._source(capture).capture
        if column is None:
            return _bounded({"columns": _rows(opened.column_lineage(), MOST_ROWS)}, "columns")
        found = opened.where(column, row or {})
        cells = [
            {"relation": name, **each}
            for name, table in found.cells.items()
            for each in _rows(table, MOST_ROWS)
        ]
        deciding = [f"{each.relation}.{each.column}" for each in found.deciding]
        return _bounded(
            {"value": found.value, "kind": found.kind, "cells": cells, "deciding": deciding},
            "cells",
        )

    def what_if(self, capture: str, without: dict[str, str], limit: int = 20) -> Reply:
        """Return what the answer would be had some input rows not been there.

        without: by relation a condition on its columns, such as {"orders": "status = 'test'"}.
        """
        if not without:
            raise CaptureError("without names no relation: give a condition on its columns.")
        source = self._source(capture)
        found = source.scenarios.of({"where": without})
        return _bounded(
            {
                "counts": found.counts(),
                "removed": found.removed,
                "not_in_this_query": found.unused,
                "rows": found.changes(_limit(limit)),
                "evidence": {"method": "annotations"},
            },
            "rows",
        )

    # -- behind the tools --------------------------------------------------------------------

    def _source(self, name: str) -> CaptureSource:
        if name not in self._sources:
            raise CaptureError(f"There is no capture {name!r}.\n{closest(name, self._sources)}")
        return self._sources[name]

    def _frame_question(self, name: str, row: Mapping[str, Any]) -> Reply:
        import lipstick

        capture = self._source(name).capture
        with (self._session or lipstick.session)() as session:
            for record in capture.manifest.relations.values():
                key = list(record.token) if record.naming == "key" else None
                session.track(record.name, _place(record), key=key)
                tracked = session.tracked[record.name]
                if set(tracked.source.fingerprint) != set(record.fingerprint):
                    raise CaptureError(
                        f"The files of {record.name} have changed since the capture was saved."
                    )
            found = session.sql(capture.query).why_not(row, budget=_SECONDS)
            return {
                "sentence": str(found),
                "present": found.present,
                "reasons": found.table.to_pylist(),
                "notes": list(found.notes),
            }


def _place(record: RelationRecord) -> str:
    """Return the path of the Parquet files that a relation was read from.

    Raises
    ------
    CaptureError
        It is something else.
    """
    kind, _, place = record.description.partition(" ")
    if kind != "parquet" or not record.fingerprint:
        raise CaptureError(
            f"why_not looks for the row in the sources, and {record.name} ({record.description}) "
            "is no path of Parquet files.\nAsk in the session that has it: q.why_not(...)."
        )
    return place


def _evidence(
    source: CaptureSource,
    cause: Reply,
    keys: pa.Table,
    column: str | None,
    row: Mapping[str, Any],
) -> Reply:
    """Return the answer computed without the rows of a cause, as far as the question is about it.

    The explanation and this are two computations.
    """
    condition = {cause["relation"]: cause["predicate"]}
    evidence: Reply = {"tool": "what_if", "without": condition}
    try:
        found = _scenario(source, condition, keys)
        changes = found.changes()
    except LipstickError as error:
        return {**evidence, "not_rerun": str(error)}
    evidence |= {"removed": found.removed, "counts": found.counts()}
    if column is None:
        return evidence
    of_row = (
        each
        for each in changes
        if each["old"] and all(str(each["old"][name]) == str(row[name]) for name in row)
    )
    change = next(of_row, None)
    if change is None:
        return {**evidence, "row": "unchanged"}
    new = change["new"]
    values = {
        "value_with": change["old"][column],
        "value_without": None if new is None else new[column],
    }
    return {**evidence, **values, "row": change["change"]}


def _scenario(source: CaptureSource, where: Mapping[str, str], keys: pa.Table) -> Hypothetical:
    """Return the answer without the rows of a relation that meet a condition, or by their keys."""
    from lipstick.explorer.errors import ExploreError

    with suppress(ExploreError):  # explanations have more conditions than scenarios
        return source.scenarios.of({"where": where})
    texts = [
        [None if value is None else str(value) for value in key]
        for key in zip(*keys.to_pydict().values(), strict=True)
    ]
    return source.scenarios.of({"delete": dict.fromkeys(where, texts)})


def _limit(limit: int) -> int:
    return max(1, min(limit, MOST_ROWS))


def _rows(table: pa.Table, limit: int) -> list[Reply]:
    rows: list[Reply] = table.slice(0, _limit(limit)).to_pylist()
    return rows


def _bounded(reply: Reply, part: str) -> Reply:
    """Return a reply as JSON has it, whose texts, and whose list, are as long as it may be."""
    from lipstick.explorer.cells import json_text

    reply = _shortened(json.loads(json_text(reply, default=_as_json)))
    left_out = 0
    while reply[part] and len(json.dumps(reply)) > MOST_CHARACTERS:
        keep = len(reply[part]) // 2
        left_out += len(reply[part]) - keep
        reply[part] = reply[part][:keep]
    return {**reply, "left_out": left_out} if left_out else reply


def _as_json(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _TEXT * 4 else f"{value[: _TEXT * 4]}..."
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value
