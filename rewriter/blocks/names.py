"""Names that scalars of blocks have for what they read."""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar

MEMBER = "m"
GROUP = "g"
UNION = "u"
KEYS = "k"
EXPANDED = "expanded"
SET_NUMBER = "number"
COPIES = "copies"
DRAWN = "drawn"

Named: TypeAlias = tuple[str, Scalar]

NOTHING: tuple[Named, ...] = (("_row", exp.Literal.number(1)),)
"""The select list of tuples of which nothing is asked but that they are there."""
