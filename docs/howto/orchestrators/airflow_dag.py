"""A DAG of Airflow with a task that fails with the rows behind the failure."""

import json
import logging
import subprocess
import tempfile
from pathlib import Path

from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task

log = logging.getLogger(__name__)
FOLDER = Path("/warehouse")


@task
def load_orders() -> None:
    """Write the table; whatever makes it in your project."""


@task
def explained_check(query: str, tables: list[str], quarantine: str) -> None:
    """Run a check over tables, and fail with the rows that make it fail.

    Parameters
    ----------
    query
        SQL whose rows must not be there, or whose one truth value must be true.
    tables
        The tables, as NAME=PATH:KEY.
    quarantine
        The file of Parquet to write these rows to.
    """
    options = [option for table in tables for option in ("--table", table)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            ["lipstick", "why", "check", query, *options, "--top", "20",
             "--output", str(report), "--quarantine", quarantine],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            return
        if done.returncode != 1:  # the check could not be run: another try may help
            raise RuntimeError(done.stderr[-2000:])
        document = json.loads(report.read_text())
    for cause in document["causes"]:
        log.error("%(rows)s rows of %(relation)s where %(predicate)s", cause)
    for row in document["top"]:
        log.error("%s", row)
    # No other try: the data is what it is.
    raise AirflowFailException(f"{document['question']} The rows are in {quarantine}.")


@dag(schedule=None)
def orders() -> None:
    """Load the orders, and check them."""
    load_orders() >> explained_check(
        "SELECT * FROM orders WHERE amount < 0",
        [f"orders={FOLDER}/orders.parquet:id"],
        f"{FOLDER}/orders.quarantine.parquet",
    )


orders()
