"""``lipstick federation export``, ``serve`` and ``token``: on the side of a store that is asked."""

from __future__ import annotations

from pathlib import Path

import click

from lipstick.cli.errors import reported
from lipstick.cli.opened import store_argument


@click.command()
@store_argument
@click.argument("segment")
@click.argument("name")
@click.option("--version", "version", default="1", show_default=True, help="Of the dataset.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the values of the nodes to this new folder, with the manifest beside them.",
)
@click.option(
    "--beside",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Write the manifest to this folder, beside data that is there.",
)
@click.option("--sketches/--no-sketches", default=True, help="Whether rows get sketches.")
@click.option("--boundary/--no-boundary", default=True, help="Whether the boundary graph grows.")
def export(
    store: Path,
    segment: str,
    name: str,
    version: str,
    data: Path | None,
    beside: Path | None,
    sketches: bool,
    boundary: bool,
) -> None:
    """Let others import the nodes of a SEGMENT of a STORE, as the dataset NAME."""
    from graphquery.federation import Summaries, export_dataset, offer_of
    from graphquery.federation import export as export_segment
    from graphquery.store import Store

    with reported():
        opened = Store.open(store)
        with opened.writer() as writer:
            summaries = Summaries(sketches=sketches, boundary=boundary)
            if data is None:
                channel = export_segment(writer, segment, name, version, summaries=summaries)
            else:
                arguments = (writer, segment, name, version, data)
                channel = export_dataset(*arguments, summaries=summaries)
        if beside is not None:
            offer_of(opened.snapshot(), channel).write(beside)
    click.echo(channel)


@click.command()
@store_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=int, default=0, help="Where to listen.  [default: one that is free]")
@click.option(
    "--peers",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of whom to tell what.",
)
@click.option(
    "--disclosure",
    default="nodes",
    show_default=True,
    help="Without --peers, what everyone on this machine is told.",
)
@click.option(
    "--certificate", type=click.Path(path_type=Path, dir_okay=False), help="For TLS, in PEM."
)
@click.option("--private-key", type=click.Path(path_type=Path, dir_okay=False), help="Of it.")
@click.option(
    "--seconds", type=float, default=60.0, show_default=True, help="That a request may take."
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of the key that signs replies, created if there is none.  [default: one per store]",
)
@click.option("--verbose", is_flag=True, help="Log every request to standard error.")
def serve(
    store: Path,
    host: str,
    port: int,
    peers: Path | None,
    disclosure: str,
    certificate: Path | None,
    private_key: Path | None,
    seconds: float,
    key: Path | None,
    verbose: bool,
) -> None:
    """Answer questions of federations about a STORE, until interrupted.

    Anybody on this machine may ask unless --peers lists who may. At another address than this
    machine's own, it needs a certificate, and peers with tokens.
    """
    import logging

    from graphquery.federation import Disclosure
    from graphquery.federation.serving import keys
    from graphquery.federation.serving.peers import Peers, read_peers
    from graphquery.federation.serving.server import Server, ServerSettings
    from graphquery.store.format import check_format

    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with reported():
        known = Peers(Disclosure.named(disclosure)) if peers is None else read_peers(peers)
        signer = None
        if key is not None or keys.is_available():
            signer = keys.Signer.of_file(key or keys.default_key_file(check_format(store).store))
        server = Server(
            store,
            known,
            host=host,
            port=port,
            certificate=certificate,
            private_key=private_key,
            signer=signer,
            settings=ServerSettings(seconds=seconds),
        )
    click.echo(f"{store} is served at {server.address}")
    if signer is None:
        click.echo("Replies are not signed: install lipstick-spark[federation].", err=True)
    else:
        click.echo(f'key = "{signer.key}"')
    try:
        server.serve()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    finally:
        server.close()


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("member")
def forget(file: Path, member: str) -> None:
    """Trust MEMBER of the federation FILE anew: the next contact counts as the first."""
    from graphquery.federation.members import pins

    with reported():
        pins.forget(file, member)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def token(file: Path) -> None:
    """Write a new token to FILE, for a peer; what is printed belongs in the server's --peers."""
    from graphquery.federation.serving.peers import new_token

    with reported():
        click.echo(f'token_sha256 = "{new_token(file)}"')
