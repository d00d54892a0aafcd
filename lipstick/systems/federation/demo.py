"""``lipstick federation demo``: three teams' stores behind servers; one server is killed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from graphquery.federation import Federation

ORDERS = {"order": ["o1", "o2", "o3", "o4"], "shop": ["Oslo", "Oslo", "Rome", "Rome"]}
QUESTION = "reports::page:total"


@click.command()
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the stores, which stay there.",
)
def demo(keep: Path | None) -> None:
    """Ask three teams' stores as one, kill a server, and ask again.

    Sales exports its orders by shop, the warehouse imports them and exports totals, and reports
    imports these. Each store has a server of its own; the question crosses all of them.
    """

    with contextlib.ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = {
            alias: stack.enter_context(served(store))
            for alias, store in make_stores(folder).items()
        }
        lines = ["format = 1"]
        for alias, server in servers.items():
            output = server.stdout
            assert output is not None  # a pipe
            address = output.readline().split()[-1]
            click.echo(f"{alias:10} is served at {address}")
            lines += [f"[members.{alias}]", f'location = "{address}"']
        file = folder / "federation.toml"
        file.write_text("\n".join(lines) + "\n")
        from graphquery.federation import open_federation

        with open_federation(file, timeout=20.0) as federation:
            tell(federation)
            click.echo("\nThe warehouse's server is killed.")
            servers["warehouse"].kill()
            servers["warehouse"].wait()
            tell(federation)
        if keep is not None:
            click.echo(f"\nStores and federation.toml are in {folder}")


def tell(federation: Federation) -> None:
    """Ask where a total comes from, and say what was answered, and what is missing."""
    answer = federation.ancestors(QUESTION)
    whole = "complete" if answer.complete else "not complete"
    click.echo(f"\nWhat is {QUESTION} made of? {len(answer)} nodes, {whole}:")
    for name in federation.names(answer):
        click.echo(f"  {name}")
    for missing in answer.missing:
        click.echo(f"  missing: {missing}")
    for source in ("sales::orders:o1", "sales::orders:o4"):
        verdict = federation.flow(source, QUESTION)
        click.echo(f"Could {source} have flowed into it? {verdict.verdict.value}")
    paths = federation.paths("sales::orders:o1", QUESTION)
    found = "All paths" if paths.complete else "What is known of the paths"
    cost = paths.cost
    click.echo(f"{found} took {cost.requests} requests in {cost.rounds} rounds.")


def make_stores(folder: Path) -> dict[str, Path]:
    """Make the stores of three teams in a folder; return theirs by alias."""
    import numpy as np
    import pyarrow as pa

    from graphquery import EdgeSet, Kind, Ordinals, Segment
    from graphquery.federation import export, import_rows, offer_of
    from graphquery.store import Store

    paths = {alias: folder / alias for alias in ("sales", "warehouse", "reports")}
    with Store.create(paths["sales"]).writer() as writer:
        with writer.transaction() as transaction:
            orders = Segment("orders", Kind.TOKEN, "", 4, key=("order",), file="")
            transaction.add_segment(orders, pa.table(ORDERS))
            shops = Segment("by_shop", Kind.DERIVED, "δ", 2, key=("shop",), file="")
            transaction.add_segment(shops, pa.table({"shop": ["Oslo", "Rome"]}))
            edges = EdgeSet("orders", "by_shop", 4, Ordinals.ALL, file="")
            transaction.add_edges(edges, None, np.array([0, 0, 1, 1]))
            transaction.commit()
        channel = export(writer, "by_shop", "sales.by_shop")
        offered = offer_of(writer.snapshot(), channel)
    with Store.create(paths["warehouse"]).writer() as writer:
        with writer.transaction() as transaction:
            rows = pa.table({"row": [0]})
            north = Segment("north", Kind.TOKEN, "", 1, file="")
            import_rows(transaction, offered, north, rows, "row")
            transaction.add_segment(Segment("total", Kind.DERIVED, "δ", 1))
            transaction.add_edges(EdgeSet("north", "total", 1, Ordinals.ALL, Ordinals.ALL))
            transaction.commit()
        channel = export(writer, "total", "warehouse.total")
        offered = offer_of(writer.snapshot(), channel)
    with Store.create(paths["reports"]).writer() as writer, writer.transaction() as transaction:
        import_rows(transaction, offered, Segment("totals", Kind.TOKEN, "", 1))
        page = Segment("page", Kind.DERIVED, "·", 1, key=("part",), file="")
        transaction.add_segment(page, pa.table({"part": ["total"]}))
        transaction.add_edges(EdgeSet("totals", "page", 1, Ordinals.ALL, Ordinals.ALL))
        transaction.commit()
    return paths


@contextlib.contextmanager
def served(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a server of a store as a process of its own, which prints where it is; then kill it."""
    command = [sys.executable, "-m", "lipstick", "federation", "serve", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
