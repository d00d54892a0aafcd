"""What stands in FROM of a core, and the tokens of its tuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rewriter.algebra import Scalar

if TYPE_CHECKING:
    from rewriter.blocks.block import Block
    from rewriter.blocks.core import Core


@dataclass(frozen=True, slots=True)
class TokenSource:
    """How scans of a tracked relation are read: the view, and its columns that make the token."""

    view: str
    columns: tuple[str, ...]
    """Empty: the relation is declared to carry no provenance, its tuples are annotated 1."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that are known to have no values twice, not even NULLs."""


@dataclass(frozen=True, slots=True)
class TokenColumns:
    """The member columns that hold the token of one scan. All NULL: the scan took no part."""

    relation: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanSource:
    """A tracked relation in FROM."""

    alias: str
    relation: str
    view: str


@dataclass(frozen=True, slots=True)
class UnionSource:
    """UNION ALL of cores in FROM: the tokens of the branches not taken are NULL."""

    alias: str
    branches: tuple[Core, ...]


@dataclass(frozen=True, slots=True)
class BlockSource:
    """The potential tuples of another block in FROM."""

    alias: str
    block: Block


@dataclass(frozen=True, slots=True)
class ValuesSource:
    """The distinct rows of a core in FROM, as values: no tuple, annotated 1."""

    alias: str
    core: Core


@dataclass(frozen=True, slots=True)
class IterationSource:
    """Rows of a recursion that were computed before, with all tokens of their derivations.

    ``relations`` are those that the tokens are of; none where the rows are those of one level.
    """

    alias: str
    view: str
    relations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OneRowSource:
    """One row of no columns."""

    alias: str


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """VALUES or the call of range() in FROM: no tuples, annotated 1.

    ``position`` is the column that tells its rows apart.
    """

    alias: str
    table: Scalar
    columns: tuple[str, ...]
    position: str


Source: TypeAlias = (
    ScanSource
    | UnionSource
    | BlockSource
    | ValuesSource
    | ConstantSource
    | IterationSource
    | OneRowSource
)
