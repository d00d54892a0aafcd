"""The columns of a statement of contributions: tokens, and references to tuples of other blocks."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Reference:
    """A factor of members that is the annotation of a tuple of another block.

    Parameters
    ----------
    block
        The other block's name.
    columns
        The identity of the tuple, or its annotation. All NULL where an optional one is not there.
    optional
        There may be no tuple: then the factor is 1.
    negated
        The factor is 1 ⊖ δ(the annotation).
    either
        The factor is the annotation + (1 ⊖ δ(the annotation)): of a row with the tuple, or without.
    """

    block: str
    columns: tuple[str, ...]
    optional: bool = False
    negated: bool = False
    either: bool = False


@dataclass(frozen=True, slots=True)
class Contributions:
    """What each member contributes to its tuple.

    ``query`` yields the identity of the tuple, then the columns of every factor: ``tokens`` names
    those of each token, ``references`` those of each tuple of another block. A block with a
    difference also has the side of each member, ``_side``.
    """

    query: exp.Select
    tokens: tuple[tuple[str, tuple[str, ...]], ...]
    references: tuple[Reference, ...]
