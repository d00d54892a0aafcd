"""Blocks: what they are checked for, and that their traversal leaves nothing out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import pytest
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    MEMBER,
    UNION,
    Block,
    Core,
    GroupBlock,
    Output,
    RowsBlock,
    UnionBlock,
    aliases,
    topological,
)
from tests.rewriter.lower.catalog import blocks

QUERIES = (
    "SELECT c.model, d.city FROM cars c JOIN dealers d USING (dealer) WHERE c.price > 1 ORDER BY 1",
    "SELECT model, sum(price) AS s FROM cars GROUP BY model HAVING count(*) > 1 ORDER BY s LIMIT 3",
    "SELECT dealer, model, count(*) FROM cars GROUP BY ROLLUP (dealer, model)",
    "SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers",
    "SELECT c.model FROM cars c LEFT JOIN dealers d ON c.dealer = d.dealer AND c.price > 3",
    "SELECT model, (SELECT count(*) FROM bids b WHERE b.car_id = c.car_id) FROM cars c",
    "SELECT model FROM cars WHERE price > (SELECT avg(amount) FROM bids)",
    "SELECT model FROM cars c WHERE EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id)",
    "SELECT model FROM cars WHERE dealer NOT IN (SELECT dealer FROM dealers WHERE rating > 1)",
    "SELECT id, e FROM nested LATERAL VIEW OUTER explode(arr) AS e WHERE e > 1",
    "SELECT e FROM (SELECT collect_list(price) AS l FROM cars) LATERAL VIEW posexplode(l) AS p, e",
    "SELECT model, rank() OVER (PARTITION BY dealer ORDER BY price) FROM cars",
    "SELECT dealer, n FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer"
    " UNION ALL SELECT city, rating FROM dealers) WHERE n > 1",
    "SELECT model, rand() AS r FROM cars ORDER BY r",
    "SELECT word, size FROM words(TABLE(cars) PARTITION BY dealer)",
)
"""Queries whose blocks have, together, everything that blocks can have."""


def of_query(sql: str) -> tuple[Block, ...]:
    """Return the blocks of a query."""
    return topological(blocks(sql))


def within(value: object) -> Iterator[Scalar]:
    """Yield the scalars in a value, whatever it is made of, but for those of blocks and cores."""
    if isinstance(value, exp.Expr):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from within(part)
    elif is_dataclass(value) and not isinstance(value, Block | Core):
        for field in fields(value):
            yield from within(getattr(value, field.name))


def of_fields(value: Block | Core) -> list[int]:
    """Return which scalars the fields of a block or a core have."""
    ignored = {"sources", "sample"}
    parts = [getattr(value, field.name) for field in fields(value) if field.name not in ignored]
    return sorted(id(scalar) for part in parts for scalar in within(part))


@pytest.mark.parametrize("sql", QUERIES)
def test_scalars_are_all(sql: str) -> None:
    """A field that the traversal forgets fails here."""
    for block in of_query(sql):
        assert sorted(map(id, block.scalars())) == of_fields(block)
        if block.core is not None:
            assert sorted(map(id, block.core.scalars())) == of_fields(block.core)


@pytest.mark.parametrize("sql", QUERIES)
def test_scalars_are_all_replaced(sql: str) -> None:
    """Every scalar of a block becomes another one, and nothing else does."""
    null = exp.null()
    for block in of_query(sql):
        replaced = block.replace_scalars(lambda _: null)
        assert len(list(replaced.scalars())) == len(list(block.scalars()))
        assert all(scalar is null for scalar in replaced.scalars())
        assert block.replace_scalars(lambda scalar: scalar) == block
        if block.core is not None:
            core = block.core.replace_scalars(lambda _: null)
            assert all(scalar is null for scalar in core.scalars())
            assert block.core.replace_scalars(lambda scalar: scalar) == block.core


@pytest.mark.parametrize("sql", QUERIES)
def test_reads_are_all(sql: str) -> None:
    """What scalars of the tail name is known, and of a block that the block reads."""
    for block in of_query(sql):
        read = block.rows_read
        assert {inner.name for inner in read.values()} <= {b.name for b in block.reads()}
        generated = {alias for each in block.generators for alias in each.aliases}
        known = {MEMBER, GROUP, EXPANDED, *read, *generated}
        assert set[str]().union(*map(aliases, block.scalars())) <= known
        assert len(block.derived) == len({inner.name for inner in block.reads()})


def test_factors() -> None:
    """A LEFT JOIN's partner is a factor of the annotation, a value that is looked up is not."""
    values = of_query("SELECT (SELECT count(*) FROM bids b WHERE b.car_id = c.car_id) FROM cars c")
    assert values[-1].probes
    assert values[-1].factors == ()
    member = of_query("SELECT model FROM cars WHERE dealer NOT IN (SELECT dealer FROM dealers)")
    assert member[-1].factors == member[-1].memberships


def test_kinds_are_checked() -> None:
    """A block has nothing that its kind cannot have."""
    groups = of_query("SELECT model, sum(price) AS s FROM cars GROUP BY model HAVING s > 1")[-1]
    assert isinstance(groups, GroupBlock)
    common = {"outputs": (), "identity": (), "stable_identity": True, "unique_identity": True}
    with pytest.raises(ValueError, match="b1, a block of rows: it has aggregates, having"):
        RowsBlock(name="b1", aggregates=groups.aggregates, having=groups.having, **common)
    with pytest.raises(ValueError, match="b1, a block of union: it has no branches"):
        UnionBlock(name="b1", **common)
    with pytest.raises(ValueError, match="b1, a block of union: it has keys"):
        UnionBlock(name="b1", branches=(groups,), keys=groups.keys, **common)
    other = replace(groups, outputs=groups.outputs[:1])
    with pytest.raises(ValueError, match="its branches have different numbers of outputs"):
        UnionBlock(name="b2", branches=(groups, other), **common)
    with pytest.raises(ValueError, match="b0, a block of group: it has branches"):
        replace(groups, branches=(groups,))


def test_names_are_checked() -> None:
    """No two columns have one name, and no two lookups one alias; tokens are those of members."""
    groups = of_query("SELECT model FROM cars GROUP BY model")[-1]
    with pytest.raises(ValueError, match="two of its outputs have one name"):
        replace(groups, outputs=(Output("x", exp.null(), True), Output("x", exp.null(), True)))
    with pytest.raises(ValueError, match="it has tokens without members"):
        replace(groups, core=None)
    with_lookup = of_query("SELECT model, (SELECT max(amount) FROM bids) FROM cars")[-1]
    with pytest.raises(ValueError, match="two of its lookups have one alias"):
        replace(with_lookup, matches=with_lookup.matches * 2)


def test_union_is_read_by_the_names_of_its_first_branch() -> None:
    """Scalars over a union have one alias for the columns of all branches."""
    union = next(b for b in of_query(QUERIES[12]) if isinstance(b, UnionBlock))
    assert union.rows_read[UNION] is union.branches[0]


def test_outputs_with_window_functions() -> None:
    root = blocks("SELECT model, 1 + rank() OVER (ORDER BY price) AS r, NULL AS n FROM cars")
    assert [output.windowed for output in root.outputs] == [False, True, False]
    assert [output.always_null for output in root.outputs] == [False, False, True]
