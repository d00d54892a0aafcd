"""Blocks as JSON and back."""

from __future__ import annotations

import json

import pytest

from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import Block, TokenSource
from rewriter.blocks.serialize import blocks_from_json, blocks_to_json
from rewriter.emit.statements import rewritten_sql
from rewriter.lower import lower_query
from rewriter.scalars.text import scalar, text
from tests.oracle.generator import generate
from tests.rewriter.cases import BLOCKS, Case, cases
from tests.rewriter.lower.catalog import blocks
from tests.rewriter.lower.test_lower_cases import CASES, query


def generated(seed: int) -> Block:
    """Return the blocks of a generated query."""
    case = generate(seed)
    relations = case.database.relations.values()
    tracked = [
        TrackedRelation(r.name, tuple(item.split()[0] for item in r.schema.split(", ")))
        for r in relations
    ]
    tokens = {r.name: TokenSource(r.name, tuple(r.key)) for r in relations}
    return lower_query(
        bind_query(case.sql, Environment(MemoryCatalog(tracked), levels={})).root, tokens, case.sql
    )


def check(root: Block) -> None:
    """Write and read blocks; they, and what is emitted of them, must be the same."""
    documents = blocks_to_json(root)
    read = blocks_from_json(json.loads(json.dumps(documents)))
    assert read == root
    assert blocks_to_json(read) == documents
    assert rewritten_sql(read) == rewritten_sql(root)


@pytest.mark.parametrize("seed", range(15))
def test_generated(seed: int) -> None:
    """The blocks of any query survive."""
    check(generated(seed))


@pytest.mark.parametrize(
    "case", [case for case in cases(CASES).values() if BLOCKS in case.outcomes], ids=str
)
def test_cases(case: Case) -> None:
    """The blocks of every case of lowering survive."""
    check(blocks(case.given))


def test_field_of_a_struct() -> None:
    """A field of a column is not a column of a longer name, however deep it is."""
    for fields in (".`a`", ".`a`.`b`", ".`a`.`b`.`c`", ".`a`.`b`.`c`.`d`", "[0].`a`"):
        tree = scalar(f"m.`st`{fields}")
        (column,) = tree.find_all(type(scalar("m.`st`")))
        assert (column.table, column.name) == ("m", "st")
        assert text(tree) == f"m.`st`{fields}"


def test_shared_blocks_stay_shared() -> None:
    """A block that is read twice is one block."""
    read = blocks_from_json(blocks_to_json(blocks(query("cte twice"))))
    first, second = read.joined
    assert first.block is second.block
