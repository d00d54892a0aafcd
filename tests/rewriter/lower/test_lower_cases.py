"""Lowering and emission by cases: a query and the text that computes it with annotations.

Of the files of ``cases/``, ``blocks`` is how the query is cut, and ``error`` the kind of error and
its message. One case in four has ``expected`` too, the rewritten query.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rewriter import dialect
from rewriter.algebra import Relation
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import stored_rows_query
from rewriter.emit.statements import rewritten_sql, supporting_aggregates
from rewriter.errors import QueryError
from rewriter.lower import lowering
from rewriter.passes.rendering import render_blocks
from tests.rewriter.cases import ADVISED, BLOCKS, ERROR, EXPECTED, Case, cases, check, strays
from tests.rewriter.lower.catalog import blocks

CASES = Path(__file__).parent / "cases"
KINDS = (EXPECTED, BLOCKS, ERROR)


def query(name: str) -> str:
    """Return the text of a case."""
    return cases(CASES)[name].given


@pytest.mark.parametrize("case", cases(CASES).values(), ids=str)
def test_case(case: Case) -> None:
    """The query becomes the statement and blocks, or the error, of its fixture."""
    try:
        root = blocks(case.given)
    except QueryError as error:
        check(case, {ERROR: f"{type(error).__name__}: {error}"}, KINDS)
        return
    for block in topological(root):
        check_names(block)
    rewritten = rewritten_sql(root)
    texts = {EXPECTED: rewritten} if EXPECTED in case.outcomes else {}
    check(case, {**texts, BLOCKS: render_blocks(root)}, KINDS)
    dialect.parse(rewritten)


def check_names(block: Block) -> None:
    """No table that is stored has two columns that Spark takes for one."""
    rows = stored_rows_query(block, supporting_aggregates(block))
    stored = [[name for name, _ in block.core.select]] if block.core is not None else []
    for columns in (*stored, rows.named_selects):
        assert len({name.lower() for name in columns}) == len(columns)


def test_no_strays() -> None:
    """Every file has cases, and every section is compared."""
    assert len(cases(CASES)) > 180
    assert not strays(CASES, (*KINDS, ADVISED))


def _operators() -> set[str]:
    """The names of the operators: kinds of relation of which there are no kinds."""
    kinds = list(Relation.__subclasses__())
    for kind in kinds:
        kinds += kind.__subclasses__()
    bases = {base.__name__ for kind in kinds for base in kind.__bases__}
    return {kind.__name__ for kind in kinds} - bases


def test_every_rule_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operator of the algebra, and each shape of block, stands in some case."""
    seen: set[str] = set()
    shapes: set[str] = set()
    lower_operator = lowering.lower_operator

    def operator(context: lowering.Context, relation: Relation) -> lowering.Open:
        seen.add(type(relation).__name__)
        return lower_operator(context, relation)

    monkeypatch.setattr(lowering, "lower_operator", operator)
    for case in cases(CASES).values():
        if BLOCKS in case.outcomes:
            for block in topological(blocks(case.given)):
                core = "core" if block.core is not None else "no core"
                shapes.add(f"{block.kind.value}, {core}")
                if block.kind is Kind.GROUP and not block.keys:
                    shapes.add("no keys")
    assert seen == _operators() - {"OuterRow"}
    assert shapes == {
        "rows, core",
        "rows, no core",
        "group, core",
        "group, no core",
        "no keys",
        "union, no core",
    }
