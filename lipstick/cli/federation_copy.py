"""``lipstick federation copy``: a copy of a member's store that its owner's head verifies."""

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
    help="Who holds a copy: a folder, or s3://... By default the member itself.",
)
def copy(file: Path, member: str, folder: Path, source: str | None) -> None:
    """Copy the store of MEMBER of the federation FILE to FOLDER, or what FOLDER lacks of it.

    The member says which commit is its last, and what is copied has to be that, whoever holds it.
    A server gives no files: say who holds a copy with --from. With `copy = "FOLDER"` in FILE, the
    copy answers while the member does not.
    """
    from pyarrow import fs

    from graphquery.federation import Federation, copy_store, read_members
    from graphquery.federation.copies import file_system
    from graphquery.federation.opening import transport_to

    with reported():
        members = read_members(file)
        if member not in members:
            raise Failure(f"There is no member {member!r}.\nThere are {', '.join(members)}.")
        found = members[member]
        if source is None and found.remote:
            raise Failure(f"{member} is a server: say who holds a copy with --from LOCATION.")
        expected = {member: found.store}
        with Federation({member: transport_to(found)}, expected) as owner:
            if member in owner.directory.absent:
                raise Failure(f"{member}: {owner.directory.absent[member].message}")
            head = owner.directory.heads[member]
        location = found.location if source is None else source
        files: fs.FileSystem = fs.LocalFileSystem()
        if "://" in location:
            files, location = file_system(location)
        version = copy_store(files, location, folder, head)
    click.echo(f"{folder}: {member} at version {version}")
