"""``lipstick federation copy`` and ``gossip``: copies that their owners' heads verify."""

from __future__ import annotations

from pathlib import Path

import click

from lipstick.cli.errors import Failure, reported


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("member")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source",
    metavar="LOCATION",
    help="Who holds a copy: a folder, s3://..., or a server. By default the member itself.",
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

    with reported():
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
@click.option("--timeout", type=float, metavar="SECONDS", help="That one reply may take.")
def gossip(file: Path, timeout: float | None) -> None:
    """Talk to the members of the federation FILE, and copy what this host's questions need.

    The table [precaching] of FILE has where to, and how much at most. To be run now and then.
    """
    from graphquery.federation.copies.gossip import gossip as talk

    with reported():
        outcome = talk(file, timeout=timeout)
    for alias, version in outcome.taken.items():
        click.echo(f"{alias}: copied, version {version}")
    for alias in outcome.evicted:
        click.echo(f"{alias}: evicted")
    for alias, why in outcome.failed.items():
        click.echo(f"{alias}: {why}", err=True)
