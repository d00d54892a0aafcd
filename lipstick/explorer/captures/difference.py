"""A number of two captures: the parts of its difference, and the input rows that changed."""

from __future__ import annotations

from typing import Any

from lipstick.display.number_text import signed
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell
from lipstick.explorer.params import Params
from lipstick.questions.why.measure import column_of

SHOWN = 20
"""Input rows at most."""


def difference(before: CaptureSource, after: CaptureSource, params: Params) -> dict[str, Any]:
    """Return the parts of the difference of a number, in words, and the rows that changed.

    Parameters
    ----------
    params
        ``column``, and ``row``, the place of the row in the answer after.
    """
    row, found = after.row(params), after.difference_from(before)
    table = after.windows.table
    names = [column_of(table.column_names, name) for name in found.key or ()]
    where = {table.column_names[at]: table.column(at)[row].as_py() for at in names}
    parts = found.parts(params.text("column"), where)
    first, *others = str(parts).splitlines()
    return {
        "sentence": cell(first),
        "parts": [cell(line.removeprefix("- "), 600) for line in others],
        "inputs": [
            {"text": cell(each.sentence, 600), "part": signed(part)}
            for each, part in parts.inputs(SHOWN)
        ],
        "not_held": found.not_held,
    }
