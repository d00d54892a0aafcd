"""Doors of pandas: the reads and writes of a running script, and links between their rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

import numpy as np

from lipstick.systems.scripts.running.record import Event, EventLink, Rule, versions_of
from lipstick.systems.scripts.running.recorder import RunRecorder

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
    if (values.dtype.kind in "mM") != (known.dtype.kind in "mM"):  # times are never equal to texts
        return False
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


READERS = (
    "read_csv", "read_excel", "read_feather", "read_fwf", "read_json", "read_orc", "read_parquet",
    "read_pickle", "read_table", "read_xml",
)  # fmt: skip
WRITERS = (
    "to_csv", "to_excel", "to_feather", "to_html", "to_json", "to_latex", "to_markdown", "to_orc",
    "to_parquet", "to_pickle", "to_xml",
)  # fmt: skip

KEPT_BYTES = 256 << 20
"""Frames of more bytes are not kept as they were read; their rows are not distinguished then."""

TOO_LARGE = "the frame that was read is too large to be kept"
IN_PYTHON = "what Python code does with rows is not followed"
INFERRED = "pandas is not followed row by row"


class PandasDoors:
    """The doors between pandas and files.

    Attributes
    ----------
    sources
        By event the frame as it was read or collected; None: it was not kept.
    """

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder
        self.sources: dict[int, Frame | None] = {}

    def open(self) -> None:
        """Watch what is read and written until the recorder takes its doors away."""
        import pandas as pd

        for name in READERS:
            self._recorder.replace(pd, name, self._reader)
        for owner in (pd.DataFrame, pd.Series):
            for name in WRITERS:
                if hasattr(owner, name):
                    self._recorder.replace(owner, name, self._writer)

    def source(self, event: Event, frame: Any) -> None:
        """Keep a frame as it is now, for rows that are made of it."""
        import pandas as pd

        if isinstance(frame, pd.DataFrame):
            small = frame.memory_usage(deep=False).sum() <= KEPT_BYTES
            self.sources[event.number] = frame.copy() if small else None
        else:
            self.sources[event.number] = None

    def linked(self, event: Event, frame: Any) -> tuple[EventLink, ...]:
        """Return the links from the rows of a frame to the frames that were read before."""
        import pandas as pd

        if isinstance(frame, pd.Series):
            frame = frame.to_frame()
        links = []
        for number, source in self.sources.items():
            if number >= event.number:
                continue
            if not self._recorder.may_feed(self._recorder.events[number - 1], event):
                continue
            if source is None or not isinstance(frame, pd.DataFrame):
                why = TOO_LARGE if isinstance(frame, pd.DataFrame) else IN_PYTHON
                links.append(EventLink(number, Rule.ALL, why))
                continue
            between = self._recorder.between(self._recorder.events[number - 1], event)
            rule, why, codes = inferred(frame, source, in_order=between.in_order)
            if rule is Rule.ALL and between.moving:
                why = f"{', '.join(between.moving[:5])} may move rows, and no values tell them"
            if between.mixing:
                why += f"; {', '.join(between.mixing[:5])} may add further rows"
            if codes is not None:
                folder = self._recorder.directory / "links"
                folder.mkdir(exist_ok=True)
                np.savez_compressed(
                    folder / f"{event.number}-{number}.npz", output=codes[0], source=codes[1]
                )
            links.append(EventLink(number, rule, why))
        return tuple(links)

    def _reader(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def read(*arguments: Any, **named: Any) -> Any:
            if recorder.busy:
                return before(*arguments, **named)
            with recorder.at_work():
                frame = before(*arguments, **named)
                path = _path(arguments, named)
                event = recorder.add(
                    "read", "pandas", path or "?",
                    files=() if path is None else versions_of(path),
                    rows=len(frame) if hasattr(frame, "columns") else None,
                    columns=tuple(map(str, getattr(frame, "columns", ()))),
                    inferred=INFERRED,
                )  # fmt: skip
                self.source(event, frame)
            return frame

        return read

    def _writer(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def write(frame: Any, *arguments: Any, **named: Any) -> Any:
            path = _path(arguments, named)
            if recorder.busy or path is None:
                return before(frame, *arguments, **named)
            with recorder.at_work():
                result = before(frame, *arguments, **named)
                event = recorder.add(
                    "write", "pandas", path,
                    files=versions_of(path),
                    rows=len(frame),
                    columns=_columns(frame),
                    inferred=INFERRED,
                )  # fmt: skip
                recorder.change(event, links=self.linked(event, frame))
            return result

        return write


def _columns(frame: Frame) -> tuple[str, ...]:
    return tuple(map(str, frame.columns if hasattr(frame, "columns") else (frame.name,)))


def _path(arguments: tuple[Any, ...], named: dict[str, Any]) -> str | None:
    """The file that is named: the first argument, whatever pandas calls it."""
    given = (
        arguments[:1]
        or tuple(
            named[name]
            for name in ("filepath_or_buffer", "path_or_buf", "path_or_buffer", "path", "io", "buf")
            if name in named
        )
        or (named.get("excel_writer"),)
    )
    file = given[0]
    if not isinstance(file, str | os.PathLike):
        file = getattr(file, "name", None)  # of an open file
    return os.fspath(file) if isinstance(file, str | os.PathLike) else None
