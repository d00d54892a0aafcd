"""Changes of the data that bring a missing row: found by the reasons, and each of them run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

import pyarrow as pa

from lipstick.questions.asking import BUDGET, question
from lipstick.questions.missing.answer import shown_value
from lipstick.questions.missing.proposals import Edits, Proposals
from lipstick.questions.missing.why_not import Tracer
from rewriter.algebra import Relation
from rewriter.algebra import Scalar as Condition
from rewriter.emit.edits import Edit
from semiring.support.budget import spent

_RUNS = 24
"""Reruns at most."""
_TRACES = 8
"""Changes that bring nothing whose losses are asked at most."""
_STEPS = 3
"""Edits of one change at most."""
_ROW = 3
"""As so many cells a row counts that is added or deleted."""


@dataclass(frozen=True, slots=True)
class DataChange:
    """A smallest change that was found to bring the row.

    Attributes
    ----------
    edits
        Rows that get other values, are added or deleted.
    """

    edits: Edits
    _rows: Callable[[Edits, int], pa.Table] = field(repr=False, compare=False)

    @question("running the query over changed data", captured=False)
    def changes(self, limit: int = 100, *, budget: float | None = BUDGET) -> pa.Table:
        """Return the rows that the answer gets and loses by this change, as often as it does.

        The first column, ``_change``, is ``appears`` or ``disappears``.

        Parameters
        ----------
        limit
            Rows at most.
        budget
            Seconds for the answer; None: as many as it takes.

        Raises
        ------
        UnsupportedError
            For answers with maps, which Spark does not compare.
        """
        return self._rows(self.edits, limit)

    @property
    def sentence(self) -> str:
        """The change in words."""
        return "; ".join(map(_sentence, self.edits)) + "."

    def __str__(self) -> str:
        return self.sentence


class EditedData(Protocol):
    """Runs the query over edited relations."""

    def tracer(self, edits: Edits) -> Tracer:
        """Return what follows candidates over the edited relations."""

    def brings(self, edits: Edits) -> bool:
        """Return True if the query over the edited relations has the row."""

    def difference(self, edits: Edits, limit: int) -> pa.Table:
        """Return the rows that the answer gets and loses; see :meth:`DataChange.changes`."""


def changes(
    data: EditedData, root: Relation, pattern: Sequence[Condition], limit: int
) -> list[DataChange]:
    """Return the changes that bring a row, with the fewest edits and cells of all that were run.

    What a change loses next is asked when all cheaper changes have been run.
    """
    found: list[DataChange] = []
    tried: set[str] = set()
    numbers = count()
    waiting: list[tuple[int, int, bool, Edits]] = [(0, 0, False, ())]
    runs = traces = 0
    while waiting and len(found) < limit and not spent():
        cost, _, is_new, edits = heappop(waiting)
        if is_new:
            if runs >= _RUNS or (found and not _is_another(edits, found)):
                continue
            runs += 1
            if data.brings(edits):
                found.append(DataChange(edits, data.difference))
            elif len(edits) < _STEPS:
                heappush(waiting, (cost + 1, next(numbers), False, edits))
        elif not found and traces < _TRACES:
            traces += 1
            tracer = data.tracer(edits)
            proposals = Proposals(tracer, root)
            for reason in tracer.lost(root, pattern):
                for new in proposals.of(reason):
                    whole = merged(edits, new)
                    if str(whole) not in tried and len(whole) <= _STEPS:
                        tried.add(str(whole))
                        heappush(waiting, (_cost(whole), next(numbers), True, whole))
    return found


def _is_another(edits: Edits, found: Sequence[DataChange]) -> bool:
    """Return True for edits of other cells than those found, and not of more rows."""
    known = [[(e.kind, e.relation, e.key, list(e.values)) for e in each.edits] for each in found]
    cells = [(edit.kind, edit.relation, edit.key, list(edit.values)) for edit in edits]
    return len(edits) <= len(found[0].edits) and cells not in known


def merged(before: Edits, new: Edits) -> Edits:
    """Return edits after others, with one for each row that gets other values."""
    edits = list(before)
    for edit in new:
        for place, old in enumerate(edits):
            same = (old.kind, old.relation, old.key) == ("set", edit.relation, edit.key)
            if same and edit.kind == "set":
                edits[place] = replace(old, values={**old.values, **edit.values})
                break
        else:
            edits.append(edit)
    return tuple(edits)


def _cost(edits: Edits) -> int:
    """Return the number of cells that edits change; a row that is added or deleted has some."""
    return sum(
        len(edit.values) if edit.kind == "set" else _ROW * edit.copies + len(edit.values)
        for edit in edits
    )


def _sentence(edit: Edit) -> str:
    key = ", ".join(f"{name}={shown_value(value)}" for name, value in edit.key.items())
    values = ", ".join(f"{name} = {shown_value(value)}" for name, value in edit.values.items())
    if edit.kind == "delete":
        return f"delete the row of {edit.relation} with {key}"
    if edit.kind == "set":
        return f"in the row of {edit.relation} with {key} set {values}"
    copies = "a row" if edit.copies == 1 else f"{edit.copies} rows"
    new = "" if set(edit.values) & set(edit.key) else ", under a new key"
    more = f", with {values}" if values else ""
    return f"add {copies} like that with {key} to {edit.relation}{new}{more}"


def edits_by_relation(edits: Edits) -> Mapping[str, list[Edit]]:
    """Return the edits of each relation."""
    grouped: dict[str, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.relation, []).append(edit)
    return grouped
