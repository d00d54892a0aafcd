"""Fan-out: rows whose value is added several times, for a join multiplied them.

It is read from the tensor of a value: tokens of one relation that stand in several terms, with
one value each. The relation of the other tokens in these terms is what multiplies them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.questions.why.columns import shown
from lipstick.questions.why.deletions import aggregate, formulas
from lipstick.questions.why.measure import Measure
from lipstick.questions.why.partials import PartialSum
from rewriter.blocks import GROUP
from rewriter.interpret import UninterpretableError, interpret
from semiring.base import Array


@dataclass(frozen=True)
class FanOut:
    """Rows of a relation whose values go into a number several times.

    Attributes
    ----------
    relation, by
        The relation whose rows are repeated, and the one whose rows multiply them.
    before, once
        The number, and what it is where each row counts once.
    keys
        The keys of the repeated rows, then ``_times``; the largest excess comes first.
    """

    relation: str
    by: str
    before: float
    once: float
    keys: pa.Table
    subject: str
    _value: float | None = field(repr=False)

    @property
    def sentence(self) -> str:
        """Return the repeated rows, the first of them, and the number with each counted once."""
        from lipstick.questions.why.answer import shown_number

        number = self.keys.num_rows
        rows = "1 row" if number == 1 else f"{number:,} rows"
        verb = "counts" if number == 1 else "count"
        first = self.keys.slice(0, 1).to_pylist()[0]
        times = first.pop("_times")
        named = ", ".join(f"{name} = {shown(value)}" for name, value in first.items())
        what = f"the row with {named}"
        if self._value is not None:
            what = f"{shown_number(self._value)} of {what}"
        return (
            f"{rows} of {self.relation} {verb} several times, once for each partner in {self.by}: "
            f"{what} counts {times:,} times. With each counted once, {self.subject} would be "
            f"{shown_number(self.once)} instead of {shown_number(self.before)}."
        )

    def __str__(self) -> str:
        return self.sentence


def fan_out(measure: Measure, subject: str) -> FanOut | None:
    """Return the rows that a join adds to a value several times; None: it is not so, or not known.

    It is known for SUM, COUNT and AVG of the columns of one relation, in one block. Where a number
    is wanted, or a side, each counted once is nearer to it.
    """
    engine = measure.engine
    rows = engine.rows(engine.root.name)
    if not isinstance(rows, GroupRows) or isinstance(rows, MemberRows):
        return None
    one = measure.positions is not None and len(measure.positions) == 1
    plain = one and len(engine.blocks) == 1 and rows.members.alone and not measure.is_condition
    if not plain or len(engine.root.tokens) < 2 or engine.root.sets:
        return None
    assert measure.positions is not None
    members, _ = rows.grouping.members_of(measure.positions)
    try:
        (formula,) = formulas(measure, rows)
        alias, name = formula.column or ("", "")
        partial = aggregate(rows, name, members) if alias == GROUP and name in rows.calls else None
    except (UninterpretableError, ValueError):
        return None
    if not isinstance(partial, PartialSum):
        return None
    tokens = [rows.members.tokens.index(n).packed[members] for n in range(len(engine.root.tokens))]
    scan = _scan(rows, name, tokens)
    if scan is None:
        return None
    _, first, place, times = np.unique(
        tokens[scan], return_index=True, return_inverse=True, return_counts=True
    )
    valid = partial.valid > 0
    repeated = np.flatnonzero((times > 1) & valid[first])
    if not len(repeated):
        return None
    once = partial.subset(first)
    (value,) = once.value(once.totals(np.zeros(len(first), dtype=np.int64), 1)).tolist()
    if value == measure.before or not _nearer(measure, value):
        return None
    weights = np.zeros(len(first)) if partial.function == "COUNT" else partial.weights[first]
    order = repeated[np.argsort(-np.abs(weights[repeated]) * (times[repeated] - 1), kind="stable")]
    many = np.isin(place, repeated)
    by = _multiplier(tokens, scan, many)
    record = engine.manifest.relations[engine.root.tokens[scan].relation]
    assert rows.members.dataset is not None
    columns = engine.root.tokens[scan].columns
    keys = [rows.members.dataset.take(column, members[first[order]]) for column in columns]
    return FanOut(
        record.name,
        engine.root.tokens[by].relation,
        measure.before,
        value,
        pa.table([*keys, pa.array(times[order])], [*record.token, "_times"]),
        subject,
        None if partial.function == "COUNT" else float(weights[order[0]]),
    )


def _scan(rows: GroupRows, name: str, tokens: list[Array]) -> int | None:
    """Return the scan whose columns an aggregate reads; of count(*), the one of most tuples."""
    block = rows.block
    call = rows.calls[name]
    if call.distinct or block.core is None or any((each < 0).any() for each in tokens):
        return None
    if not call.arguments:
        return int(np.argmax([len(np.unique(each)) for each in tokens]))
    selected = {column: interpret(scalar).columns for column, scalar in block.core.select}
    read = {n for argument in call.arguments for _, n in argument.columns}
    aliases = {alias for each in read for alias, _ in selected.get(each, [("", "")])}
    scans = [n for n, token in enumerate(block.tokens) if {token.alias} == aliases]
    return scans[0] if len(scans) == 1 else None


def _nearer(measure: Measure, value: float) -> bool:
    if measure.any_move_counts:
        return True
    return bool(measure.gain(np.array([value]))[0] > 0)


def _multiplier(tokens: list[Array], scan: int, many: Array) -> int:
    """Return the scan of the tuples that the repeated ones of another differ in."""
    distinct = [
        -1 if number == scan else len(np.unique(each[many])) for number, each in enumerate(tokens)
    ]
    return int(np.argmax(distinct))
