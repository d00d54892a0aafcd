"""Matches: the tuples of another block that the rows of a block read, or that decide about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from rewriter.algebra import Scalar
from rewriter.position import Span

if TYPE_CHECKING:
    from rewriter.blocks.block import Block


class MatchKind(Enum):
    """The tuples that a row takes, among the ones that its pairs find."""

    EACH = "each"
    """Each of them, joined to the row. With pairs, the one tuple that a member was made from."""
    ONE = "one"
    """The single tuple of a block without pairs: a scalar subquery."""
    AT_MOST_ONE = "at most one"
    """The tuple, or NULLs: LEFT JOIN with a block whose keys are the pairs' right sides."""
    EXISTS = "exists"
    """Nothing, and the row is there if there is one: a factor δ."""
    ABSENT = "absent"
    """Nothing, and the row is there if there is none: a factor 1 ⊖ δ."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match of rows with tuples of another block.

    Parameters
    ----------
    alias
        Of the tuple's columns in scalars; empty where only its existence matters.
    pairs
        Scalars of the row, with the columns that they equal.
    null_safe
        NULL equals NULL in the pairs.
    guard
        Applies only to rows for which this is true (never NULL); others find nothing, and pass.
    factor
        The row depends on the tuple: its annotation is a factor. Not so of values that a row only
        looks up: of a subquery, of the sides of a COGROUP.
    span
        Where it stands in the text.
    """

    alias: str
    block: Block
    pairs: tuple[tuple[Scalar, str], ...] = ()
    kind: MatchKind = MatchKind.EACH
    null_safe: bool = False
    guard: Scalar | None = None
    factor: bool = True
    span: Span | None = field(default=None, compare=False)

    @property
    def negated(self) -> bool:
        """True if rows are there without a tuple."""
        return self.kind is MatchKind.ABSENT

    @property
    def searches(self) -> bool:
        """True if the pairs search the tuples, so that a deletion may change what they find."""
        return self.kind not in (MatchKind.EACH, MatchKind.ONE)

    def scalars(self) -> Iterator[Scalar]:
        """Yield the scalars of the row."""
        yield from (left for left, _ in self.pairs)
        if self.guard is not None:
            yield self.guard

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Match:
        """Return a match with its scalars replaced by ``change(scalar)``."""
        return replace(
            self,
            pairs=tuple((change(left), right) for left, right in self.pairs),
            guard=None if self.guard is None else change(self.guard),
        )
