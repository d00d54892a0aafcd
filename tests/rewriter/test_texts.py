"""Texts of trees are Spark SQL: nodes of Spark's own have none in other dialects."""

from __future__ import annotations

import ast

from tests.sizes import ROOT


def test_every_text_names_its_dialect() -> None:
    without = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "rewriter").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "sql"
        and not (node.args or node.keywords)
    ]
    assert without == []
