"""Environments as `pip install` makes them: the wheel, and what it and its extras require.

The packages are linked from the environment of the tests and not fetched, so that nothing is there
that the wheel does not ask for: a requirement that `pyproject.toml` lacks is missed here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PACKAGES = ("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring")
NAME = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]


def build_wheel(folder: Path) -> Path:
    """Build the wheel of a copy of the sources, which stay without a trace of it."""
    sources = folder / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "PACKAGE.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, sources / package, ignore=ignored)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "wheel", *offline, "-w", folder, sources], check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, folder: Path) -> Path:
    """Install a wheel, without what it requires, into a folder of its own."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    options = ["--no-deps", "--no-index", "--no-compile", "--target", folder]
    subprocess.run([*pip, *options, wheel], check=True)
    return folder


def make_environment(folder: Path, unpacked: Path, requirements: Iterable[str]) -> None:
    """Make a virtual environment of a wheel, its requirements, and what else is asked for.

    Parameters
    ----------
    unpacked
        The folder of the wheel, see :func:`unpack`.
    requirements
        As `pip install` is given them.

    Raises
    ------
    PackageNotFoundError
        For a requirement that the environment of the tests does not have.
    """
    venv.create(folder, symlinks=True)
    [installed] = Distribution.discover(path=[str(unpacked)])
    wanted = [Requirement(each) for each in requirements]
    extras = {extra for each in wanted if each.name == NAME for extra in each.extras}
    closure: dict[str, Distribution] = {}
    _close(installed, frozenset(extras), closure, set())
    for each in wanted:
        if each.name != NAME:
            _close(distribution(each.name), frozenset(each.extras), closure, set())
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    _link(closure, site, folder / "bin")
    for script in (unpacked / "bin").iterdir():
        _script(script, folder / "bin" / script.name)


def _close(
    installed: Distribution,
    extras: frozenset[str],
    closure: dict[str, Distribution],
    seen: set[tuple[str, frozenset[str]]],
) -> None:
    """Add a distribution with some extras to a closure, and all that it requires."""
    name = canonicalize_name(installed.metadata["Name"])
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    closure[name] = installed
    for text in installed.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": each}) for each in ("", *extras)):
            inner = frozenset(requirement.extras)
            own = canonicalize_name(requirement.name) == canonicalize_name(NAME)
            _close(installed if own else distribution(requirement.name), inner, closure, seen)


def _link(closure: dict[str, Distribution], site: Path, scripts: Path) -> None:
    """Link the files of distributions; a folder of one distribution alone is one link."""
    owners: dict[str, set[str]] = {}
    files = list(_files(closure))
    for name, file, _ in files:
        owners.setdefault(file.parts[0], set()).add(name)
    for _, file, origin in files:
        if "bin" in file.parts and file.parts[0] == "..":
            _script(origin, scripts / file.name)
        elif file.parts[0] != "..":
            whole = len(owners[file.parts[0]]) == 1
            target = site / (file.parts[0] if whole else file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                outer = len(file.parts) - 1 if whole else 0
                target.symlink_to(origin if not outer else origin.parents[outer - 1])


def _files(closure: dict[str, Distribution]) -> Iterator[tuple[str, Path, Path]]:
    for name, each in closure.items():
        for file in each.files or ():
            yield name, Path(file), Path(os.path.normpath(str(file.locate())))


def _script(origin: Path, target: Path) -> None:
    """Copy a script so that it runs the environment's own Python."""
    if not origin.is_file() or target.exists():
        return
    content = origin.read_bytes()
    if content.startswith(b"#!") and b"python" in content.split(b"\n", 1)[0]:
        content = b"#!%s\n%s" % (bytes(target.parent / "python"), content.split(b"\n", 1)[1])
        target.write_bytes(content)
        target.chmod(0o755)
    else:
        target.symlink_to(origin)


def contents(wheel: Path) -> list[str]:
    """Return the files in a wheel."""
    with ZipFile(wheel) as file:
        return file.namelist()
