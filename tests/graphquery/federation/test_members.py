"""The file of a federation."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphquery.errors import FederationError
from graphquery.federation.members.members import read_members
from graphquery.federation.members.opening import open_federation
from graphquery.federation.serving.disclosure import Disclosure

IDENTITY = "0a" * 16


def test_members_are_read_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "federation.toml"
    file.write_text(
        f"""format = 1
[members.b]
location = "stores/b"
store = "{IDENTITY}"
disclosure = "boundary"
[members.a]
location = "https://host:1"
token_file = "token"
"""
    )
    members = read_members(file)
    assert list(members) == ["b", "a"]
    assert members["b"].location == str(tmp_path / "stores" / "b")
    assert (members["b"].store, members["b"].disclosure) == (IDENTITY, Disclosure.BOUNDARY)
    assert members["a"].remote
    assert members["a"].token_file == tmp_path / "token"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no `format = 1`"),
        ("format = 2", "has no `format = 1`"),
        ("format = ", "cannot be read as TOML"),
        ("format = 1", "has no members"),
        ("format = 1\n[members.a]\nstore = 'x'", "Member 'a' of .* has no location"),
        ("format = 1\n[members.a]\nlocation = 'x'\nstore = 'x'", "32 hexadecimal digits"),
        ("format = 1\n[members.a]\nlocation = 'x'\nport = '1'", "unknown field 'port'"),
        ("format = 1\n[members.a]\nlocation = 1", "no fields that are texts"),
        ("format = 1\n[members.'a b']\nlocation = 'x'", "an alias is made of"),
        ("format = 1\n[members.a]\nlocation = 'x'\ndisclosure = 'all'", "no disclosure 'all'"),
    ],
)
def test_files_that_say_something_else_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "federation.toml"
    file.write_text(text)
    with pytest.raises(FederationError, match=message):
        read_members(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FederationError, match="There is no file"):
        read_members(tmp_path / "federation.toml")


def test_folders_that_are_no_stores_are_missing_members(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "federation.toml"
    file.write_text(
        f'format = 1\n[members.D]\nlocation = "{stores["D"]}"\n[members.B]\nlocation = "none"'
    )
    federation = open_federation(file)
    assert federation.members == ("D", "B")
    assert list(federation.directory.absent) == ["B"]
    assert len(federation.ancestors("D::d3")) == 5
