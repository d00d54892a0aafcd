"""Tables as files: what a view's rows are, whole, as CSV or Parquet."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from lipstick.explorer.cells import cells, kind
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.params import Params
from semiring.errors import LipstickError

FORMATS = ("csv", "parquet")


def export(explorer: Explorer, question: Any) -> bytes:
    """Return the rows of an answer to a question as a file.

    Parameters
    ----------
    question
        As :meth:`Explorer.ask` takes it, with ``format``, ``csv`` or ``parquet``. The rows of a
        capture are all that its filters leave, in their order and of their types; of other views
        they are the answer's rows, as text.

    Raises
    ------
    ExploreError
        For views without rows, and other formats.
    """
    try:
        question_params = Params(question)
        format = question_params.text("format")
        if format not in FORMATS:
            raise ExploreError(f"Tables are exported as {' or '.join(FORMATS)}, not {format!r}.")
        return _written(_rows(explorer, question_params, question), format)
    except LipstickError as error:
        raise ExploreError(str(error)) from error


def _rows(explorer: Explorer, question_params: Params, question: Any) -> pa.Table:
    number = question_params.integer("source", 0)
    if question_params.text("view") == "rows" and 0 <= number < len(explorer.sources):
        # Captures are imported where there are any: they take longer than all else here.
        from lipstick.explorer.captures.source import CaptureSource

        source = explorer.sources[number]
        if isinstance(source, CaptureSource):
            return source.windows.chosen(Params(question_params.mapping("params")))
    reply = explorer.ask(question)
    if "error" in reply:
        raise ExploreError(reply["error"]["message"])
    answer = reply["answer"]
    if not isinstance(answer.get("rows"), list) or not isinstance(answer.get("columns"), list):
        raise ExploreError("This view has no rows to export.")
    names = [column["name"] for column in answer["columns"]]
    columns = list(zip(*answer["rows"], strict=True)) or [()] * len(names)
    return pa.Table.from_arrays([pa.array(c, pa.string()) for c in columns], names=names)


def _written(table: pa.Table, format: str) -> bytes:
    out = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, out)
    else:
        nested = any(kind(field.type) == "other" for field in table.schema)
        if nested:
            rows = cells(table, None)
            columns = list(zip(*rows, strict=True)) or [()] * table.num_columns
            arrays = [pa.array(column, pa.string()) for column in columns]
            table = pa.Table.from_arrays(arrays, names=table.column_names)
        pyarrow.csv.write_csv(table, out)
    return out.getvalue()
