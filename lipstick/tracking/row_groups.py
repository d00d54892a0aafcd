"""Row groups of local Parquet files."""

from __future__ import annotations

from functools import lru_cache

import pyarrow.parquet as pq

from lipstick.tracking.states import FileState, local_path, local_state


def row_group_ends(file: str) -> tuple[int, ...]:
    """Return the numbers of rows up to the end of each row group; empty: no such file is here."""
    state, path = local_state(file), local_path(file)
    if state is None or state[1] < 0 or path is None or path.suffix != ".parquet":
        return ()
    return _ends(state)


@lru_cache(maxsize=4096)
def _ends(state: FileState) -> tuple[int, ...]:
    footer, ends, rows = pq.read_metadata(local_path(state[0])), list[int](), 0
    for number in range(footer.num_row_groups):
        rows += footer.row_group(number).num_rows
        ends.append(rows)
    return tuple(ends)
