"""Links between rows of pandas frames, inferred from index, values and order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lipstick.systems.scripts.running.record import Rule

Frame: TypeAlias = Any
"""A frame or column of pandas, which has no types."""

Codes: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
"""A code for every row of the output, and for every row of the source."""


def inferred(
    output: Frame, source: Frame, *, in_order: bool = True
) -> tuple[Rule, str, Codes | None]:
    """Infer the rule by which the rows of a frame come from the rows of one that was read.

    Returns
    -------
    tuple
        The rule, why it was chosen, and the codes; None: any row may come from any.
    """
    count = len(source)
    places = np.arange(count)
    named, shared = _shared(output, source)
    if in_order and len(output) == count and output.index.equals(source.index):
        aligned = [c for c in shared if _equal(named[c], source[c])]
        if aligned or not shared:
            why = f"both have {count} rows, with the same index"
            if aligned:
                why += f", and {', '.join(aligned)} in the same order"
            return Rule.ORDER, why, (places, places)
    elif _keeps_index(output, source):
        labels = source.index.get_indexer(output.index)
        return Rule.INDEX, "the index is that of the rows that were read", (labels, places)
    if shared:
        chosen, codes = _by_values(named, source, shared)
        return Rule.VALUES, f"rows have the same {', '.join(chosen)}", codes
    if in_order and len(output) == count:
        return Rule.ORDER, f"both have {count} rows", (places, places)
    why = "it has other rows, no column of the same values, and another index"
    return Rule.ALL, why, None


def _keeps_index(output: Frame, source: Frame) -> bool:
    """Return True if row labels come from the source; a new index counts from 0."""
    import pandas as pd  # type: ignore[import-untyped]

    index = output.index
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return False
    same = index.nlevels == source.index.nlevels and list(index.names) == list(source.index.names)
    return bool(same and source.index.is_unique and index.isin(source.index).all())


def _shared(output: Frame, source: Frame) -> tuple[Frame, list[Any]]:
    """The output with the named levels of its index, and the columns whose values come from it."""
    levels = [name for name in output.index.names if name is not None]
    named = output.copy(deep=False)
    for name in levels:
        if name not in named.columns:
            named[name] = output.index.get_level_values(name)
    unique = [c for c in named.columns if list(named.columns).count(c) == 1]
    shared = [c for c in unique if list(source.columns).count(c) == 1]
    return named, [c for c in shared if _within(named[c], source[c])]


def _within(values: Frame, known: Frame) -> bool:
    try:
        return bool(len(values) and values.isin(known).all())
    except TypeError:  # values without a hash, such as lists
        return False


def _equal(values: Frame, known: Frame) -> bool:
    return bool(values.reset_index(drop=True).equals(known.reset_index(drop=True)))


def _by_values(output: Frame, source: Frame, shared: list[Any]) -> tuple[list[Any], Codes]:
    """Equal codes where columns are equal: of as many columns as leave no output row alone."""
    chosen = shared[:1]
    codes = _codes(output, source, chosen)
    for column in shared[1:]:
        finer = _codes(output, source, [*chosen, column])
        if np.isin(finer[0], finer[1]).all():
            chosen, codes = [*chosen, column], finer
    return chosen, codes


def _codes(output: Frame, source: Frame, columns: list[Any]) -> Codes:
    import pandas as pd

    both = pd.concat([output[columns], source[columns]], ignore_index=True)
    codes = both.groupby(columns, dropna=False, sort=False).ngroup().to_numpy()
    return codes[: len(output)], codes[len(output) :]
