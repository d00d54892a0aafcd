"""Histories of tables: statements reenacted over versions, undone, replaced and replayed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from lipstick.errors import TrackingError
from rewriter.dialect import parse, relation_names
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.erasure.plan import ErasurePlan
    from lipstick.histories.history import TableHistory
    from lipstick.histories.steps import ExecutedStatement
    from lipstick.sessions import Session
    from rewriter import View


@checked
class Reenacting:
    """The part of a session that knows the statements by which tables were made."""

    def __init__(self) -> None:
        self.histories: list[TableHistory] = []
        self.version_views: dict[str, View] = {}

    def reenact(
        self,
        tables: Mapping[str, Any],
        statements: Sequence[str | ExecutedStatement],
        key: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    ) -> TableHistory:
        """Follow tables through statements that changed them, as if each had been annotated.

        The last version of each table is tracked, and queries over it can be asked what would be
        without rows that statements read, and without statements. See
        :class:`lipstick.TableHistory`.

        Parameters
        ----------
        tables
            By name, as statements have it, the versions of a table: data frames in order or by
            number, the first before all statements, or a table whose format keeps versions.
        statements
            Texts, or :class:`lipstick.ExecutedStatement`, in the order in which they ran.
        key
            The columns that name the rows of the tables, or ``"*"``; by table where they differ.
        """
        cast("Session", self).check_open()
        from lipstick.histories.history import TableHistory

        history = TableHistory(cast("Session", self))
        history.follow(tables, statements, key)
        self.histories.append(history)
        return history

    def erase(
        self,
        delete: Mapping[str, str],
        derived: Mapping[str, str | Sequence[str | ExecutedStatement]] | None = None,
        *,
        key: Mapping[str, str | Sequence[str]] | None = None,
        identify: Mapping[str, Sequence[str]] | None = None,
        search: Sequence[str | os.PathLike[str]] = (),
        drop: Sequence[str | os.PathLike[str]] = (),
        in_place: bool = False,
        on_step: Callable[[str], None] | None = None,
    ) -> ErasurePlan:
        """Plan the erasure of rows from tables of Delta and Iceberg, and from what rests on them.

        Nothing is changed: see :class:`lipstick.ErasurePlan` for what can be done with a plan.

        Parameters
        ----------
        delete
            By tracked relation, a condition in SQL on the rows to erase.
        derived
            By name in SQL, the tables made of tracked relations and of each other: the
            query that a table is the answer of, or the statements that made it from its first
            version on.
        key
            By derived table, the columns that name its rows: these are then changed one by one,
            and shown as changed. Tables without a key are rewritten.
        identify
            By relation, the columns whose values are searched for; by default its key, the columns
            of the condition, and all texts.
        search
            Folders and files to search: captures, stores, exports, whole warehouses.
        drop
            Captures, stores and files that are removed with the rows.
        in_place
            True: change the tables themselves. False: Iceberg on a branch, Delta in copies.
        on_step
            Called with a line about each step.

        Raises
        ------
        ErasureError
            When nothing matches, and for what cannot be erased.
        StatementError
            When a derived table is not what its query makes of its sources now.
        """
        session = cast("Session", self)
        session.check_open()
        from lipstick.erasure.plan import make_plan, silent

        return make_plan(
            *(session, session.tracked, delete, derived or {}, key or {}, identify or {}),
            *([str(path) for path in search], [str(path) for path in drop]),
            in_place=in_place,
            on_step=on_step or silent,
        )

    def define_versions(self, query: str) -> None:
        """Define the versions of tables, such as ``orders@2``, that a query reads by name."""
        if "@" not in query or not self.histories:
            return
        for name in relation_names(parse(query)):
            for history in self.histories:
                if name not in self.version_views and (found := history.version_named(name)):
                    history.define(*found)


def history_of(session: Session, relations: Iterable[str]) -> TableHistory | None:
    """Return the history that made one of some relations, None if there is none.

    Raises
    ------
    TrackingError
        When there are several: their statements have no common order.
    """
    names = list(relations)
    found = [history for history in session.histories if any(map(history.table_of, names))]
    if len(found) > 1:
        raise TrackingError(
            "The query reads tables of several histories.\n"
            "Reenact them as one, reenact({table: versions, ...}, statements)."
        )
    return found[0] if found else None


def check_unasked(undo: Sequence[str], replace: Mapping[str, str] | None) -> None:
    """Refuse to undo or replace statements where none are known."""
    if undo or replace:
        raise TrackingError(
            "The query reads no table whose statements are known.\n"
            "Give its versions and statements: ls.reenact(...)."
        )
