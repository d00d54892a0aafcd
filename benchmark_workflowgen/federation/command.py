"""``python -m benchmark_workflowgen federation``: the table of what paths cost."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmark_workflowgen.federation.caches import compared
from benchmark_workflowgen.federation.stores import Exchange
from benchmark_workflowgen.federation.ways import BOUNDARY, NAIVE, OPTIONS, Asked, ask, opened
from graphquery.federation import Federation
from graphquery.store import Store
from graphquery.store.crossing import exports

WAYS = (NAIVE, *OPTIONS)


@click.command("federation")
@click.option("--preset", is_flag=True, help="The parameters of presets/federation.toml.")
@click.option("--stores", multiple=True, type=int, default=(2, 8), show_default=True)
@click.option("--nodes", type=int, default=100_000, show_default=True, help="Of all stores.")
@click.option("--questions", type=int, default=20, show_default=True)
@click.option("--latency", multiple=True, type=float, default=(0.0,), help="Of an exchange, in s.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--caches", is_flag=True, help="Compare caches of replies instead.")
@click.option("--output", type=click.Path(path_type=Path), help="A file for the results, JSON.")
def federation(preset: bool, caches: bool, output: Path | None, **given: Any) -> None:
    """What a path query across stores costs, in every way to ask it.

    Stores are made in a temporary folder and asked through the transport that counts, as if they
    were servers; the store of the target is the one that asks.
    """
    if preset:
        text = files("benchmark_workflowgen").joinpath("presets", "federation.toml").read_text()
        given |= tomllib.loads(text)
    rows = []
    for stores in given["stores"]:
        folder = Path(tempfile.mkdtemp())
        try:
            if caches:
                exchange = Exchange(folder, stores, given["nodes"], seed=given["seed"])
                several = (given["questions"], 10 * given["questions"], given["seed"])
                rows += compared(exchange, exchange.run(), *several)
                continue
            rows += measured(folder, stores, **{k: v for k, v in given.items() if k != "stores"})
        finally:
            shutil.rmtree(folder)
    shown(rows, "Bytes that stores sent, of bytes answered" if caches else "Path queries")
    if output is not None:
        output.write_text(json.dumps(rows, indent=1))


def measured(
    folder: Path,
    stores: int,
    *,
    nodes: int,
    questions: int,
    latency: Sequence[float],
    seed: int,
) -> list[dict[str, Any]]:
    """What questions to so many stores cost: a row for every way, latency and verdict."""
    started = time.perf_counter()
    exchange = Exchange(folder, stores, nodes, seed=seed)
    paths = exchange.run()
    made = time.perf_counter() - started
    summaries = summary_bytes(paths)
    random = np.random.default_rng(seed)
    asked: dict[tuple[str, float, str], list[Asked]] = {}
    federations: dict[tuple[str, float, str], Federation] = {}
    for _ in range(questions):
        home = f"S{random.integers(stores)}"
        source = f"S{random.integers(stores)}::e{random.integers(2)}/inner"
        source += f"[{random.integers(exchange.rows * exchange.inner)}]"
        target = f"{home}::e{exchange.epochs - 1}/out[{random.integers(exchange.rows)}]"
        for wait in latency:
            for way in WAYS:
                key = (way, wait, home)
                if key not in federations:
                    federations[key] = opened(paths, way, home, wait)
                found = ask(federations[key], way, source, target)
                asked.setdefault((way, wait, found.verdict), []).append(found)
    verdicts = {way: [len(v) for (w, _, _), v in sorted(asked.items()) if w == way] for way in WAYS}
    assert len({tuple(each) for each in verdicts.values()}) == 1, verdicts
    result = []
    for (way, wait, verdict), each in asked.items():
        requests = [one.cost.requests for one in each]
        result.append(
            {
                "stores": stores,
                "nodes": nodes,
                "way": way,
                "latency": wait,
                "verdict": verdict,
                "questions": len(each),
                "requests": round(float(np.mean(requests)), 1),
                "p95": int(np.percentile(requests, 95)),
                "rounds": round(float(np.mean([one.cost.rounds for one in each])), 1),
                "kB": round(float(np.mean([one.cost.bytes for one in each])) / 1000, 1),
                "seconds": round(float(np.mean([one.seconds for one in each])), 3),
                "beyond": max(
                    (one.cost.requests - one.on_the_way for one in each if way == BOUNDARY),
                    default=None,
                ),
                "made_seconds": round(made, 1),
                **summaries,
            }
        )
    return result


def summary_bytes(paths: dict[str, Path]) -> dict[str, float]:
    """Bytes of summaries per exported row, as they are stored."""
    rows = boundary = sketches = 0
    for path in paths.values():
        snapshot = Store.open(path).snapshot()
        for each in exports(snapshot.records).values():
            rows += each.count
            boundary += snapshot.files[each.boundary or ""].size
            sketches += snapshot.files[each.sketches or ""].size
    return {
        "boundary_bytes_per_row": round(boundary / rows, 2),
        "sketch_bytes_per_row": round(sketches / rows, 2),
        "exported_rows": rows,
    }


def shown(rows: Sequence[dict[str, Any]], title: str = "Path queries") -> None:
    """Print the rows as a table."""
    table = Table(title=title)
    for name in rows[0] if rows else ():
        table.add_column(name)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    Console(width=220).print(table)
