"""A statement that was written for a user's is run as such, so that an error of Spark's says so."""

from __future__ import annotations

import ast
from pathlib import Path

LIPSTICK = Path(__file__).parent.parent / "lipstick"

OWN = "stages/reading.py"
"""Where statements run that were written for others: `own_sql`."""

CATALOG = "asks the catalog, or the log of a table, about a name"
GIVEN = "runs what the user has given, or another system has"
TRIED = "asks whether Spark takes an expression, and goes on where it does not"
OTHERS = {
    "capture/cost.py": "explains a query that the writer has run through `own_sql`",
    "dataframes/classic.py": TRIED,
    "dataframes/classic_proof.py": TRIED,
    "dataframes/connect.py": TRIED,
    "demo/screen.py": GIVEN,
    "erasure/effects.py": CATALOG,
    "erasure/parquet.py": CATALOG,
    "histories/live.py": GIVEN,
    "histories/rows.py": GIVEN,
    "sessions.py": GIVEN,
    "stages/comparisons.py": TRIED,
    "stages/guard.py": GIVEN,
    "stages/settings.py": TRIED,
    "tables/commit.py": CATALOG,
    "tracking/catalog.py": CATALOG,
    "tracking/formats/delta.py": CATALOG,
    "tracking/formats/iceberg.py": CATALOG,
    "tracking/formats/probe.py": CATALOG,
    "workflow/execution/bench.py": GIVEN,
    "workflow/execution/benches.py": "reads the settings of the session",
    "written_tables.py": "computes the literals of a moment",
}
"""Where Spark is asked otherwise, and why."""


def _asks_spark(tree: ast.Module) -> bool:
    """Return True if a session of Spark's runs a text in some code."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    asked = (f.value for f in calls if isinstance(f, ast.Attribute) and f.attr == "sql")
    names = (each.attr if isinstance(each, ast.Attribute) else each for each in asked)
    return any(
        (each.id if isinstance(each, ast.Name) else each) in ("spark", "_spark") for each in names
    )


def test_statements_of_ours_run_in_one_place() -> None:
    found = {
        path.relative_to(LIPSTICK).as_posix()
        for path in LIPSTICK.rglob("*.py")
        if _asks_spark(ast.parse(path.read_text("utf-8")))
    }
    assert found == {OWN, *OTHERS}
