"""``lipstick federation``: many stores asked as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from graphquery.federation import Federation, NodesAnswer
from graphquery.federation import FederationAnswer as Answered
from lipstick.cli.errors import INCOMPLETE, Failure
from lipstick.cli.opened import store_argument
from lipstick.cli.output import JSON, Answer, CommandGroup, answer_options, counted
from lipstick.systems.federation.demo import demo

Command = Callable[..., None]


@click.group(cls=CommandGroup)
def federation() -> None:
    """Ask many stores as one.

    FILE names the members of a federation: a TOML file with `format = 1`, and a table
    [members.NAME] for each with its location. Nodes are called MEMBER::NODE. An answer names what
    is missing from it, and why; questions that can be answered by yes or no may have the answer
    unknown, with exit code 2.
    """


def federation_command(function: Command) -> Command:
    """Make a function of a `Federation`, an `Answer` and its own arguments a command."""

    @wraps(function)
    def command(
        file: Path,
        strict: bool,
        sketches: bool,
        boundary: bool,
        timeout: float | None,
        reply_size: float,
        home: str | None,
        zoom_out: tuple[str, ...],
        answer: Answer,
        **arguments: Any,
    ) -> None:
        from graphquery.federation import Options, open_federation
        from graphquery.federation.wire.messages import Limits

        options = Options(sketches=sketches, boundary=boundary, strict=strict)
        limits = Limits(size=int(reply_size * (1 << 20)))
        with open_federation(
            file, options=options, timeout=timeout, home=home, limits=limits
        ) as opened:
            function(opened.zoom_out(*zoom_out) if zoom_out else opened, answer, **arguments)

    decorated: Command = answer_options()(command)
    for option in (
        click.option(
            "--zoom-out",
            metavar="MEMBER::MODULE",
            multiple=True,
            help="Zoom out of this module first; may be repeated.",
        ),
        click.option(
            "--home",
            metavar="MEMBER",
            help="The member that asks: requests to it are not counted as cost.",
        ),
        click.option(
            "--timeout", type=float, metavar="SECONDS", help="Seconds allowed for one reply."
        ),
        click.option(
            "--reply-size",
            type=click.FloatRange(min=0, min_open=True),
            metavar="MIB",
            default=256,
            show_default=True,
            help="The greatest size of one reply; a member that sends more counts as missing.",
        ),
        click.option("--boundary/--no-boundary", default=True, help="Use boundary graphs."),
        click.option("--sketches/--no-sketches", default=True, help="Use sketches."),
        click.option("--strict", is_flag=True, help="Fail unless the answer is complete."),
    ):
        decorated = option(decorated)
    argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
    return argument(decorated)


@federation.command()
@federation_command
def members(opened: Federation, answer: Answer) -> None:
    """The members, their versions, and how much they export and import."""
    directory = opened.directory
    rows: list[dict[str, Any]] = []
    for alias in opened.members:
        if alias in directory.absent:
            failure = directory.absent[alias]
            rows.append({"member": alias, "missing": failure.reason, "why": failure.message})
            continue
        head = directory.heads[alias]
        rows.append(
            {
                "member": alias,
                "store": head.store,
                "version": head.version,
                "exports": len(head.exports),
                "imports": len(head.imports),
            }
        )
    answer.table(rows)
    answer.finish(rows)


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--distance", type=click.IntRange(min=0), help="Go back at most this many edges.")
def ancestors(
    opened: Federation, answer: Answer, nodes: tuple[str, ...], distance: int | None
) -> None:
    """List the nodes that NODEs are made of, in whatever store."""
    _send_nodes(opened, answer, opened.ancestors(nodes, distance))


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--distance", type=click.IntRange(min=0), help="Go at most this many edges.")
def descendants(
    opened: Federation, answer: Answer, nodes: tuple[str, ...], distance: int | None
) -> None:
    """List the nodes that are made of NODEs, in whatever store."""
    _send_nodes(opened, answer, opened.descendants(nodes, distance))


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def delete(opened: Federation, answer: Answer, nodes: tuple[str, ...]) -> None:
    """List the nodes that are gone without NODEs, in whatever store."""
    _send_nodes(opened, answer, opened.delete(nodes))


@federation.command()
@federation_command
@click.argument("node")
@click.argument("others", metavar="OTHER...", nargs=-1, required=True)
def depends(opened: Federation, answer: Answer, node: str, others: tuple[str, ...]) -> None:
    """Check if NODE would be gone without the OTHERs, taken together."""
    answered = opened.depends(node, others)
    document = {"node": node, "on": list(others), "depends": answered.verdict.value}
    _send(answer, opened, answered, document, answered.verdict.value)


@federation.command()
@federation_command
@click.argument("source")
@click.argument("target")
def flow(opened: Federation, answer: Answer, source: str, target: str) -> None:
    """Check if data could have flowed from SOURCE to TARGET: yes, no or unknown."""
    answered = opened.flow(source, target)
    document = {"source": source, "target": target, "flow": answered.verdict.value}
    _send(answer, opened, answered, document, answered.verdict.value)


@federation.command()
@federation_command
@click.argument("source")
@click.argument("target")
@click.option("--longest", type=click.IntRange(min=0), help="At most this many edges in a path.")
def path(opened: Federation, answer: Answer, source: str, target: str, longest: int | None) -> None:
    """List paths from SOURCE to TARGET, the shortest first; 10 without --limit."""
    limit = 10 if answer.limit is None else answer.limit
    answered = opened.paths(source, target, limit, longest)
    document = {"verdict": answered.verdict.value, "paths": [list(each) for each in answered.paths]}
    lines = [" → ".join(each) for each in answered.paths] or [answered.verdict.value]
    _send(answer, opened, answered, document, *lines)


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--semiring", "name", default="Counting", show_default=True)
@click.option(
    "--value",
    "given",
    metavar="NODE=VALUE",
    multiple=True,
    help="The value of a token; all others have 1.",
)
def evaluate(
    opened: Federation, answer: Answer, nodes: tuple[str, ...], name: str, given: tuple[str, ...]
) -> None:
    """The annotations of NODEs in a semiring."""
    from semiring import semirings

    known = {each.name: each for each in semirings.ALL}
    if name not in known:
        raise Failure(f"There is no semiring {name!r}; there are {', '.join(sorted(known))}.")
    answered = opened.evaluate(known[name], nodes, _valuation(given) or None)
    texts = {node: known[name].render(value) for node, value in answered.values.items()}
    lines = [f"{node}: {text}" for node, text in texts.items()]
    _send(answer, opened, answered, {"semiring": name, "values": texts}, *lines)


def _valuation(given: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text in given:
        node, separator, value = text.rpartition("=")
        if not separator:
            raise Failure(f"{text!r} is not a value of a node.\nWrite NODE=VALUE.")
        for kind in (int, float):
            try:
                values[node] = kind(value)
                break
            except ValueError:
                values[node] = value
    return values


def _send_nodes(opened: Federation, answer: Answer, nodes: NodesAnswer) -> None:
    names = opened.names(nodes, answer.rows)
    if answer.format == JSON:
        _send(answer, opened, nodes, {"count": len(nodes), "nodes": names})
        return
    answer.table([{"node": name} for name in names], len(nodes))
    _send(answer, opened, nodes, {}, counted(len(nodes), "node"))


def _send(
    answer: Answer, opened: Federation, answered: Answered, document: dict[str, Any], *lines: str
) -> None:
    """Send an answer with its missing parts and its cost, and exit with 2 if it is unknown."""
    from graphquery.federation import Verdict, VerdictAnswer

    missing = [
        {
            "store": each.store,
            "reason": each.reason,
            "channel": each.channel,
            "rows": len(each.rows) if each.channel else None,
            "message": each.message,
        }
        for each in answered.missing
    ]
    cost = answered.cost
    for line in lines:
        answer.say(line)
    if missing:
        answer.say("Missing:")
        answer.table([{"why": opened.directory.explain(part)} for part in answered.missing])
    rounds = counted(cost.rounds, "round")
    answer.say(f"{counted(cost.requests, 'request')} in {rounds}, {cost.bytes:,} bytes")
    answer.finish(
        document
        | {
            "complete": answered.complete,
            "missing": missing,
            "versions": dict(answered.versions),
            "cost": {"requests": cost.requests, "rounds": cost.rounds, "bytes": cost.bytes},
        }
    )
    if isinstance(answered, VerdictAnswer) and answered.verdict is Verdict.UNKNOWN:
        raise SystemExit(INCOMPLETE)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("member")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source",
    metavar="LOCATION",
    help="Where to copy from: a folder, s3://..., or a server. By default the member itself.",
)
def copy(file: Path, member: str, folder: Path, source: str | None) -> None:
    """Copy the store of MEMBER of the federation FILE to FOLDER, or what FOLDER lacks of it.

    The member names its last commit, and what is copied has to be that, whoever holds it.
    Servers give files to peers that may see all of their nodes. With `copy = "FOLDER"` in FILE, the
    copy answers while the member does not.
    """
    from graphquery.federation import Federation, copy_store, read_members
    from graphquery.federation.copies.gossip import source_of
    from graphquery.federation.members.members import Member
    from graphquery.federation.members.opening import transport_to

    members = read_members(file)
    if member not in members:
        raise Failure(f"There is no member {member!r}.\nThere are {', '.join(members)}.")
    chosen = members[member]
    expected = {member: chosen.store}
    with Federation({member: transport_to(chosen)}, expected) as owner:
        if member in owner.directory.absent:
            raise Failure(f"{member}: {owner.directory.absent[member].message}")
        head = owner.directory.heads[member]
    with source_of(chosen if source is None else Member(member, source)) as (files, location):
        version = copy_store(files, location, folder, head)
    click.echo(f"{folder}: {member} at version {version}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--timeout", type=float, metavar="SECONDS", help="Seconds allowed for one reply.")
def gossip(file: Path, timeout: float | None) -> None:
    """Talk to the members of the federation FILE, and copy what this host's questions need.

    The table [precaching] of FILE has where to, and how much at most. To be run now and then.
    """
    from graphquery.federation.copies.gossip import gossip as talk

    outcome = talk(file, timeout=timeout)
    for alias, version in outcome.taken.items():
        click.echo(f"{alias}: copied, version {version}")
    for alias in outcome.evicted:
        click.echo(f"{alias}: evicted")
    for alias, why in outcome.failed.items():
        click.echo(f"{alias}: {why}", err=True)


@click.command()
@store_argument
@click.argument("segment")
@click.argument("name")
@click.option("--version", "version", default="1", show_default=True, help="The dataset's version.")
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
@click.option("--sketches/--no-sketches", default=True, help="Compute sketches of rows.")
@click.option("--boundary/--no-boundary", default=True, help="Extend the boundary graph.")
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
    help="A file that says which peers may see what.",
)
@click.option(
    "--disclosure",
    default="nodes",
    show_default=True,
    help="Without --peers: what everyone on this machine may see.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The certificate for TLS, in PEM.",
)
@click.option(
    "--private-key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The private key of the certificate.",
)
@click.option(
    "--seconds", type=float, default=60.0, show_default=True, help="Seconds allowed for a request."
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
    from graphquery.federation.members.opening import forget as forget_pin

    forget_pin(file, member)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def token(file: Path) -> None:
    """Write a new token to FILE, for a peer; what is printed belongs in the server's --peers."""
    from graphquery.federation.serving.peers import new_token

    click.echo(f'token_sha256 = "{new_token(file)}"')


for each in (demo, copy, gossip, export, forget, serve, token):
    federation.add_command(each)
