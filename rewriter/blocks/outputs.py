"""What the tuples of a block show, and how a difference annotates them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar


@dataclass(frozen=True, slots=True)
class Difference:
    """EXCEPT ALL or INTERSECT ALL: the annotation of a group, from its members of two sides.

    It is Σ1 ⊖ Σ2, with ``common`` Σ1 ⊖ (Σ1 ⊖ Σ2), where Σ1 is over the members whose ``side`` is 0
    and Σ2 over those whose side is 1. HAVING keeps the groups that are there at all.
    """

    side: Scalar
    common: bool


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a block's rows; stable ones do not change while their tuple exists."""

    name: str
    scalar: Scalar
    stable: bool

    @property
    def windowed(self) -> bool:
        """Whether a window function is in it."""
        return self.scalar.find(exp.Window) is not None

    @property
    def always_null(self) -> bool:
        """Whether it is the literal NULL, which has no type of its own."""
        return isinstance(self.scalar, exp.Null)

    @property
    def known_absent(self) -> bool:
        """Whether a capture keeps it of tuples that HAVING drops: they may be found by it later."""
        return self.stable and isinstance(self.scalar, exp.Column)
