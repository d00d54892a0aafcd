"""Generators of tails in blocks of their own."""

from __future__ import annotations

from rewriter.blocks import Block, aliases, topological
from rewriter.passes.split_generators import ARRAY, captured_name, is_written, split_generators
from tests.rewriter.lower.catalog import blocks

PLAIN = "SELECT model, x FROM cars LATERAL VIEW explode(array(price, 1)) g AS x"
TWICE = (
    "SELECT d.dealer, x, y FROM (SELECT dealer, array(sum(price), max(price)) AS a FROM cars"
    " GROUP BY dealer) d JOIN dealers e ON d.dealer = e.dealer LATERAL VIEW explode(a) g AS x"
    " LATERAL VIEW OUTER posexplode(sequence(1, x)) h AS p, y WHERE x > e.rating AND e.rating > 1"
)


def chain(root: Block) -> list[Block]:
    """Return the blocks that the query has not."""
    return [block for block in topological(root) if not is_written(block)]


def test_a_query_whose_generators_are_captured_is_left_as_it_is() -> None:
    root = blocks(PLAIN)
    assert split_generators(root) is root


def test_every_generator_is_over_one_block_and_alone() -> None:
    root = split_generators(blocks(TWICE))
    made = [block for block in chain(root) if block.generators]
    assert [len(block.generators) for block in made] == [1, 1]
    for block in made:
        assert len(block.joined) == 1
        assert block.core is None
        assert block.of_members_alone is False
        assert (block.conditions, block.memberships, block.keys) == ((), (), ())
    assert not root.generators
    assert [block.name for block in chain(root)] == [f"{root.name}~{n}" for n in range(4)]
    assert {captured_name(block) for block in chain(root)} == {root.name}


def test_conditions_stand_where_what_they_read_is_made() -> None:
    root = split_generators(blocks(TWICE))
    members = next(block for block in chain(root) if not block.generators)
    assert [alias for part in members.conditions for alias in aliases(part)] == []
    assert [aliases(part) for part in root.conditions] == [{f"{root.name}~"}]


def test_tokens_and_members_stay_with_the_first_block() -> None:
    root = split_generators(blocks(TWICE))
    first = chain(root)[0]
    assert [token.relation for token in first.tokens] == ["dealers"]
    assert root.core is None
    assert not root.tokens


def test_identity_of_members_is_stable_whatever_is_read_of_them() -> None:
    root = split_generators(
        blocks(
            "SELECT d.n, x FROM (SELECT dealer, count(*) AS n, array(sum(price)) AS a FROM cars"
            " GROUP BY dealer) d JOIN dealers e ON d.dealer = e.dealer"
            " LATERAL VIEW explode(a) g AS x"
        )
    )
    first = chain(root)[0]
    stable = {output.name: output.stable for output in first.outputs}
    assert not stable["b1.n"]
    assert not stable[ARRAY]
    assert first.stable_identity
