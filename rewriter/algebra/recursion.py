"""Recursion, unfolded level by level."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Unary
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Level(Unary):
    """The rows of one level of a recursion, as the next level reads them: each a tuple."""

    span: Span | None = None
