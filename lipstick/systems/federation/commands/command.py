"""``lipstick federation``: many stores asked as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import JSON, TABLE, Answer, answer, answer_options, counted
from lipstick.systems.federation.commands.copy_command import copy, gossip
from lipstick.systems.federation.commands.demo import demo
from lipstick.systems.federation.commands.store import export, forget, serve, token

if TYPE_CHECKING:
    from graphquery.federation import Federation, NodesAnswer
    from graphquery.federation import FederationAnswer as Answered

Command = Callable[..., None]


@click.group()
def federation() -> None:
    """Ask many stores as one.

    FILE names the members of a federation: a TOML file with a table [members.NAME] for each, and
    its location in it. Nodes are called MEMBER::NODE. An answer names what is missing from it, and
    why; questions that can be answered by yes or no may have the answer unknown.
    """


for each in (demo, copy, gossip, export, forget, serve, token):
    federation.add_command(each)


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
        format: str | None,
        output: Path | None,
        limit: int | None,
        **arguments: Any,
    ) -> None:
        from graphquery.federation import Options, open_federation
        from graphquery.federation.wire.messages import Limits

        with reported():
            options = Options(sketches=sketches, boundary=boundary, strict=strict)
            limits = Limits(size=int(reply_size * (1 << 20)))
            told = answer(format, output, limit, (TABLE, JSON))
            with open_federation(
                file, options=options, timeout=timeout, home=home, limits=limits
            ) as opened:
                function(opened.zoom_out(*zoom_out) if zoom_out else opened, told, **arguments)

    decorated: Command = answer_options()(command)
    for option in (
        click.option(
            "--zoom-out",
            metavar="MEMBER::MODULE",
            multiple=True,
            help="Zoom out of this module first; may be repeated.",
        ),
        click.option("--home", metavar="MEMBER", help="Asking this member costs nothing."),
        click.option("--timeout", type=float, metavar="SECONDS", help="That one reply may take."),
        click.option(
            "--reply-size",
            type=click.FloatRange(min=0, min_open=True),
            metavar="MIB",
            default=256,
            show_default=True,
            help="That one reply may have; a member that sends more is missing.",
        ),
        click.option(
            "--boundary/--no-boundary", default=True, help="Whether to use boundary graphs."
        ),
        click.option("--sketches/--no-sketches", default=True, help="Whether to use sketches."),
        click.option("--strict", is_flag=True, help="Fail unless the answer is complete."),
    ):
        decorated = option(decorated)
    argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
    return argument(decorated)


@federation.command()
@federation_command
def members(opened: Federation, told: Answer) -> None:
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
    if told.format == JSON:
        told.send_json(rows)
        return
    told.table(rows)
    told.send_table()


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--distance", type=click.IntRange(min=0), help="Edges to go back at most.")
def ancestors(
    opened: Federation, told: Answer, nodes: tuple[str, ...], distance: int | None
) -> None:
    """List the nodes that NODEs are made of, in whatever store."""
    _send_nodes(opened, told, opened.ancestors(nodes, distance))


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--distance", type=click.IntRange(min=0), help="Edges to go at most.")
def descendants(
    opened: Federation, told: Answer, nodes: tuple[str, ...], distance: int | None
) -> None:
    """List the nodes that are made of NODEs, in whatever store."""
    _send_nodes(opened, told, opened.descendants(nodes, distance))


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def delete(opened: Federation, told: Answer, nodes: tuple[str, ...]) -> None:
    """List the nodes that are gone without NODEs, in whatever store."""
    _send_nodes(opened, told, opened.delete(nodes))


@federation.command()
@federation_command
@click.argument("node")
@click.argument("others", metavar="OTHER...", nargs=-1, required=True)
def depends(opened: Federation, told: Answer, node: str, others: tuple[str, ...]) -> None:
    """Check if NODE would be gone without the OTHERs, taken together."""
    answered = opened.depends(node, others)
    document = {"node": node, "on": list(others), "depends": answered.verdict.value}
    _send(told, answered, document, answered.verdict.value)


@federation.command()
@federation_command
@click.argument("source")
@click.argument("target")
def flow(opened: Federation, told: Answer, source: str, target: str) -> None:
    """Check if data could have flowed from SOURCE to TARGET: yes, no or unknown."""
    answered = opened.flow(source, target)
    document = {"source": source, "target": target, "flow": answered.verdict.value}
    _send(told, answered, document, answered.verdict.value)


@federation.command()
@federation_command
@click.argument("source")
@click.argument("target")
@click.option("--longest", type=click.IntRange(min=0), help="Edges of a path at most.")
def path(opened: Federation, told: Answer, source: str, target: str, longest: int | None) -> None:
    """List paths from SOURCE to TARGET, the shortest first; 10 without --limit."""
    limit = 10 if told.limit is None else told.limit
    answered = opened.paths(source, target, limit, longest)
    document = {"verdict": answered.verdict.value, "paths": [list(each) for each in answered.paths]}
    lines = [" → ".join(each) for each in answered.paths] or [answered.verdict.value]
    _send(told, answered, document, *lines)


@federation.command()
@federation_command
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@click.option("--semiring", "name", default="Counting", show_default=True)
@click.option(
    "--value", "given", metavar="NODE=VALUE", multiple=True, help="Of a token; 1 for all others."
)
def evaluate(
    opened: Federation, told: Answer, nodes: tuple[str, ...], name: str, given: tuple[str, ...]
) -> None:
    """The annotations of NODEs in a semiring."""
    from semiring import semirings

    known = {each.name: each for each in semirings.ALL}
    if name not in known:
        raise Failure(f"There is no semiring {name!r}; there are {', '.join(sorted(known))}.")
    answered = opened.evaluate(known[name], nodes, _valuation(given) or None)
    texts = {node: known[name].render(value) for node, value in answered.values.items()}
    lines = [f"{node}: {text}" for node, text in texts.items()]
    _send(told, answered, {"semiring": name, "values": texts}, *lines)


def _valuation(given: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text in given:
        node, separator, value = text.rpartition("=")
        if not separator:
            raise Failure(f"{text!r} is no value of a node.\nWrite NODE=VALUE.")
        for kind in (int, float):
            try:
                values[node] = kind(value)
                break
            except ValueError:
                values[node] = value
    return values


def _send_nodes(opened: Federation, told: Answer, nodes: NodesAnswer) -> None:
    names = opened.names(nodes, told.rows)
    if told.format == JSON:
        _send(told, nodes, {"count": len(nodes), "nodes": names})
        return
    told.table([{"node": name} for name in names], len(nodes))
    _send(told, nodes, {}, counted(len(nodes), "node"))


def _send(told: Answer, answered: Answered, document: dict[str, Any], *lines: str) -> None:
    """Send an answer with what it lacks and what it cost."""
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
    if told.format == JSON:
        told.send_json(
            document
            | {
                "complete": answered.complete,
                "missing": missing,
                "versions": dict(answered.versions),
                "cost": {"requests": cost.requests, "rounds": cost.rounds, "bytes": cost.bytes},
            }
        )
        return
    for line in lines:
        told.say(line)
    if missing:
        told.say("Missing:")
        told.table(missing)
    rounds = counted(cost.rounds, "round")
    told.say(f"{counted(cost.requests, 'request')} in {rounds}, {cost.bytes:,} bytes")
    told.send_table()
