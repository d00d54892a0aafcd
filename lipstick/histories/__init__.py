"""Histories of tables: statements reenacted over versions, undone, replaced and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from lipstick.errors import TrackingError
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.histories.history import TableHistory
    from lipstick.histories.steps import ExecutedStatement
    from lipstick.sessions import Session


@checked
class Reenacting:
    """The part of a session that knows the statements by which tables were made."""

    def __init__(self) -> None:
        self.histories: list[TableHistory] = []

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

        history = TableHistory(cast("Session", self), tables, statements, key)
        self.histories.append(history)
        return history


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
