"""References from the rows of a block to tuples of other blocks.

A :class:`Lookup` reads the tuple that a member was made from, or the one row of a subquery. A
*probe* searches another block for tuples by pairs of a scalar and a column: a :class:`Semi` for the
existence of a tuple, an :class:`OuterLookup` for the tuple itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from rewriter.algebra import Scalar
from rewriter.position import Span

if TYPE_CHECKING:
    from rewriter.blocks.block import Block


@dataclass(frozen=True, slots=True)
class Lookup:
    """Another block whose evaluated rows the tail reads.

    ``on`` pairs member columns with the block's identity (``<=>``): each member refers to one
    tuple. Without it, the tail's conditions join. ``scalar``: the single value of the block.
    """

    alias: str
    block: Block
    on: tuple[tuple[str, str], ...] = ()
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Semi:
    """Membership of the pairs' left sides in another block, whose columns are the right sides.

    Parameters
    ----------
    negated
        The member is present if there is no such tuple: a factor 1 ⊖ δ.
    null_safe
        NULL equals NULL in the pairs.
    guard
        Applies only to members for which this is true (never NULL); others pass, by a factor 1.
    span
        Where it stands in the text.
    """

    block: Block
    pairs: tuple[tuple[Scalar, str], ...]
    negated: bool = False
    null_safe: bool = False
    guard: Scalar | None = None
    span: Span | None = field(default=None, compare=False)

    def scalars(self) -> Iterator[Scalar]:
        """Yield the scalars of the outer sides."""
        return _scalars(self)

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Semi:
        """Return a membership with its scalars replaced by ``change(scalar)``."""
        return _with_scalars(self, change)


@dataclass(frozen=True, slots=True)
class OuterLookup:
    """The tuple of another block that pairs find for a row, if any: LEFT JOIN.

    The block has at most one tuple for the pairs: their right sides are its keys.

    Parameters
    ----------
    factor
        A row made with the tuple depends on it: the annotation is a factor. Not so of values that
        a row only looks up: of a correlated scalar subquery, of the sides of a COGROUP.
    guard
        Applies only to rows for which this is true (never NULL); others find nothing.
    span
        Where it stands in the text.
    """

    alias: str
    block: Block
    pairs: tuple[tuple[Scalar, str], ...]
    factor: bool
    null_safe: bool = False
    guard: Scalar | None = None
    span: Span | None = field(default=None, compare=False)

    def scalars(self) -> Iterator[Scalar]:
        """Yield the scalars of the outer sides."""
        return _scalars(self)

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> OuterLookup:
        """Return a lookup with its scalars replaced by ``change(scalar)``."""
        return _with_scalars(self, change)


Probe: TypeAlias = Semi | OuterLookup
"""A lookup of another block by pairs of scalars."""

_AnyProbe = TypeVar("_AnyProbe", Semi, OuterLookup)


def _scalars(probe: Probe) -> Iterator[Scalar]:
    yield from (left for left, _ in probe.pairs)
    if probe.guard is not None:
        yield probe.guard


def _with_scalars(probe: _AnyProbe, change: Callable[[Scalar], Scalar]) -> _AnyProbe:
    return replace(
        probe,
        pairs=tuple((change(left), right) for left, right in probe.pairs),
        guard=None if probe.guard is None else change(probe.guard),
    )
