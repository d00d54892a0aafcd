"""`requirements.lock` fits `pyproject.toml` and says nothing about where packages come from."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NAME = PROJECT["project"]["name"]
LOCK = (ROOT / "requirements.lock").read_text()
PINS = re.findall(r"^([a-z0-9._-]+)==(\S+)", LOCK, re.MULTILINE)
RANGES = [
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *(
        each
        for each in chain(*PROJECT["project"]["optional-dependencies"].values())
        if NAME not in each
    ),
    *PROJECT["dependency-groups"]["build"],
    *PROJECT["dependency-groups"]["dev"],
]


@pytest.mark.parametrize("wanted", RANGES)
def test_locked_version_is_in_the_declared_range(wanted: str) -> None:
    requirement = Requirement(wanted)
    wanted_name = canonicalize_name(requirement.name)
    versions = [version for name, version in PINS if name == wanted_name]
    assert versions
    assert all(version in requirement.specifier for version in versions)


def test_every_locked_package_has_hashes() -> None:
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PINS)
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_lock_names_no_package_index_and_no_path() -> None:
    assert re.findall(r"://|--(?:extra-)?index|--find-links|^-[a-z]|^/| @ ", LOCK, re.M) == []
