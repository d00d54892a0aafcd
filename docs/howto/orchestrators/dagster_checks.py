"""An asset check of Dagster that fails with the rows behind the failure."""

import json
import subprocess
import tempfile
from pathlib import Path

import dagster as dg

FOLDER = Path("warehouse")


@dg.asset
def orders() -> None:
    """Write the table; whatever makes it in your project."""


def explained_check(query: str, *tables: str) -> dg.AssetCheckResult:
    """Run a check over tables, and report the rows that make it fail.

    Parameters
    ----------
    query
        SQL whose rows must not be there, or whose one truth value must be true.
    tables
        The tables, as NAME=PATH:KEY.
    """
    options = [option for table in tables for option in ("--table", table)]
    with tempfile.TemporaryDirectory() as folder:
        report, rows = Path(folder) / "report.json", Path(folder) / "rows.parquet"
        done = subprocess.run(
            ["lipstick", "why", "check", query, *options, "--top", "20",
             "--output", str(report), "--quarantine", str(rows)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1):  # the check could not be run
            raise dg.Failure(done.stderr[-2000:])
        if done.returncode == 0:
            return dg.AssetCheckResult(passed=True)
        document = json.loads(report.read_text())
    first = document["causes"][0]["predicate"] if document["causes"] else "no common condition"
    return dg.AssetCheckResult(
        passed=False,
        description=f"{document['question']} {first}",
        metadata={
            "causes": dg.MetadataValue.json(document["causes"]),
            "rows": dg.MetadataValue.json(document["top"]),
        },
    )


@dg.asset_check(asset=orders)
def amounts_are_positive() -> dg.AssetCheckResult:
    """Check that no order has an amount below zero."""
    return explained_check(
        "SELECT * FROM orders WHERE amount < 0", f"orders={FOLDER}/orders.parquet:id"
    )


defs = dg.Definitions(assets=[orders], asset_checks=[amounts_are_positive])
