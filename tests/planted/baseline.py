"""The baseline: group by every column, and take the value whose group moves the number most."""

from __future__ import annotations

import numpy as np

from tests.planted.cases import Array, Case


def group_by_every_column(case: Case, limit: int = 3) -> list[Array]:
    """Return the rows of the groups that differ most from the rest, one group per column value.

    The mean of what is wrong with a group (its values, or its share of failing rows), weighted by
    its size: what a person does with one GROUP BY after the other.
    """
    columns = case.tables[case.relation].columns
    measured = next(n for n in reversed(columns) if columns[n].dtype.kind == "f")
    values = columns[measured]
    if "IS NULL" in case.sql:
        wrong = np.isnan(values).astype(float)
    elif "< 0" in case.sql:
        wrong = (values < 0).astype(float)
    elif "= 0" in case.sql:
        wrong = (values == 0).astype(float)
    else:
        wrong = values.copy()
    wrong[~case.concerned] = 0.0
    mean = wrong[case.concerned].mean()
    found: list[tuple[float, Array]] = []
    for name, given in columns.items():
        column = given
        if name == measured or name in case.tables[case.relation].key:
            continue
        if column.dtype == np.dtype(object):
            column = np.where([v is None for v in column], "", column).astype(str)
        for value in np.unique(column):
            rows = (column == value) & case.concerned
            size = int(rows.sum())
            if size:
                found.append((float((wrong[rows] - mean).sum() / np.sqrt(size)), rows))
    found.sort(key=lambda pair: -pair[0])
    return [rows for _, rows in found[:limit]]
