"""`match` statements."""

from __future__ import annotations

import ast

from lipstick.systems.scripts.reading.assign import assign, element_of
from lipstick.systems.scripts.reading.branches import Branches, condition
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.values import Value


def match_statement(context: Context, node: ast.Match) -> None:
    """Add a `match`: a branch per case, which names parts of the subject."""
    subject = condition(context, node.subject, "match")
    place = context.place
    branches = Branches()
    conditions: list[Value] = []
    exhaustive = False
    for case in node.cases:
        context.at(case.pattern)
        if not _catches_all(case.pattern):
            literals = [
                context.evaluate(context, inner.value)
                for inner in ast.walk(case.pattern)
                if isinstance(inner, ast.MatchValue)
            ]
            conditions.append(context.operate("case", "comparison", [subject, *literals]))

        def body(case: ast.match_case = case) -> None:
            _bind_pattern(context, case.pattern, subject)
            if case.guard is not None:
                guard = context.evaluate(context, case.guard)
                conditions.append(guard)
                context.path.append(guard)
            context.walk(context, case.body)

        branches.read(context, "case", list(conditions), body)
        exhaustive |= case.guard is None and _catches_all(case.pattern)
    context.place = place
    if not exhaustive:
        branches.read(context, "no case", list(conditions), lambda: None)
    branches.join(context, "match")


def _catches_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _bind_pattern(context: Context, pattern: ast.pattern, subject: Value) -> None:
    for inner in ast.walk(pattern):
        name = None
        if isinstance(inner, ast.MatchAs | ast.MatchStar):
            name = inner.name
        elif isinstance(inner, ast.MatchMapping):
            name = inner.rest
        if name is not None:
            part = element_of(context, subject)
            value = Value(part.refs, part.regions | subject.regions)
            assign(context, ast.Name(name, ast.Store()), value, "case")
