"""Every refusal of the rewriter is held by a fixture."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from coverage import Coverage

from rewriter.bind import Environment, bind_query
from rewriter.errors import QueryError, UnsupportedError
from rewriter.frames import catalyst, connect_plan
from tests.rewriter.bind import test_bind_cases as bind_cases
from tests.rewriter.bind.catalog import CATALOG
from tests.rewriter.cases import ERROR, cases
from tests.rewriter.catalyst import test_catalyst_cases as catalyst_cases
from tests.rewriter.connect_plan import test_connect_cases as connect_cases
from tests.rewriter.lower import test_lower_cases as lower_cases
from tests.rewriter.lower.catalog import blocks
from tests.rewriter.statements import test_statement_cases as statement_cases

REWRITER = Path(catalyst.__file__).parents[2]
INTERNAL = {
    "AttributeError",
    "FailedError",
    "NotImplementedError",
    "TypeError",
    "UninterpretableError",
    "ValueError",
}
"""Errors that are not refusals: of a caller, or told from others and caught."""
ELSEWHERE = {
    "streaming/context.py": "streaming/test_recorded.py",
    "streaming/deduplication.py": "streaming/test_recorded.py",
    "streaming/joins.py": "streaming/test_recorded.py",
    "streaming/recorded.py": "streaming/test_recorded.py",
    "bind/parameters.py": "test_bind_parameters.py",
    "dialect/sparksql.py": "dialect/test_parse.py and dialect/test_emit.py",
    "dialect/writes.py": "dialect/test_writes.py",
    "dialect/renames.py": "tests/lipstick/systems/dbt/test_project.py",
    "emit/operators.py": "tests/lipstick/questions/test_why_not.py",
    "emit/patterns.py": "tests/lipstick/questions/test_why_not.py",
    "emit/templates.py": "tests/lipstick/questions/test_checks.py",
    "interpreted_sqlglot.py": "test_interpreted_sqlglot.py",
}
"""Files whose refusals other tests hold."""
NOT_REACHED = {
    "emit/flow_writer.py": 3,
    "frames/catalyst/plans.py": 1,
    "frames/catalyst/scalars.py": 2,
    "frames/catalyst/calls.py": 1,
    "statements/scope.py": 1,
}
"""How many refusals no fixture reaches, of plans that queries and Spark's clients hardly make."""


RECURSIVE = (
    "WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT c.a FROM c WHERE c.a < 9)"
    " SELECT * FROM c"
)


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A statement that refuses."""

    file: str
    first: int
    last: int


def sites() -> Iterator[Site]:
    """Yield the statements of the rewriter that raise, return or word a refusal."""
    for path in sorted(REWRITER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.stmt) and _refuses(node):
                last = node.end_lineno or node.lineno
                yield Site(str(path.relative_to(REWRITER)), node.lineno, last)


def _refuses(node: ast.stmt) -> bool:
    match node:
        case ast.Raise(exc=ast.expr() as error):
            return _name(error) not in INTERNAL
        case ast.Return(value=ast.Call() as call):
            return _name(call).endswith("Error") or _name(call) in ("error", "unsupported")
        case ast.Expr(value=ast.Call() as call):
            return _name(call).startswith("_refuse_copies") or _name(call) == "_refuse"
        case ast.Assign(targets=[ast.Name(id="problem")]):
            return True
    return False


def _name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


@contextmanager
def _lines_run() -> Iterator[dict[str, set[int]]]:
    """Collect the lines that run of the rewriter's files."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    tracer = Coverage(data_file=None, config_file=False, include=[str(REWRITER / "*")])
    tracer.start()
    try:
        yield lines
    finally:
        tracer.stop()
    for path in tracer.get_data().measured_files():
        file = str(Path(path).relative_to(REWRITER))
        lines[file].update(tracer.get_data().lines(path) or ())


def _run_fixtures() -> None:
    with suppress(QueryError):
        bind_query(RECURSIVE, Environment(CATALOG))
    for case in cases(bind_cases.CASES).values():
        bind_cases.outcome(case.given, CATALOG)
    for case in cases(lower_cases.CASES).values():
        with suppress(QueryError):
            blocks(case.given)
    for case in cases(statement_cases.CASES).values():
        statement_cases.outcome(case.given)
    for case in cases(catalyst_cases.FOLDER).values():
        with suppress(QueryError):
            catalyst.query_text(json.loads(case.given))
    for case in cases(connect_cases.FOLDER).values():
        with suppress(QueryError):
            plan = json.loads(case.given)
            connect_plan.query_text(plan, ["l", "r"], connect_cases.schema_of(case.title))


def test_recursion_is_refused_where_nothing_says_how_deep_it_is() -> None:
    with pytest.raises(UnsupportedError, match=r"WITH RECURSIVE is not supported here at 1:16"):
        bind_query(RECURSIVE, Environment(CATALOG))


def test_every_refusal_has_a_fixture() -> None:
    """Its statement runs for some case of the fixtures."""
    with _lines_run() as lines:
        _run_fixtures()
    all_sites = list(sites())
    assert len(all_sites) > 150
    missed: defaultdict[str, list[int]] = defaultdict(list)
    for site in all_sites:
        reached = lines[site.file] & set(range(site.first, site.last + 1))
        if not reached and site.file not in ELSEWHERE:
            missed[site.file].append(site.first)
    assert {file: len(at) for file, at in missed.items()} == NOT_REACHED, dict(missed)


def test_every_refusal_says_where_and_what_to_do() -> None:
    """A problem with its place and an excerpt, where there is a text; and an advice."""
    for folder in (bind_cases.CASES, lower_cases.CASES):
        for case in cases(folder).values():
            if ERROR in case.outcomes:
                problem, *excerpt, advice = case.outcomes[ERROR].split("\n")
                assert advice.endswith((".", ").")), case
                if excerpt:
                    assert excerpt[-1].strip("^ ") == "", case
                assert bool(excerpt) == (" at " in problem), case
