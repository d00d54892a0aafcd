"""``python -m tests.table_formats.erase_elsewhere PLAN TABLE=FOLDER...``: apply a plan.

It runs in a Spark of its own, whose catalog has no tables but these of Delta.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import lipstick
from tests.table_formats.conftest import lake_session


def main(plan: str, *tables: str) -> None:
    """Apply a plan, and print its steps."""
    with tempfile.TemporaryDirectory() as home, lake_session(Path(home)) as lake:
        for name, _, folder in (table.partition("=") for table in tables):
            lake.sql(f"CREATE TABLE {name} USING delta LOCATION '{folder}'")
        with lipstick.session(lake) as session:
            document = json.loads(Path(plan).read_text())
            lipstick.ErasurePlan(session, document).apply(lambda step: print(step, file=sys.stderr))


if __name__ == "__main__":
    main(*sys.argv[1:])
