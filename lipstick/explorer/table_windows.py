"""Windows into large tables: sorted, filtered, and a screenful at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.explorer.cells import cells, columns, kind, sql_type
from lipstick.explorer.conditions import column_mask
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from semiring.arrays.arrow import decoded
from semiring.base import Array

WINDOW = 200
"""Rows of a window at most."""

_KEPT = 4


class TableWindows:
    """A table that is looked at in windows.

    The places of rows in the table stay their names, however they are sorted. O(n log n) for an
    order that was not asked for lately, then what the window has.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._places = lru_cache(maxsize=_KEPT)(self._find)

    def window(self, params: Params) -> dict[str, Any]:
        """The rows that are asked for.

        Parameters
        ----------
        params
            ``offset`` and ``limit``; ``sort``, the place of a column; ``descending``; ``filters``,
            conditions by the place of their column, as :func:`column_mask` has them.
        """
        places = self._asked(params)
        offset = params.integer("offset", 0, 0)
        limit = params.integer("limit", 100, 1, WINDOW)
        total = self.table.num_rows if places is None else len(places)
        if places is None:
            chosen = np.arange(min(offset, total), min(offset + limit, total))
            rows = self.table.slice(offset, limit)
        else:
            chosen = places[offset : offset + limit]
            rows = self.table.take(pa.array(chosen))
        return {
            "columns": columns(self.table.schema),
            "rows": cells(rows),
            "places": chosen.tolist(),
            "offset": offset,
            "total": total,
            "all": self.table.num_rows,
        }

    def chosen(self, params: Params) -> pa.Table:
        """All rows that a window is of, in its order."""
        places = self._asked(params)
        return self.table if places is None else self.table.take(pa.array(places))

    def _asked(self, params: Params) -> Array | None:
        filters = {str(k): str(v) for k, v in params.mapping("filters").items() if str(v).strip()}
        order = params.integer("sort", -1), params.flag("descending")
        return self._places(*order, tuple(sorted(filters.items())))

    def _find(
        self, sort: int, descending: bool, filters: tuple[tuple[str, str], ...]
    ) -> Array | None:
        """The places of the rows, in order; None: all, as they are."""
        if sort < 0 and not filters:
            return None
        places = np.arange(self.table.num_rows)
        if filters:
            keep = np.ones(self.table.num_rows, dtype=np.bool_)
            for number, text in filters:
                column = self._column(number)
                mask = column_mask(column, text, self.table.schema.names[int(number)])
                keep &= np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), bool)
            places = np.flatnonzero(keep)
        if sort >= 0:
            column = self._column(str(sort))
            if kind(column.type) == "other":
                raise ExploreError(
                    f"Values of the type {sql_type(column.type)} have no order to sort by."
                )
            column = decoded(column)
            order = "descending" if descending else "ascending"
            sorted_values = column.take(pa.array(places))
            ranks = pc.sort_indices(pa.table({"c": sorted_values}), sort_keys=[("c", order)])
            places = places[ranks.to_numpy(zero_copy_only=False)]
        return places

    def _column(self, number: str) -> pa.Array:
        if not number.isdecimal() or int(number) >= self.table.num_columns:
            raise ExploreError(f"The table has no column {number}.")
        column = self.table.column(int(number))
        array: pa.Array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        return array
