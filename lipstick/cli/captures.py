"""``lipstick rows``, ``what-if`` and ``diff``: questions to saved captures, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import CSV, JSON, TABLE, Answer, answer_options, counted, said, working
from lipstick.cli.why import columns_of, named_values

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.explorer.captures.source import CaptureSource

Command = Callable[..., None]

_capture = click.argument("capture", type=click.Path(path_type=Path))
_by = click.option(
    "--by", metavar="[RELATION.]COLUMN[:UNIT]", help="Group the inputs by this column."
)
_FORMATS = (TABLE, JSON, CSV)
_STYLES = {"changed": "yellow", "deleted": "red", "added": "green"}


@contextmanager
def _opened(path: Path) -> Iterator[CaptureSource]:
    """Open a capture for a command, which sees times as the session that captured did."""
    import lipstick
    from lipstick.explorer.captures.source import CaptureSource
    from rewriter.interpret import in_time_zone

    with reported():
        with working(f"opening {path}"):
            source = CaptureSource(path.name, lipstick.open(path))
        with in_time_zone(source.capture.manifest.time_zone):
            yield source


def _asked(source: CaptureSource, view: str, params: dict[str, Any]) -> dict[str, Any]:
    from lipstick.explorer.budget import Budget
    from lipstick.explorer.params import Params

    with working("asking the capture"):
        return source.views[view](Params(params), Budget(600))


def _chosen(source: CaptureSource, condition: str | None) -> pa.Table:
    """Return the rows of the answer that meet a condition, with their places first."""
    import numpy as np
    import pyarrow as pa

    from lipstick.explorer.conditions import rows_that

    table = source.windows.table
    places = pa.array(np.arange(table.num_rows))
    numbered = pa.Table.from_arrays([places, *table.columns], ["row", *table.column_names])
    if condition is None:
        return numbered
    return numbered.filter(rows_that(table, condition, "the answer"))


@click.command()
@_capture
@click.argument("condition", required=False)
@click.option(
    "--of",
    "of",
    metavar="COLUMN",
    multiple=True,
    help="The inputs of this column's value; of several values, beside each other.",
)
@_by
@answer_options(_FORMATS)
def rows(
    capture: Path,
    condition: str | None,
    of: tuple[str, ...],
    by: str | None,
    answer: Answer,
) -> None:
    """List the rows of a saved answer that meet CONDITION, or the inputs of a value.

    CONDITION is on the columns of the answer: "n_name = 'CHINA' or revenue > 1,000". With --of it
    selects one row, whose value is explained: its inputs, the largest first, with their shares.
    Of several rows, or with --of repeated, the values are compared: what they have in common comes
    first, with each value without it. Inputs are grouped by a column of their relation, times by
    day, month or year, numbers by range: --by orders.o_orderdate:month.
    """
    with _opened(capture) as source:
        found = _chosen(source, condition)
        if len(of) * found.num_rows > 1:
            _send_comparison(answer, source, found, of, by)
        elif of:
            _send_inputs(answer, source, found, of[0], by)
        elif by is not None:
            raise Failure("--by groups the inputs of a value: name its column by --of.")
        else:
            _send_rows(answer, found)


def _send_rows(answer: Answer, found: pa.Table) -> None:
    answered = found.slice(0, answer.rows).drop_columns(["row"])
    listed = answered.to_pylist()
    answer.table(listed, found.num_rows)
    answer.finish(listed, answered)


def _send_inputs(
    answer: Answer, source: CaptureSource, found: pa.Table, column: str, by: str | None
) -> None:
    """Send the inputs of a value of the only row that was found."""
    import pyarrow as pa

    if not found.num_rows:
        raise Failure("The condition selects no row.")
    question: dict[str, Any] = {"row": found.column("row")[0].as_py(), "column": column}
    value = _grouped(source, "value", question, by)
    table = _asked(source, "listed", question)
    is_double = pa.types.is_floating(source.windows.table.schema.field(value["column"]).type)
    lines = _input_lines(value, table, rounded=is_double and answer.format == TABLE)
    answer.say(value["sentence"])
    answer.say(f"{value['call']}: {value['measure']}.")
    if value["known"] < value["groups"] and value["reason"]:
        answer.say(f"Unknown: {value['reason']}")
    answer.table(lines[: answer.rows], value["groups"])
    answer.finish({**value, "listed": table}, pa.Table.from_pylist(lines[: answer.rows]))


def _grouped(
    source: CaptureSource, view: str, question: dict[str, Any], by: str | None
) -> dict[str, Any]:
    """Ask for inputs, by default by their rows."""
    value = _asked(source, view, question)
    if by is not None:
        question["by"] = _grouping(by, value["axes"])
        value = _asked(source, view, question)
    if value.get("refused"):
        raise Failure(value["refused"])
    return value


def _send_comparison(
    answer: Answer, source: CaptureSource, found: pa.Table, of: tuple[str, ...], by: str | None
) -> None:
    """Send the inputs of several values, those in common first."""
    import pyarrow as pa

    places = found.column("row").to_pylist()
    numbers = [{"row": row, "column": column} for row in places for column in of]
    value = _grouped(source, "comparison", {"numbers": numbers, "seconds": 60}, by)
    names = [each["name"] for each in value["columns"]]
    lines = [dict(zip(names, texts, strict=True)) for texts in value["rows"]]
    answer.say(value["sentence"])
    answer.table(lines[: answer.rows], value["groups"])
    answer.finish(value, pa.Table.from_pylist(lines[: answer.rows]))


def _input_lines(
    value: dict[str, Any], table: dict[str, Any], *, rounded: bool
) -> list[dict[str, Any]]:
    """Return a line for each input of a value, or group of them; `rounded`: of doubles."""
    from lipstick.display.number_text import percent, spelled
    from lipstick.explorer.captures.contributions import STATES

    def written(text: str | None) -> str | None:
        return spelled(float(text)) if rounded and text is not None else text

    names = [each["name"] for each in table["columns"]]
    return [
        {
            "brings": "unknown" if bar["state"] == "unknown" else written(bar["text"]),
            "share": None if bar["share"] is None else percent(bar["share"]),
            "inputs": bar["count"] if value["by"]["column"] else None,
            "without": STATES.get(bar["state"], written(bar["without"])),
            **dict(zip(names, texts, strict=True)),
        }
        for bar, texts in zip(value["bars"], table["rows"], strict=True)
    ]


def _grouping(text: str, axes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what to group by, from ``[RELATION.]COLUMN[:UNIT]``."""
    path, _, unit = text.partition(":")
    relation, _, column = path.rpartition(".")
    for number, axis in enumerate(axes):
        if relation in ("", axis["name"]) and any(c["name"] == column for c in axis["columns"]):
            return {"axis": number, "column": column, "unit": unit}
        if not relation and column == axis["name"]:
            return {"axis": number}
    known = "; ".join(f"{a['name']}: {', '.join(c['name'] for c in a['columns'])}" for a in axes)
    raise Failure(f"The inputs have no column {path!r} to group by. There are {known}.")


@click.command("what-if")
@_capture
@click.option(
    "--without",
    metavar="RELATION CONDITION",
    nargs=2,
    multiple=True,
    help="The rows to leave out; may be repeated.",
)
@click.option(
    "--change",
    metavar="RELATION VALUES",
    nargs=2,
    multiple=True,
    help="New values of a column; may be repeated, for other relations.",
)
@answer_options(_FORMATS)
def what_if(
    capture: Path,
    without: tuple[tuple[str, str], ...],
    change: tuple[tuple[str, str], ...],
    answer: Answer,
) -> None:
    """Show the answer of a saved CAPTURE had some rows not been there, or had other values.

    Conditions on other columns than keys are asked of the relation's source, where that is Parquet
    and unchanged: --without lineitem "l_shipmode in ('TRUCK', 'MAIL') and l_quantity > 20".
    New values are of one column: --change lineitem "l_discount = 0 where l_suppkey = 7".
    """
    with _opened(capture) as source:
        if not without and not change:
            raise Failure("Give --without or --change.")
        changed = [relation for relation, _ in change]
        if len({*changed}) < len(changed):
            raise Failure("--change takes the new values of one column of a relation, once each.")
        where: dict[str, str] = {}
        for relation, condition in without:
            where[relation] = (
                f"({where[relation]}) or ({condition})" if relation in where else condition
            )
        with working("answering"):
            found = source.scenarios.of({"where": where, "update": dict(change)})
        counts, changes = found.counts(), found.changes(answer.rows)
        parts = [f"{counts[kind]:,} {kind}" for kind in _STYLES if counts[kind]]
        if change:
            said = f"With new values of {counted(sum(found.updated.values()), 'row')}"
        else:
            unused = sum(found.unused.values())
            said = f"Without {counted(sum(found.removed.values()), 'row')}"
            said += f", {unused:,} of them not in this query" if unused else ""
        answer.say(f"{said}: {', '.join(parts) or 'no row differs'}.")
        lines = [_line(change) for change in changes]
        styles = [_STYLES[change["change"]] for change in changes]
        answer.table(lines, len(found.differing), styles=styles)
        rows_by = {"removed": found.removed, "unused": found.unused, "updated": found.updated}
        answer.finish({"counts": counts, **rows_by, "rows": changes}, _flat(changes))


def _flat(changes: list[dict[str, Any]]) -> pa.Table:
    """Return rows that differ, with the old and the new value of each column beside each other.

    Lists, maps and structs are texts.
    """
    import pyarrow as pa

    from lipstick.explorer.cells import cell

    def flat(value: Any) -> Any:
        return cell(value, None) if isinstance(value, list | tuple | dict) else value

    return pa.Table.from_pylist(
        [
            {"change": each["change"]}
            | {
                f"{name} {side}": None if each[old] is None else flat(each[old][name])
                for name in each["old"] or each["new"]
                for side, old in (("before", "old"), ("after", "new"))
            }
            for each in changes
        ]
    )


def _line(change: dict[str, Any]) -> dict[str, Any]:
    """Return a row that differs, with its old and new values."""
    from lipstick.display.number_text import signed
    from lipstick.explorer.cells import number

    old, new = change["old"], change["new"]
    line: dict[str, Any] = {"": {"changed": "≠", "deleted": "-", "added": "+"}[change["change"]]}
    for name in old or new:
        before, after = (None if side is None else side[name] for side in (old, new))
        if old is None or new is None or said(before) == said(after):
            line[name] = after if old is None else before
            continue
        line[name] = f"{said(before)} -> {said(after)}"
        sizes = number(before), number(after)
        if sizes[0] and sizes[1] is not None:
            moved = 100 * (sizes[1] - sizes[0]) / abs(sizes[0])
            line[name] += f" ({signed(round(moved, 2))} %)"
    return line


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.argument("column", required=False)
@click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="A value that selects the row; may be repeated.",
)
@click.option("--key", metavar="COLUMN,...", help="The columns that identify a row of the answer.")
@answer_options(_FORMATS)
def diff(
    before: Path,
    after: Path,
    column: str | None,
    where: tuple[str, ...],
    key: str | None,
    answer: Answer,
) -> None:
    """Compare two saved captures of a query, or divide the difference of one number.

    With COLUMN and the row by --where: the parts of the difference that changed rows make.
    """
    with reported():
        import lipstick
        from lipstick.display.number_text import signed
        from semiring.errors import LipstickError

        with working("comparing the captures"):
            difference = lipstick.open(before).diff(lipstick.open(after), columns_of(key))
        if column is None:
            found = difference.rows(answer.rows)
            words: Any = difference
            try:
                inputs = [row.document() for row in difference.inputs(answer.rows)]
                more = difference.inputs_sentences
            except LipstickError as error:  # as of relations without a key
                inputs, more = [], [str(error)]
            total = difference.added + difference.removed + difference.changed
        else:
            with working("dividing the difference"):
                words = difference.parts(column, named_values(where))
            found = words.table
            total = found.num_rows
            parts = words.inputs(answer.rows)
            inputs = [row.document() | {"part": float(part)} for row, part in parts]
            more = [f"{row.sentence} ({signed(part)})" for row, part in parts[:5]]
        lines = found.to_pylist()
        not_held = {"not held": difference.not_held} if difference.not_held else {}
        answer.say_lines("\n".join([str(words), *more]))
        if column is None:
            answer.table(lines, total)
        document = {"sentence": str(words), "rows": lines, "inputs": inputs} | not_held
        answer.finish(document, found)


@click.command()
@click.argument("capture", type=click.Path(path_type=Path))
@click.argument("column", required=False)
@click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="A value that selects the row; may be repeated.",
)
@click.option("--openlineage", metavar="NAMESPACE", help="Write OpenLineage's columnLineage facet.")
@answer_options(_FORMATS)
def where(
    capture: Path,
    column: str | None,
    where: tuple[str, ...],
    openlineage: str | None,
    answer: Answer,
) -> None:
    """Show the cells that a cell of a saved CAPTURE comes from, or the columns behind all columns.

    With COLUMN and the row by --where the cells: copied, computed from, or having chosen the value.
    """
    with reported():
        import lipstick

        if openlineage is not None and column is not None:
            raise Failure("--openlineage is about all columns: leave out COLUMN.")
        with working("asking the capture"):
            opened = lipstick.open(capture)
            found = None if column is None else opened.where(column, named_values(where))
        if openlineage is not None:
            from lipstick.openlineage import lineage_facet

            answer.send_json(lineage_facet(opened, openlineage))
        elif found is None:
            lineage = opened.column_lineage()
            lines = lineage.to_pylist()
            answer.table(lines[: answer.rows], len(lines))
            answer.finish(lines, lineage.slice(0, answer.rows))
        elif answer.format == CSV:
            raise Failure("The cells behind a cell are of several tables: ask for --json.")
        elif answer.format == JSON:
            cells = {name: table.to_pylist() for name, table in found.cells.items()}
            deciding = [f"{each.relation}.{each.column}" for each in found.deciding]
            document = {"value": found.value, "kind": found.kind}
            answer.send_json({**document, "cells": cells, "deciding": deciding})
        else:
            answer.say_lines(found.text(answer.rows))
            answer.send_table()
