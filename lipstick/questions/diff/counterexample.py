"""Small databases on which two queries differ, found by what-ifs and proven by running both.

Rows in which the answers differ are tried by their lineage, the least first. Where the answers
over the lineage alone differ, too, tuples are left out of it as long as they do; otherwise they are
left out of all tuples that take part in either query. Then no single tuple can be left out; of at
most ten tuples it is known that no part of them suffices, for all parts are tried.

Source: Miao, Roy, Yang, *Explaining Wrong Queries Using Small Examples*, SIGMOD 2019 (RATest),
which asks a solver for the smallest one; this one is minimal, which may be larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.scenarios import Deleted, Scenarios
from lipstick.errors import CaptureError
from lipstick.questions.diff.answers import RowPairs
from semiring.analysis.witnesses import extended_set
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array
from semiring.support.budget import spent
from semiring.support.door import checked

Tables: TypeAlias = Mapping[str, pa.Table]
Runs: TypeAlias = Callable[[Tables], Sequence[pa.Table]]
"""Runs both queries over other rows of their relations."""

_TRIED = 6
"""Rows that differ whose lineage is looked at."""

_WHOLE = 10
"""The number of tuples up to which all parts are tried."""

Minimal: TypeAlias = Literal["of parts", "of rows"] | None
"""The parts of some rows that are known not to suffice: all, all but one row, or none."""

_KNOWN: Mapping[Minimal, str] = {
    "of parts": "no part of them suffices",
    "of rows": "none of them can be left out alone",
    None: "fewer of them may suffice, for the budget was spent",
}


@checked
class Counterexample:
    """A small database on which two queries differ.

    Attributes
    ----------
    tables
        The rows of each relation.
    answers
        The answers of both queries over them, as they were run.
    minimal
        "of parts": no part of the rows suffices; "of rows": no single row can be left out; None:
        the budget was spent before that was known.
    """

    def __init__(self, tables: Tables, answers: Sequence[pa.Table], minimal: Minimal) -> None:
        self.tables = dict(tables)
        self.answers = tuple(answers)
        self.minimal = minimal

    @property
    def size(self) -> int:
        """The number of rows of all relations."""
        return sum(table.num_rows for table in self.tables.values())

    @property
    def sentence(self) -> str:
        """The size, and what is known of it."""
        number = "1 row" if self.size == 1 else f"{self.size:,} rows"
        return f"The answers differ on {number}; {_KNOWN[self.minimal]}."

    def markdown(self) -> str:
        """Return the rows and both answers as Markdown."""
        parts = [self.sentence]
        parts += [f"**{name}**\n\n{markdown(table)}" for name, table in self.tables.items()]
        for name, answer in zip(("before", "after"), self.answers, strict=True):
            parts.append(f"**answer {name}**\n\n{markdown(answer)}")
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.markdown()

    __repr__ = __str__


def markdown(table: pa.Table, limit: int = 50) -> str:
    """Return the first rows of a table as Markdown."""
    if not table.num_rows:
        return "no rows"
    lines = [_line(table.column_names), _line(["---"] * table.num_columns)]
    columns = [column.to_pylist() for column in table.slice(0, limit).columns]
    lines += [
        _line(["NULL" if v is None else v for v in row]) for row in zip(*columns, strict=True)
    ]
    if table.num_rows > limit:
        lines.append(f"\n{table.num_rows - limit:,} more rows.")
    return "\n".join(lines)


def _line(values: Sequence[Any]) -> str:
    cells = (str(value).replace("|", "\\|").replace("\n", " ") for value in values)
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class NumberedTuples:
    """The tuples of the relations of two queries, numbered one relation after the other."""

    tokens: Tables

    def __len__(self) -> int:
        return sum(table.num_rows for table in self.tokens.values())

    def part(self, numbers: Array) -> dict[str, pa.Table]:
        """Return some tuples, by their sorted numbers."""
        parts, start = {}, 0
        for name, table in self.tokens.items():
            first, last = np.searchsorted(numbers, [start, start + table.num_rows])
            parts[name] = table.take(pa.array(numbers[first:last] - start))
            start += table.num_rows
        return parts

    def numbers(self, tokens: Tables) -> Array:
        """Return the sorted numbers of some tuples."""
        found, start = [np.zeros(0, dtype=np.int64)], 0
        for name, table in self.tokens.items():
            if name in tokens and tokens[name].num_rows:
                columns = [decoded(c.combine_chunks()) for c in table.columns]
                theirs = [decoded(c.combine_chunks()) for c in tokens[name].columns]
                places = KeyTable(columns, table.num_rows).find(theirs, tokens[name].num_rows)
                found.append(places[places >= 0] + start)
            start += table.num_rows
        return ascending(np.concatenate(found))


@dataclass(frozen=True, eq=False)
class DifferingWorlds:
    """Two queries in worlds without some of their tuples."""

    memories: Sequence[Memory]
    tuples: NumberedTuples

    def differ(self, gone: Array) -> Array:
        """Return a Boolean per world: the answers differ.

        Parameters
        ----------
        gone
            A row per world: the tuples that are not there.

        Raises
        ------
        CaptureError
            Where only Spark computes an answer.
        """
        worlds, numbers = np.nonzero(gone)
        answers = []
        for memory in self.memories:
            deleted, start = {}, 0
            for name, table in self.tuples.tokens.items():
                chosen = (numbers >= start) & (numbers < start + table.num_rows)
                if name in memory.engine.manifest.relations and chosen.any():
                    tokens = table.take(pa.array(numbers[chosen] - start))
                    deleted[name] = Deleted(tokens, worlds[chosen].astype(np.int64))
                start += table.num_rows
            labels = pa.array(np.arange(len(gone)))
            answers.append(memory.what_if_many(Scenarios(labels, deleted)).df)
        return bags_differ(answers[0], answers[1], len(gone))


def bags_differ(first: pa.Table, second: pa.Table, worlds: int) -> Array:
    """Return a Boolean per world, named by the first column: its bags of rows differ.

    Floating numbers are compared to ten digits, for sums of them depend on their order.
    """
    columns = []
    for own, other in zip(first.columns, second.columns, strict=True):
        one, two = decoded(own.combine_chunks()), decoded(other.combine_chunks())
        columns.append(pa.concat_arrays(_alike(one, two)))
    codes, _ = distinct(columns, first.num_rows + second.num_rows)
    if not len(codes):
        return np.zeros(worlds, dtype=np.bool_)
    count = int(codes.max()) + 1
    ours, theirs = codes[: first.num_rows], codes[first.num_rows :]
    unequal = np.bincount(ours, minlength=count) != np.bincount(theirs, minlength=count)
    world = columns[0].to_numpy(zero_copy_only=False)
    return mask_of(world[unequal[codes]], worlds)


def _alike(one: pa.Array, two: pa.Array) -> list[pa.Array]:
    """Return two columns in one type in which equal values are equal."""

    def is_number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or _fraction(kind))

    kinds = (one.type, two.type)
    if all(map(is_number, kinds)) and (one.type != two.type or _fraction(one.type)):
        if not all(map(pa.types.is_integer, kinds)):
            return [_rounded(each.cast(pa.float64(), safe=False)) for each in (one, two)]
        return [each.cast(pa.int64()) for each in (one, two)]
    if one.type == two.type:
        return [one, two]
    return [each.cast(pa.string()) for each in (one, two)]


def _fraction(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind))


def _rounded(column: pa.Array) -> pa.Array:
    numbers = column.to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        digits = 9 - np.floor(np.log10(np.abs(numbers)))
        factor = 10.0 ** np.clip(digits, -290, 290)
        rounded = np.where(
            np.isfinite(numbers) & (numbers != 0), np.rint(numbers * factor) / factor, numbers
        )
    return pa.array(rounded, mask=column.is_null().to_numpy(zero_copy_only=False))


def differing_tuples(
    memories: Sequence[Memory], pairs: RowPairs, changed: Array
) -> tuple[Tables, Minimal] | None:
    """Return tuples on which two queries differ, and how few they are; None: they do not differ.

    Parameters
    ----------
    pairs, changed
        The rows of both answers, and those pairs whose values differ.

    Raises
    ------
    CaptureError
        Where only Spark computes what the answers are without some tuples.
    """
    chosen = np.flatnonzero(changed | ~pairs.both)
    if not len(chosen):
        return None
    tuples = NumberedTuples(_all_tokens(memories))
    worlds = DifferingWorlds(memories, tuples)
    spread = np.unique(np.linspace(0, len(chosen) - 1, _TRIED).astype(np.int64))
    sets = [_behind(memories, pairs, pair, tuples) for pair in chosen[spread].tolist()]
    # An unmatched row of an outer join, or of NOT IN, may need tuples that are behind no row.
    for numbers in sorted(sets, key=len):
        gone = ~mask_of(numbers, len(tuples))
        if worlds.differ(gone[None, :])[0]:
            break
    else:
        gone = np.zeros(len(tuples), dtype=np.bool_)
    gone, minimal = _smallest(worlds, gone)
    return tuples.part(np.flatnonzero(~gone)), minimal


def _all_tokens(memories: Sequence[Memory]) -> dict[str, pa.Table]:
    tokens: dict[str, pa.Table] = {}
    for memory in memories:
        for name, record in memory.engine.manifest.relations.items():
            if not record.token:
                continue
            own = memory.tokens(name)
            if not own.num_rows:
                continue
            if name in tokens:
                other = tokens[name]
                whole = pa.concat_tables([other, own.cast(other.schema)])
                columns = [decoded(c.combine_chunks()) for c in whole.columns]
                _, first = distinct(columns, whole.num_rows)
                own = whole.take(pa.array(first))
            tokens[name] = own
    return tokens


def _behind(
    memories: Sequence[Memory], pairs: RowPairs, pair: int, tuples: NumberedTuples
) -> Array:
    """Return the numbers of the tuples behind both rows of a pair."""
    found = [np.zeros(0, dtype=np.int64)]
    for memory, rows in zip(memories, (pairs.before, pairs.after), strict=True):
        if rows[pair] >= 0:
            mask = mask_of(rows[pair], memory.answer().num_rows)
            found.append(tuples.numbers(memory.lineage(mask)))
    return ascending(np.concatenate(found))


def _smallest(worlds: DifferingWorlds, gone: Array) -> tuple[Array, Minimal]:
    """Return a larger set of tuples without which the answers differ, and what is known of it.

    Of few tuples all parts are tried; otherwise no single tuple can be left out.
    """
    known = np.flatnonzero(~gone)

    def differ(more: Array) -> Array:
        whole = np.repeat(gone[None, :], len(more), axis=0)
        whole[:, known] = more
        return worlds.differ(whole)

    chosen = np.zeros(len(known), dtype=np.bool_)
    minimal: Minimal = None
    while not spent():
        longer = extended_set(chosen, differ)
        if (longer == chosen).all() and not spent():
            minimal = "of rows"
            break
        chosen = longer
    if minimal and len(known) - chosen.sum() <= _WHOLE:
        chosen, minimal = _of_all_parts(chosen, differ), "of parts"
    gone = gone.copy()
    gone[known] = chosen
    return gone, minimal


def _of_all_parts(gone: Array, differ: Callable[[Array], Array]) -> Array:
    """Return the set whose rest is the smallest part of a rest of few tuples."""
    rest = np.flatnonzero(~gone)
    parts = np.arange(1 << len(rest))[:, None] >> np.arange(len(rest)) & 1 == 1
    worlds = np.repeat(gone[None, :], len(parts), axis=0)
    worlds[:, rest] = ~parts
    held = np.concatenate(
        [differ(worlds[first : first + 64]) for first in range(0, len(parts), 64)]
    )
    sizes = np.where(held, parts.sum(axis=1), len(rest) + 1)
    best: Array = worlds[int(sizes.argmin())]
    return best if held.any() else gone


def prove(tables: Tables, minimal: Minimal, runs: Runs) -> Counterexample:
    """Return rows on which two queries differ, once both were run over them.

    Raises
    ------
    CaptureError
        When they do not differ: then the what-ifs were wrong.
    """
    answers = runs(tables)
    first, second = (
        answer.add_column(0, "_world", pa.array(np.zeros(answer.num_rows, dtype=np.int64)))
        for answer in answers
    )
    if not bags_differ(first, second, 1)[0]:
        raise CaptureError(
            "The answers over the rows that were found do not differ when both queries are run.\n"
            "This is an error of lipstick: please report it with both queries."
        )
    return Counterexample(tables, answers, minimal)
