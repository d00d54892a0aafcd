"""Substitution of expressions for columns: the text must mean the tree."""

from __future__ import annotations

from itertools import product

import pytest
from sqlglot import exp

from rewriter.scalars.text import rewrite_columns, scalar, text

CONTEXTS = (
    "m.`h` + 1",
    "1 - m.`h`",
    "2 / m.`h` * 3",
    "- m.`h`",
    "~ m.`h`",
    "NOT m.`h`",
    "m.`h` AND m.`z`",
    "m.`h` OR m.`z` AND m.`h`",
    "m.`h` = 1",
    "m.`z` <=> m.`h`",
    "m.`h` IS NULL",
    "m.`h` IS NOT TRUE",
    "m.`h` BETWEEN m.`h` AND m.`h`",
    "m.`h` IN (1, m.`h`)",
    "m.`h` LIKE m.`h` ESCAPE '!'",
    "m.`h` RLIKE m.`h`",
    "m.`h` || m.`h`",
    "m.`h` DIV m.`h`",
    "m.`h` % m.`h`",
    "m.`h` & m.`h` | m.`h`",
    "CAST(m.`h` AS INT)",
    "TRY_CAST(m.`h` AS INT)",
    "m.`h`[0]",
    "m.`h`.`f`",
    "m.`z`[m.`h`]",
    "CASE WHEN m.`h` THEN m.`h` ELSE m.`h` END",
    "CASE m.`h` WHEN m.`h` THEN 1 END",
    "COALESCE(m.`h`, m.`h`)",
    "SUM(m.`h`)",
    "COUNT(DISTINCT m.`h`, m.`z`)",
    "SUM(m.`h`) FILTER(WHERE m.`h`)",
    "EXTRACT(YEAR FROM m.`h`)",
    "TRANSFORM(m.`h`, x -> x + m.`h`)",
    "NAMED_STRUCT('a', m.`h`)",
    "DATE_ADD(m.`h`, m.`h`)",
    "SUBSTRING(m.`h`, m.`h`, m.`h`)",
    "IF(m.`h`, m.`h`, m.`h`)",
    "EXISTS(SELECT 1 FROM b AS k WHERE k.`a` = m.`h`)",
)
EXPRESSIONS = (
    "m.`a` + m.`b`",
    "m.`a` * m.`b`",
    "- m.`a`",
    "NOT m.`a`",
    "m.`a` OR m.`b`",
    "m.`a` AND m.`b`",
    "m.`a` = m.`b`",
    "m.`a` IS NULL",
    "m.`a` BETWEEN 1 AND 2",
    "m.`a` IN (1, 2)",
    "m.`a` LIKE 'x%'",
    "m.`a` || 'x'",
    "CASE WHEN m.`a` THEN 1 END",
    "CAST(m.`a` AS STRING)",
    "m.`a`.`f`",
    "m.`a`[0]",
    "INTERVAL '1' DAY",
    "UPPER(m.`a`)",
    "1",
    "-1",
    "'x'",
    "NULL",
)
PAIRS = [pair for pair in product(CONTEXTS, EXPRESSIONS) if pair != ("m.`h`.`f`", "1")]
"""A number has no field, and no text for one."""


def bare(tree: exp.Expr) -> exp.Expr:
    """Return the expression without brackets, which a tree does not need."""
    return tree.copy().transform(lambda n: n.unnest() if isinstance(n, exp.Paren) else n)


@pytest.mark.parametrize(("context", "expression"), PAIRS)
def test_the_text_means_the_tree(context: str, expression: str) -> None:
    """What is put in the place of a column is still its operand after parsing."""
    inner = scalar(expression)
    outer = scalar(context)
    rewritten = rewrite_columns(outer, lambda c: inner if c.name == "h" else c)
    tree = outer.copy()
    for node in list(tree.find_all(exp.Column)):
        if node.name == "h":
            node.replace(inner.copy())
    assert bare(scalar(text(rewritten))) == bare(tree)


@pytest.mark.parametrize("context", CONTEXTS)
def test_nothing_to_replace(context: str) -> None:
    """An expression whose columns stay is written and read as it was."""
    tree = scalar(context)
    assert rewrite_columns(tree, lambda c: c) == tree
    assert scalar(text(tree)) == tree


def test_no_needless_brackets() -> None:
    """Brackets are put where they are needed, not around everything."""
    tree = rewrite_columns(scalar("SUM(m.`a`) + m.`b`"), lambda _: scalar("m.`c` + 1"))
    assert text(tree) == "SUM(m.`c` + 1) + (m.`c` + 1)"
    assert text(rewrite_columns(scalar("(m.`a`)"), lambda _: scalar("m.`c` + 1"))) == "(m.`c` + 1)"
    assert text(rewrite_columns(scalar("m.`a` + 1"), lambda _: scalar("m.`c`.`f`"))) == (
        "m.`c`.`f` + 1"
    )
