"""Rows made of one row: LATERAL VIEW and table functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.scalars.columns import qualified


@dataclass(frozen=True, slots=True)
class Generator:
    """A row for each element of an array or entry of a map: LATERAL VIEW.

    Parameters
    ----------
    position
        The column of an element's place, from 0; it tells the rows made of one row apart. None:
        the argument is the call of a function that makes one row of each.
    columns
        The element; key and value; with ``inline`` the fields of the struct that the element is.
    outer
        A row whose array is empty or NULL is there once, with NULLs.
    function
        The argument is the call of a table function. Its rows have no place: the position is a
        number that no other row has, another one each time the core runs; unless it is ``placed``,
        whose rows have it as their first column.
    """

    alias: str
    argument: Scalar
    position: str | None
    columns: tuple[str, ...]
    outer: bool
    inline: bool
    function: bool = False
    placed: bool = False

    @property
    def numbered(self) -> bool:
        """Whether its rows have no place of their own."""
        return self.function and not self.placed

    @property
    def place(self) -> exp.Column | None:
        """The column of an element's place, as scalars refer to it."""
        if self.position is None:
            return None
        return qualified(self.position_alias, self.position)

    @property
    def position_alias(self) -> str:
        """The alias that has the position: inline takes two steps, numbers are not its own."""
        return f"{self.alias}_at" if self.inline or self.numbered else self.alias

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases whose columns it makes."""
        return frozenset({self.alias, self.position_alias})

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Generator:
        """Return a generator of what ``change`` makes of the argument."""
        return replace(self, argument=change(self.argument))
