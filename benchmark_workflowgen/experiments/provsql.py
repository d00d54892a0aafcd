"""ProvSQL over the tables and queries of the questions of analysts: what it takes and refuses.

PostgreSQL with ProvSQL is asked through psql, as a superuser of a database of its own. Each query
writes its answer as a table, without provenance and with it; then the rows of the questions
experiment are asked about. Figures are processor seconds of the server with its processes.

    createdb tpch && psql tpch -c 'CREATE EXTENSION provsql CASCADE'
    python -m benchmark_workflowgen provsql --data DIR --database tpch --output results.json
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from benchmark_workflowgen import tpch
from benchmark_workflowgen.analyst_queries import QUERIES
from benchmark_workflowgen.harness import output_option, write_results

_ON = "SET search_path = public, provsql;"
_OFF = f"{_ON} SET provsql.active = off;"
QUESTIONS = {
    "plain": f"{_OFF} CREATE TEMP TABLE answer AS {{query}}",
    "provenance": f"{_ON} CREATE TABLE answer_{{name}} AS {{query}}",
    "polynomials": f"{_OFF} SELECT length(sr_formula(provsql)) FROM answer_{{name}} LIMIT 5",
    "shapley": f"{_OFF} SELECT count(*), sum(value) FROM (SELECT provsql FROM answer_{{name}}"
    " LIMIT 2) AS few, LATERAL shapley_all_vars(few.provsql)",
    "probability": f"{_OFF} SELECT avg(p) FROM (SELECT probability_evaluate(provsql) AS p"
    " FROM answer_{name} LIMIT 20) AS few",
}
"""Probabilities come last: each tuple has 1 until then, and 0.9 for them."""


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--database", default="tpch", show_default=True, help="A name, or a URL for psql.")
@click.option("--limit", default=60, show_default=True, help="Seconds of wall time a question.")
@click.option("--queries", default=",".join(filter(str.islower, QUERIES)), help="Only these.")
@output_option
def main(data: Path, database: str, limit: int, queries: str, output: Path | None) -> None:
    """Ask ProvSQL the queries of analysts over TPC-H tables in DATA, which are loaded first."""
    _load(database, data)
    server = int(_psql(database, "SELECT pg_read_file('postmaster.pid')").split()[0])
    results: dict[str, dict[str, Any]] = {name: {} for name in queries.split(",")}
    for question, text in QUESTIONS.items():
        if question == "probability":
            for name in tpch.KEYS:
                _psql(database, f"{_OFF} SELECT count(set_prob(provsql, 0.9)::text) FROM {name}")
        for name, of in results.items():
            if "error" not in of.get("provenance", ()):
                sql = text.format(name=name, query=QUERIES[name])
                of[question] = _measured(server, partial(_psql, database, sql, limit=limit))
                click.echo(f"{name} {question}: {json.dumps(of[question])}")
                write_results(output, results)


def _load(database: str, data: Path) -> None:
    """Create the tables of TPC-H with tokens on their rows, and what their SQL calls year()."""
    year = "CREATE OR REPLACE FUNCTION year(date) RETURNS int LANGUAGE SQL IMMUTABLE"
    _psql(database, f"{year} AS 'SELECT extract(year FROM $1)::int'")
    for name in tpch.KEYS:
        table = pq.read_table(data / f"{name}.parquet")
        fields = [
            (f.name, pa.string() if "string" in str(f.type) else f.type) for f in table.schema
        ]
        rows = io.BytesIO()
        pc.write_csv(table.cast(pa.schema(fields)), rows, pc.WriteOptions(include_header=False))
        columns = ", ".join(f"{name} {_type(type_)}" for name, type_ in fields)
        _psql(database, f"DROP TABLE IF EXISTS {name} CASCADE; CREATE TABLE {name} ({columns})")
        _psql(database, f"COPY {name} FROM STDIN CSV", rows.getvalue())
        _psql(database, f"{_ON} SELECT add_provenance('{name}'); ANALYZE {name}")


def _type(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return f"numeric({type_.precision}, {type_.scale})"
    return {"int64": "bigint", "int32": "integer", "string": "text"}.get(str(type_), "date")


def _psql(database: str, sql: str, rows: bytes | None = None, limit: int = 600) -> str:
    """Return the output of psql for statements; a RuntimeError has the first line of an error."""
    command = ["psql", database, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql]
    environment = {**os.environ, "PGOPTIONS": f"-c statement_timeout={limit * 1000}"}
    done = subprocess.run(command, input=rows, capture_output=True, env=environment, check=False)
    said = [line for line in done.stderr.decode().splitlines() if not line.startswith("NOTICE")]
    if done.returncode:
        if done.returncode == 2:
            time.sleep(20)  # a connection that is lost: the server ends, and starts again
        raise RuntimeError(next((line for line in said if "ERROR" in line), "connection lost"))
    return "\n".join([*done.stdout.decode().splitlines(), *said[:1]])


def _measured(server: int, run: Callable[[], str]) -> dict[str, Any]:
    """Return the processor seconds of the server for a run, and its output or error."""
    before = _clock(server)
    try:
        said = {"said": run()}
    except RuntimeError as error:
        said = {"error": str(error)}
    return {"seconds": round(_clock(server) - before, 2), **said}


def _clock(server: int) -> float:
    """Return the processor seconds so far of a server, its children, and ended ones."""
    time.sleep(0.3)  # the process of a connection ends after psql does
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(stat.parent.name), stat.read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if server in (pid, int(rest[1])):
            ticks += sum(map(int, rest[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
